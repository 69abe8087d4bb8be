import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  scryptSync,
  timingSafeEqual,
} from "node:crypto";
import { blake2b } from "./blake2b.js";

/**
 * Keys in the files of minisign (https://jedisct1.github.io/minisign/): a comment line, then base64. A public key is the algorithm "Ed", an eight-byte
 * key number and the Ed25519 key. A secret key may be encrypted with a password (scrypt), as minisign does by default, or stored in the clear.
 */

export interface PublicKey {
  /** Eight bytes that say which key made a signature. */
  number: Buffer;
  key: KeyObject;
  /** The 32 bytes themselves. */
  bytes: Buffer;
}

export interface SecretKey {
  number: Buffer;
  key: KeyObject;
  /** The 32-byte seed. */
  seed: Buffer;
  publicKey: PublicKey;
}

/** A key that cannot be read; the message says why and what to do. */
export class KeyError extends Error {
  override name = "KeyError";
}

const ALGORITHM = "Ed";
const CHECKSUM_ALGORITHM = "B2";
const ENCRYPTED = "Sc";
const NOT_ENCRYPTED = "\0\0";
const NUMBER_BYTES = 8;
const KEY_BYTES = 32;
const SALT_BYTES = 32;
/** algorithm, key derivation, checksum algorithm, salt, two limits. */
const SECRET_HEADER_BYTES = 2 + 2 + 2 + SALT_BYTES + 8 + 8;
/** key number, seed and public key, checksum. */
const SECRET_BODY_BYTES = NUMBER_BYTES + 2 * KEY_BYTES + 32;
/** How hard it is to try a password: libsodium's limits, as key files store them. */
export interface PasswordCost {
  operations: bigint;
  memory: bigint;
}

/** What minisign uses: about a second and 1 GiB. */
const USUAL_COST: PasswordCost = { operations: 33_554_432n, memory: 1_073_741_824n };

export function generateKeys(): SecretKey {
  const { privateKey } = generateKeyPairSync("ed25519");
  const seed = Buffer.from(privateKey.export({ format: "jwk" }).d!, "base64url");
  return makeSecretKey(randomBytes(NUMBER_BYTES), seed);
}

/** The number as minisign prints it. */
export function showKeyNumber(number: Buffer): string {
  return Buffer.from(number).reverse().toString("hex").toUpperCase();
}

/** The base64 line, which is all that `--public-key` needs. */
export function formatPublicKeyLine({ number, bytes }: PublicKey): string {
  return Buffer.concat([Buffer.from(ALGORITHM), number, bytes]).toString("base64");
}

export function formatPublicKey(key: PublicKey): string {
  return `untrusted comment: minisign public key ${showKeyNumber(key.number)}\n${formatPublicKeyLine(key)}\n`;
}

/** Reads a public key file's text, or its base64 line alone. */
export function parsePublicKey(text: string): PublicKey {
  const raw = decodeLastLine(text, "public key");
  if (raw.length !== 2 + NUMBER_BYTES + KEY_BYTES || raw.toString("latin1", 0, 2) !== ALGORITHM) {
    throw new KeyError("This is not a minisign public key: it must be 56 characters of base64 that start with RW.");
  }
  return makePublicKey(raw.subarray(2, 2 + NUMBER_BYTES), raw.subarray(2 + NUMBER_BYTES));
}

/** A secret key file's text; encrypted when a password is given. */
export function formatSecretKey(secret: SecretKey, password: string | null, cost: PasswordCost = USUAL_COST): string {
  const head = Buffer.alloc(SECRET_HEADER_BYTES);
  head.write(`${ALGORITHM}${password === null ? NOT_ENCRYPTED : ENCRYPTED}${CHECKSUM_ALGORITHM}`, "latin1");
  const keys = Buffer.concat([secret.number, secret.seed, secret.publicKey.bytes]);
  let body: Buffer = Buffer.concat([keys, checksum(keys)]);
  if (password !== null) {
    randomBytes(SALT_BYTES).copy(head, 6);
    head.writeBigUInt64LE(cost.operations, 6 + SALT_BYTES);
    head.writeBigUInt64LE(cost.memory, 6 + SALT_BYTES + 8);
    body = applyKeyStream(body, head, password);
  }
  const kind = password === null ? "minisign secret key" : "minisign encrypted secret key";
  return `untrusted comment: ${kind}\n${Buffer.concat([head, body]).toString("base64")}\n`;
}

