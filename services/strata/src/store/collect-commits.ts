import { compareCodePoints } from "./compare-code-points.js";

/** A commit as the index keeps it: a hash and the date it was given with. */
export interface Commit {
  readonly hash: string;
  readonly date: number;
}

/** Gives equal commits one number. One hash with two dates is two commits. */
export class CommitTable {
  readonly #commits: Commit[] = [];
  /** By hash: the commit that came first. Nearly always it is the one. */
  readonly #firstOfHash = new Map<string, number>();
  readonly #others = new Map<string, number>();

  intern(hash: string, date: number): number {
    const first = this.#firstOfHash.get(hash);
    if (first === undefined) {
      const number = this.#add(hash, date);
      this.#firstOfHash.set(hash, number);
      return number;
    }
    if (this.#commits[first]!.date === date) return first;
    const key = `${hash}${date}`;
    const known = this.#others.get(key);
    if (known !== undefined) return known;
    const number = this.#add(hash, date);
    this.#others.set(key, number);
    return number;
  }

  #add(hash: string, date: number): number {
    this.#commits.push({ hash, date });
    return this.#commits.length - 1;
  }

  /** The commits by date, then hash, and for each old number the new one. */
  sort(): { sorted: Commit[]; newNumbers: Uint32Array } {
    const commits = this.#commits;
    const order = Array.from(commits.keys()).sort(
      (a, b) => commits[a]!.date - commits[b]!.date || compareCodePoints(commits[a]!.hash, commits[b]!.hash),
    );
    const newNumbers = new Uint32Array(order.length);
    for (let i = 0; i < order.length; i++) newNumbers[order[i]!] = i;
    return { sorted: order.map((number) => commits[number]!), newNumbers };
  }
}
