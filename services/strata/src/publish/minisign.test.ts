import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { blake2b } from "./blake2b.js";
import {
  formatPublicKey,
  formatPublicKeyLine,
  formatSecretKey,
  generateKeys,
  KeyError,
  parsePublicKey,
  parseSecretKey,
} from "./minisign-keys.js";
import { SignatureError, signMessage, verifySignature } from "./minisign-signature.js";

const message = Buffer.from("what is signed\n");
const keys = generateKeys();
const sign = (legacy = false) => signMessage(message, keys, { trustedComment: "timestamp:1\tfile:x", legacy });

describe("blake2b", () => {
  it.each([0, 1, 127, 128, 129, 1000])("agrees with Node's where Node has one (%i bytes)", (length) => {
    const bytes = Buffer.alloc(length, 7);
    expect(blake2b(bytes, 64)).toEqual(createHash("blake2b512").update(bytes).digest());
  });
  it("has the known digest of 32 bytes", () => {
    const known = "bddd813c634239723171ef3fee98579b94964e3bb1cb3e427262c8c068d52319";
    expect(blake2b(Buffer.from("abc"), 32).toString("hex")).toBe(known);
  });
});

describe("signatures", () => {
  it.each([false, true])("verify (legacy: %s)", (legacy) => {
    expect(verifySignature(message, sign(legacy), keys.publicKey)).toBe("timestamp:1\tfile:x");
  });

  it("fail when anything is changed", () => {
    const text = sign();
    const [head, signature, trusted, global] = text.split("\n") as [string, string, string, string];
    const flipped = Buffer.from(signature, "base64");
    flipped[20]! ^= 1;
    const changed = {
      "another message": () => verifySignature(Buffer.from("what is not signed\n"), text, keys.publicKey),
      "another key": () => verifySignature(message, text, generateKeys().publicKey),
      "another comment": () =>
        verifySignature(
          message,
          [head, signature, "trusted comment: timestamp:2", global, ""].join("\n"),
          keys.publicKey,
        ),
      "a flipped bit": () =>
        verifySignature(message, [head, flipped.toString("base64"), trusted, global, ""].join("\n"), keys.publicKey),
      "hashed called legacy": () => {
        const raw = Buffer.from(signature, "base64");
        raw.write("Ed");
        return verifySignature(message, [head, raw.toString("base64"), trusted, global, ""].join("\n"), keys.publicKey);
      },
      "a missing line": () => verifySignature(message, [head, signature, trusted].join("\n"), keys.publicKey),
      "nothing at all": () => verifySignature(message, "", keys.publicKey),
      "something behind": () => verifySignature(message, `${text}more\n`, keys.publicKey),
    };
    for (const [what, verify] of Object.entries(changed)) {
      expect(verify, what).toThrow(SignatureError);
    }
  });

  it("refuse a comment of two lines", () => {
    expect(() => signMessage(message, keys, { trustedComment: "a\nb" })).toThrow(SignatureError);
  });
});

describe("key files", () => {
  it("are read back, with and without a password", () => {
    expect(parseSecretKey(formatSecretKey(keys, null), null).seed).toEqual(keys.seed);
    expect(parsePublicKey(formatPublicKey(keys.publicKey)).bytes).toEqual(keys.publicKey.bytes);
    expect(parsePublicKey(formatPublicKeyLine(keys.publicKey)).number).toEqual(keys.publicKey.number);
  });
  it.each(["", "untrusted comment: x\n", "RWQ", "not base64!", Buffer.alloc(42).toString("base64")])(
    "refuse %j",
    (text) => {
      expect(() => parsePublicKey(text)).toThrow(KeyError);
      expect(() => parseSecretKey(text, null)).toThrow(KeyError);
    },
  );
  it("notice damage", () => {
    const raw = Buffer.from(formatSecretKey(keys, null).split("\n")[1]!, "base64");
    raw[70]! ^= 1;
    expect(() => parseSecretKey(raw.toString("base64"), null)).toThrow(/damaged/);
  });
});

const hasMinisign = spawnSync("minisign", ["-v"]).status === 0;
if (!hasMinisign) {
  console.log("minisign is not installed: agreement with it is not tested.");
}

describe.skipIf(!hasMinisign)("with the real minisign", () => {
  let folder: string;
  const path = (name: string) => join(folder, name);
  const minisign = (words: string[], input = "") => {
    const { status, stderr, stdout } = spawnSync("minisign", words, { cwd: folder, input, encoding: "utf8" });
    expect(`${status} ${stderr}`, stdout).toMatch(/^0/);
  };
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "strata-minisign-"));
    writeFileSync(path("m"), message);
    writeFileSync(path("ours.pub"), formatPublicKey(keys.publicKey));
    writeFileSync(path("ours.key"), formatSecretKey(keys, null));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it.each([false, true])("it accepts our signatures (legacy: %s)", (legacy) => {
    writeFileSync(path("m.minisig"), sign(legacy));
    minisign(["-Vm", "m", "-p", "ours.pub"]);
  });

  it("it signs with our key, and we accept that", () => {
    minisign(["-Sm", "m", "-s", "ours.key", "-t", "by minisign"], "\n");
    expect(verifySignature(message, readFileSync(path("m.minisig"), "utf8"), keys.publicKey)).toBe("by minisign");
  });

  it("we sign with its keys, and it accepts that", () => {
    minisign(["-GW", "-p", "plain.pub", "-s", "plain.key"]);
    const theirs = parseSecretKey(readFileSync(path("plain.key"), "utf8"), null);
    writeFileSync(path("m.minisig"), signMessage(message, theirs, { trustedComment: "t" }));
    minisign(["-Vm", "m", "-p", "plain.pub"]);
  });

  // minisign's own cost is 1 GiB and seconds; these are read by the same rules, one for each way to weigh the limits.
  it.each([
    { operations: 32_768n, memory: 16_777_216n },
    { operations: 524_288n, memory: 8_388_608n },
  ])("it decrypts our encrypted keys (%o)", (cost) => {
    const locked = formatSecretKey(keys, "secret", cost);
    writeFileSync(path("locked.key"), locked);
    minisign(["-Sm", "m", "-s", "locked.key", "-t", "locked"], "secret\n");
    expect(verifySignature(message, readFileSync(path("m.minisig"), "utf8"), keys.publicKey)).toBe("locked");
    expect(parseSecretKey(locked, "secret").seed).toEqual(keys.seed);
    expect(() => parseSecretKey(locked, null)).toThrow(/STRATA_KEY_PASSWORD/);
    expect(() => parseSecretKey(locked, "wrong")).toThrow(/password/);
  });
});
