/** What a publisher says about an index: where it comes from and what bytes it is made of. The manifest is what is signed; it vouches for the rest by hash. */

export const MANIFEST_NAME = "manifest.json";
export const SIGNATURE_SUFFIX = ".minisig";
/** Raised when a reader of the old number would misunderstand the new manifest. */
export const MANIFEST_FORMAT = 1;
/** A manifest is about a kilobyte; whatever is larger is something else. */
export const LARGEST_MANIFEST_BYTES = 1024 * 1024;

/** A file beside the manifest. */
export interface PublishedFile {
  file: string;
  size: number;
  sha256: string;
}

/** A file that turns the index with this fingerprint into the published one. */
export interface PublishedDelta extends PublishedFile {
  from: string;
}

export interface Manifest {
  format: number;
  /** Last commit in the index, and its date. */
  commit: string;
  date: string;
  /** Of the index file itself, decompressed. */
  size: number;
  sha256: string;
  fingerprint: string;
  /** Format number of the index file. */
  index_format: number;
  ranges: number;
  full: PublishedFile;
  deltas: PublishedDelta[];
}

export class ManifestError extends Error {
  override name = "ManifestError";
}

export function formatManifest(manifest: Manifest): string {
  return `${JSON.stringify(manifest, null, 2)}\n`;
}

/** Reads a manifest, or says which field is wrong. */
export function parseManifest(text: string): Manifest {
  let value: Record<string, unknown>;
  try {
    value = JSON.parse(text) as Record<string, unknown>;
  } catch {
    throw new ManifestError(
      "The manifest is not JSON. Check the address: it must be that of a manifest.json made by 'strata publish'.",
    );
  }
  if (typeof value !== "object" || value === null || typeof value["format"] !== "number") {
    throw new ManifestError("The manifest has no format number: this is not a manifest made by 'strata publish'.");
  }
  if (value["format"] !== MANIFEST_FORMAT) {
    throw new ManifestError(
      `The manifest has format ${value["format"]}; this program reads format ${MANIFEST_FORMAT}. Update strata.`,
    );
  }
  return {
    format: MANIFEST_FORMAT,
    commit: matching(value, "commit", /^[0-9a-f]{40}$/),
    date: matching(value, "date", /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
    size: size(value, "size"),
    sha256: matching(value, "sha256", SHA256),
    fingerprint: matching(value, "fingerprint", FINGERPRINT),
    index_format: size(value, "index_format"),
    ranges: size(value, "ranges"),
    full: readFile(object(value["full"], "full")),
    deltas: list(value["deltas"]).map((delta) => ({
      from: matching(object(delta, "deltas"), "from", FINGERPRINT),
      ...readFile(object(delta, "deltas")),
    })),
  };
}

const SHA256 = /^[0-9a-f]{64}$/;
const FINGERPRINT = /^[0-9a-f]{16}$/;
/** A plain name: a manifest must not make anyone fetch or write elsewhere. */
const FILE_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,199}$/;

function readFile(value: Record<string, unknown>): PublishedFile {
  return {
    file: matching(value, "file", FILE_NAME),
    size: size(value, "size"),
    sha256: matching(value, "sha256", SHA256),
  };
}

function matching(value: Record<string, unknown>, key: string, rule: RegExp): string {
  const found = value[key];
  if (typeof found !== "string" || !rule.test(found)) {
    throw new ManifestError(`The manifest's "${key}" is ${JSON.stringify(found)}, which cannot be right.`);
  }
  return found;
}

function size(value: Record<string, unknown>, key: string): number {
  const found = value[key];
  if (typeof found !== "number" || !Number.isSafeInteger(found) || found < 0) {
    throw new ManifestError(`The manifest's "${key}" is ${JSON.stringify(found)}; it must be a whole number.`);
  }
  return found;
}

function object(value: unknown, key: string): Record<string, unknown> {
  if (typeof value !== "object" || value === null) {
    throw new ManifestError(`The manifest's "${key}" is missing.`);
  }
  return value as Record<string, unknown>;
}

function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}
