import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { promisify } from "node:util";

/** A git clone of nixpkgs: which commits to evaluate, and a work tree to evaluate them in. */

const run = promisify(execFile);
/** A list of a million commits is 60 MB. */
const LARGEST_OUTPUT = 256 * 1024 * 1024;

export class GitError extends Error {
  override name = "GitError";
}

export interface Commit {
  commit: string;
  /** Unix seconds. */
  date: number;
}

/** Every `every`-th commit of the main line (first parents), newest first, down to `since`. */
export async function listCommits(
  repository: string,
  options: { every: number; branch: string; since: number | null },
): Promise<Commit[]> {
  const since = options.since === null ? [] : [`--since=${new Date(options.since * 1000).toISOString()}`];
  const log = await git(repository, ["log", "--first-parent", "--format=%H %ct", ...since, options.branch, "--"]);
  return parseCommits(log).filter((_, index) => index % options.every === 0);
}

/** Full hashes and dates of the commits a person listed. */
export async function resolveCommits(repository: string, names: readonly string[]): Promise<Commit[]> {
  const commits: Commit[] = [];
  for (const name of names) {
    if (!/^[\w./^~@{}-]+$/.test(name) || name.startsWith("-")) {
      throw new GitError(`"${name}" is not the name of a commit.`);
    }
    commits.push(...parseCommits(await git(repository, ["log", "-1", "--format=%H %ct", name, "--"])));
  }
  return commits;
}

/** A work tree of its own, so that the person's checkout stays as it is. */
export class ScratchWorkTree {
  private made = false;

  constructor(
    private readonly repository: string,
    readonly path: string,
  ) {}

  async checkOut(commit: string): Promise<void> {
    if (this.made) {
      await git(this.path, ["checkout", "--force", "--quiet", "--detach", commit]);
      return;
    }
    // What a killed run left behind.
    await this.remove();
    await git(this.repository, ["worktree", "add", "--force", "--detach", this.path, commit]);
    this.made = true;
  }

  async remove(): Promise<void> {
    this.made = false;
    if (existsSync(this.path)) {
      await rm(this.path, { recursive: true, force: true });
    }
    await git(this.repository, ["worktree", "prune"]);
  }
}

/** The commit a work tree is at, or null when it is no git work tree. */
export async function currentCommit(tree: string): Promise<Commit | null> {
  try {
    const top = (await git(tree, ["rev-parse", "--show-cdup"])).trim();
    return top === "" ? (parseCommits(await git(tree, ["log", "-1", "--format=%H %ct"]))[0] ?? null) : null;
  } catch {
    return null;
  }
}

function parseCommits(log: string): Commit[] {
  return log
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => {
      const [commit, date] = line.split(" ");
      return { commit: commit!, date: Number(date) };
    });
}

async function git(folder: string, words: readonly string[]): Promise<string> {
  try {
    const { stdout } = await run("git", ["-C", folder, ...words], { maxBuffer: LARGEST_OUTPUT });
    return stdout;
  } catch (cause) {
    const { code, stderr } = cause as { code?: string | number; stderr?: string };
    if (code === "ENOENT") {
      throw new GitError("git is not installed.");
    }
    throw new GitError(`git ${words[0]} failed in ${folder}: ${(stderr ?? String(cause)).trim()}`);
  }
}
