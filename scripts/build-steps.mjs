// What set-up builds, in order. A step is skipped while the files it reads are the ones it last succeeded with.

/**
 * @typedef {object} BuildStep
 * @property {string} name
 * @property {string[]} inputs folders and files, from the repository root, whose contents decide whether the step runs again
 * @property {string[]} outputs files that must exist for the step to be skipped
 * @property {string[]} command
 */

/** @type {BuildStep[]} */
export const buildSteps = [
  {
    name: "TypeScript",
    inputs: [
      "tsconfig.json",
      "tsconfig.base.json",
      "packages/*/tsconfig.json",
      "services/*/tsconfig.json",
      "packages/*/src",
      "services/*/src",
    ],
    outputs: ["services/strata/dist/main.js", "services/easel/dist/main.js"],
    command: ["node_modules/.bin/tsc", "-b"],
  },
  {
    name: "the engine's weight kernels",
    inputs: ["packages/onnx-graph/assembly", "scripts/assembly-options.mjs"],
    outputs: ["block-filters", "fold-corners", "round-weights"].map((name) => `packages/onnx-graph/dist/${name}.wasm`),
    command: ["node", "packages/onnx-graph/assembly/build.mjs"],
  },
  {
    name: "strata's program",
    inputs: [
      "services/strata/vite.config.ts",
      "services/strata/src",
      "packages/http-kernel/src",
      "packages/command-line/src",
      "packages/near-names/src",
    ],
    outputs: ["services/strata/dist/program/strata.js"],
    command: ["node_modules/.bin/vite", "build", "--logLevel", "warn", "-c", "services/strata/vite.config.ts"],
  },
  {
    name: "strata's query kernels",
    inputs: ["services/strata/assembly", "scripts/assembly-options.mjs"],
    outputs: ["services/strata/dist/kernels.wasm", "services/strata/dist/scan.wasm"],
    command: ["node", "services/strata/assembly/build.mjs"],
  },
  {
    name: "strata's sample index",
    inputs: ["services/strata/src/sample", "services/strata/src/store"],
    outputs: ["services/strata/dist/sample/sample.strata"],
    command: ["node", "services/strata/dist/sample/build-sample.js"],
  },
  {
    name: "strata's page",
    inputs: ["services/strata/src/web", "services/strata/src/contract"],
    outputs: ["services/strata/dist-web/index.html"],
    command: ["node_modules/.bin/vite", "build", "--logLevel", "warn", "-c", "services/strata/src/web/vite.config.ts"],
  },
  {
    name: "easel's page",
    inputs: ["services/easel/src/web", "services/easel/src/contract"],
    outputs: ["services/easel/dist-web/index.html"],
    command: ["node_modules/.bin/vite", "build", "--logLevel", "warn", "-c", "services/easel/src/web/vite.config.ts"],
  },
];
