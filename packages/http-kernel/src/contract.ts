// What pages and commands need: declarations, error table, client. Nothing here imports Node or the server.
export * from "./contract/create-client.js";
export {
  type BodyOf,
  declareRoute,
  type EventsOf,
  type HeadersOf,
  type JsonOf,
  type Method,
  type ParamsOf,
  type QueryOf,
  type ResponseDeclaration,
  type RouteDeclaration,
  type RouteTable,
} from "./contract/declare-route.js";
export * from "./contract/define-errors.js";
export { type RawEvent, readEvents } from "./contract/read-events.js";
