import type { Finding } from './load.ts';

/** The middle of several measurements and their ends. */
export interface Spread {
  readonly median: number;
  readonly low: number;
  readonly high: number;
}

/** Something to measure, by its name in the tables. */
export interface Case<T = Finding> {
  readonly name: string;
  readonly run: () => Promise<T>;
}

/** How often to measure, and how often before without counting. */
export interface Rounds {
  readonly rounds: number;
  readonly warmUps?: number;
}

/** A case, or several that need their order: one sends the codes that the next checks. */
export type Step<T = Finding> = Case<T> | readonly Case<T>[];

/**
 * Measures every case in every round, so that what else the machine does falls on all of them. Each round begins with
 * another step, so that none always comes after the heaviest. The rounds of the warm-up are in order and are not
 * counted. Findings by case, in the order of the rounds.
 */
export async function interleaved<T>(
  steps: readonly Step<T>[],
  { rounds, warmUps = 2 }: Rounds,
): Promise<ReadonlyMap<string, readonly T[]>> {
  const findings = new Map<string, T[]>(steps.flat().map(({ name }) => [name, []]));
  for (let round = -warmUps; round < rounds; round++) {
    progress(round < 0 ? 'warm-up' : `round ${round + 1} of ${rounds}`);
    const first = Math.max(0, round) % steps.length;
    for (const { name, run } of [...steps.slice(first), ...steps.slice(0, first)].flat()) {
      const finding = await run();
      if (round >= 0) findings.get(name)?.push(finding);
    }
  }
  progress('');
  return findings;
}

/** The median of the values and their ends. */
export function spreadOf(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b);
  const [low = Number.NaN, high = Number.NaN] = [sorted[0], sorted.at(-1)];
  return { median: medianOf(sorted), low, high };
}

/** One member of the findings. */
export function each<T>(findings: readonly T[] | undefined, member: (finding: T) => number): Spread {
  return spreadOf((findings ?? []).map(member));
}

/** The ratio of two cases, each round by itself. */
export function ratioOf<T>(
  findings: readonly T[] | undefined,
  beside: readonly T[] | undefined,
  member: (finding: T) => number,
): Spread {
  return spreadOf((findings ?? []).map((one, i) => member(one) / member(beside?.[i] as T)));
}

/** The median; the mean of the two in the middle of an even number. */
export function medianOf(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const [low = Number.NaN, high = low] = [sorted[(sorted.length - 1) >> 1], sorted[sorted.length >> 1]];
  return (low + high) / 2;
}

/** One line on the terminal that the next replaces. */
export function progress(words: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${words}`);
  else if (words !== '') console.error(words);
}
