import type { ModelDetails, ModelRow } from "../../contract/models.js";
import type { FormProps } from "./create-view.jsx";

interface Props extends FormProps {
  readonly models: readonly ModelRow[];
  readonly chosen: string;
  readonly details: ModelDetails | undefined;
}

const MAX_STEPS = 150;
/** Beyond this the slider would be too coarse to use; the number field next to it takes the whole range. */
const SLIDER_STEPS = 50;
const SLIDER_GUIDANCE = 15;

/** What the model has, with its own defaults: nothing is offered that would have no effect. */
export function ModelFields({ settings, change, models, chosen, details }: Props) {
  const steps = settings.steps ?? details?.defaults.steps ?? 20;
  const guidance = settings.guidance ?? details?.defaults.guidance ?? 0;
  const width = settings.width ?? details?.defaults.width ?? 512;
  const height = settings.height ?? details?.defaults.height ?? 512;
  const drawing = models.filter((model) => model.family !== "language");
  const usesNegative = details?.negative_prompt === true || guidance > 1;
  return (
    <>
      <label class="field">
        <span class="label">Model</span>
        <select
          value={chosen}
          onChange={(event) =>
            change({
              model: event.currentTarget.value,
              width: undefined,
              height: undefined,
              steps: undefined,
              guidance: undefined,
            })
          }
        >
          <optgroup label="On this server">{options(drawing.filter((model) => model.downloaded))}</optgroup>
          <optgroup label="To download">{options(drawing.filter((model) => !model.downloaded))}</optgroup>
        </select>
      </label>
      {usesNegative ? (
        <label class="field">
          <span class="label">Without</span>
          <textarea
            rows={2}
            value={settings.negativePrompt}
            placeholder="what to keep away from"
            onInput={(event) => change({ negativePrompt: event.currentTarget.value })}
          />
        </label>
      ) : null}
      <fieldset>
        <legend>Size</legend>
        <div class="row wrap">
          {(details?.recommended_sizes ?? []).map((size) => (
            <button
              key={`${size.width}x${size.height}`}
              type="button"
              class="chip"
              aria-pressed={size.width === width && size.height === height}
              onClick={() => change({ width: size.width, height: size.height })}
            >
              {size.width}×{size.height}
            </button>
          ))}
        </div>
        <div class="row">
          <SideInput label="Width" value={width} onChange={(value) => change({ width: value, height })} />
          ×
          <SideInput label="Height" value={height} onChange={(value) => change({ width, height: value })} />
        </div>
      </fieldset>
      <Slider
        label="Steps"
        value={steps}
        min={1}
        max={Math.max(SLIDER_STEPS, steps)}
        step={1}
        limit={MAX_STEPS}
        onChange={(value) => change({ steps: value })}
      />
      <Slider
        label="Guidance"
        value={guidance}
        min={0}
        max={Math.max(SLIDER_GUIDANCE, guidance)}
        step={0.5}
        limit={100}
        onChange={(value) => change({ guidance: value })}
      />
      <div class="row">
        <label class="field grow">
          <span class="label">Seed</span>
          <input
            inputMode="numeric"
            pattern="[0-9]*"
            value={settings.seed}
            placeholder="random"
            onInput={(event) => change({ seed: event.currentTarget.value.replace(/\D/g, "") })}
          />
        </label>
        <label class="field">
          <span class="label">Pictures</span>
          <input
            type="number"
            min={1}
            max={16}
            value={settings.batch}
            onInput={(event) => change({ batch: clamp(event.currentTarget.valueAsNumber, 1, 16) })}
          />
        </label>
        <label class="field">
          <span class="label">Format</span>
          <select
            value={settings.format}
            onChange={(event) => change({ format: event.currentTarget.value as "png" | "jpeg" | "webp" })}
          >
            <option value="png">PNG</option>
            <option value="jpeg">JPEG</option>
            <option value="webp">WebP</option>
          </select>
        </label>
      </div>
    </>
  );
}

const options = (models: readonly ModelRow[]) =>
  models.map((model) => (
    <option key={model.name} value={model.name}>
      {model.name}
    </option>
  ));

const clamp = (value: number, min: number, max: number): number =>
  Number.isFinite(value) ? Math.min(max, Math.max(min, value)) : min;

function SideInput({ label, value, onChange }: { label: string; value: number; onChange: (value: number) => void }) {
  // Rounded when the field is left: rounding at each key would fight the typing.
  const settle = (given: number): void => onChange(clamp(Math.round(given / 8) * 8, 64, 2048));
  return (
    <input
      type="number"
      min={64}
      max={2048}
      step={8}
      value={value}
      aria-label={label}
      onChange={(event) => settle(event.currentTarget.valueAsNumber)}
    />
  );
}

interface SliderProps {
  readonly label: string;
  readonly value: number;
  readonly min: number;
  readonly max: number;
  readonly step: number;
  readonly limit: number;
  readonly onChange: (value: number) => void;
}

export function Slider({ label, value, min, max, step, limit, onChange }: SliderProps) {
  return (
    <label class="slider">
      <span class="label">{label}</span>
      <input
        type="range"
        min={min}
        max={max}
        step={step}
        value={value}
        onInput={(event) => onChange(Number(event.currentTarget.value))}
      />
      <input
        type="number"
        min={min}
        max={limit}
        step={step}
        value={value}
        aria-label={`${label}, exactly`}
        onChange={(event) => onChange(clamp(event.currentTarget.valueAsNumber, min, limit))}
      />
    </label>
  );
}
