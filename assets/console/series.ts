import type { Overview } from './overview.ts';

/** Counts by word. */
export type Counts = Readonly<Record<string, number>>;

/** Answers within each bound in seconds, cumulative; null means no bound. */
export type Buckets = Overview['latency'];

/** What the charts count: accepted codes, verified verifications, confirmed registrations. */
export const COUNTED = { sends: 'accepted', verifications: 'verified', registrations: 'confirmed' } as const;

/** What happened between two readings. */
export interface Point {
  readonly atMs: number;
  readonly requests: number;
  readonly errors: number;
  readonly sends: number;
  readonly verifications: number;
  readonly registrations: number;
  /** Milliseconds; null when nothing was answered. */
  readonly p50: number | null;
  readonly p95: number | null;
}

/** The growth between two readings. The counters of a restarted process start at 0. */
export function pointBetween(before: Overview, after: Overview): Point {
  const { counters } = after;
  const requests = growth(before.counters.requests, counters.requests);
  const grown = (name: keyof typeof COUNTED) => growth(before.counters[name], counters[name])[COUNTED[name]] ?? 0;
  const buckets = bucketsBetween(before.latency, after.latency);
  return {
    atMs: Date.parse(after.at),
    requests: total(requests),
    errors: requests['5xx'] ?? 0,
    sends: grown('sends'),
    verifications: grown('verifications'),
    registrations: grown('registrations'),
    p50: quantile(buckets, 0.5),
    p95: quantile(buckets, 0.95),
  };
}

/** How much each count grew. If any count fell, the process restarted and all counts start at 0. */
export function growth(before: Counts, after: Counts): Counts {
  const isFresh = Object.keys(before).some((key) => (after[key] ?? 0) < (before[key] ?? 0));
  return Object.fromEntries(
    Object.entries(after).map(([key, count]) => [key, isFresh ? count : count - (before[key] ?? 0)]),
  );
}

/** The sum of all counts. */
export function total(counts: Counts): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}

/** The answers given between two readings, by bound. */
export function bucketsBetween(before: Buckets, after: Buckets): Buckets {
  const earlier = new Map(before.map(({ le, count }) => [le, count]));
  const isFresh = after.some(({ le, count }) => count < (earlier.get(le) ?? 0));
  return after.map(({ le, count }) => ({ le, count: isFresh ? count : count - (earlier.get(le) ?? 0) }));
}

/**
 * The quantile in milliseconds, interpolated linearly inside its bucket like Prometheus' `histogram_quantile`. Beyond
 * the last bound it is that bound; null if nothing was counted.
 */
export function quantile(buckets: Buckets, q: number): number | null {
  const all = buckets.at(-1)?.count ?? 0;
  if (all === 0) return null;
  const rank = q * all;
  let [lower, below] = [0, 0];
  for (const { le, count } of buckets) {
    if (le === null) break;
    if (count >= rank) return 1000 * (lower + ((le - lower) * (rank - below)) / Math.max(1, count - below));
    [lower, below] = [le, count];
  }
  return 1000 * lower;
}

/** The list with one more entry, cut to the newest `max`. */
export function appended<T>(list: readonly T[], one: T, max: number): readonly T[] {
  return [...list, one].slice(-max);
}
