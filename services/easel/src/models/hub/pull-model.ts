/** Brings all files of a model: planned from the hub's own list, checked against the disk's free space, several at a time. */
import { mkdir, stat, statfs } from "node:fs/promises";
import { join } from "node:path";
import { errors } from "../../contract/errors.js";
import type { PullProgress } from "../../contract/models.js";
import { BUILTIN, type CatalogueFile } from "../catalogue/catalogue-types.js";
import type { KnownModel } from "../known-model.js";
import { partsOf } from "../model-store.js";
import { partialPath } from "./download-file.js";
import { type Hub, type HubFile, TransientHubError } from "./hub-client.js";
import type { SharedDownloads } from "./shared-downloads.js";

export interface PullOptions {
  readonly hub: Hub;
  readonly downloads: SharedDownloads;
  readonly modelsFolder: string;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: PullProgress) => void;
}

interface PlannedFile {
  readonly repository: string;
  readonly path: string;
  readonly target: string;
  readonly expected: HubFile;
  readonly done: boolean;
}

/** More connections than this bring nothing on any line we know, and hubs dislike it. */
const PARALLEL_FILES = 4;
/** A disk filled to the last byte breaks other programs. */
const SPARE_BYTES = 64 * 2 ** 20;
/** Progress events of one file are at least this far apart. */
const PROGRESS_EVERY_MS = 100;

export async function pullModel(model: KnownModel, options: PullOptions): Promise<void> {
  if (model.downloaded) return;
  if (!model.catalogued || model.source === BUILTIN) {
    throw errors.VALIDATION_ERROR(`model '${model.name}' is not on a hub: there is nothing to pull.`);
  }
  const files = await planFiles(model, options);
  await checkSpace(files, options.modelsFolder);
  const queue = files.map((file, index) => ({ file, index: index + 1 }));
  const stop = new AbortController();
  const signal = AbortSignal.any([options.signal, stop.signal]);
  const work = async () => {
    for (let next = queue.shift(); next; next = queue.shift())
      await pullFile(next.file, next.index, files.length, signal, options);
  };
  try {
    await Promise.all(Array.from({ length: PARALLEL_FILES }, work));
  } catch (error) {
    // The first failure ends the other files; what they have stays for the next pull.
    stop.abort(error);
    throw error;
  }
}

async function planFiles(model: KnownModel, { hub, modelsFolder, signal }: PullOptions): Promise<PlannedFile[]> {
  const planned: PlannedFile[] = [];
  for (const part of partsOf(model.catalogued!)) {
    const listed = await listFiles(hub, part.repository, signal);
    for (const file of part.files) {
      const expected = checkAgainstCatalogue(file, listed.get(file.path), part.repository);
      const target = join(modelsFolder, part.folder, file.saveAs ?? file.path);
      const size = (await stat(target).catch(() => undefined))?.size;
      planned.push({ repository: part.repository, path: file.path, target, expected, done: size === expected.size });
    }
  }
  return planned;
}

async function listFiles(hub: Hub, repository: string, signal: AbortSignal) {
  try {
    return await hub.listFiles(repository, signal);
  } catch (error) {
    if (error instanceof TransientHubError)
      throw errors.HUB_ERROR(`The list of files cannot be had: ${error.message}.`);
    throw error;
  }
}

function checkAgainstCatalogue(file: CatalogueFile, listed: HubFile | undefined, repository: string): HubFile {
  if (!listed) throw errors.HUB_ERROR(`The hub's '${repository}' has no file '${file.path}'.`);
  const otherHash = file.sha256 && listed.sha256 && file.sha256 !== listed.sha256;
  if (otherHash || (file.size !== undefined && file.size !== listed.size)) {
    throw errors.HUB_ERROR(`'${file.path}' of '${repository}' is not the file the catalogue knows; it is not pulled.`);
  }
  return file.sha256 ? { size: listed.size, sha256: file.sha256 } : listed;
}

async function checkSpace(files: readonly PlannedFile[], modelsFolder: string): Promise<void> {
  await mkdir(modelsFolder, { recursive: true }).catch((error: Error) => {
    throw errors.STORAGE_ERROR(`The models folder '${modelsFolder}' cannot be made: ${error.message}`);
  });
  let needed = 0;
  for (const { done, target, expected } of files) {
    if (done) continue;
    const have = (await stat(partialPath(target, expected)).catch(() => undefined))?.size ?? 0;
    needed += Math.max(0, expected.size - have);
  }
  const disk = await statfs(modelsFolder);
  const free = disk.bavail * disk.bsize;
  if (needed + SPARE_BYTES > free) {
    throw errors.INSUFFICIENT_STORAGE(
      `The pull needs ${megabytes(needed)} MB in '${modelsFolder}' but only ${megabytes(free)} MB are free.`,
    );
  }
}

const megabytes = (bytes: number) => Math.ceil(bytes / 1e6).toLocaleString("en-US");

async function pullFile(
  file: PlannedFile,
  index: number,
  count: number,
  signal: AbortSignal,
  { downloads, hub, onProgress }: PullOptions,
): Promise<void> {
  let last = 0;
  const tell = (bytes: number) => {
    const now = Date.now();
    if (now - last < PROGRESS_EVERY_MS && bytes < file.expected.size) return;
    last = now;
    onProgress({
      type: "download_progress",
      filename: file.path,
      file_index: index,
      total_files: count,
      bytes_downloaded: bytes,
      bytes_total: file.expected.size,
    });
  };
  if (file.done) tell(file.expected.size);
  else await downloads.fetch({ ...file, hub }, signal, tell);
}