export function parseSecretKey(text: string, password: string | null): SecretKey {
  const raw = decodeLastLine(text, "secret key");
  const algorithms = raw.toString("latin1", 0, 6);
  const isEncrypted = algorithms.slice(2, 4) === ENCRYPTED;
  const isKnown = isEncrypted || algorithms.slice(2, 4) === NOT_ENCRYPTED;
  if (
    raw.length !== SECRET_HEADER_BYTES + SECRET_BODY_BYTES ||
    algorithms.slice(0, 2) !== ALGORITHM ||
    algorithms.slice(4) !== CHECKSUM_ALGORITHM ||
    !isKnown
  ) {
    throw new KeyError("This is not a minisign secret key. Make one with 'strata keygen'.");
  }
  if (isEncrypted && password === null) {
    throw new KeyError("The secret key is encrypted: set its password in STRATA_KEY_PASSWORD.");
  }
  let body: Buffer = raw.subarray(SECRET_HEADER_BYTES);
  if (isEncrypted) {
    body = applyKeyStream(body, raw, password!);
  }
  const keys = body.subarray(0, NUMBER_BYTES + 2 * KEY_BYTES);
  const sum = body.subarray(keys.length);
  // Keys that minisign wrote without a password carry no checksum of use: all zeros, or the true one.
  const isUnchecked = !isEncrypted && sum.every((byte) => byte === 0);
  if (!isUnchecked && !timingSafeEqual(sum, checksum(keys))) {
    throw new KeyError(isEncrypted ? "The password of the secret key is wrong." : "The secret key is damaged.");
  }
  return makeSecretKey(keys.subarray(0, NUMBER_BYTES), keys.subarray(NUMBER_BYTES, NUMBER_BYTES + KEY_BYTES));
}

function checksum(keys: Buffer): Buffer {
  return blake2b(Buffer.concat([Buffer.from(ALGORITHM), keys]), 32);
}

/** Encrypts or decrypts: the body is combined with as many bytes as scrypt derives from the password. */
function applyKeyStream(body: Buffer, head: Buffer, password: string): Buffer {
  const salt = head.subarray(6, 6 + SALT_BYTES);
  const { cost, blockSize, parallelization } = scryptParameters(
    head.readBigUInt64LE(6 + SALT_BYTES),
    head.readBigUInt64LE(6 + SALT_BYTES + 8),
  );
  const stream = scryptSync(password, salt, body.length, {
    cost,
    blockSize,
    parallelization,
    maxmem: 128 * cost * blockSize + 64 * 1024 * 1024,
  });
  return Buffer.from(body.map((byte, at) => byte ^ stream[at]!));
}

/** The limits that key files store, turned into scrypt's own parameters as libsodium does it. */
function scryptParameters(operations: bigint, memory: bigint) {
  const blockSize = 8;
  const limit = operations < 32_768n ? 32_768n : operations;
  if (memory > 4n * USUAL_COST.memory || limit > 64n * USUAL_COST.operations) {
    throw new KeyError("The secret key asks for more than 4 GiB of memory to be decrypted: it is damaged.");
  }
  const isBoundByOperations = limit < memory / 32n;
  const most = isBoundByOperations ? limit / BigInt(blockSize * 4) : memory / BigInt(blockSize * 128);
  let bits = 1;
  while (bits < 63 && 1n << BigInt(bits) <= most / 2n) {
    bits++;
  }
  const parallelization = isBoundByOperations ? 1 : Number(limit / 4n / (1n << BigInt(bits))) / blockSize;
  return { cost: 2 ** bits, blockSize, parallelization: Math.max(1, Math.floor(parallelization)) };
}

function makePublicKey(number: Buffer, bytes: Buffer): PublicKey {
  const key = createPublicKey({
    key: { kty: "OKP", crv: "Ed25519", x: bytes.toString("base64url") },
    format: "jwk",
  });
  return { number: Buffer.from(number), key, bytes: Buffer.from(bytes) };
}

function makeSecretKey(number: Buffer, seed: Buffer): SecretKey {
  // PKCS #8 of an Ed25519 seed: a fixed head and the 32 bytes.
  const der = Buffer.concat([Buffer.from("302e020100300506032b657004220420", "hex"), seed]);
  const key = createPrivateKey({ key: der, format: "der", type: "pkcs8" });
  const bytes = Buffer.from(createPublicKey(key).export({ format: "jwk" }).x!, "base64url");
  return { number: Buffer.from(number), key, seed: Buffer.from(seed), publicKey: makePublicKey(number, bytes) };
}

/** Base64 is the last line that holds anything; comments stand before it. */
function decodeLastLine(text: string, what: string): Buffer {
  const line = text.trim().split(/\r?\n/).at(-1)?.trim() ?? "";
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(line)) {
    throw new KeyError(`This is not a minisign ${what}: "${line.slice(0, 40)}" is not base64.`);
  }
  return Buffer.from(line, "base64");
}
