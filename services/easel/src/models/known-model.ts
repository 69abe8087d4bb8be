import type { ModelDefaults } from "../contract/models.js";
import type { ModelFiles } from "../engine/engine-api.js";
import type { CatalogueModel, CatalogueVariant } from "./catalogue/catalogue-types.js";

/** One row of the list of models: a variant of the catalogue, or something the user added. */
export interface KnownModel {
  /** canonical `<name>:<variant>` */
  readonly name: string;
  readonly base: string;
  readonly variant: string;
  readonly aliases: readonly string[];
  /** what the bare name means when no variant is downloaded */
  readonly recommended: boolean;
  readonly family: string;
  readonly kind: CatalogueModel["kind"];
  readonly description: string;
  readonly license: string;
  /** `builtin`, `local`, or the hub repository */
  readonly source: string;
  readonly defaults: ModelDefaults;
  readonly recommendedSizes: CatalogueModel["recommendedSizes"];
  readonly downloaded: boolean;
  readonly sizeBytes: number;
  /** where the files lie, or will lie once pulled */
  readonly files: ModelFiles;
  readonly catalogued?: CatalogueVariant;
}
