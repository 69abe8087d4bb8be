import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import {
  type CommandContext,
  CommandError,
  defineCommand,
  duration,
  formatBytes,
  formatCount,
  integer,
  list,
  type Output,
  type Progress,
  text,
  toggle,
  usageError,
} from "@kit/command-line";
import { type EvaluateOptions, EvaluationError, evaluateTree } from "../ingest/evaluate-tree.js";
import { currentCommit, GitError, listCommits, resolveCommits } from "../ingest/git-commits.js";
import { ingestChannel } from "../ingest/ingest-channel.js";
import { ingestGit } from "../ingest/ingest-git.js";
import {
  ForeignIndexError,
  IngestSession,
  QualityGateError,
  SAVE_EVERY_MS,
  type SnapshotSource,
} from "../ingest/ingest-session.js";
import { ObservationsFileError } from "../ingest/observations-file.js";
import { SENTINEL_PACKAGES } from "../ingest/quality-gates.js";
import { openPackageList } from "../ingest/read-snapshot.js";
import { openReleaseListing, ReleaseError } from "../ingest/release-listing.js";
import { MalformedPackageListError } from "../ingest/scan-package-entries.js";
import { WorkFolderBusyError } from "../ingest/work-folder.js";
import { InvalidRecordError } from "../store/index.js";
import { HttpStatusError, UnreachableError } from "../sync/fetch-with-retry.js";
import { indexPath, indexSetting } from "./index-location.js";
import { parseMoment } from "./parse-moment.js";

/** Rows of every way to ingest. */
const ingestSettings = {
  index: indexSetting,
  channel: text({
    flag: "--channel <name>",
    doc: "line of snapshots it belongs to; a version that a later snapshot of the same line lacks has ended",
    default: undefined,
    defaultText: "depends on the source",
  }),
  saveEvery: duration({
    flag: "--save-every <time>",
    env: "STRATA_SAVE_EVERY",
    key: "ingest.save_every",
    doc: "work that may be lost when the ingest is killed",
    default: SAVE_EVERY_MS,
    defaultText: "20s",
    min: 0,
  }),
  force: toggle({ flag: "--force", doc: "take in what the quality gates refuse", default: false }),
  sentinels: list({
    flag: "--sentinels <paths>",
    env: "STRATA_SENTINELS",
    key: "ingest.sentinels",
    doc: "packages that every snapshot must have (comma-separated; 'none' for none)",
    default: [...SENTINEL_PACKAGES],
  }),
};

/** Rows of the ways that evaluate with Nix. */
const evaluateSettings = {
  nixEnv: text({
    flag: "--nix-env <path>",
    env: "STRATA_NIX_ENV",
    key: "ingest.nix_env",
    doc: "the nix-env to run",
    default: "nix-env",
  }),
  system: text({ flag: "--system <name>", doc: "platform to evaluate for", default: "x86_64-linux" }),
};

const COMMIT = /^[0-9a-f]{40}$/;

interface SessionSettings {
  index: string | undefined;
  force: boolean;
  saveEvery: number;
  sentinels: readonly string[];
}

type IngestContext = Pick<CommandContext, "folders" | "output" | "progress" | "signal"> & { settings: SessionSettings };

const snapshotCommand = defineCommand({
  name: "snapshot",
  summary: "take in one package list (packages.json, .br or .gz, or what nix-env printed)",
  arguments: [{ name: "file", doc: "the package list" }],
  settings: {
    ...ingestSettings,
    commit: text({ flag: "--commit <hash>", doc: "commit it was made from (40 hex digits)", default: undefined }),
    date: text({ flag: "--date <when>", doc: "date of the release or commit", default: undefined }),
  },
  examples: ["strata ingest snapshot packages.json.br --commit 853ecd25… --date 2020-01-01"],
  run: async ({ args, ...context }) => {
    const { settings } = context;
    if (!existsSync(args.file)) {
      throw new CommandError("notFound", `${args.file} is not there`);
    }
    const date = settings.date === undefined ? undefined : parseMoment(settings.date, "--date");
    const source = {
      channel: settings.channel ?? "nixpkgs",
      ...checkCommit(settings.commit, date),
      open: () => openPackageList(args.file),
    };
    return ingestOne(context, source, `reading ${args.file}`);
  },
});

