/** What the catalogue says of a model. Plain data: nothing here looks at the disk or the network. */
import type { TrainedSizes } from "@kit/diffusion";
import type { ModelDefaults } from "../../contract/models.js";

export interface CatalogueModel {
  /** the part of the name before the colon */
  readonly name: string;
  /** other names people know it by */
  readonly aliases?: readonly string[];
  readonly family: string;
  /** only `image` models draw; the others are parts and helpers that are pulled the same way */
  readonly kind: "image" | "autoencoder" | "language" | "tokenizer";
  readonly description: string;
  readonly license: string;
  readonly defaults: ModelDefaults;
  readonly recommendedSizes: readonly (readonly [width: number, height: number])[];
  /** variant that a bare name means when none is downloaded */
  readonly recommended: string;
  readonly variants: readonly CatalogueVariant[];
}

export interface CatalogueVariant {
  readonly variant: string;
  readonly main: CataloguePart;
  /** a single-file model: the file inside the part's folder; otherwise the folder itself is the model */
  readonly entry?: string;
  readonly autoencoder?: CataloguePart;
  /** what single files leave out */
  readonly tokenizer?: CataloguePart;
  readonly adapters?: readonly CatalogueAdapter[];
  readonly quantisation?: "q8" | "q4";
  readonly scheduler?: Readonly<Record<string, unknown>>;
  readonly clipSkip?: number;
  readonly nativeArea?: number;
  readonly trainedSizes?: TrainedSizes;
  readonly defaults?: Partial<ModelDefaults>;
}

interface CatalogueAdapter {
  readonly part: CataloguePart;
  readonly file: string;
  readonly scale: number;
}

/** Files of one hub repository that are kept together. Variants that name the same folder share its files. */
export interface CataloguePart {
  /** under the models folder; for what ships with the program, under its own models folder */
  readonly folder: string;
  /** `owner/name` on the hub, or `builtin` */
  readonly repository: string;
  readonly files: readonly CatalogueFile[];
  /** sum over the files as far as it is known from their parameter counts; a pull asks the hub */
  readonly approximateBytes: number;
}

export interface CatalogueFile {
  /** path in the repository */
  readonly path: string;
  /** path in the folder, if another */
  readonly saveAs?: string;
  readonly size?: number;
  readonly sha256?: string;
}

export const BUILTIN = "builtin";
