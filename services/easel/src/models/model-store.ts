/** Which models there are and where their files lie. The disk is the truth: it is looked at for every list and before every "no". */
import { rm, rmdir, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { errors } from "../contract/errors.js";
import type { ModelFiles } from "../engine/engine-api.js";
import {
  BUILTIN,
  type CatalogueModel,
  type CataloguePart,
  type CatalogueVariant,
} from "./catalogue/catalogue-types.js";
import type { KnownModel } from "./known-model.js";
import { DROP_IN_FOLDER, forgetLocalModel, listLocalModels } from "./local-models.js";
import { resolveName } from "./resolve-name.js";

export interface ModelStoreOptions {
  readonly catalogue: readonly CatalogueModel[];
  /** pulled models, `local/` and `local.json` */
  readonly modelsFolder: string;
  /** what ships with the program */
  readonly builtinFolder: string;
  /** name of the model used when a request names none */
  readonly defaultModel: string;
  readonly onProblem?: (path: string, why: string) => void;
}

export interface ModelStore {
  readonly modelsFolder: string;
  list(): Promise<KnownModel[]>;
  /** Throws UNKNOWN_MODEL with near names. Without a name: the default model. */
  resolve(name: string | undefined): Promise<KnownModel>;
  /** As `resolve`, and it must be an image model whose files are here. */
  resolveUsable(name: string | undefined): Promise<KnownModel>;
  /** Deletes what a pull brought, or forgets what was added. Returns the bytes that became free. */
  remove(model: KnownModel): Promise<number>;
}

/** How long a look at the disk may serve requests for models that were there. */
const FRESH_MS = 1_000;

export function createModelStore(options: ModelStoreOptions): ModelStore {
  const { catalogue, modelsFolder, builtinFolder, defaultModel, onProblem } = options;
  const folderOf = (part: CataloguePart) =>
    join(part.repository === BUILTIN ? builtinFolder : modelsFolder, part.folder);

  let recent: { readonly at: number; readonly rows: Promise<KnownModel[]> } | undefined;

  function list(): Promise<KnownModel[]> {
    const rows = look();
    recent = { at: performance.now(), rows };
    return rows;
  }

  async function look(): Promise<KnownModel[]> {
    const parts = new Map<CataloguePart, Promise<number | undefined>>();
    const sizeOnDisk = (part: CataloguePart) => {
      const known = parts.get(part) ?? measurePart(folderOf(part), part);
      parts.set(part, known);
      return known;
    };
    const rows = catalogue.flatMap((model) =>
      model.variants.map((variant) => describeVariant(model, variant, folderOf, sizeOnDisk)),
    );
    const local = await listLocalModels(modelsFolder, onProblem);
    const catalogued = await Promise.all(rows);
    // A name the user gave wins over the catalogue's, or it could never be reached.
    const taken = new Set(local.map((model) => model.base));
    return [...catalogued.filter((model) => !taken.has(model.base)), ...local];
  }

  /** A burst of requests asks the disk once; only a model that was not there a moment ago is looked for again. */
  async function resolve(name = defaultModel): Promise<KnownModel> {
    if (recent && performance.now() - recent.at < FRESH_MS) {
      const rows = await recent.rows;
      const known = tryResolve(name, rows);
      if (known?.downloaded) return known;
    }
    return resolveName(name, await list());
  }

  return {
    modelsFolder,
    list,
    resolve,
    async resolveUsable(name) {
      const model = await resolve(name);
      if (model.kind !== "image") {
        throw errors.VALIDATION_ERROR(`model '${model.name}' draws no pictures: it is of the kind ${model.kind}.`);
      }
      if (!model.downloaded && model.source === BUILTIN) {
        throw errors.MODEL_NOT_DOWNLOADED(
          `Model '${model.name}' belongs to the program, but its files are missing from '${builtinFolder}'. Install it again.`,
        );
      }
      if (!model.downloaded) {
        throw errors.MODEL_NOT_DOWNLOADED(
          `Model '${model.name}' is not downloaded. Pull it first: POST /api/models/pull {"model":"${model.name}"} or 'easel models pull ${model.name}'.`,
        );
      }
      return model;
    },
    async remove(model) {
      try {
        return await removeModel(model, modelsFolder, folderOf);
      } finally {
        recent = undefined;
      }
    },
  };
}

function tryResolve(name: string, rows: readonly KnownModel[]): KnownModel | undefined {
  try {
    return resolveName(name, rows);
  } catch {
    return undefined;
  }
}

export const partsOf = (variant: CatalogueVariant): CataloguePart[] => [
  variant.main,
  ...(variant.autoencoder ? [variant.autoencoder] : []),
  ...(variant.tokenizer ? [variant.tokenizer] : []),
  ...(variant.adapters ?? []).map((adapter) => adapter.part),
];

async function describeVariant(
  model: CatalogueModel,
  variant: CatalogueVariant,
  folderOf: (part: CataloguePart) => string,
  sizeOnDisk: (part: CataloguePart) => Promise<number | undefined>,
): Promise<KnownModel> {
  const name = `${model.name}:${variant.variant}`;
  const parts = partsOf(variant);
  const sizes = await Promise.all(parts.map(sizeOnDisk));
  const downloaded = sizes.every((size) => size !== undefined);
  const expected = parts.reduce((sum, part) => sum + part.approximateBytes, 0);
  return {
    name,
    base: model.name,
    variant: variant.variant,
    aliases: model.aliases ?? [],
    recommended: variant.variant === model.recommended,
    family: model.family,
    kind: model.kind,
    description: model.description,
    license: model.license,
    source: variant.main.repository,
    defaults: { ...model.defaults, ...variant.defaults },
    recommendedSizes: model.recommendedSizes,
    downloaded,
    sizeBytes: downloaded ? sizes.reduce<number>((sum, size) => sum + (size ?? 0), 0) : expected,
    files: engineFiles(name, variant, folderOf),
    catalogued: variant,
  };
}

function engineFiles(name: string, variant: CatalogueVariant, folderOf: (part: CataloguePart) => string): ModelFiles {
  const main = folderOf(variant.main);
  const adapters = variant.adapters?.map(({ part, file, scale }) => ({ path: join(folderOf(part), file), scale }));
  return {
    name,
    path: variant.entry ? join(main, variant.entry) : main,
    ...(adapters && { builtInAdapters: adapters }),
    ...(variant.autoencoder && { vaePath: folderOf(variant.autoencoder) }),
    ...(variant.quantisation && { quantisation: variant.quantisation }),
    ...(variant.scheduler && { scheduler: variant.scheduler }),
    ...(variant.clipSkip !== undefined && { clipSkip: variant.clipSkip }),
    ...(variant.nativeArea !== undefined && { nativeArea: variant.nativeArea }),
    ...(variant.trainedSizes && { trainedSizes: variant.trainedSizes }),
  };
}

/** Bytes of the part if all its files are here with the size the catalogue knows, else undefined. */
async function measurePart(folder: string, part: CataloguePart): Promise<number | undefined> {
  const exists = await stat(folder).catch(() => undefined);
  if (!exists) return undefined;
  let total = 0;
  for (const file of part.files) {
    const info = await stat(join(folder, file.saveAs ?? file.path)).catch(() => undefined);
    if (!info?.isFile() || (file.size !== undefined && info.size !== file.size)) return undefined;
    total += info.size;
  }
  return total;
}

async function removeModel(
  model: KnownModel,
  modelsFolder: string,
  folderOf: (part: CataloguePart) => string,
): Promise<number> {
  if (!model.catalogued) {
    if (await forgetLocalModel(modelsFolder, model.base)) return 0;
    throw errors.FORBIDDEN(
      `'${model.name}' lies in the drop-in folder; delete '${model.files.path}' (in ${DROP_IN_FOLDER}/) yourself.`,
    );
  }
  if (model.source === BUILTIN) throw errors.FORBIDDEN(`'${model.name}' ships with the program and stays.`);
  if (!model.downloaded)
    throw errors.MODEL_NOT_DOWNLOADED(`'${model.name}' is not downloaded; there is nothing to remove.`);
  // Adapters and autoencoders are small and shared: only the model's own folder goes.
  const { main } = model.catalogued;
  let freed = 0;
  for (const file of main.files) {
    const path = join(folderOf(main), file.saveAs ?? file.path);
    freed += (await stat(path).catch(() => undefined))?.size ?? 0;
    await rm(path, { force: true });
    await rmdir(dirname(path)).catch(() => {});
  }
  await rmdir(folderOf(main)).catch(() => {});
  return freed;
}
