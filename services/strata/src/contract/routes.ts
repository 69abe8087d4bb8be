import { declareRoute } from "@kit/http-kernel/contract";
import Type from "typebox";
import { Health, History, PackageList, PackagePage, SinglePackage, Statistics, Timeline } from "./schemas.js";

/** All routes of the API. Free of Node, so that pages and commands use the same declarations through the client. */

/** Longer queries are no names; they are refused before any work. */
const LONGEST_QUERY = 256;
const DEFAULT_LIMIT = 50;
/** The index changes once a day at most; a minute keeps a new one from being hidden for long. */
const CACHE = { maxAge: 60 };
/** No NUL anywhere. */
const NO_NUL = "^[^\\u0000]*$";

const Query = Type.String({
  minLength: 1,
  maxLength: LONGEST_QUERY,
  pattern: NO_NUL,
  description: "Search query, 1 to 256 characters without NUL",
});
const Limit = Type.Integer({
  minimum: 0,
  default: DEFAULT_LIMIT,
  description: "Maximum results, up to 1000 (larger values count as 1000); 0 answers only the count",
});
const Offset = Type.Integer({
  minimum: 0,
  maximum: Number.MAX_SAFE_INTEGER,
  default: 0,
  description: "Results to skip",
});
const packageErrors = ["NOT_FOUND", "BAD_REQUEST", "SERVICE_UNAVAILABLE", "OVERLOADED", "TIMEOUT"] as const;
const searchErrors = ["BAD_REQUEST", "SERVICE_UNAVAILABLE", "OVERLOADED", "TIMEOUT"] as const;

export const routes = {
  search: declareRoute({
    id: "search",
    method: "GET",
    path: "/api/v1/search",
    summary: "Search packages by attribute path and name",
    description:
      "Matches the whole, a prefix, the leaf after the last dot, the start of a word and any substring, case-insensitively. " +
      "Without `sort` the order is relevance; every order is total, so pages neither overlap nor leave gaps.",
    tag: "search",
    query: Type.Object({
      q: Query,
      version: Type.Optional(Type.String({ description: "Version filter: a prefix, case-insensitive" })),
      exact: Type.Optional(
        Type.Boolean({ default: false, description: "Only where attribute path or name equal q, case-sensitively" }),
      ),
      license: Type.Optional(Type.String({ description: "Licence filter: a substring, case-insensitive" })),
      sort: Type.Optional(
        Type.Enum(["date", "version", "name", "relevance"], {
          default: "relevance",
          description: "date: newest last commit first; version: Nix version order; name: by code point",
        }),
      ),
      reverse: Type.Optional(Type.Boolean({ default: false, description: "Reverse the order" })),
      limit: Type.Optional(Limit),
      offset: Type.Optional(Offset),
    }),
    responses: { 200: { description: "One page of version records", schema: PackagePage } },
    errors: searchErrors,
    cache: CACHE,
  }),
  searchDescriptions: declareRoute({
    id: "search_descriptions",
    method: "GET",
    path: "/api/v1/search/description",
    summary: "Search names and descriptions",
    description:
      'All words are required, in any form of their stem; "quoted phrases" stay together; the last word may go on. ' +
      "One record per package: its newest version.",
    tag: "search",
    query: Type.Object({ q: Query, limit: Type.Optional(Limit), offset: Type.Optional(Offset) }),
    responses: { 200: { description: "One page of packages, best first", schema: PackagePage } },
    errors: searchErrors,
    cache: CACHE,
  }),
  getPackage: declareRoute({
    id: "get_package",
    method: "GET",
    path: "/api/v1/packages/{attr}",
    summary: "All version records of a package",
    description: "Newest last commit first, then newest version.",
    tag: "packages",
    responses: { 200: { description: "The records", schema: PackageList } },
    errors: packageErrors,
    cache: CACHE,
  }),
  getVersion: declareRoute({
    id: "get_version",
    method: "GET",
    path: "/api/v1/packages/{attr}/versions/{version}",
    summary: "All records of one version",
    tag: "packages",
    responses: { 200: { description: "The records", schema: PackageList } },
    errors: packageErrors,
    cache: CACHE,
  }),
  getFirst: declareRoute({
    id: "get_first_occurrence",
    method: "GET",
    path: "/api/v1/packages/{attr}/versions/{version}/first",
    summary: "The first occurrence of a version",
    tag: "packages",
    responses: { 200: { description: "The record with the earliest first commit", schema: SinglePackage } },
    errors: packageErrors,
    cache: CACHE,
  }),
  getLast: declareRoute({
    id: "get_last_occurrence",
    method: "GET",
    path: "/api/v1/packages/{attr}/versions/{version}/last",
    summary: "The last occurrence of a version",
    tag: "packages",
    responses: { 200: { description: "The record with the latest last commit", schema: SinglePackage } },
    errors: packageErrors,
    cache: CACHE,
  }),
  getHistory: declareRoute({
    id: "get_history",
    method: "GET",
    path: "/api/v1/packages/{attr}/history",
    summary: "The version history of a package",
    description: "One entry a version, newest first seen first, then newest version.",
    tag: "packages",
    responses: { 200: { description: "The history", schema: History } },
    errors: packageErrors,
    cache: CACHE,
  }),
  getStatistics: declareRoute({
    id: "get_statistics",
    method: "GET",
    path: "/api/v1/stats",
    summary: "What the index holds",
    tag: "index",
    responses: { 200: { description: "Statistics", schema: Statistics } },
    errors: ["SERVICE_UNAVAILABLE"],
    cache: CACHE,
  }),
  getTimeline: declareRoute({
    id: "get_timeline",
    method: "GET",
    path: "/api/v1/stats/timeline",
    summary: "How the index grew, month by month",
    description: "Every month from the oldest to the newest commit, oldest first.",
    tag: "index",
    responses: { 200: { description: "The months", schema: Timeline } },
    errors: ["SERVICE_UNAVAILABLE"],
    cache: CACHE,
  }),
  getHealth: declareRoute({
    id: "get_health",
    method: "GET",
    path: "/api/v1/health",
    summary: "Whether the server can answer",
    description: "Answers at once whatever the load, also without an index.",
    tag: "index",
    responses: { 200: { description: "Health", schema: Health } },
    errors: [],
    noStore: true,
    rateLimitExempt: true,
    keyExempt: true,
  }),
} as const;
