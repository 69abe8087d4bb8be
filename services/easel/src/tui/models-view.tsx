import { formatBytes } from "@kit/command-line";
import { Box, Text } from "ink";
import { useRef, useState } from "react";
import type { EaselClient } from "../client/easel-client.js";
import type { ModelRow } from "../contract/models.js";
import { Confirm } from "./confirm.js";
import { clampIndex, listWindow } from "./list-window.js";
import { TextField } from "./text-field.js";
import { useKeys } from "./use-keys.js";
import type { Screen } from "./use-screen.js";

interface Props {
  readonly client: EaselClient;
  readonly models: readonly ModelRow[];
  readonly refresh: () => void;
  readonly screen: Screen;
  readonly onUse: (model: string) => void;
}

export function ModelsView({ client, models, refresh, screen, onUse }: Props) {
  const [selected, setSelected] = useState(0);
  const [filter, setFilter] = useState("");
  const [removing, setRemoving] = useState<ModelRow>();
  const [notice, setNotice] = useState<string>();
  const pulling = useRef<AbortController>(undefined);
  const rows = models.filter((model) =>
    `${model.name} ${model.description}`.toLowerCase().includes(filter.toLowerCase()),
  );
  const at = clampIndex(selected, rows.length);
  const model = rows[at];
  const act = (label: string, action: () => Promise<string>): void => {
    setNotice(`${label} ...`);
    action().then(
      (done) => {
        setNotice(done);
        refresh();
      },
      (error: Error) => setNotice(error.message),
    );
  };
  const pull = (name: string): void => {
    if (pulling.current) {
      setNotice("another download is running; s stops it");
      return;
    }
    const stop = new AbortController();
    pulling.current = stop;
    act(`asking the hub for ${name}`, async () => {
      try {
        await client.pullModel(name, {
          signal: stop.signal,
          onProgress: (event) => {
            if (event.type === "download_progress") {
              setNotice(
                `${event.filename} (${event.file_index} of ${event.total_files})  ${formatBytes(event.bytes_downloaded)} of ${formatBytes(event.bytes_total)}`,
              );
            }
          },
        });
        return `${name} is ready`;
      } catch (error) {
        if (stop.signal.aborted) return `download of ${name} stopped; p goes on where it stopped`;
        throw error;
      } finally {
        pulling.current = undefined;
      }
    });
  };
  const { editing, startEditing } = useKeys({
    scope: "models",
    active: removing === undefined,
    onEdit: setFilter,
    actions: {
      up: () => setSelected((now) => clampIndex(now - 1, rows.length)),
      down: () => setSelected((now) => clampIndex(now + 1, rows.length)),
      use: () =>
        model && (model.downloaded ? onUse(model.name) : setNotice(`${model.name} is not here yet; p downloads it`)),
      pull: () => model && pull(model.name),
      "stop-pull": () => pulling.current?.abort(),
      load: () =>
        model && act(`loading ${model.name}`, async () => `${(await client.loadModel(model.name)).model} is loaded`),
      unload: () => act("unloading", async () => `unloaded ${(await client.unloadModels()).join(", ") || "nothing"}`),
      remove: () => setRemoving(model?.source === "builtin" ? undefined : model),
      filter: () => startEditing(filter),
      close: () => setFilter(""),
    },
  });
  const { start, end } = listWindow(rows.length, at, Math.max(1, screen.rows - 9));
  return (
    <Box flexDirection="column" flexGrow={1}>
      {removing ? (
        <Confirm
          question={`Delete the files of ${removing.name}?`}
          onAnswer={(yes) => {
            setRemoving(undefined);
            if (yes)
              act(
                `removing ${removing.name}`,
                async () => `${(await client.removeModel(removing.name)).removed} removed`,
              );
          }}
        />
      ) : null}
      {editing || filter !== "" ? (
        <Text>
          / <TextField field={editing ?? { text: filter, cursor: 0 }} editing={editing !== undefined} placeholder="" />
        </Text>
      ) : null}
      {rows.slice(start, end).map((row, i) => (
        <Text key={row.name} inverse={start + i === at} dimColor={!row.downloaded} wrap="truncate">
          {row.name.padEnd(30)} {stateOf(row).padEnd(16)}{" "}
          {(row.size_bytes > 0 ? formatBytes(row.size_bytes) : "?").padStart(9)} {row.description}
        </Text>
      ))}
      {model ? (
        <Box marginTop={1}>
          <Text dimColor wrap="truncate">
            {model.source}, {model.license}, {model.defaults.width}x{model.defaults.height}, {model.defaults.steps}{" "}
            steps, guidance {model.defaults.guidance}
          </Text>
        </Box>
      ) : null}
      {notice ? (
        <Text color="yellow" wrap="truncate">
          {notice}
        </Text>
      ) : null}
    </Box>
  );
}

function stateOf(row: ModelRow): string {
  const state = row.loaded ? "loaded" : row.downloaded ? "ready" : "to pull";
  return row.default ? `${state}, default` : state;
}
