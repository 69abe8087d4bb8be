import type { ImageMetadata } from "../contract/gallery.js";
import type { GenerateRequest } from "../contract/generate.js";
import { MAX_BATCH, MAX_GUIDANCE, MAX_STEPS } from "../contract/limits.js";
import type { ModelDetails } from "../contract/models.js";

/** What the Generate view holds. Empty texts mean: the model's own, or random for the seed. */
export interface FormState {
  readonly prompt: string;
  readonly negative: string;
  readonly model: string;
  readonly size: string;
  readonly steps: string;
  readonly guidance: string;
  readonly seed: string;
  readonly batch: string;
}

export type FieldName = keyof FormState;

export const emptyForm: FormState = {
  prompt: "",
  negative: "",
  model: "",
  size: "",
  steps: "",
  guidance: "",
  seed: "",
  batch: "1",
};

export const fieldNames: readonly FieldName[] = [
  "prompt",
  "negative",
  "model",
  "size",
  "steps",
  "guidance",
  "seed",
  "batch",
];

/** Fields to show: a negative prompt only where it has an effect. */
export function visibleFields(form: FormState, details: ModelDetails | undefined): readonly FieldName[] {
  const guidance = form.guidance === "" ? (details?.defaults.guidance ?? 0) : Number(form.guidance);
  return fieldNames.filter((name) => name !== "negative" || guidance > 1 || form.negative !== "");
}

/** The request, or the sentence that says what is wrong with the form. */
export function requestOf(given: FormState): GenerateRequest | string {
  const form = trimmed(given);
  if (form.prompt.trim() === "") return "Type a prompt first.";
  const size = /^(\d+)x(\d+)$/.exec(form.size);
  if (form.size !== "" && !size) return `size must be WIDTHxHEIGHT, not '${form.size}'`;
  for (const name of ["steps", "guidance", "seed", "batch"] as const) {
    if (form[name] !== "" && !Number.isFinite(Number(form[name])))
      return `${name} must be a number, not '${form[name]}'`;
  }
  return {
    prompt: form.prompt,
    ...(form.negative === "" ? {} : { negative_prompt: form.negative }),
    ...(form.model === "" ? {} : { model: form.model }),
    ...(size ? { width: Number(size[1]), height: Number(size[2]) } : {}),
    ...(form.steps === "" ? {} : { steps: Number(form.steps) }),
    ...(form.guidance === "" ? {} : { guidance: Number(form.guidance) }),
    ...(form.seed === "" ? {} : { seed: Number(form.seed) }),
    ...(form.batch === "" || form.batch === "1" ? {} : { batch: Number(form.batch) }),
  };
}

function trimmed(form: FormState): FormState {
  const entries = Object.entries(form).map(([name, value]) => [name, name === "prompt" ? value : value.trim()]);
  return Object.fromEntries(entries) as unknown as FormState;
}

/** The value one step up or down: numbers count, choices rotate. */
export function stepValue(
  form: FormState,
  name: FieldName,
  direction: 1 | -1,
  details: ModelDetails | undefined,
  models: readonly string[],
): FormState {
  const rotate = (choices: readonly string[], current: string): string => {
    const at = choices.indexOf(current);
    return choices[(at + direction + choices.length) % choices.length] ?? current;
  };
  const count = (current: string, fallback: number, by: number, min: number, max: number): string =>
    String(Math.min(max, Math.max(min, (current === "" ? fallback : Number(current)) + by * direction)));
  switch (name) {
    case "model":
      return models.length === 0
        ? form
        : {
            ...emptyForm,
            prompt: form.prompt,
            negative: form.negative,
            seed: form.seed,
            batch: form.batch,
            model: rotate(models, form.model),
          };
    case "size": {
      const sizes = (details?.recommended_sizes ?? []).map((size) => `${size.width}x${size.height}`);
      return sizes.length === 0
        ? form
        : { ...form, size: rotate(sizes, form.size || `${details?.defaults.width}x${details?.defaults.height}`) };
    }
    case "steps":
      return { ...form, steps: count(form.steps, details?.defaults.steps ?? 20, 1, 1, MAX_STEPS) };
    case "guidance":
      return { ...form, guidance: count(form.guidance, details?.defaults.guidance ?? 0, 0.5, 0, MAX_GUIDANCE) };
    case "batch":
      return { ...form, batch: count(form.batch, 1, 1, 1, MAX_BATCH) };
    case "seed":
      return { ...form, seed: count(form.seed, 0, 1, 0, Number.MAX_SAFE_INTEGER) };
    default:
      return form;
  }
}

export function formOf(metadata: ImageMetadata): FormState {
  return {
    prompt: metadata.prompt,
    negative: metadata.negative_prompt,
    model: metadata.model,
    size: `${metadata.width}x${metadata.height}`,
    steps: String(metadata.steps),
    guidance: String(metadata.guidance),
    seed: String(metadata.seed),
    batch: "1",
  };
}

/** What stands in an empty field. */
export function placeholderOf(name: FieldName, details: ModelDetails | undefined): string {
  const defaults = details?.defaults;
  const texts: Readonly<Record<FieldName, string>> = {
    prompt: "what to draw",
    negative: "what to keep away from",
    model: "the server's default",
    size: defaults ? `${defaults.width}x${defaults.height}` : "",
    steps: String(defaults?.steps ?? ""),
    guidance: String(defaults?.guidance ?? ""),
    seed: "random",
    batch: "1",
  };
  return texts[name];
}
