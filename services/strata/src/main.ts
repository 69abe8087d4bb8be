import { startProgram } from "@kit/command-line";
import { commands } from "./commands/command-table.js";
import { programVersion } from "./commands/program-version.js";

await startProgram({
  name: "strata",
  version: programVersion(),
  summary: "find any version of any package in nixpkgs, and the commit that has it",
  commands,
});
