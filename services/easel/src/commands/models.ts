import { CommandError, defineCommand, formatBytes, formatDuration, text, toggle } from "@kit/command-line";
import { type ClientConnection, type ConnectionContext, withClient } from "../client/open-client.js";
import type { ModelRow } from "../contract/models.js";
import { completeModelNames } from "./complete-model-names.js";
import { connectionSettings } from "./connection-settings.js";
import { modelsAddCommand } from "./models-add.js";

const modelArgument = { name: "model", doc: "<name> or <name>:<variant>", complete: completeModelNames } as const;

const listCommand = defineCommand({
  name: "list",
  summary: "list every model",
  settings: {
    downloaded: toggle({ flag: "-d, --downloaded", doc: "only those on this server", default: false }),
    filter: text({
      flag: "-f, --filter <text>",
      doc: "only names, families and descriptions that contain this",
      default: undefined,
    }),
    ...connectionSettings,
  },
  run: async (context) =>
    withClient(context, async (client) => {
      const wanted = context.settings.filter?.toLowerCase();
      const rows = (await client.listModels(context.signal)).filter(
        (row) =>
          (!context.settings.downloaded || row.downloaded) &&
          (wanted === undefined || `${row.name} ${row.family} ${row.description}`.toLowerCase().includes(wanted)),
      );
      context.output.table<ModelRow>(
        [
          {
            title: "MODEL",
            value: (row) => row.name,
            style: (paint, row) => (row.downloaded ? paint.bold : paint.dim),
          },
          { title: "STATE", value: stateOf, style: (paint, row) => (row.loaded ? paint.green : (cell) => cell) },
          { title: "SIZE", value: (row) => (row.size_bytes > 0 ? formatBytes(row.size_bytes) : "?"), align: "right" },
          { title: "PIXELS", value: (row) => `${row.defaults.width}x${row.defaults.height}` },
          { title: "STEPS", value: (row) => row.defaults.steps, align: "right" },
          { title: "LICENSE", value: (row) => row.license, flexible: true },
          { title: "DESCRIPTION", value: (row) => row.description, flexible: true },
        ],
        rows,
      );
    }),
});

function stateOf(row: ModelRow): string {
  const state = row.loaded ? "loaded" : row.downloaded ? "ready" : "to pull";
  return row.default ? `${state}, default` : state;
}

const infoCommand = defineCommand({
  name: "info",
  summary: "show one model: defaults, sizes, files, licence",
  arguments: [modelArgument],
  settings: connectionSettings,
  run: async (context) =>
    withClient(context, async (client) => {
      const model = await client.describeModel(context.args.model);
      if (context.output.mode === "json") return context.output.json(model);
      context.output.fields([
        ["name", model.name],
        ["family", model.family],
        ["description", model.description],
        ["licence", model.license],
        ["source", model.source],
        ["state", stateOf(model)],
        ["path", model.path],
        ["size", model.size_bytes > 0 ? formatBytes(model.size_bytes) : null],
        ["pixels", `${model.defaults.width}x${model.defaults.height}`],
        ["also", model.recommended_sizes.map((size) => `${size.width}x${size.height}`).join(", ")],
        ["steps", model.defaults.steps],
        ["guidance", model.defaults.guidance],
        ["negative", model.negative_prompt ? "has an effect" : "has no effect at the default guidance"],
      ]);
      for (const file of model.files)
        context.output.line(`  ${file.path}${file.size_bytes === null ? "" : `  ${formatBytes(file.size_bytes)}`}`);
    }),
});

const pullCommand = defineCommand({
  name: "pull",
  summary: "download a model; goes on where an earlier try stopped",
  arguments: [modelArgument],
  settings: connectionSettings,
  run: async (context) =>
    withClient(context, async (client) => {
      const progress = context.progress();
      let pulled = context.args.model;
      try {
        await client.pullModel(context.args.model, {
          signal: context.signal,
          onProgress: (event) => {
            if (event.type === "pull_complete") pulled = event.model;
            else {
              progress.update({
                label: `${event.filename} (${event.file_index}/${event.total_files})`,
                done: event.bytes_downloaded,
                total: event.bytes_total,
                detail: `${formatBytes(event.bytes_downloaded)} of ${formatBytes(event.bytes_total)}`,
              });
            }
          },
        });
      } finally {
        progress.finish();
      }
      if (context.output.mode === "json") context.output.json({ model: pulled });
      else context.output.line(`${pulled} is ready`);
    }),
});

const removeCommand = defineCommand({
  name: "rm",
  summary: "delete a pulled model's files, or forget an added one",
  arguments: [modelArgument],
  settings: connectionSettings,
  run: async (context) =>
    withClient(context, async (client) => {
      const answer = await client.removeModel(context.args.model);
      if (context.output.mode === "json") context.output.json(answer);
      else context.output.line(`${answer.removed} removed, ${formatBytes(answer.freed_bytes)} freed`);
    }),
});

const loadCommand = defineCommand({
  name: "load",
  summary: "load a model into the server's memory",
  arguments: [modelArgument],
  settings: connectionSettings,
  run: async (context) =>
    withServer(context, async (client) => {
      const answer = await client.loadModel(context.args.model, context.signal);
      if (context.output.mode === "json") context.output.json(answer);
      else context.output.line(`${answer.model} loaded in ${formatDuration(answer.load_time_ms)}`);
    }),
});

const unloadCommand = defineCommand({
  name: "unload",
  summary: "free the memory of what is loaded",
  settings: connectionSettings,
  run: async (context) =>
    withServer(context, async (client) => {
      const unloaded = await client.unloadModels();
      if (context.output.mode === "json") context.output.json({ unloaded });
      else context.output.line(unloaded.length === 0 ? "nothing was loaded" : `unloaded ${unloaded.join(", ")}`);
    }),
});

/** Loading into an engine that ends with this command would be work for nothing: these need a running server. */
async function withServer(context: ConnectionContext, use: (client: ClientConnection) => Promise<void>): Promise<void> {
  await withClient(context, (client) => {
    if (!client.inPlace) return use(client);
    throw new CommandError("unreachable", "no server is running", {
      remedy: "Start one with 'easel serve', or name one with --server URL.",
    });
  });
}

export const modelsCommand = defineCommand({
  name: "models",
  summary: "list, pull, remove, load, unload and add models",
  subcommands: [listCommand, infoCommand, pullCommand, removeCommand, loadCommand, unloadCommand, modelsAddCommand],
});
