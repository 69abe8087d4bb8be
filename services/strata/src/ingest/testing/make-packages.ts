import { brotliCompressSync, constants } from "node:zlib";

/** Package lists as tests need them: the whole tree's sentinels plus what the test is about. */
export interface TestPackage {
  version: string;
  description?: string;
  insecure?: boolean;
}

const SENTINELS = ["bash", "coreutils", "curl", "git", "hello", "vim"];

export function packageEntry(attributePath: string, { version, description, insecure }: TestPackage): object {
  const name = attributePath.slice(attributePath.lastIndexOf(".") + 1);
  return {
    name: `${name}-${version}`,
    pname: name,
    version,
    system: "x86_64-linux",
    meta: {
      description: description ?? `The package ${name}`,
      license: { spdxId: "MIT", shortName: "mit" },
      position: `/build/source/pkgs/${name}/default.nix:12`,
      platforms: ["x86_64-linux", "aarch64-linux"],
      ...(insecure ? { knownVulnerabilities: [`CVE-2020-1234 in ${name}`] } : {}),
    },
  };
}

/** The JSON of a channel's packages.json with these packages and the sentinels. */
export function packageList(packages: Record<string, TestPackage>): string {
  const all: Record<string, object> = {};
  for (const path of SENTINELS) {
    all[path] = packageEntry(path, { version: "1.0" });
  }
  for (const [path, one] of Object.entries(packages)) {
    all[path] = packageEntry(path, one);
  }
  return JSON.stringify({ packages: all, version: 2 });
}

export function compressedPackageList(packages: Record<string, TestPackage>): Buffer {
  return brotliCompressSync(packageList(packages), { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } });
}

/** A commit hash that is different for each number and short enough to recognise. */
export function testCommit(number: number): string {
  return number.toString(16).padStart(8, "0").repeat(5);
}

/** Pieces of a text, as a stream gives them. */
export async function* inPieces(text: string, size = 1000): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) {
    yield bytes.subarray(at, at + size);
  }
}
