// Compiles the query kernels to services/strata/dist/kernels.wasm. Run by the set-up; `node services/strata/assembly/build.mjs`.
import { mkdir } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import asc from "assemblyscript/asc";

const here = fileURLToPath(new URL(".", import.meta.url));
await mkdir(new URL("../dist/", import.meta.url), { recursive: true });
const { error, stderr } = await asc.main([
  "index.ts",
  "--baseDir",
  here,
  "--outFile",
  "../dist/kernels.wasm",
  "--optimizeLevel",
  "3",
  "--shrinkLevel",
  "0",
  "--noAssert",
  // No garbage collector, no allocator: the host lays the memory out.
  "--runtime",
  "stub",
  "--importMemory",
  "--initialMemory",
  "1",
  "--maximumMemory",
  "65536",
  "--enable",
  "simd",
]);
if (error) {
  console.error(stderr.toString());
  process.exit(1);
}
