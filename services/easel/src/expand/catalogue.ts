/** Language models that expand prompts, pulled like any model; the first ships with the program. Sizes are the hub's, rounded; a pull asks for the exact ones. */
import { BUILTIN, type CatalogueModel } from "../models/catalogue/catalogue-types.js";

/** Language models draw nothing. */
const NO_PICTURES = { defaults: { width: 0, height: 0, steps: 0, guidance: 0 }, recommendedSizes: [] } as const;

interface LanguageRow {
  readonly name: string;
  readonly aliases?: readonly string[];
  readonly description: string;
  readonly license: string;
  readonly variant: string;
  readonly folder: string;
  readonly repository: string;
  readonly file: string;
  readonly approximateBytes: number;
}

const rows: readonly LanguageRow[] = [
  {
    name: "expander",
    description: "Our own small language model for prompt expansion; ships with easel",
    license: "MIT",
    variant: "q8",
    folder: "expander",
    repository: BUILTIN,
    file: "expander-q8_0.gguf",
    approximateBytes: 8_000_000,
  },
  {
    name: "qwen3-0.6b",
    aliases: ["qwen3"],
    description: "Qwen3 0.6B, a small instruct model for prompt expansion",
    license: "Apache-2.0",
    variant: "q8",
    folder: "language/qwen3-0.6b",
    repository: "Qwen/Qwen3-0.6B-GGUF",
    file: "Qwen3-0.6B-Q8_0.gguf",
    approximateBytes: 639_000_000,
  },
  {
    name: "qwen3-1.7b",
    description: "Qwen3 1.7B, an instruct model for prompt expansion",
    license: "Apache-2.0",
    variant: "q8",
    folder: "language/qwen3-1.7b",
    repository: "Qwen/Qwen3-1.7B-GGUF",
    file: "Qwen3-1.7B-Q8_0.gguf",
    approximateBytes: 1_834_000_000,
  },
  {
    name: "smollm2-1.7b",
    aliases: ["smollm2"],
    description: "SmolLM2 1.7B Instruct, Llama architecture, for prompt expansion",
    license: "Apache-2.0",
    variant: "q4",
    folder: "language/smollm2-1.7b",
    repository: "HuggingFaceTB/SmolLM2-1.7B-Instruct-GGUF",
    file: "smollm2-1.7b-instruct-q4_k_m.gguf",
    approximateBytes: 1_056_000_000,
  },
];

export const languageModels: readonly CatalogueModel[] = rows.map((row) => ({
  name: row.name,
  ...(row.aliases && { aliases: row.aliases }),
  family: "language",
  kind: "language",
  description: row.description,
  license: row.license,
  ...NO_PICTURES,
  recommended: row.variant,
  variants: [
    {
      variant: row.variant,
      entry: row.file,
      main: {
        folder: row.folder,
        repository: row.repository,
        files: [{ path: row.file }],
        approximateBytes: row.approximateBytes,
      },
    },
  ],
}));
