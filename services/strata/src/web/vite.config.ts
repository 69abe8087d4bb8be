import { fileURLToPath } from "node:url";
import preact from "@preact/preset-vite";
import { defineConfig } from "vite";

export default defineConfig({
  root: fileURLToPath(new URL(".", import.meta.url)),
  plugins: [preact()],
  resolve: { conditions: ["@kit/source", "browser", "module", "import", "default"] },
  // Nothing is inlined as a data address: a strict content policy in front of the server keeps working.
  build: { outDir: "../../dist-web", emptyOutDir: true, target: "es2022", assetsInlineLimit: 0 },
});
