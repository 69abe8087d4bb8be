import type { Command } from "@kit/command-line";
import { historyCommand } from "./history.js";
import { infoCommand } from "./info.js";
import { ingestCommand } from "./ingest.js";
import { keygenCommand } from "./keygen.js";
import { publishCommand } from "./publish.js";
import { searchCommand } from "./search.js";
import { serveCommand } from "./serve.js";
import { statsCommand } from "./stats.js";
import { syncCommand } from "./sync.js";

/** Every command of the program, in the order of its help: one file each. */
export const commands: readonly Command[] = [
  searchCommand,
  infoCommand,
  historyCommand,
  statsCommand,
  serveCommand,
  syncCommand,
  ingestCommand,
  publishCommand,
  keygenCommand,
];
