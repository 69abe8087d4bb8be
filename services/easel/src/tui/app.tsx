import { Box, Text, useApp, useInput } from "ink";
import { useMemo, useRef, useState } from "react";
import type { ClientConnection } from "../client/open-client.js";
import { emptyForm, type FormState } from "./form-state.js";
import { GalleryView } from "./gallery-view.js";
import { GenerateView } from "./generate-view.js";
import { HelpView, SettingsView } from "./info-views.js";
import {
  actionFor,
  type KeyBinding,
  keyMap,
  keyName,
  type Scope,
  shownKeys,
  type ViewName,
  viewNames,
} from "./key-map.js";
import { ModelsView } from "./models-view.js";
import { QueueView } from "./queue-view.js";
import { useDrawing } from "./use-drawing.js";
import { KeyboardContext, type KeyListener } from "./use-keys.js";
import { useKeysInTurn } from "./use-keys-in-turn.js";
import { usePolled } from "./use-polled.js";
import { useScreen } from "./use-screen.js";

const STATUS_EVERY_MS = 2_000;
const MODELS_EVERY_MS = 4_000;

export function App({ client }: { client: ClientConnection }) {
  const { exit } = useApp();
  const screen = useScreen();
  const [view, setView] = useState<ViewName>("generate");
  const [form, setForm] = useState<FormState>(emptyForm);
  const [typing, setTyping] = useState(false);
  const typingNow = useRef(false);
  const keyboard = useMemo(() => ({ listeners: new Set<KeyListener>(), typingNow, setTyping }), []);
  const control = useDrawing(client);
  const status = usePolled(() => client.status(), STATUS_EVERY_MS);
  const models = usePolled(() => client.listModels(), MODELS_EVERY_MS);
  const gallery = usePolled(() => client.listGallery({ limit: 1, offset: 0 }), MODELS_EVERY_MS, view === "settings");

  const press: KeyListener = (input, key) => {
    for (const listener of [...keyboard.listeners]) listener(input, key);
    const name = keyName(input, key);
    if (name === "ctrl+c") return exit();
    if (typingNow.current) return;
    const turn = (by: number): void =>
      setView((now) => viewNames[(viewNames.indexOf(now) + by + viewNames.length) % viewNames.length]!);
    switch (actionFor(name, "everywhere")) {
      case "next-view":
        return turn(1);
      case "previous-view":
        return turn(-1);
      case "go-to-view":
        return setView(viewNames[Number(name) - 1]!);
      case "help":
        return setView("help");
      case "quit":
        return exit();
      default:
    }
  };
  useInput(useKeysInTurn(press, typingNow));

  const takeForm = (taken: FormState): void => {
    setForm(taken);
    setView("generate");
  };
  return (
    <KeyboardContext.Provider value={keyboard}>
      <Box flexDirection="column" width={screen.columns} height={screen.rows - 1}>
        <Header view={view} busy={status.value?.busy ?? false} />
        {status.error ? (
          <Text color="red" wrap="truncate">
            {status.error} Trying again ...
          </Text>
        ) : null}
        <Box flexGrow={1} paddingX={1} paddingTop={1} overflow="hidden">
          {view === "generate" ? (
            <GenerateView
              client={client}
              models={models.value ?? []}
              form={form}
              setForm={setForm}
              control={control}
              screen={screen}
            />
          ) : null}
          {view === "queue" ? <QueueView client={client} screen={screen} /> : null}
          {view === "gallery" ? <GalleryView client={client} screen={screen} onUse={takeForm} /> : null}
          {view === "models" ? (
            <ModelsView
              client={client}
              models={models.value ?? []}
              refresh={models.refresh}
              screen={screen}
              onUse={(model) => takeForm({ ...form, model, size: "", steps: "", guidance: "" })}
            />
          ) : null}
          {view === "settings" ? (
            <SettingsView
              baseUrl={client.baseUrl}
              inPlace={client.inPlace}
              status={status.value}
              galleryFolder={gallery.value?.directory}
              galleryReason={gallery.value?.reason ?? gallery.error}
            />
          ) : null}
          {view === "help" ? <HelpView screen={screen} /> : null}
        </Box>
        <Footer scope={typing ? "editing" : view} />
      </Box>
    </KeyboardContext.Provider>
  );
}

function Header({ view, busy }: { view: ViewName; busy: boolean }) {
  return (
    <Box paddingX={1} gap={1}>
      <Text bold color="cyan">
        easel
      </Text>
      {viewNames.map((name, i) => (
        <Text key={name} inverse={name === view}>
          {` ${i + 1} ${name} `}
        </Text>
      ))}
      {busy ? <Text color="green">● drawing</Text> : null}
    </Box>
  );
}

/** The keys of the moment first: what does not fit is in the help. */
function Footer({ scope }: { scope: Scope }) {
  const all: readonly KeyBinding[] = keyMap;
  const everywhere = scope === "editing" ? [] : all.filter((binding) => binding.scope === "everywhere");
  const shown = [...all.filter((binding) => binding.scope === scope), ...everywhere].filter(
    (binding) => binding.footer !== undefined,
  );
  return (
    <Box paddingX={1}>
      <Text dimColor wrap="truncate">
        {shown.map((binding) => `${shownKeys(binding)} ${binding.footer}`).join("  ·  ")}
      </Text>
    </Box>
  );
}
