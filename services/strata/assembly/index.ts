/** The scanning and rendering kernels of the query engine, compiled to WebAssembly by build.mjs. */
export * from "./columns";
export * from "./describe";
export * from "./match";
export * from "./render";
export * from "./select";
