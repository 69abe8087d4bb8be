import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";

/**
 * Packs the built program and its libraries into a few files: loading eight hundred small modules one by one takes longer
 * than opening the index. The files lie two folders deep, as every module of dist/ does, so that paths relative to a
 * module (`../../dist/kernels.wasm`) stay right.
 */
export default defineConfig({
  root: fileURLToPath(new URL(".", import.meta.url)),
  publicDir: false,
  // Found through its package when the documentation page is first asked for; it is not code of the server.
  ssr: { noExternal: true, external: ["@scalar/fastify-api-reference"] },
  build: {
    ssr: "dist/main.js",
    outDir: "dist/program",
    emptyOutDir: true,
    target: "node20",
    rolldownOptions: {
      output: {
        entryFileNames: "strata.js",
        chunkFileNames: "[name].js",
        // Names stay as they are: a stack trace must still say where.
        minify: { compress: false, mangle: false, codegen: { removeWhitespace: true } },
      },
    },
  },
});
