import { useEffect, useRef, useState } from "preact/hooks";
import type { ModelDetails, ModelRow } from "../../contract/models.js";
import { describeModel } from "../api.js";
import { type PictureSettings, requestOf } from "../picture-settings.js";
import { useShortcuts } from "../shortcuts.js";
import type { Generation } from "../use-generation.js";
import { AdapterFields } from "./adapter-fields.jsx";
import { ExpandPanel } from "./expand-panel.jsx";
import { ImageFields } from "./image-fields.jsx";
import { ModelFields } from "./model-fields.jsx";
import { PictureStage } from "./picture-stage.jsx";

export interface FormProps {
  readonly settings: PictureSettings;
  readonly change: (part: Partial<PictureSettings>) => void;
}

interface Props extends FormProps {
  readonly reset: () => void;
  readonly models: readonly ModelRow[];
  readonly generation: Generation;
  /** whether this view is the one on the screen: its shortcuts count only then */
  readonly active: boolean;
}

export function CreateView({ settings, change, reset, models, generation, active }: Props) {
  const prompt = useRef<HTMLTextAreaElement>(null);
  const [expanding, setExpanding] = useState(false);
  const chosen = settings.model || (models.find((model) => model.default)?.name ?? "");
  const details = useModelDetails(chosen);
  const working = generation.drawing.state === "working";
  const missing = models.find((model) => model.name === chosen && !model.downloaded);
  const canDraw = settings.prompt.trim() !== "" && !working;
  const draw = (): void => {
    if (canDraw) generation.start(requestOf(settings, details));
  };
  useShortcuts(
    active
      ? {
          "Ctrl Enter": draw,
          "/": (event) => {
            event.preventDefault();
            prompt.current?.focus();
          },
          e: () => setExpanding(true),
        }
      : {},
  );
  return (
    <div class="create">
      <form
        class="panel"
        onSubmit={(event) => {
          event.preventDefault();
          draw();
        }}
      >
        <label class="field">
          <span class="label">Prompt</span>
          <textarea
            ref={prompt}
            rows={4}
            value={settings.prompt}
            placeholder="a red fox in the snow"
            onInput={(event) => change({ prompt: event.currentTarget.value })}
          />
        </label>
        <div class="row">
          {/* Keys, so that they stay two buttons: one that turned into "submit" while it is being clicked would draw again. */}
          {working ? (
            <button key="cancel" type="button" class="grow danger" onClick={generation.cancel}>
              Cancel
            </button>
          ) : (
            <button key="draw" type="submit" class="grow primary" disabled={!canDraw}>
              Draw
            </button>
          )}
          <button
            type="button"
            disabled={settings.prompt.trim() === ""}
            onClick={() => setExpanding(true)}
            title="Let a language model add detail (e)"
          >
            Expand
          </button>
        </div>
        {expanding ? (
          <ExpandPanel
            prompt={settings.prompt}
            model={chosen}
            onUse={(text) => change({ prompt: text })}
            onClose={() => setExpanding(false)}
          />
        ) : null}
        {missing ? (
          <p class="note">
            {missing.name} is not on this server yet: <a href="#models">download it</a>.
          </p>
        ) : null}
        <ModelFields settings={settings} change={change} models={models} chosen={chosen} details={details} />
        <ImageFields settings={settings} change={change} active={active} />
        <AdapterFields settings={settings} change={change} />
        <button type="button" class="quiet" onClick={reset}>
          Start over
        </button>
      </form>
      <PictureStage drawing={generation.drawing} change={change} />
    </div>
  );
}

function useModelDetails(name: string): ModelDetails | undefined {
  const [details, setDetails] = useState<ModelDetails>();
  useEffect(() => {
    if (name === "") return;
    let current = true;
    describeModel(name).then(
      (answer) => current && setDetails(answer),
      () => current && setDetails(undefined),
    );
    return () => {
      current = false;
    };
  }, [name]);
  return details;
}
