/** Which file a `lora` field may mean: an adapter under one of the allowed roots, links resolved first. */
import { readdir, realpath, stat } from "node:fs/promises";
import { isAbsolute, join, relative, resolve, sep } from "node:path";
import { errors } from "../contract/errors.js";
import type { AdapterList } from "../contract/models.js";

export interface AdapterFolders {
  /** relative paths are relative to this */
  readonly directory: string;
  /** further folders that absolute paths may lie in */
  readonly roots: readonly string[];
}

const SUFFIX = ".safetensors";
/** Folders in folders that the list of adapters goes into. */
const MAX_DEPTH = 4;

export async function resolveAdapter(asked: string, { directory, roots }: AdapterFolders): Promise<string> {
  const refuse = (rule: string) => errors.VALIDATION_ERROR(`Field 'lora' is '${asked.slice(0, 200)}': ${rule}.`);
  if (asked.trim() === "" || asked.includes("\0")) throw refuse("it must be the path of an adapter file");
  if (!asked.endsWith(SUFFIX)) throw refuse(`it must end in ${SUFFIX}`);
  const outside = refuse(
    `it must lie in the adapters folder '${directory}'${roots.length > 0 ? " or another allowed one" : ""}`,
  );
  const path = isAbsolute(asked) ? resolve(asked) : resolve(directory, asked);
  const allowed = [directory, ...roots].map((root) => resolve(root));
  // Before the disk is asked, so that the answer tells nothing about files elsewhere.
  if (!allowed.some((root) => isInside(path, root))) throw outside;
  const real = await realpath(path).catch(() => undefined);
  if (!real) throw refuse(`there is no such file in '${directory}'`);
  const realRoots = await Promise.all(allowed.map((root) => realpath(root).catch(() => root)));
  if (!realRoots.some((root) => isInside(real, root))) throw outside;
  if (!(await stat(real)).isFile()) throw refuse("it is no file");
  return real;
}

const isInside = (path: string, root: string) => path.startsWith(root.endsWith(sep) ? root : root + sep);

/** Every adapter in the folder, by the path that `lora` takes. */
export async function listAdapters({ directory }: AdapterFolders): Promise<AdapterList> {
  const adapters: AdapterList["adapters"] = [];
  async function walk(folder: string, depth: number): Promise<void> {
    const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
    for (const entry of entries) {
      const path = join(folder, entry.name);
      if (entry.isDirectory() && depth < MAX_DEPTH) await walk(path, depth + 1);
      if (!entry.name.endsWith(SUFFIX)) continue;
      const info = await stat(path).catch(() => undefined);
      if (info?.isFile()) adapters.push({ path: relative(directory, path), size_bytes: info.size });
    }
  }
  await walk(directory, 0);
  adapters.sort((a, b) => (a.path < b.path ? -1 : 1));
  return { directory, adapters };
}
