import { type ImplementedRoute, implement, text } from "@kit/http-kernel";
import { type ModelDetails, type ModelRow, pullSentence } from "../contract/models.js";
import { routes } from "../contract/routes.js";
import { explainFailure } from "../generation/explain-failure.js";
import { listAdapters } from "../generation/resolve-adapter.js";
import type { KnownModel } from "../models/known-model.js";
import { partsOf } from "../models/model-store.js";
import type { EaselParts } from "./easel-parts.js";

export function modelRoutes({ engine, studio, models, pulls, adapters, onEngineUse }: EaselParts): ImplementedRoute[] {
  /** The default model may be unknown (a setting with a slip): then no row is the default. */
  const defaultName = () =>
    models.resolve(undefined).then(
      (model) => model.name,
      () => "",
    );

  return [
    implement(routes.listModels, async ({ query }) => {
      const [rows, chosen] = [await models.list(), await defaultName()];
      const shown = query.all ? rows : rows.filter((model) => model.kind === "image");
      return shown.map((model) => describeRow(model, engine.status().modelsLoaded, chosen));
    }),

    implement(routes.getModel, async ({ params }) => {
      const model = await models.resolve(params.name);
      return describeDetails(model, engine.status().modelsLoaded, await defaultName());
    }),

    implement(routes.loadModel, async ({ body, signal }) => {
      const model = await models.resolveUsable(body.model);
      try {
        const { loadTimeMs } = await engine.load(model.files, { signal });
        return { model: model.name, load_time_ms: Math.round(loadTimeMs) };
      } catch (error) {
        throw explainFailure(error);
      } finally {
        onEngineUse();
      }
    }),

    implement(routes.unloadModel, async () => {
      // A job may have begun without having reached the engine yet.
      await studio.runningEnded();
      return { unloaded: [...(await engine.unload())] };
    }),

    implement(routes.pullModel, async (request) => {
      const model = await models.resolve(request.body.model);
      if (!request.wants("text/event-stream")) {
        await pulls.pull(model, { signal: request.signal, onProgress: () => {} });
        return text(pullSentence(model.name));
      }
      return request.eventStream(async (stream) => {
        // Progress is news, not history: a slow reader misses some of it instead of holding up the download.
        let sending = false;
        await pulls.pull(model, {
          signal: stream.signal,
          onProgress: (progress) => {
            const finishesFile =
              progress.type === "download_progress" && progress.bytes_downloaded === progress.bytes_total;
            if (sending && !finishesFile) return;
            sending = true;
            const sent = () => {
              sending = false;
            };
            void stream.send("progress", progress).then(sent, sent);
          },
        });
        await stream.send("progress", { type: "pull_complete", model: model.name });
      });
    }),

    implement(routes.removeModel, async ({ params }) => {
      const model = await models.resolve(params.name);
      if (engine.status().modelsLoaded.includes(model.name)) await engine.unload(model.name);
      const freed = await models.remove(model);
      return { removed: model.name, freed_bytes: freed };
    }),

    implement(routes.listAdapters, () => listAdapters(adapters)),
  ];
}

function describeRow(model: KnownModel, loaded: readonly string[], defaultName: string): ModelRow {
  return {
    name: model.name,
    family: model.family,
    description: model.description,
    size_bytes: model.sizeBytes,
    downloaded: model.downloaded,
    loaded: loaded.includes(model.name),
    default: model.name === defaultName,
    defaults: model.defaults,
    source: model.source,
    license: model.license,
  };
}

function describeDetails(model: KnownModel, loaded: readonly string[], defaultName: string): ModelDetails {
  const files = model.catalogued ? partsOf(model.catalogued).flatMap((part) => part.files) : [];
  return {
    ...describeRow(model, loaded, defaultName),
    path: model.downloaded ? model.files.path : null,
    recommended_sizes: model.recommendedSizes.map(([width, height]) => ({ width, height })),
    negative_prompt: model.defaults.guidance > 1,
    files: files.map(({ path, size, sha256 }) => ({ path, size_bytes: size ?? null, sha256: sha256 ?? null })),
  };
}
