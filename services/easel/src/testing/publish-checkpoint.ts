import { readdir, readFile } from "node:fs/promises";
import { join, relative } from "node:path";
import type { TestHub } from "./start-hub.js";

/** Puts a local checkpoint on the hub under the names a half-precision repository has. */
export async function publishCheckpoint(hub: TestHub, repository: string, folder: string): Promise<void> {
  const files: Record<string, Buffer> = { "tokenizer/special_tokens_map.json": Buffer.from("{}") };
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    files[relative(folder, path).replace(/\.safetensors$/, ".fp16.safetensors")] = await readFile(path);
  }
  hub.add(repository, files);
}
