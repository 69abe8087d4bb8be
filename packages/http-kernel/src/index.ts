export * from "./contract.js";
export { type ApiDescription, describeApi, type OpenApiDocument } from "./openapi/describe-api.js";
export {
  type AnswerOptions,
  BytesAnswer,
  bytes,
  EventStreamAnswer,
  type EventStreamOptions,
  FileAnswer,
  file,
  JsonAnswer,
  json,
  text,
} from "./server/answers.js";
export { parseTrustProxy, type TrustProxy } from "./server/client-address.js";
export { type CorsPolicy, parseCors } from "./server/cors.js";
export { createLog, type Logger, type LogLevel, type LogOptions } from "./server/create-log.js";
export { createServer, type KernelServer, type ServerOptions } from "./server/create-server.js";
export type { DocsOptions } from "./server/docs-page.js";
export {
  type EventStreamLimits,
  type EventStreamWriter,
  type SendOptions,
  StreamClosed,
} from "./server/event-stream.js";
export {
  type Answer,
  type Handler,
  type ImplementedRoute,
  type ImplementOptions,
  implement,
  type RouteRequest,
} from "./server/implement.js";
export { serializeInChunks, type WithBytes } from "./server/json-chunks.js";
export type { ListeningAddress, ListenOptions } from "./server/listen.js";
export { parseRateLimit, type RateLimitRule } from "./server/rate-limit.js";
export { type RunOptions, runUntilSignal } from "./server/run-until-signal.js";
export { SERVER_LIMITS, type ServerLimits } from "./server/server-limits.js";
export { SettingError } from "./server/setting-error.js";
export type { PagesOptions } from "./server/static-pages.js";
export { ShuttingDown } from "./server/stream-registry.js";
