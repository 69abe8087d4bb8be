import Type from "typebox";

/** The shapes of the API's answers; field order is the order on the wire. */

const Timestamp = (description: string) =>
  Type.String({
    description,
    pattern: "^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}Z$",
    examples: ["2023-11-14T22:13:20Z"],
  });
const CommitHash = (description: string) => Type.String({ description, pattern: "^[0-9a-f]{40}$" });
const Nullable = <Schema extends Parameters<typeof Type.Union>[0][number]>(schema: Schema) =>
  Type.Union([schema, Type.Null()]);
const Strings = (description: string) => Nullable(Type.Array(Type.String(), { description }));

export const PackageRecord = Type.Object(
  {
    id: Type.Integer({ minimum: 1, description: "Unique in the index" }),
    attribute_path: Type.String({ examples: ["python313Packages.requests"] }),
    name: Type.String({ examples: ["requests"] }),
    version: Type.String({ examples: ["2.32.3"] }),
    description: Nullable(Type.String()),
    license: Nullable(Type.String({ description: "SPDX id where one is known; several are joined with ', '" })),
    first_commit_hash: CommitHash("First commit that has this version"),
    first_commit_date: Timestamp("Date of that commit"),
    last_commit_hash: CommitHash("Last commit that has this version"),
    last_commit_date: Timestamp("Date of that commit"),
    homepage: Nullable(Type.String()),
    maintainers: Strings("Who looks after the package"),
    platforms: Strings("Systems the package is built for"),
    source_path: Nullable(Type.String({ description: "Where the package is defined in the tree" })),
    known_vulnerabilities: Strings("Why the package is marked insecure"),
  },
  { title: "PackageRecord" },
);

export const PageMeta = Type.Object(
  {
    total: Type.Integer({ description: "Records of the whole result, exact" }),
    limit: Type.Integer({ description: "The page size that was used" }),
    offset: Type.Integer(),
    has_more: Type.Boolean(),
  },
  { title: "PageMeta" },
);

export const HistoryEntry = Type.Object(
  {
    version: Type.String(),
    first_seen: Timestamp("Earliest first commit of this version"),
    last_seen: Timestamp("Latest last commit of this version"),
    is_insecure: Type.Boolean({ description: "This package's record of the version carries known vulnerabilities" }),
  },
  { title: "HistoryEntry" },
);

export const IndexStatistics = Type.Object(
  {
    total_ranges: Type.Integer(),
    unique_names: Type.Integer(),
    unique_versions: Type.Integer(),
    oldest_commit_date: Nullable(Timestamp("null in an empty index")),
    newest_commit_date: Nullable(Timestamp("null in an empty index")),
    last_indexed_commit: Nullable(CommitHash("null in an empty index")),
    last_indexed_date: Nullable(Timestamp("null in an empty index")),
    sample: Type.Optional(Type.Boolean({ description: "true: the small index that ships with the program" })),
  },
  { title: "IndexStatistics" },
);

export const TimelineMonth = Type.Object(
  {
    month: Type.String({ pattern: "^\\d{4}-\\d{2}$", examples: ["2023-11"] }),
    packages: Type.Integer({ description: "Attribute paths that were there at some time of the month" }),
    new_versions: Type.Integer({ description: "Version records that begin in the month" }),
    total_versions: Type.Integer({ description: "Version records that began in the month or before" }),
  },
  { title: "TimelineMonth" },
);

export const Health = Type.Object(
  {
    status: Type.Union([Type.Literal("ok"), Type.Literal("degraded")], { description: "degraded: there is no index" }),
    version: Type.String({ description: "Version of the server" }),
    index_commit: Nullable(CommitHash("Commit of the index")),
  },
  { title: "Health" },
);

export const PackagePage = Type.Object({ data: Type.Array(PackageRecord), meta: PageMeta }, { title: "PackagePage" });
export const PackageList = Type.Object({ data: Type.Array(PackageRecord) }, { title: "PackageList" });
export const SinglePackage = Type.Object({ data: PackageRecord }, { title: "SinglePackage" });
export const History = Type.Object({ data: Type.Array(HistoryEntry) }, { title: "History" });
export const Statistics = Type.Object({ data: IndexStatistics }, { title: "Statistics" });
export const Timeline = Type.Object({ data: Type.Array(TimelineMonth) }, { title: "Timeline" });
