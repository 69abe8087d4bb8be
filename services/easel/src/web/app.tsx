import { useCallback, useEffect, useMemo, useState } from "preact/hooks";
import { listModels } from "./api.js";
import { CreateView } from "./create/create-view.jsx";
import { KeyDialog, ShortcutsDialog } from "./dialogs.jsx";
import { GalleryView } from "./gallery/gallery-view.jsx";
import { ModelsView } from "./models-view.jsx";
import { emptySettings, type PictureSettings, storedSettings, storeSettings } from "./picture-settings.js";
import { QueueView } from "./queue-view.jsx";
import { useShortcuts } from "./shortcuts.js";
import { applyTheme, nextTheme, storedTheme } from "./theme.js";
import { useGeneration } from "./use-generation.js";
import { usePolling } from "./use-polling.js";
import { go, useRoute, type View, views } from "./use-route.js";

const MODELS_EVERY_MS = 5_000;
const titles: Readonly<Record<View, string>> = {
  create: "Create",
  queue: "Queue",
  gallery: "Gallery",
  models: "Models",
};

export function App() {
  const route = useRoute();
  const models = usePolling(listModels, MODELS_EVERY_MS);
  const [settings, setSettings] = useState<PictureSettings>(storedSettings);
  const [theme, setTheme] = useState(storedTheme);
  const [dialog, setDialog] = useState<"none" | "key" | "shortcuts">("none");
  const [finished, setFinished] = useState(0);
  const onDone = useCallback(() => setFinished((count) => count + 1), []);
  const generation = useGeneration(onDone);

  const change = useCallback((part: Partial<PictureSettings>) => {
    setSettings((before) => {
      const after = { ...before, ...part };
      storeSettings(after);
      return after;
    });
  }, []);
  const reset = useCallback(() => change({ ...emptySettings, prompt: "" }), [change]);

  useEffect(() => {
    if (models.error && "status" in models.error && models.error.status === 401) setDialog("key");
  }, [models.error]);

  useShortcuts({
    "?": () => setDialog("shortcuts"),
    "1": () => go("create"),
    "2": () => go("queue"),
    "3": () => go("gallery"),
    "4": () => go("models"),
    t: () => cycleTheme(),
    ["Escape"]: () => (dialog === "none" ? generation.cancel() : setDialog("none")),
  });

  const cycleTheme = (): void => {
    const next = nextTheme(theme);
    applyTheme(next);
    setTheme(next);
  };
  const busy = generation.drawing.state === "working";
  const view = useMemo(() => {
    switch (route.view) {
      case "queue":
        return <QueueView />;
      case "gallery":
        return <GalleryView opened={route.detail} finished={finished} settings={settings} onUse={change} />;
      case "models":
        return <ModelsView models={models.value} refresh={models.refresh} onChoose={(model) => change({ model })} />;
      default:
        return undefined;
    }
  }, [route, finished, settings, change, models.value, models.refresh]);

  return (
    <>
      <header class="bar">
        <a class="brand" href="#create" aria-label="easel, to the start">
          easel
        </a>
        <nav aria-label="Views">
          {views.map((name) => (
            <a key={name} href={`#${name}`} aria-current={route.view === name ? "page" : undefined}>
              {titles[name]}
              {name === "create" && busy ? <span class="dot" title="A picture is being drawn" /> : null}
            </a>
          ))}
        </nav>
        <div class="tools">
          <button type="button" class="quiet" onClick={cycleTheme} title="Light, dark or as the system (t)">
            {theme === "auto" ? "◐" : theme === "light" ? "☀" : "☾"}
            <span class="sr">Theme: {theme}</span>
          </button>
          <button type="button" class="quiet" onClick={() => setDialog("key")} title="API key">
            Key
          </button>
          <button type="button" class="quiet" onClick={() => setDialog("shortcuts")} title="Keyboard shortcuts (?)">
            ?<span class="sr">Keyboard shortcuts</span>
          </button>
        </div>
      </header>
      {models.error ? (
        <p class="banner" role="alert">
          {models.error.message} {"status" in models.error && models.error.status === 401 ? null : "Trying again…"}
        </p>
      ) : null}
      <main>
        {/* The form stays mounted so that a painted mask and a running picture outlive a look at another view. */}
        <div hidden={route.view !== "create"}>
          <CreateView
            settings={settings}
            change={change}
            reset={reset}
            models={models.value ?? []}
            generation={generation}
            active={route.view === "create"}
          />
        </div>
        {view}
      </main>
      {dialog === "key" ? <KeyDialog onClose={() => setDialog("none")} onChanged={models.refresh} /> : null}
      {dialog === "shortcuts" ? <ShortcutsDialog onClose={() => setDialog("none")} /> : null}
    </>
  );
}
