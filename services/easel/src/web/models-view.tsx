import { useCallback, useState } from "preact/hooks";
import type { ModelRow, PullProgress } from "../contract/models.js";
import { loadModel, pullModel, removeModel, unloadModels } from "./api.js";
import { ConfirmDialog } from "./dialogs.jsx";
import { go } from "./use-route.js";

interface Props {
  readonly models: readonly ModelRow[] | undefined;
  readonly refresh: () => void;
  readonly onChoose: (model: string) => void;
}

export function ModelsView({ models, refresh, onChoose }: Props) {
  const [filter, setFilter] = useState("");
  const shown = (models ?? []).filter((model) =>
    `${model.name} ${model.family} ${model.description}`.toLowerCase().includes(filter.toLowerCase()),
  );
  const here = shown.filter((model) => model.downloaded);
  const away = shown.filter((model) => !model.downloaded);
  return (
    <section class="page" aria-label="Models">
      <div class="row between">
        <h1>Models</h1>
        <input
          type="search"
          placeholder="Filter"
          aria-label="Filter models"
          value={filter}
          onInput={(event) => setFilter(event.currentTarget.value)}
        />
      </div>
      {models === undefined ? <p class="soft">Loading…</p> : null}
      <h2>On this server</h2>
      <ul class="rows">
        {here.map((model) => (
          <ModelItem key={model.name} model={model} refresh={refresh} onChoose={onChoose} />
        ))}
      </ul>
      {away.length > 0 ? <h2>To download</h2> : null}
      <ul class="rows">
        {away.map((model) => (
          <ModelItem key={model.name} model={model} refresh={refresh} onChoose={onChoose} />
        ))}
      </ul>
    </section>
  );
}

function ModelItem({
  model,
  refresh,
  onChoose,
}: {
  model: ModelRow;
  refresh: () => void;
  onChoose: (model: string) => void;
}) {
  const [work, setWork] = useState<string>();
  const [problem, setProblem] = useState<string>();
  const [asking, setAsking] = useState(false);
  const [pull, setPull] = useState<{ readonly share: number; readonly text: string; readonly stop: AbortController }>();
  const act = useCallback(
    async (label: string, action: () => Promise<unknown>) => {
      setWork(label);
      setProblem(undefined);
      try {
        await action();
      } catch (error) {
        setProblem((error as Error).message);
      }
      setWork(undefined);
      refresh();
    },
    [refresh],
  );
  const startPull = async (): Promise<void> => {
    const stop = new AbortController();
    setProblem(undefined);
    setPull({ share: 0, text: "asking the hub", stop });
    try {
      await pullModel(model.name, (progress) => setPull({ ...pullState(progress), stop }), stop.signal);
    } catch (error) {
      if (!stop.signal.aborted) setProblem((error as Error).message);
    }
    setPull(undefined);
    refresh();
  };
  return (
    <li>
      <div class="grow">
        <strong>{model.name}</strong>
        <span class="soft">{model.description}</span>
        <span class="soft">
          {model.size_bytes > 0 ? `${formatBytes(model.size_bytes)} · ` : ""}
          {model.source} · {model.license}
        </span>
        {problem ? (
          <span class="problem" role="alert">
            {problem}
          </span>
        ) : null}
        {pull ? (
          <span class="row">
            <progress value={pull.share} max={1} /> <span class="soft">{pull.text}</span>
          </span>
        ) : null}
      </div>
      {model.loaded ? <span class="tag running">loaded</span> : null}
      {model.default ? <span class="tag">default</span> : null}
      {work ? (
        <span class="soft">{work}…</span>
      ) : pull ? (
        <button type="button" onClick={() => pull.stop.abort()}>
          Stop
        </button>
      ) : (
        <ModelActions
          model={model}
          onPull={startPull}
          onLoad={() => act("Loading", () => loadModel(model.name))}
          onUnload={() => act("Unloading", unloadModels)}
          onRemove={() => setAsking(true)}
          onUse={() => {
            onChoose(model.name);
            go("create");
          }}
        />
      )}
      {asking ? (
        <ConfirmDialog
          title="Remove model"
          text={`${model.name} will be deleted from the server's disk. It can be downloaded again.`}
          action="Remove"
          onYes={() => act("Removing", () => removeModel(model.name))}
          onClose={() => setAsking(false)}
        />
      ) : null}
    </li>
  );
}

interface ActionProps {
  readonly model: ModelRow;
  readonly onPull: () => void;
  readonly onLoad: () => void;
  readonly onUnload: () => void;
  readonly onRemove: () => void;
  readonly onUse: () => void;
}

function ModelActions({ model, onPull, onLoad, onUnload, onRemove, onUse }: ActionProps) {
  if (!model.downloaded) {
    return (
      <button type="button" onClick={onPull}>
        Download
      </button>
    );
  }
  return (
    <span class="row">
      {model.family === "language" ? null : model.loaded ? (
        <button type="button" onClick={onUnload}>
          Unload
        </button>
      ) : (
        <button type="button" onClick={onLoad}>
          Load
        </button>
      )}
      {model.source === "builtin" ? null : (
        <button type="button" onClick={onRemove}>
          Remove
        </button>
      )}
      {model.family === "language" ? null : (
        <button type="button" class="primary" onClick={onUse}>
          Use
        </button>
      )}
    </span>
  );
}

function pullState(progress: PullProgress): { share: number; text: string } {
  if (progress.type === "pull_complete") return { share: 1, text: "checking" };
  const { bytes_downloaded: done, bytes_total: total, filename, file_index: index, total_files: files } = progress;
  return {
    share: total > 0 ? done / total : 0,
    text: `${filename} (${index} of ${files}) ${formatBytes(done)} of ${formatBytes(total)}`,
  };
}

function formatBytes(bytes: number): string {
  if (bytes >= 2 ** 30) return `${(bytes / 2 ** 30).toFixed(1)} GiB`;
  if (bytes >= 2 ** 20) return `${(bytes / 2 ** 20).toFixed(0)} MiB`;
  return `${Math.ceil(bytes / 1024)} KiB`;
}
