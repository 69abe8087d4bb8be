import { CommandError, defineCommand, text } from "@kit/command-line";
import { modelsDirSetting, modelsFolderOf } from "./storage-settings.js";

/** Works on this machine's models folder, which a server running here reads at each request: no restart is needed. */
export const modelsAddCommand = defineCommand({
  name: "add",
  summary: "add a model that lies on this machine: a diffusers folder, a .safetensors or a .gguf file",
  arguments: [{ name: "path", doc: "the folder or file; it stays where it is" }],
  settings: {
    name: text({ flag: "--name <name>", doc: "name to use it by", default: undefined, defaultText: "the file's name" }),
    modelsDir: modelsDirSetting,
  },
  run: async ({ args, settings, folders, output }) => {
    const { addLocalModel } = await import("../models/local-models.js");
    const folder = modelsFolderOf(settings.modelsDir, folders);
    const model = await addLocalModel(
      folder,
      args.path,
      settings.name === undefined ? {} : { name: settings.name },
    ).catch((error: Error) => {
      throw new CommandError("failed", error.message, { cause: error });
    });
    if (output.mode === "json") output.json({ model: model.name, path: model.files.path });
    else output.line(`${model.name} added: easel run -m ${model.base} "..."`);
  },
});
