import { join } from "node:path";
import { type Folders, text } from "@kit/command-line";

/** Where models are kept; the server and the commands that work on its folder read the same row. */
export const modelsDirSetting = text({
  flag: "--models-dir <folder>",
  env: "SERVICE_MODELS_DIR",
  key: "models_dir",
  doc: "where models are kept",
  default: undefined,
  defaultText: "models in the user's data folder",
});

export const modelsFolderOf = (given: string | undefined, folders: Folders): string =>
  given ?? join(folders.data, "models");
