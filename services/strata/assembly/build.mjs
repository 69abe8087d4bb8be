// Compiles the query kernels to services/strata/dist/kernels.wasm and the package list scanner to scan.wasm. Run by the set-up; `node services/strata/assembly/build.mjs`.
import { mkdir } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import asc from "assemblyscript/asc";
import { ASSEMBLY_OPTIONS } from "../../../scripts/assembly-options.mjs";

const here = fileURLToPath(new URL(".", import.meta.url));
await mkdir(new URL("../dist/", import.meta.url), { recursive: true });
for (const [source, result] of [
  ["index.ts", "kernels.wasm"],
  ["scan.ts", "scan.wasm"],
]) {
  await compile(source, result);
}

async function compile(source, result) {
  const { error, stderr } = await asc.main([
    source,
    "--baseDir",
    here,
    "--outFile",
    `../dist/${result}`,
    ...ASSEMBLY_OPTIONS,
  ]);
  if (error) {
    console.error(stderr.toString());
    process.exit(1);
  }
}