const treeCommand = defineCommand({
  name: "tree",
  summary: "evaluate a nixpkgs work tree with nix-env and take it in",
  arguments: [{ name: "folder", doc: "the tree" }],
  settings: {
    ...ingestSettings,
    ...evaluateSettings,
    commit: text({ flag: "--commit <hash>", doc: "its commit", default: undefined, defaultText: "asked of git" }),
    date: text({ flag: "--date <when>", doc: "its date", default: undefined, defaultText: "asked of git" }),
  },
  run: async ({ args, ...context }) => {
    const { settings, signal } = context;
    const known = await currentCommit(args.folder);
    const date = settings.date === undefined ? known?.date : parseMoment(settings.date, "--date");
    const commit = checkCommit(settings.commit ?? known?.commit, date);
    const evaluate = (scratch: string): EvaluateOptions => ({ ...settings, scratch, signal });
    return withSession(context, async (session, bar) => {
      bar.update({ label: `evaluating ${args.folder}`, detail: "this takes minutes for a whole tree" });
      const open = () => evaluateTree(args.folder, evaluate(join(session.workPath, "nix")));
      const snapshot = await session.ingest({ channel: settings.channel ?? "git", ...commit, open });
      return { summary: [["packages", snapshot.packages]], json: { ...snapshot } };
    });
  },
});

const gitCommand = defineCommand({
  name: "git",
  summary: "evaluate commits of a clone of nixpkgs and take them in",
  arguments: [{ name: "repository", doc: "the clone" }],
  settings: {
    ...ingestSettings,
    ...evaluateSettings,
    every: integer({
      flag: "--every <number>",
      doc: "take every so many commits of the main line",
      default: undefined,
      min: 1,
    }),
    commits: text({ flag: "--commits <file>", doc: "file with one commit a line", default: undefined }),
    branch: text({ flag: "--branch <name>", doc: "branch to walk with --every", default: "HEAD" }),
    since: text({ flag: "--since <when>", doc: "no commits before", default: undefined }),
    limit: integer({ flag: "--limit <number>", doc: "commits to take at most", default: undefined, min: 1 }),
  },
  examples: [
    "strata ingest git nixpkgs --every 500 --since 2018-01-01",
    "strata ingest git nixpkgs --commits wanted.txt",
  ],
  run: async ({ args, ...context }) => {
    const { settings, signal, output } = context;
    if ((settings.every === undefined) === (settings.commits === undefined)) {
      throw usageError("which commits?", "Give either --every N or --commits FILE.");
    }
    return withSession(context, async (session, bar) => {
      const commits = (await chooseCommits(args.repository, settings)).slice(0, settings.limit);
      const result = await ingestGit({
        session,
        repository: args.repository,
        commits,
        channel: settings.channel ?? "git",
        evaluate: { ...settings, scratch: join(session.workPath, "nix"), signal },
        signal,
        log: (line) => output.note(line),
        onProgress: ({ done, total, commit }) =>
          bar.update({ label: "evaluating", done, total, detail: commit.slice(0, 12) }),
      });
      return { summary: Object.entries(result), json: result };
    });
  },
});

const channelCommand = defineCommand({
  name: "channel",
  summary: "take in the releases of a channel, newest first, going on where the last run stopped",
  arguments: [{ name: "location", doc: "address of the channel in an S3-style bucket, or a folder with its releases" }],
  settings: {
    ...ingestSettings,
    since: text({ flag: "--since <when>", doc: "no releases before", default: undefined }),
    limit: integer({ flag: "--limit <number>", doc: "releases to take at most", default: undefined, min: 1 }),
    retryFailed: toggle({ flag: "--retry-failed", doc: "try releases that failed again at once", default: false }),
  },
  examples: ["strata ingest channel https://nix-releases.s3.amazonaws.com/nixos/unstable/ --since 2020-03-27"],
  run: async ({ args, ...context }) => {
    const { settings, signal, output } = context;
    const since = settings.since === undefined ? null : parseMoment(settings.since, "--since");
    return withSession(context, async (session, bar) => {
      const listing = openReleaseListing(args.location, { signal });
      bar.update({ label: "listing releases" });
      const started = Date.now();
      const result = await ingestChannel({
        session,
        listing,
        channel: settings.channel ?? listing.channel,
        since,
        limit: settings.limit ?? null,
        retryFailed: settings.retryFailed,
        signal,
        log: (line) => output.note(line),
        onProgress: ({ done, total, release, bytes }) => {
          const speed = `${formatBytes((bytes / Math.max(1, Date.now() - started)) * 1000)}/s`;
          bar.update({ label: "taking in releases", done, total, detail: `${done}/${total}  ${speed}  ${release}` });
        },
      });
      const { counts, ingested, bytes } = result;
      return {
        summary: [["taken in", ingested], ...Object.entries(counts)],
        json: { taken_in: ingested, bytes, releases: counts },
      };
    });
  },
});

