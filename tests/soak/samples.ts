/** What a moment of a soak showed. */
export interface Sample {
  readonly minute: number;
  readonly residentMb: number;
  readonly descriptors: number;
  /** Processor time as a share of one core. */
  readonly processor: number;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** How long the load itself stood still at most. */
  readonly ownStallMs: number;
  readonly streams: number;
  readonly idle: number;
}

/** Whether a curve is flat: the last third of the run beside the third before it. */
export interface Verdict {
  readonly name: string;
  readonly before: number;
  readonly after: number;
  readonly ratio: number;
  readonly atMost: number;
  readonly isFlat: boolean;
}

/** The curves, and by how much the last third may be above the second. Times vary with all else on the machine. */
export const CURVES = [
  { member: 'residentMb', name: 'memory, MB', atMost: 1.05 },
  { member: 'descriptors', name: 'descriptors', atMost: 1.02 },
  { member: 'p99Ms', name: 'p99, ms', atMost: 1.25 },
] as const;

/** Judges the curves; the first third is left out, in which caches and heaps fill. */
export function judge(samples: readonly Sample[]): Verdict[] {
  const third = Math.floor(samples.length / 3);
  if (third === 0) throw new Error('a soak needs three samples');
  const [middle, last] = [samples.slice(-2 * third, -third), samples.slice(-third)];
  return CURVES.map(({ member, name, atMost }) => {
    const [before, after] = [middle, last].map((some) => medianOf(some.map((one) => one[member])));
    const ratio = (after ?? 0) / (before || 1);
    return { name, before: before ?? 0, after: after ?? 0, ratio, atMost, isFlat: ratio <= atMost };
  });
}

/** The value that a share of sorted numbers does not exceed; 0 of none. */
export function shareOf(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

function medianOf(numbers: readonly number[]): number {
  return shareOf(
    numbers.toSorted((a, b) => a - b),
    0.5,
  );
}
