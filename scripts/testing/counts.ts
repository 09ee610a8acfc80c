/** How many tests, or checks, ended how. */
export interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

/** No test at all. */
export const NONE: Counts = { passed: 0, failed: 0, skipped: 0 };

/** The report on one file. */
export interface Reported {
  readonly counts: Counts;
  readonly seconds: number;
}

/** The files of a JUnit report, by their paths: Bun writes an element for each, with its totals, two blanks deep. */
export function readReport(xml: string): Map<string, Reported> {
  const files = xml.match(/^ {2}<testsuite [^>]*>/gm) ?? [];
  return new Map(files.map((element) => [/ file="([^"]*)"/.exec(element)?.[1] ?? '', readElement(element)]));
}

function readElement(element: string): Reported {
  const number = (name: string) => Number(new RegExp(` ${name}="([\\d.]+)"`).exec(element)?.[1] ?? 0);
  const [failed, skipped] = [number('failures') + number('errors'), number('skipped')];
  return { counts: { passed: number('tests') - failed - skipped, failed, skipped }, seconds: number('time') };
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
