/**
 * Property tests draw the same values in every run, so that a red run means that a change broke something. Other values: PROPERTY_SEED=NUMBER npm test.
 */
import fc from "fast-check";

const DEFAULT_SEED = 1333464300;

fc.configureGlobal({ seed: Number(process.env["PROPERTY_SEED"] ?? DEFAULT_SEED) });
