import { createHash } from "node:crypto";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { brotliCompressSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { formatManifest, type Manifest, parseManifest } from "../publish/manifest.js";
import { generateKeys, type SecretKey } from "../publish/minisign-keys.js";
import { signMessage } from "../publish/minisign-signature.js";
import { publishIndex } from "../publish/publish-index.js";
import { openIndex, type RangeRecord, writeIndex } from "../store/index.js";
import { type SyncOptions, syncIndex } from "./sync-index.js";

/** Publishes real indexes, serves them over HTTP, and lets things go wrong in between. */

const keys = generateKeys();
let folder: string;
let server: Server;
let url: string;
/** What the server does to a request; false: serve the file. */
let interfere: (path: string, times: number) => "break" | "missing" | "error" | Buffer | false;
const requests: { path: string; range: string | undefined }[] = [];
const notes: string[] = [];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "strata-sync-"));
  interfere = () => false;
  requests.length = 0;
  notes.length = 0;
  const seen = new Map<string, number>();
  server = createServer((request, response) => {
    const path = request.url!.slice(1);
    const { range } = request.headers;
    requests.push({ path, range });
    const times = (seen.get(path) ?? 0) + 1;
    seen.set(path, times);
    const trick = interfere(path, times);
    const file = join(folder, "published", path);
    if (trick === "missing" || (trick === false && !existsSync(file))) {
      response.writeHead(404).end();
      return;
    }
    if (trick === "error") {
      response.writeHead(503, { "retry-after": "0" }).end();
      return;
    }
    const bytes = Buffer.isBuffer(trick) ? trick : readFileSync(file);
    const start = range === undefined ? 0 : Number(/bytes=(\d+)-/.exec(range)![1]);
    if (start >= bytes.length && start > 0) {
      response.writeHead(416).end();
      return;
    }
    const headers = {
      "content-length": String(bytes.length - start),
      "content-range": `bytes ${start}-${bytes.length - 1}/${bytes.length}`,
    };
    response.writeHead(start > 0 ? 206 : 200, headers);
    if (trick === "break") {
      response.write(bytes.subarray(start, start + Math.ceil((bytes.length - start) / 2)), () => response.destroy());
      return;
    }
    response.end(bytes.subarray(start));
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/manifest.json`;
});
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((closed) => server.close(closed));
  rmSync(folder, { recursive: true, force: true });
});

const path = (name: string) => join(folder, name);
const commit = (day: number) => day.toString(16).padStart(40, "0");

async function makeIndex(name: string, day: number, packages = 300): Promise<string> {
  const records = Array.from(
    { length: packages },
    (_, at): RangeRecord => ({
      attributePath: `package${at}`,
      name: `package${at}`,
      version: `1.${at % 7}`,
      description: createHash("sha256").update(String(at)).digest("hex"),
      license: null,
      firstCommitHash: commit(1),
      firstCommitDate: 1,
      lastCommitHash: commit(at % 3 === 0 ? 2 : day),
      lastCommitDate: at % 3 === 0 ? 2 : day,
      homepage: null,
      maintainers: null,
      platforms: null,
      sourcePath: null,
      knownVulnerabilities: null,
    }),
  );
  await writeIndex(records, { lastIndexedCommit: commit(day), lastIndexedDate: day }, path(name));
  return path(name);
}

const publish = (index: string, options: { since?: string[]; secretKey?: SecretKey | null } = {}) =>
  publishIndex({
    indexPath: index,
    folder: path("published"),
    secretKey: keys,
    since: [],
    quality: 1,
    ...options,
  });

const sync = (options: Partial<SyncOptions> = {}) =>
  syncIndex({
    manifest: url,
    indexPath: path("used.strata"),
    publicKey: keys.publicKey,
    allowOlder: false,
    signal: new AbortController().signal,
    log: (line) => notes.push(line),
    fetchOptions: { wait: async () => {} },
    ...options,
  });

const isSame = (a: string, b: string) => readFileSync(a).equals(readFileSync(b));
const leftovers = () => readdirSync(folder).filter((name) => name.startsWith("used.strata."));

describe("sync", () => {
  it("fetches what was published, then nothing until there is something new", async () => {
    const first = await makeIndex("first", 10);
    await publish(first);
    expect(await sync()).toMatchObject({ kind: "full" });
    expect(isSame(first, path("used.strata"))).toBe(true);
    expect(leftovers()).toEqual([]);
    expect(await sync()).toMatchObject({ kind: "up-to-date", downloaded: 0 });
    const second = await makeIndex("second", 11);
    await publish(second);
    expect(await sync()).toMatchObject({ kind: "full" });
    expect(isSame(second, path("used.strata"))).toBe(true);
  });

  it("also from a folder, and without a signature only when asked", async () => {
    await publish(await makeIndex("first", 10), { secretKey: null });
    await expect(sync({ manifest: path("published") })).rejects.toThrow(/no signature/);
    expect(await sync({ manifest: path("published"), publicKey: null })).toMatchObject({ kind: "full" });
  });

  it("takes the difference where there is one, and it gives the same bytes", async () => {
    const first = await makeIndex("first", 10);
    const second = await makeIndex("second", 11, 310);
    await publish(first);
    await sync();
    const manifest = await publish(second, { since: [first] });
    requests.length = 0;
    expect(await sync()).toMatchObject({ kind: "delta", downloaded: manifest.deltas[0]!.size });
    expect(requests.map((request) => request.path)).not.toContain(manifest.full.file);
    expect(isSame(second, path("used.strata"))).toBe(true);
    expect(leftovers()).toEqual([]);
  });

  it("fetches the whole index when the difference is damaged or does not give the right one", async () => {
    const first = await makeIndex("first", 10);
    const second = await makeIndex("second", 11, 310);
    const manifest = await publish(second, { since: [first] });
    const wrong = brotliCompressSync(`{"format":1,"from":"${manifest.deltas[0]!.from}","to":"x","meta":{}}\n=300\n`);
    const cut = readFileSync(join(path("published"), manifest.deltas[0]!.file)).subarray(0, 100);
    for (const bytes of [Buffer.from("rubbish"), wrong, cut]) {
      writeFileSync(path("used.strata"), readFileSync(first));
      const lying = { ...manifest, deltas: [{ ...manifest.deltas[0]!, size: bytes.length, sha256: sha256(bytes) }] };
      signAnew(lying);
      interfere = (name) => (name.startsWith("delta-") ? bytes : false);
      expect(await sync(), bytes.toString("latin1", 0, 20)).toMatchObject({ kind: "full" });
      expect(isSame(second, path("used.strata"))).toBe(true);
    }
    expect(notes.join("\n")).toMatch(/The difference could not be used/);
  });

  it("goes on where a broken connection or an earlier run stopped", async () => {
    const first = await makeIndex("first", 10, 5000);
    const { full } = await publish(first);
    interfere = (name, times) =>
      name === full.file && times <= 3 ? "break" : name.startsWith("manifest") && times === 1 ? "error" : false;
    expect(await sync()).toMatchObject({ kind: "full" });
    const ranges = requests.filter((request) => request.path === full.file).map(({ range }) => range);
    expect(ranges[0]).toBeUndefined();
    expect(ranges.slice(1).every((range) => /^bytes=[1-9]\d*-$/.test(range ?? ""))).toBe(true);
    expect(isSame(first, path("used.strata"))).toBe(true);

    const second = await makeIndex("second", 12, 5000);
    const next = await publish(second);
    const stopping = new AbortController();
    interfere = (name, times) => {
      if (name !== next.full.file) return false;
      // Something has come at the second try.
      if (times > 1) stopping.abort();
      return "break";
    };
    await expect(sync({ signal: stopping.signal })).rejects.toThrow();
    expect(isSame(first, path("used.strata"))).toBe(true);
    interfere = () => false;
    requests.length = 0;
    expect(await sync()).toMatchObject({ kind: "full" });
    expect(requests.find((request) => request.path === next.full.file)!.range).toMatch(/^bytes=[1-9]/);
    expect(isSame(second, path("used.strata"))).toBe(true);
  });

  it("takes a manifest that is just being replaced at the second look", async () => {
    const first = await makeIndex("first", 10);
    await publish(first);
    const old = readFileSync(join(path("published"), "manifest.json.minisig"));
    await publish(await makeIndex("second", 11));
    interfere = (name, times) => (name.endsWith(".minisig") && times === 1 ? old : false);
    expect(await sync()).toMatchObject({ kind: "full" });
  });
});

describe("an attack on sync", () => {
  let manifest: Manifest;
  let before: Buffer;
  beforeEach(async () => {
    await publish(await makeIndex("first", 10));
    await sync();
    before = readFileSync(path("used.strata"));
    manifest = await publish(await makeIndex("second", 11));
  });
  afterEach(() => {
    expect(readFileSync(path("used.strata")).equals(before), "the index in use").toBe(true);
  });

  it("a changed manifest is refused", async () => {
    interfere = (name) => (name === "manifest.json" ? Buffer.from(formatManifest({ ...manifest, ranges: 1 })) : false);
    await expect(sync()).rejects.toThrow(/cannot be trusted.*does not match its signature/);
  });

  it("another publisher's signature is refused", async () => {
    signAnew(manifest, generateKeys());
    await expect(sync()).rejects.toThrow(/not with the key you trust/);
  });

  it("a missing signature is refused", async () => {
    interfere = (name) => (name.endsWith(".minisig") ? "missing" : false);
    await expect(sync()).rejects.toThrow(/has no signature/);
  });

  it("an index with other bytes of the same size is refused and thrown away", async () => {
    const bytes = readFileSync(join(path("published"), manifest.full.file));
    bytes[bytes.length >> 1]! ^= 1;
    interfere = (name) => (name === manifest.full.file ? bytes : false);
    await expect(sync()).rejects.toThrow(/not the file that the manifest describes/);
    interfere = () => "missing";
    expect(readdirSync(path("used.strata.sync"))).toEqual([]);
  });

  it("an endless file is cut off", async () => {
    interfere = (name) => (name === manifest.full.file ? Buffer.alloc(manifest.full.size + 5_000_000) : false);
    await expect(sync()).rejects.toThrow(/is longer than/);
  });

  it("a short file is refused", async () => {
    const bytes = readFileSync(join(path("published"), manifest.full.file)).subarray(0, 1000);
    interfere = (name) => (name === manifest.full.file ? bytes : false);
    await expect(sync()).rejects.toThrow(/ends after|differs|416/);
  });

  it("a bomb that decompresses to more than promised is stopped", async () => {
    const bomb = brotliCompressSync(Buffer.alloc(manifest.size + 10_000_000));
    signAnew({ ...manifest, full: { ...manifest.full, size: bomb.length, sha256: sha256(bomb) } });
    interfere = (name) => (name === manifest.full.file ? bomb : false);
    await expect(sync()).rejects.toThrow(/larger than promised/);
  });

  it("a signed manifest for bytes that are no index is refused", async () => {
    const rubbish = Buffer.from("no index at all");
    const compressed = brotliCompressSync(rubbish);
    signAnew({
      ...manifest,
      size: rubbish.length,
      sha256: sha256(rubbish),
      full: { ...manifest.full, size: compressed.length, sha256: sha256(compressed) },
    });
    interfere = (name) => (name === manifest.full.file ? compressed : false);
    await expect(sync()).rejects.toThrow(/not a strata index/);
  });

  it("an older index, truly signed, is refused unless asked for", async () => {
    await publish(await makeIndex("older", 9));
    await expect(sync()).rejects.toThrow(/older than the one in use/);
    expect(await sync({ allowOlder: true })).toMatchObject({ kind: "full" });
    before = readFileSync(path("used.strata"));
  });

  it("a manifest that names files elsewhere, or of another format, is refused", () => {
    const named = (file: string) => formatManifest({ ...manifest, full: { ...manifest.full, file } });
    for (const file of ["../x", "/etc/passwd", "a/b", "http://x/y", ".hidden", ""]) {
      expect(() => parseManifest(named(file)), file).toThrow(/file/);
    }
    expect(() => parseManifest(formatManifest({ ...manifest, format: 2 }))).toThrow(/format 2/);
    expect(() => parseManifest("<html>")).toThrow(/not JSON/);
    expect(() => parseManifest("[]")).toThrow(/no format number/);
    expect(() => parseManifest(formatManifest({ ...manifest, size: -1 }))).toThrow(/size/);
  });

  it("an index of a newer format is refused by its manifest", async () => {
    signAnew({ ...manifest, index_format: 99 });
    await expect(sync()).rejects.toThrow(/format 99.*Update strata/);
  });
});

describe("publish", () => {
  it("keeps the files of the manifest before, and removes those before that", async () => {
    const files = [];
    for (const day of [10, 11, 12]) {
      files.push((await publish(await makeIndex("index", day))).full.file);
    }
    const left = readdirSync(path("published")).filter((name) => name.startsWith("index-"));
    expect(left.sort()).toEqual(files.slice(1).sort());
    expect(files).toHaveLength(3);
  });

  it("refuses the sample", async () => {
    await writeIndex([], { lastIndexedCommit: null, lastIndexedDate: null, sample: true }, path("sample"));
    await expect(publish(path("sample"))).rejects.toThrow(/built-in sample/);
    await openIndex(path("sample"));
  });
});

/** Signs a manifest, true or not, and puts it where the server serves it. */
function signAnew(manifest: Manifest, secret: SecretKey = keys): void {
  const text = formatManifest(manifest);
  writeFileSync(join(path("published"), "manifest.json"), text);
  const signature = signMessage(Buffer.from(text), secret, { trustedComment: "timestamp:1" });
  writeFileSync(join(path("published"), "manifest.json.minisig"), signature);
}

function sha256(bytes: Buffer): string {
  return createHash("sha256").update(bytes).digest("hex");
}
