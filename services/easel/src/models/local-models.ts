/**
 * Models the user brought: whatever lies in the drop-in folder `local/`, and paths added by name in `local.json`.
 * A file `easel.json` inside a model's folder, or `<file>.json` beside a single file, may set what the headers do not tell.
 */
import { readdir, readFile, stat } from "node:fs/promises";
import { basename, extname, join, resolve } from "node:path";
import { type Static, Type } from "typebox";
import { Check } from "typebox/value";
import { errors } from "../contract/errors.js";
import { writeFileAtomically } from "../gallery/write-file.js";
import { detectModel } from "./detect-model.js";
import type { KnownModel } from "./known-model.js";

const LocalSettings = Type.Object({
  description: Type.Optional(Type.String()),
  family: Type.Optional(Type.String()),
  license: Type.Optional(Type.String()),
  defaults: Type.Optional(
    Type.Object({
      width: Type.Optional(Type.Integer()),
      height: Type.Optional(Type.Integer()),
      steps: Type.Optional(Type.Integer()),
      guidance: Type.Optional(Type.Number()),
    }),
  ),
  quantisation: Type.Optional(Type.Enum(["q8", "q4"])),
  scheduler: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  clip_skip: Type.Optional(Type.Integer({ minimum: 0 })),
  native_area: Type.Optional(Type.Integer({ minimum: 1 })),
});
export type LocalSettings = Static<typeof LocalSettings>;

const AddedModels = Type.Object({
  models: Type.Array(Type.Interface([LocalSettings], { name: Type.String(), path: Type.String() })),
});
type AddedModel = Static<typeof AddedModels>["models"][number];

export const DROP_IN_FOLDER = "local";
const ADDED_FILE = "local.json";
const VARIANT = "local";
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;

export async function listLocalModels(
  modelsFolder: string,
  onProblem: (path: string, why: string) => void = () => {},
): Promise<KnownModel[]> {
  const models = new Map<string, KnownModel>();
  const dropIns = await readdir(join(modelsFolder, DROP_IN_FOLDER)).catch(() => []);
  const found: AddedModel[] = [
    ...(await readAdded(modelsFolder)),
    ...dropIns.map((entry) => ({ name: nameOf(entry), path: join(modelsFolder, DROP_IN_FOLDER, entry) })),
  ];
  for (const entry of found) {
    if (models.has(entry.name)) continue;
    try {
      const model = await describe(entry);
      if (model) models.set(entry.name, model);
    } catch (error) {
      onProblem(entry.path, (error as Error).message);
    }
  }
  return [...models.values()];
}

/** Remembers a path under a name. The files stay where they are. */
export async function addLocalModel(
  modelsFolder: string,
  path: string,
  settings: LocalSettings & { readonly name?: string } = {},
): Promise<KnownModel> {
  const absolute = resolve(path);
  const { name = nameOf(basename(absolute)), ...rest } = settings;
  if (!NAME.test(name)) {
    throw errors.VALIDATION_ERROR(`name '${name}' must be 1 to 100 letters, digits, dots, dashes or underscores.`);
  }
  const entry: AddedModel = { ...rest, name, path: absolute };
  const model = await describe(entry).catch((error: Error) => {
    throw errors.VALIDATION_ERROR(`'${absolute}' cannot be used: ${error.message}`);
  });
  if (!model) {
    throw errors.VALIDATION_ERROR(
      `'${absolute}' is no model: give a folder with a model_index.json, a .safetensors or a .gguf file.`,
    );
  }
  const others = (await readAdded(modelsFolder)).filter((other) => other.name !== name);
  await writeAdded(modelsFolder, [...others, entry]);
  return model;
}

/** Forgets an added path. Returns false when it was not added but dropped in. */
export async function forgetLocalModel(modelsFolder: string, name: string): Promise<boolean> {
  const added = await readAdded(modelsFolder);
  const others = added.filter((other) => other.name !== name);
  if (others.length === added.length) return false;
  await writeAdded(modelsFolder, others);
  return true;
}

async function describe(entry: AddedModel): Promise<KnownModel | undefined> {
  const detected = await detectModel(entry.path);
  if (!detected) return undefined;
  const settings = { ...(await readSettings(entry.path)), ...entry };
  const defaults = { ...detected.defaults, ...settings.defaults };
  return {
    name: `${entry.name}:${VARIANT}`,
    base: entry.name,
    variant: VARIANT,
    aliases: [],
    recommended: true,
    family: settings.family ?? detected.family,
    kind: "image",
    description: settings.description ?? `Local model from ${entry.path}`,
    license: settings.license ?? "unknown",
    source: "local",
    defaults,
    recommendedSizes: [[defaults.width, defaults.height]],
    downloaded: true,
    sizeBytes: await sizeOf(entry.path),
    files: {
      name: `${entry.name}:${VARIANT}`,
      path: entry.path,
      ...(settings.quantisation && { quantisation: settings.quantisation }),
      ...(settings.scheduler && { scheduler: settings.scheduler }),
      ...(settings.clip_skip !== undefined && { clipSkip: settings.clip_skip }),
      ...(settings.native_area !== undefined && { nativeArea: settings.native_area }),
    },
  };
}

const nameOf = (entry: string) =>
  basename(entry, /\.(safetensors|gguf)$/.test(entry) ? extname(entry) : "").toLowerCase();

async function readSettings(path: string): Promise<LocalSettings> {
  const file = (await stat(path)).isDirectory() ? join(path, "easel.json") : `${path}.json`;
  const text = await readFile(file, "utf8").catch(() => undefined);
  if (text === undefined) return {};
  const value: unknown = JSON.parse(text);
  if (!Check(LocalSettings, value)) throw new Error(`${file} has a field of the wrong type`);
  return value;
}

async function readAdded(modelsFolder: string): Promise<AddedModel[]> {
  const text = await readFile(join(modelsFolder, ADDED_FILE), "utf8").catch(() => undefined);
  if (text === undefined) return [];
  try {
    const value: unknown = JSON.parse(text);
    return Check(AddedModels, value) ? value.models : [];
  } catch {
    return [];
  }
}

const writeAdded = (modelsFolder: string, models: readonly AddedModel[]) =>
  writeFileAtomically(join(modelsFolder, ADDED_FILE), `${JSON.stringify({ models }, null, 2)}\n`);

async function sizeOf(path: string): Promise<number> {
  const info = await stat(path);
  if (!info.isDirectory()) return info.size;
  let total = 0;
  for (const entry of await readdir(path)) total += await sizeOf(join(path, entry));
  return total;
}
