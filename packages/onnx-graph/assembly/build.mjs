// Compiles the kernels that prepare weights to packages/onnx-graph/dist/*.wasm. Run by the set-up; `node packages/onnx-graph/assembly/build.mjs`.
import { mkdir } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import asc from "assemblyscript/asc";
import { ASSEMBLY_OPTIONS } from "../../../scripts/assembly-options.mjs";

await mkdir(new URL("../dist/", import.meta.url), { recursive: true });
for (const name of ["block-filters", "fold-corners", "round-weights"]) await compile(name);

async function compile(name) {
  const { error, stderr } = await asc.main([
    `${name}.ts`,
    "--baseDir",
    fileURLToPath(new URL(".", import.meta.url)),
    "--outFile",
    `../dist/${name}.wasm`,
    ...ASSEMBLY_OPTIONS,
  ]);
  if (error) {
    console.error(stderr.toString());
    process.exit(1);
  }
}
