/** How many tests, or checks, ended how. */
export interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

/** No test at all. */
export const NONE: Counts = { passed: 0, failed: 0, skipped: 0 };

/** The totals on the root element of a JUnit report. */
export function readReport(xml: string): Counts {
  const root = /<testsuites[^>]*>/.exec(xml)?.[0] ?? '';
  const count = (name: string) => Number(new RegExp(`\\b${name}="(\\d+)"`).exec(root)?.[1] ?? 0);
  const [failed, skipped] = [count('failures') + count('errors'), count('skipped')];
  return { passed: count('tests') - failed - skipped, failed, skipped };
}

/** The counts added up. */
export function sumOf(parts: readonly Counts[]): Counts {
  const sum = (name: keyof Counts) => parts.reduce((total, counts) => total + counts[name], 0);
  return { passed: sum('passed'), failed: sum('failed'), skipped: sum('skipped') };
}

/** The line that a run ends with; `.ci/run` reads it. */
export function totals({ passed, failed, skipped }: Counts): string {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
}
