/**
 * The part of WebAssembly that the store and the kernels use. Node has it at run time, but its types come only with the
 * browser's library, which servers do not load.
 */
export interface WasmMemory {
  readonly buffer: ArrayBuffer;
  /** Adds pages of 64 KiB; `buffer` is then another one. */
  grow(pages: number): number;
}

interface WebAssemblyApi {
  readonly Memory: new (size: { initial: number; maximum: number }) => WasmMemory;
  readonly Module: new (bytes: Uint8Array) => WasmModule;
  readonly Instance: new (
    module: WasmModule,
    imports: Record<string, Record<string, unknown>>,
  ) => {
    readonly exports: unknown;
  };
}

/** A compiled module; opaque, made once and instantiated for each index. */
export type WasmModule = object;

export const webAssembly = (globalThis as unknown as { WebAssembly: WebAssemblyApi }).WebAssembly;
