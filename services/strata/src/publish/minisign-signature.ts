import { createHash, sign, verify } from "node:crypto";
import { type PublicKey, type SecretKey, showKeyNumber } from "./minisign-keys.js";

/**
 * Signatures in minisign's format: four lines, two comments and two pieces of base64. The first signature is over the message ("Ed") or over its BLAKE2b
 * hash ("ED", what minisign writes today); the second is over the first and the trusted comment.
 */

/** The signature does not prove that the message comes from the holder of the key. */
export class SignatureError extends Error {
  override name = "SignatureError";
}

export interface SignOptions {
  /** Says what and when; it is signed too. One line. */
  trustedComment: string;
  /** Sign the message itself, as minisign before version 0.6 did. */
  legacy?: boolean;
}

const UNTRUSTED = "untrusted comment: ";
const TRUSTED = "trusted comment: ";
const SIGNATURE_BYTES = 64;

export function signMessage(message: Uint8Array, secret: SecretKey, options: SignOptions): string {
  const { trustedComment, legacy = false } = options;
  if (/[\r\n]/.test(trustedComment)) {
    throw new SignatureError("A trusted comment must be one line.");
  }
  const signature = sign(null, legacy ? message : hash(message), secret.key);
  const global = sign(null, Buffer.concat([signature, Buffer.from(trustedComment)]), secret.key);
  const head = Buffer.concat([Buffer.from(legacy ? "Ed" : "ED"), secret.number]);
  return [
    `${UNTRUSTED}signature from strata, key ${showKeyNumber(secret.number)}`,
    Buffer.concat([head, signature]).toString("base64"),
    TRUSTED + trustedComment,
    global.toString("base64"),
    "",
  ].join("\n");
}

/** Checks a signature file's text against the message; gives the trusted comment. Throws SignatureError. */
export function verifySignature(message: Uint8Array, text: string, publicKey: PublicKey): string {
  const { algorithm, number, signature, trustedComment, global } = parseSignature(text);
  if (!number.equals(publicKey.number)) {
    throw new SignatureError(
      `It is signed with key ${showKeyNumber(number)}, not with the key you trust, ${showKeyNumber(publicKey.number)}.`,
    );
  }
  const signed = algorithm === "ED" ? hash(message) : message;
  if (!verify(null, signed, publicKey.key, signature)) {
    throw new SignatureError("Its content does not match its signature.");
  }
  if (!verify(null, Buffer.concat([signature, Buffer.from(trustedComment)]), publicKey.key, global)) {
    throw new SignatureError("The trusted comment of its signature was changed.");
  }
  return trustedComment;
}

function parseSignature(text: string) {
  const [untrusted, first, trusted, second, ...rest] = text.split(/\r?\n/);
  const raw = Buffer.from(first ?? "", "base64");
  const global = Buffer.from(second ?? "", "base64");
  const algorithm = raw.toString("latin1", 0, 2);
  if (
    !untrusted?.startsWith(UNTRUSTED) ||
    !trusted?.startsWith(TRUSTED) ||
    raw.length !== 2 + 8 + SIGNATURE_BYTES ||
    global.length !== SIGNATURE_BYTES ||
    (algorithm !== "Ed" && algorithm !== "ED") ||
    rest.some((line) => line !== "")
  ) {
    throw new SignatureError("Its signature file is not in minisign's format.");
  }
  const trustedComment = trusted.slice(TRUSTED.length);
  return { algorithm, number: raw.subarray(2, 10), signature: raw.subarray(10), trustedComment, global };
}

function hash(message: Uint8Array): Buffer {
  return createHash("blake2b512").update(message).digest();
}
