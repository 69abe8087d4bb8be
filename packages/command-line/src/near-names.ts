/** Longest word compared: the work grows with the product of both lengths, and nobody mistypes a longer name by hand. */
const MAX_COMPARED_LENGTH = 64;

/** The candidates most like a mistyped name, best first; none when nothing is near. */
export function nearNames(name: string, candidates: Iterable<string>, most = 3): string[] {
  const wanted = name.toLowerCase().slice(0, MAX_COMPARED_LENGTH);
  const allowed = Math.max(1, Math.floor(wanted.length / 3));
  const scored: { candidate: string; distance: number }[] = [];
  for (const candidate of candidates) {
    const other = candidate.toLowerCase().slice(0, MAX_COMPARED_LENGTH);
    const distance = other.startsWith(wanted) && wanted.length > 1 ? 0.5 : editDistance(wanted, other);
    if (distance <= allowed) scored.push({ candidate, distance });
  }
  scored.sort((a, b) => a.distance - b.distance || (a.candidate < b.candidate ? -1 : 1));
  return scored.slice(0, most).map((entry) => entry.candidate);
}

/** Insertions, deletions, replacements and swaps of neighbours, each counting one. */
function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1;
      let best = Math.min(row[j - 1]! + 1, last[j]! + 1, last[j - 1]! + cost);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        best = Math.min(best, beforeLast[j - 2]! + 1);
      row.push(best);
    }
    beforeLast = last;
    last = row;
  }
  return last[b.length]!;
}
