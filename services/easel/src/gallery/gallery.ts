/** The folder of saved pictures. It is the truth: nothing about it is remembered that a glance at it could contradict. */
import { constants } from "node:fs";
import { access, lstat, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { errors } from "../contract/errors.js";
import type { GalleryImage, GalleryPage, ImageMetadata } from "../contract/gallery.js";
import type { OutputFormat } from "../contract/generate.js";
import { type ImageFacts, readImageFacts } from "./read-metadata.js";
import { createThumbnails } from "./thumbnails.js";
import { writeFileAtomically } from "./write-file.js";

export interface Gallery {
  /** Undefined when nothing is to be saved. */
  readonly directory: string | undefined;
  /** Saves a picture and returns its name; undefined when the gallery is off. Throws STORAGE_ERROR with the reason. */
  save(picture: NewPicture): Promise<string | undefined>;
  list(page: { readonly limit: number; readonly offset: number }): Promise<GalleryPage>;
  /** Checks that the name is a picture here. `version` changes when the file does. Throws NOT_FOUND. */
  find(name: string): Promise<{ readonly directory: string; readonly name: string; readonly version: string }>;
  thumbnail(name: string): Promise<{ readonly bytes: Buffer; readonly etag: string }>;
  remove(name: string): Promise<void>;
}

interface NewPicture {
  readonly bytes: Uint8Array;
  readonly format: OutputFormat;
  readonly metadata: ImageMetadata;
  readonly index: number;
}

export interface GalleryOptions {
  readonly directory: string | undefined;
  /** thumbnails are kept here */
  readonly cacheDirectory: string;
  readonly now?: () => Date;
}

const EXTENSIONS: Readonly<Record<OutputFormat, string>> = { png: "png", jpeg: "jpg", webp: "webp" };
const PICTURE_NAME = /^[^./\\][^/\\\0]*\.(png|jpe?g|webp)$/i;
const OFF = "Pictures are not saved: SERVICE_OUTPUT_DIR is set to an empty string.";
/** Facts of this many pictures are kept; they are read anew when a file changes. */
const REMEMBERED_FACTS = 2_000;
/** Files looked at together: more would only fill the pool of file threads. */
const STATS_AT_ONCE = 64;

interface Entry {
  readonly name: string;
  readonly size: number;
  readonly modifiedMs: number;
}

export function createGallery({ directory, cacheDirectory, now = () => new Date() }: GalleryOptions): Gallery {
  const facts = new Map<string, ImageFacts | null>();
  const thumbnails = createThumbnails(join(cacheDirectory, "thumbnails"));

  async function lookAt(name: string): Promise<Entry> {
    if (directory === undefined) throw errors.NOT_FOUND(OFF);
    const info = PICTURE_NAME.test(name) ? await lstat(join(directory, name)).catch(() => undefined) : undefined;
    if (!info?.isFile()) throw errors.NOT_FOUND(`There is no picture '${name.slice(0, 100)}' in the gallery.`);
    return { name, size: info.size, modifiedMs: info.mtimeMs };
  }

  async function describe(folder: string, entry: Entry): Promise<GalleryImage | undefined> {
    const key = `${entry.name}\0${entry.size}\0${entry.modifiedMs}`;
    let known = facts.get(key);
    if (known === undefined) {
      known = await readImageFacts(join(folder, entry.name)).catch(() => null);
      facts.set(key, known);
      if (facts.size > REMEMBERED_FACTS) facts.delete(facts.keys().next().value!);
    }
    if (!known) return undefined;
    const created_at = new Date(entry.modifiedMs).toISOString();
    return { name: entry.name, size_bytes: entry.size, created_at, ...known };
  }

  return {
    directory,

    async save({ bytes, format, metadata, index }) {
      if (directory === undefined) return undefined;
      const name = `${stamp(now())}-${slug(metadata.model)}-${metadata.seed}-${index}.${EXTENSIONS[format]}`;
      try {
        await writeFileAtomically(join(directory, name), bytes);
      } catch (error) {
        throw errors.STORAGE_ERROR(`The picture was not saved: ${explain(error, directory)}`, { cause: error });
      }
      return name;
    },

    async list({ limit, offset }) {
      if (directory === undefined) {
        return { enabled: false, reason: OFF, directory: null, total: 0, limit, offset, images: [] };
      }
      const { entries, reason } = await listEntries(directory);
      const page = await Promise.all(entries.slice(offset, offset + limit).map((entry) => describe(directory, entry)));
      const images = page.filter((image) => image !== undefined);
      return { enabled: true, reason, directory, total: entries.length, limit, offset, images };
    },

    async find(name) {
      const { size, modifiedMs } = await lookAt(name);
      return { directory: directory!, name, version: `${size.toString(16)}-${Math.round(modifiedMs).toString(16)}` };
    },

    async thumbnail(name) {
      const { size, modifiedMs } = await lookAt(name);
      return thumbnails.get(join(directory!, name), `${name}\0${size}\0${modifiedMs}`);
    },

    async remove(name) {
      const { size, modifiedMs } = await lookAt(name);
      try {
        await rm(join(directory!, name));
      } catch (error) {
        throw errors.STORAGE_ERROR(`'${name}' was not deleted: ${explain(error, directory!)}`, { cause: error });
      }
      await thumbnails.forget(`${name}\0${size}\0${modifiedMs}`);
    },
  };
}

async function listEntries(directory: string): Promise<{ entries: Entry[]; reason: string | null }> {
  let names: string[];
  try {
    names = (await readdir(directory)).filter((name) => PICTURE_NAME.test(name));
  } catch (error) {
    // No folder yet is the state before the first picture.
    const missing = (error as NodeJS.ErrnoException).code === "ENOENT";
    return { entries: [], reason: missing ? null : explain(error, directory) };
  }
  const entries: Entry[] = [];
  for (let at = 0; at < names.length; at += STATS_AT_ONCE) {
    const group = names.slice(at, at + STATS_AT_ONCE);
    const infos = await Promise.all(group.map((name) => lstat(join(directory, name)).catch(() => undefined)));
    infos.forEach((info, i) => {
      if (info?.isFile()) entries.push({ name: group[i]!, size: info.size, modifiedMs: info.mtimeMs });
    });
  }
  entries.sort((a, b) => b.modifiedMs - a.modifiedMs || (a.name < b.name ? 1 : -1));
  const writable = await access(directory, constants.W_OK).then(
    () => null,
    (error: unknown) => explain(error, directory),
  );
  return { entries, reason: writable };
}

const REASONS: Readonly<Record<string, string>> = {
  ENOSPC: "the disk is full",
  EDQUOT: "the disk quota is used up",
  EROFS: "the file system is read-only",
  EACCES: "this user may not write there",
  EPERM: "this user may not write there",
  ENOTDIR: "a part of the path is a file, not a folder",
};

function explain(error: unknown, directory: string): string {
  const { code = "", message } = error as NodeJS.ErrnoException;
  return `${REASONS[code] ?? message} (folder '${directory}').`;
}

const stamp = (date: Date) =>
  date.toISOString().replace(/[-:]/g, "").replace("T", "-").replace(".", "-").replace("Z", "");
const slug = (model: string) => model.replace(/[^A-Za-z0-9._-]+/g, "-").slice(0, 80);
