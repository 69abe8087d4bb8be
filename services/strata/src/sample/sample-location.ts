import { fileURLToPath } from "node:url";

/** Where the build puts the sample: the same file, seen from src/sample and from dist/sample. */
export const SAMPLE_PATH = fileURLToPath(new URL("../../dist/sample/sample.strata", import.meta.url));

/** What to tell whoever is served the sample. */
export const SAMPLE_REMEDY =
  "Get a real index with 'strata sync --manifest URL --public-key KEY', or make one with 'strata ingest channel URL'.";
