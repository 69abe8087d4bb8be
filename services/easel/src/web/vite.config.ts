import { fileURLToPath } from "node:url";
import preact from "@preact/preset-vite";
import { defineConfig } from "vite";

export default defineConfig({
  root: fileURLToPath(new URL(".", import.meta.url)),
  plugins: [preact()],
  resolve: { conditions: ["@kit/source", "browser", "module", "import", "default"] },
  build: { outDir: "../../dist-web", emptyOutDir: true, target: "es2022", assetsInlineLimit: 0 },
});
