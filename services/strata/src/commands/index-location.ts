import { join } from "node:path";
import { type Folders, text } from "@kit/command-line";

/** Where the index is, for every command that reads or writes it. */
export const indexSetting = text({
  flag: "--index <file>",
  env: "STRATA_INDEX",
  key: "index",
  doc: "the index file",
  default: undefined,
  defaultText: "index.strata in the user's data folder",
});

export function indexPath(given: string | undefined, folders: Pick<Folders, "data">): string {
  return given ?? join(folders.data, "index.strata");
}
