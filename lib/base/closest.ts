/** The candidate with the fewest edits from `written`; undefined if none is near, which is `most` edits or fewer. */
export function closest(
  written: string,
  candidates: readonly string[],
  most = Math.ceil(written.length / 3),
): string | undefined {
  let best: string | undefined;
  let fewest = most + 1;
  for (const candidate of candidates) {
    if (Math.abs(candidate.length - written.length) >= fewest) continue;
    const edits = distance(written.toLowerCase(), candidate.toLowerCase());
    if (edits < fewest) [best, fewest] = [candidate, edits];
  }
  return best;
}

/** Letters added, left out, replaced, or two that changed places (optimal string alignment). */
function distance(a: string, b: string): number {
  let before: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const change = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swap = isSwap ? (before[j - 2] ?? 0) + 1 : change;
      next.push(Math.min(change, swap, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    [before, row] = [row, next];
  }
  return row[b.length] ?? 0;
}
