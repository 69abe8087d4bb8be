/** Loads the WebAssembly modules of ../assembly. Each has a memory of its own in every thread, which the functions that use it lay out. */
import { readFileSync } from "node:fs";

/** Types that the modules take weights from without a conversion before. */
export type WeightType = "F32" | "F16" | "BF16";

export interface WeightKernel<Exports> {
  readonly exports: Exports;
  /** its memory, at least so many bytes of it; what was given before must no longer be used */
  memory(bytes: number): ArrayBuffer;
}

/** The modules' own data end before. */
export const MEMORY_START = 1 << 16;

const PAGE = 1 << 16;
const MAX_PAGES = 1 << 16;

/** Node has it, but its types come only with the browser's library. */
const { WebAssembly: webAssembly } = globalThis as unknown as {
  readonly WebAssembly: {
    readonly Memory: new (size: {
      initial: number;
      maximum: number;
    }) => {
      readonly buffer: ArrayBuffer;
      grow(pages: number): number;
    };
    readonly Module: new (bytes: Uint8Array) => object;
    readonly Instance: new (module: object, imports: object) => { readonly exports: unknown };
  };
};

export function loadWeightKernel<Exports>(
  name: "block-filters" | "fold-corners" | "round-weights",
): WeightKernel<Exports> {
  const memory = new webAssembly.Memory({ initial: 2, maximum: MAX_PAGES });
  // the built file, from the source folder as well
  const bytes = readFileSync(new URL(`../dist/${name}.wasm`, import.meta.url));
  const { exports } = new webAssembly.Instance(new webAssembly.Module(bytes), { env: { memory } });
  return {
    exports: exports as Exports,
    memory(wanted) {
      const missing = wanted - memory.buffer.byteLength;
      if (missing > 0) memory.grow(Math.ceil(missing / PAGE));
      return memory.buffer;
    },
  };
}
