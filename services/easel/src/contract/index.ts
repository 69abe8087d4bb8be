/** What clients of every kind (web page, terminal UI, command line) import: no Node modules behind it. */
export * from "./errors.js";
export * from "./expand.js";
export * from "./gallery.js";
export * from "./generate.js";
export * from "./jobs.js";
export * from "./limits.js";
export * from "./models.js";
export * from "./openai.js";
export * from "./routes.js";
export * from "./status.js";
