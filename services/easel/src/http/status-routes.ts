import { type ImplementedRoute, implement } from "@kit/http-kernel";
import { routes } from "../contract/routes.js";
import type { EaselParts } from "./easel-parts.js";

/** Neither route asks the engine anything: both read what the host process already knows. */
export function statusRoutes({ engine, studio, build }: EaselParts): ImplementedRoute[] {
  const startedAt = performance.now();
  return [
    implement(routes.health, () => ({ status: "ok" as const })),
    implement(routes.status, () => {
      const { busy, modelsLoaded, gpu } = engine.status();
      return {
        version: build.version,
        git_sha: build.gitSha,
        build_date: build.buildDate,
        models_loaded: [...modelsLoaded],
        busy: busy || studio.counts().running > 0,
        gpu_info: gpu && { name: gpu.name, vram_total_mb: gpu.vramTotalMb, vram_used_mb: gpu.vramUsedMb },
        uptime_secs: Math.floor((performance.now() - startedAt) / 1_000),
      };
    }),
  ];
}
