/** The candidate with the smallest Levenshtein distance to `written`; undefined if none is near. */
export function closest(written: string, candidates: readonly string[]): string | undefined {
  let best: string | undefined;
  let fewest = Math.ceil(written.length / 3) + 1;
  for (const candidate of candidates) {
    const edits = distance(written.toLowerCase(), candidate.toLowerCase());
    if (edits < fewest) [best, fewest] = [candidate, edits];
  }
  return best;
}

function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const change = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(change, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
