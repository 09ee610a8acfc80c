import type { TortureResult } from './torture.ts';

/** Whether nothing was violated, and each fault that can happen did. */
export function isGood({ faults, violations }: TortureResult): boolean {
  return violations.length === 0 && Object.values(faults).every((count) => count > 0);
}

/** What one world went through. */
export function worldReport({ world, seed, faults, statuses, acknowledged, checks, ...more }: TortureResult): string {
  const lines = [
    `${world}, seed ${seed}: ${more.violations.length} violations; seconds: ${countsOf(more.seconds)}`,
    `  faults: ${countsOf(faults)}`,
    `  acknowledged: ${countsOf(acknowledged)}; answers by status: ${countsOf(statuses)}`,
    `  compared: ${countsOf(checks)}`,
    ...Object.entries(more.impossible).map(([name, why]) => `  not here: ${name} (${why})`),
    ...Object.entries(faults).flatMap(([name, count]) => (count === 0 ? [`  NEVER FIRED: ${name}`] : [])),
    ...more.violations.map(({ invariant, detail }) => `  VIOLATED: ${invariant}: ${detail}`),
  ];
  return lines.join('\n');
}

/** All worlds together, and how to repeat the run. */
export function reportOf(results: readonly TortureResult[], run: { minutes: number; seed: number }): string {
  const faults: Record<string, number> = {};
  for (const result of results) {
    for (const [name, count] of Object.entries(result.faults)) faults[name] = (faults[name] ?? 0) + count;
  }
  const violations = results.reduce((sum, one) => sum + one.violations.length, 0);
  const silent = Object.entries(faults).filter(([, count]) => count === 0);
  return [
    '',
    `${results.length} worlds, seeds ${results.map(({ seed }) => seed).join(', ')}`,
    `faults: ${countsOf(faults)}`,
    `${violations} violations; ${silent.length} kinds of fault never fired`,
    `again: bun run torture --minutes ${run.minutes} --seed ${run.seed}`,
  ].join('\n');
}

function countsOf(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .map(([name, count]) => `${name} ${count}`)
    .join(', ');
}
