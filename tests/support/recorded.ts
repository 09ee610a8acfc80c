/** An answer as the documents show it. */
export interface Recorded {
  readonly status: number;
  readonly body: unknown;
}

/**
 * The record after a run: what was answered now, and of the other operations that there are what was recorded before,
 * as a run may have been of some alone. In the order of the operations.
 */
export function mergedRecord(
  names: readonly string[],
  before: Readonly<Record<string, Recorded>>,
  now: Readonly<Record<string, Recorded>>,
): Record<string, Recorded> {
  return Object.fromEntries(
    names.flatMap((name) => {
      const answer = now[name] ?? before[name];
      return answer ? [[name, answer]] : [];
    }),
  );
}
