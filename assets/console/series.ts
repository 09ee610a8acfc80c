/** Counts by word. */
export type Counts = Readonly<Record<string, number>>;

/** The sum of all counts. */
export function total(counts: Counts): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}
