import { join } from "node:path";
import { type EvaluateOptions, evaluateTree } from "./evaluate-tree.js";
import { type Commit, ScratchWorkTree } from "./git-commits.js";
import type { IngestSession } from "./ingest-session.js";

/** Evaluates commits of a clone, one after the other, and takes each in. */

export interface IngestGitOptions {
  session: IngestSession;
  repository: string;
  commits: readonly Commit[];
  channel: string;
  evaluate: EvaluateOptions;
  signal: AbortSignal;
  log(line: string): void;
  onProgress(progress: { done: number; total: number; commit: string }): void;
}

export interface IngestGitResult {
  ingested: number;
  known: number;
  failed: number;
}

export async function ingestGit(options: IngestGitOptions): Promise<IngestGitResult> {
  const { session, channel, signal } = options;
  const result: IngestGitResult = { ingested: 0, known: 0, failed: 0 };
  const tree = new ScratchWorkTree(options.repository, join(session.workPath, "tree"));
  try {
    for (const [at, { commit, date }] of options.commits.entries()) {
      if (signal.aborted) {
        break;
      }
      options.onProgress({ done: at, total: options.commits.length, commit });
      if (session.has(channel, commit)) {
        result.known++;
        continue;
      }
      try {
        await tree.checkOut(commit);
        const ingested = await session.ingest({
          channel,
          commit,
          date,
          open: () => evaluateTree(tree.path, options.evaluate),
        });
        result.ingested += ingested.confirmed === null ? 1 : 2;
        result.failed -= ingested.confirmed === null ? 0 : 1;
      } catch (error) {
        if (!signal.aborted) {
          result.failed++;
          options.log(`${commit}: ${(error as Error).message}`);
        }
      }
      // Evaluations take minutes: every one of them is worth keeping at once.
      session.save();
    }
  } finally {
    await tree.remove();
  }
  return result;
}
