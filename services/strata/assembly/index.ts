/** The scanning and rendering kernels of the query engine, compiled to WebAssembly by build.mjs. */
export * from "./columns";
export * from "./count";
export * from "./describe";
export { packEntryBits } from "./entry-set";
export * from "./match";
export * from "./render";
export * from "./select";
export * from "./walk";
