/** Every model easel knows by name, one file a family. To add one, write its data beside these and name it here. */
import type { CatalogueModel } from "./catalogue-types.js";
import { doodle } from "./doodle.js";
import { dreamshaper } from "./dreamshaper.js";
import { sdTurbo } from "./sd-turbo.js";
import { sd15 } from "./sd15.js";
import { sd21 } from "./sd21.js";
import { sdxl } from "./sdxl.js";
import { sdxlTurbo } from "./sdxl-turbo.js";
import { separateParts } from "./separate-parts.js";

export const catalogue: readonly CatalogueModel[] = [
  ...doodle,
  ...sd15,
  ...sd21,
  ...sdTurbo,
  ...sdxl,
  ...sdxlTurbo,
  ...dreamshaper,
  ...separateParts,
];
