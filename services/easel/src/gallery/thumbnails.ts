import { createHash } from "node:crypto";
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import sharp from "sharp";
import { errors } from "../contract/errors.js";
import { MAX_INPUT_PIXELS } from "../contract/limits.js";
import { writeFileAtomically } from "./write-file.js";

const SIDE = 256;

export interface Thumbnails {
  /** `identity` changes when the picture does. */
  get(path: string, identity: string): Promise<{ readonly bytes: Buffer; readonly etag: string }>;
  forget(identity: string): Promise<void>;
}

export function createThumbnails(folder: string): Thumbnails {
  const inWork = new Map<string, Promise<Buffer>>();
  const keyOf = (identity: string) => createHash("sha256").update(identity).digest("hex").slice(0, 32);
  const fileOf = (key: string) => join(folder, `${key}.webp`);

  async function make(path: string, key: string): Promise<Buffer> {
    const bytes = await sharp(path, { limitInputPixels: MAX_INPUT_PIXELS })
      .resize(SIDE, SIDE, { fit: "inside", withoutEnlargement: true })
      .webp({ quality: 80 })
      .toBuffer()
      .catch((cause: unknown) => {
        throw errors.NOT_FOUND("The file cannot be read as a picture.", { cause });
      });
    // A cache that cannot be written costs time, nothing else.
    await writeFileAtomically(fileOf(key), bytes).catch(() => {});
    return bytes;
  }

  return {
    async get(path, identity) {
      const key = keyOf(identity);
      const kept = await readFile(fileOf(key)).catch(() => undefined);
      if (kept) return { bytes: kept, etag: key };
      const work = inWork.get(key) ?? make(path, key).finally(() => inWork.delete(key));
      inWork.set(key, work);
      return { bytes: await work, etag: key };
    },
    forget: (identity) => rm(fileOf(keyOf(identity)), { force: true }).catch(() => {}),
  };
}
