import type { Engine } from "../engine/engine-api.js";

export interface IdleUnload {
  /** To be called whenever the engine has been used. */
  touch(): void;
  stop(): void;
}

/** Gives the models' memory back when nobody has drawn for a while. */
export function createIdleUnload(
  engine: Engine,
  idleMs: number,
  log: (unloaded: readonly string[]) => void,
): IdleUnload {
  let timer: NodeJS.Timeout | undefined;
  async function look(): Promise<void> {
    const { busy, modelsLoaded } = engine.status();
    if (busy) return touch();
    if (modelsLoaded.length > 0) log(await engine.unload());
  }
  function touch(): void {
    clearTimeout(timer);
    if (idleMs <= 0) return;
    timer = setTimeout(() => void look().catch(() => {}), idleMs);
    timer.unref();
  }
  return { touch, stop: () => clearTimeout(timer) };
}
