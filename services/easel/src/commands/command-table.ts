/** Every command of the program, in the order that its help shows. One file each; to add one, name it here. */
import type { Command } from "@kit/command-line";
import { againCommand } from "./again.js";
import { expandCommand } from "./expand.js";
import { galleryCommand } from "./gallery.js";
import { modelsCommand } from "./models.js";
import { runCommand } from "./run.js";
import { serveCommand } from "./serve.js";
import { psCommand, statusCommand } from "./status.js";
import { tuiCommand } from "./tui.js";

export const commands: readonly Command[] = [
  runCommand,
  serveCommand,
  tuiCommand,
  modelsCommand,
  expandCommand,
  galleryCommand,
  againCommand,
  psCommand,
  statusCommand,
];
