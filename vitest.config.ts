import { defineConfig } from "vitest/config";

// Tests import the packages' sources (the "@kit/source" condition of each package.json); programs that tests start run the build in dist/.
const conditions = ["@kit/source", "node", "import", "default"];

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions, externalConditions: conditions } },
  test: {
    include: ["packages/**/*.test.{ts,tsx}", "services/**/*.test.{ts,tsx}"],
    exclude: ["**/node_modules/**", "**/dist/**", "**/dist-web/**"],
    setupFiles: ["scripts/fix-property-seed.ts"],
    // Real servers, child processes and models are started: slow machines need room, hangs must still end.
    testTimeout: 60_000,
    hookTimeout: 120_000,
    // What is waited for comes soon or not at all; a second, the default, is not enough on a machine that stalls.
    expect: { poll: { timeout: 30_000, interval: 50 } },
    pool: "forks",
    maxWorkers: 2,
  },
});
