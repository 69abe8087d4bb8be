/**
 * Sessions in memory, under a budget. A component is found by a key that names everything it was made from; when room is needed,
 * the ones used longest ago go first. What alone exceeds the budget is refused with the figures.
 */
import { EngineError } from "./engine-api.js";
import type { RuntimeSession } from "./runtime-session.js";

export interface ComponentRequest {
  /** equal keys mean the same session */
  readonly key: string;
  /** canonical model name */
  readonly model: string;
  /** for messages: "unet of doodle:fp16" */
  readonly label: string;
  /** estimated bytes the session holds */
  readonly residentBytes: number;
  /** estimated bytes a run needs on top */
  readonly workingBytes: number;
  create(): Promise<RuntimeSession>;
}

interface Loaded {
  readonly request: ComponentRequest;
  readonly session: RuntimeSession;
}

export interface ComponentStore {
  acquire(request: ComponentRequest): Promise<RuntimeSession>;
  has(key: string): boolean;
  /** what could be loaded without dropping anything */
  freeBytes(): number;
  /** models that have a component in memory */
  modelNames(): string[];
  /** drops the components of one model, or all */
  drop(model?: string): Promise<void>;
}

export function createComponentStore(budgetBytes: number, onChange: () => void): ComponentStore {
  /** in order of use, the latest last */
  const loaded = new Map<string, Loaded>();

  const release = async (key: string) => {
    const entry = loaded.get(key);
    loaded.delete(key);
    await entry?.session.release();
  };
  const makeRoom = async (request: ComponentRequest) => {
    const needed = request.residentBytes + request.workingBytes;
    if (needed > budgetBytes) {
      throw new EngineError(
        "OUT_OF_MEMORY",
        `${request.label} needs about ${inGiB(request.residentBytes)} for its weights and ${inGiB(request.workingBytes)} to work, but the memory budget is ${inGiB(budgetBytes)}; use a smaller size, a quantised variant (:q8, :q4) or raise the budget`,
      );
    }
    const others = [...loaded].filter(([key]) => key !== request.key);
    let occupied = others.reduce((sum, [, entry]) => sum + entry.request.residentBytes, 0);
    for (const [key, entry] of others) {
      if (occupied + needed <= budgetBytes) break;
      occupied -= entry.request.residentBytes;
      await release(key);
    }
  };

  return {
    async acquire(request) {
      const known = loaded.get(request.key);
      await makeRoom(request);
      if (known) {
        loaded.delete(request.key);
        loaded.set(request.key, known);
        return known.session;
      }
      const session = await request.create();
      loaded.set(request.key, { request, session });
      onChange();
      return session;
    },
    has: (key) => loaded.has(key),
    freeBytes: () => [...loaded.values()].reduce((free, { request }) => free - request.residentBytes, budgetBytes),
    modelNames: () => [...new Set([...loaded.values()].map((entry) => entry.request.model))],
    async drop(model) {
      for (const [key, entry] of [...loaded]) {
        if (model === undefined || entry.request.model === model) await release(key);
      }
      onChange();
    },
  };
}

function inGiB(bytes: number): string {
  return `${(bytes / 2 ** 30).toFixed(bytes < 2 ** 30 ? 2 : 1)} GiB`;
}