export const ingestCommand = defineCommand({
  name: "ingest",
  summary: "make or extend the index from nixpkgs data",
  subcommands: [snapshotCommand, channelCommand, treeCommand, gitCommand],
});

async function chooseCommits(
  repository: string,
  settings: { every: number | undefined; commits: string | undefined; branch: string; since: string | undefined },
) {
  const since = settings.since === undefined ? null : parseMoment(settings.since, "--since");
  if (settings.every !== undefined) {
    return listCommits(repository, { every: settings.every, branch: settings.branch, since });
  }
  if (!existsSync(settings.commits!)) {
    throw new CommandError("notFound", `${settings.commits} is not there`);
  }
  const names = readFileSync(settings.commits!, "utf8")
    .split("\n")
    .map((line) => line.replace(/#.*/, "").trim())
    .filter((line) => line !== "");
  const commits = await resolveCommits(repository, names);
  return commits.filter(({ date }) => since === null || date >= since);
}

function checkCommit(commit: string | undefined, date: number | undefined): { commit: string; date: number } {
  if (commit === undefined || !COMMIT.test(commit)) {
    throw usageError(
      `--commit is ${commit === undefined ? "missing" : `"${commit}"`}`,
      "Give the whole hash: 40 hex digits, lower case.",
    );
  }
  if (date === undefined) {
    throw usageError("--date is missing", "Give the date of the release or commit, such as 2024-05-01.");
  }
  return { commit, date };
}

async function ingestOne(context: IngestContext, source: SnapshotSource, label: string): Promise<void> {
  return withSession(context, async (session, bar) => {
    bar.update({ label });
    const snapshot = await session.ingest(source);
    if (!snapshot.isNew) {
      context.output.note(`${source.commit} is in channel ${source.channel} already.`);
    }
    return {
      summary: [
        ["packages", formatCount(snapshot.packages)],
        ["without a version", formatCount(snapshot.dropped)],
      ],
      json: { ...snapshot },
    };
  });
}

interface IngestSummary {
  summary: (readonly [string, string | number])[];
  json: object;
}

/** Opens the session, lets `work` take snapshots in, writes the index and says what came of it. What was taken in before a failure is kept. */
async function withSession(
  { settings, folders, output, progress, signal }: IngestContext,
  work: (session: IngestSession, bar: Progress) => Promise<IngestSummary>,
): Promise<void> {
  const bar = progress();
  let session: IngestSession | null = null;
  try {
    session = new IngestSession({
      indexPath: indexPath(settings.index, folders),
      force: settings.force,
      sentinels: settings.sentinels.filter((path) => path !== "none"),
      log: (line) => output.note(line),
      signal,
      saveEveryMs: settings.saveEvery,
    });
    const result = await work(session, bar);
    if (signal.aborted) {
      session.save();
      bar.finish("Stopped. What was taken in is kept; run the same command again to go on and to write the index.");
      return;
    }
    await writeAndReport(session, result, indexPath(settings.index, folders), output, bar, signal);
  } catch (error) {
    bar.finish();
    throw explain(error);
  } finally {
    session?.close();
  }
}

async function writeAndReport(
  session: IngestSession,
  result: IngestSummary,
  path: string,
  output: Output,
  bar: Progress,
  signal: AbortSignal,
): Promise<void> {
  const wrote = await session.writeIndex({
    signal,
    onProgress: ({ stage, records }) =>
      bar.update({ label: `writing the index: ${stage}`, detail: `${formatCount(records)} ranges` }),
  });
  bar.finish();
  const newest = session.observations.newest();
  output.fields(
    [
      ...result.summary,
      ["snapshots in all", session.observations.snapshotCount],
      [
        "newest",
        newest === null ? null : `${newest.commit} of ${new Date(newest.date * 1000).toISOString().slice(0, 10)}`,
      ],
      ["index", wrote ? path : `${path} (unchanged)`],
    ],
    { ...result.json, snapshots: session.observations.snapshotCount, index: path, written: wrote },
  );
}

function explain(error: unknown): unknown {
  if (error instanceof QualityGateError) {
    return new CommandError("failed", error.message, {
      remedy: "Look at the source; if it is right, run the command again with --force. Nothing was changed.",
    });
  }
  if (error instanceof UnreachableError) {
    return new CommandError("unreachable", error.message, { cause: error });
  }
  const expected = [
    MalformedPackageListError,
    ForeignIndexError,
    WorkFolderBusyError,
    ObservationsFileError,
    EvaluationError,
    GitError,
    ReleaseError,
    HttpStatusError,
    InvalidRecordError,
  ];
  return expected.some((kind) => error instanceof kind)
    ? new CommandError("failed", (error as Error).message, { cause: error })
    : error;
}
