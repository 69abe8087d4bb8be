/** Which file a `lora` field may mean: an adapter under one of the allowed roots, links resolved first. */
import { readdir, realpath, stat } from "node:fs/promises";
import { isAbsolute, join, relative, resolve, sep } from "node:path";
import { errors } from "../contract/errors.js";
import type { AdapterList } from "../contract/models.js";

export interface AdapterFolders {
  /** relative paths are relative to this */
  readonly directory: string;
  /** adapters that ship with the program: found by the same relative paths where the folder has none of that name */
  readonly builtin?: string;
  /** further folders that absolute paths may lie in */
  readonly roots: readonly string[];
}

const SUFFIX = ".safetensors";
/** Folders in folders that the list of adapters goes into. */
const MAX_DEPTH = 4;

export async function resolveAdapter(asked: string, folders: AdapterFolders): Promise<string> {
  const { directory, builtin, roots } = folders;
  const refuse = (rule: string) => errors.VALIDATION_ERROR(`Field 'lora' is '${asked.slice(0, 200)}': ${rule}.`);
  if (asked.trim() === "" || asked.includes("\0")) throw refuse("it must be the path of an adapter file");
  if (!asked.endsWith(SUFFIX)) throw refuse(`it must end in ${SUFFIX}`);
  const own = builtin === undefined ? [directory] : [directory, builtin];
  const allowed = [...own, ...roots].map((root) => resolve(root));
  const candidates = isAbsolute(asked) ? [resolve(asked)] : own.map((folder) => resolve(folder, asked));
  const outside = refuse(
    `it must lie in the adapters folder '${directory}'${roots.length > 0 ? " or another allowed one" : ""}`,
  );
  // Before the disk is asked, so that the answer tells nothing about files elsewhere.
  if (!candidates.every((path) => allowed.some((root) => isInside(path, root)))) throw outside;
  const real = await firstRealPath(candidates);
  if (!real) throw refuse(`there is no such file in '${directory}'`);
  const realRoots = await Promise.all(allowed.map((root) => realpath(root).catch(() => root)));
  if (!realRoots.some((root) => isInside(real, root))) throw outside;
  if (!(await stat(real)).isFile()) throw refuse("it is no file");
  return real;
}

async function firstRealPath(paths: readonly string[]): Promise<string | undefined> {
  for (const path of paths) {
    const real = await realpath(path).catch(() => undefined);
    if (real) return real;
  }
  return undefined;
}

const isInside = (path: string, root: string) => path.startsWith(root.endsWith(sep) ? root : root + sep);

/** Every adapter that `lora` can name by a relative path. */
export async function listAdapters({ directory, builtin }: AdapterFolders): Promise<AdapterList> {
  const adapters: AdapterList["adapters"] = [];
  async function walk(root: string, folder: string, depth: number): Promise<void> {
    const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
    for (const entry of entries) {
      const path = join(folder, entry.name);
      if (entry.isDirectory() && depth < MAX_DEPTH) await walk(root, path, depth + 1);
      if (!entry.name.endsWith(SUFFIX)) continue;
      const info = await stat(path).catch(() => undefined);
      const name = relative(root, path);
      if (info?.isFile() && !adapters.some((other) => other.path === name)) {
        adapters.push({ path: name, size_bytes: info.size });
      }
    }
  }
  await walk(directory, directory, 0);
  if (builtin !== undefined) await walk(builtin, builtin, 0);
  adapters.sort((a, b) => (a.path < b.path ? -1 : 1));
  return { directory, adapters };
}
