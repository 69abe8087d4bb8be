import { startProgram } from "@kit/command-line";
import { commands } from "./commands/command-table.js";
import { TEMPLATES_TABLE } from "./expand/settings.js";
import { readBuildInfo } from "./http/build-info.js";

await startProgram({
  name: "easel",
  version: readBuildInfo().version,
  summary: "draw pictures from words, here or on a server",
  commands,
  openTables: [TEMPLATES_TABLE],
});
