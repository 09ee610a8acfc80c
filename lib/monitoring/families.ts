import type { Family, Labels } from '../base/metrics.ts';

/** Counts by outcome, status or limit. */
export type Outcomes = Readonly<Record<string, number>>;

/** The sum of a family's samples by a key of their labels; a counter that counted nothing is left out. */
export function sumBy(family: Family | undefined, keyOf: (labels: Labels) => string | undefined): Outcomes {
  const sums: Record<string, number> = {};
  for (const { labels, value } of family?.samples ?? []) {
    if (value === 0 && family?.type === 'counter') continue;
    const key = keyOf(labels) ?? 'other';
    sums[key] = (sums[key] ?? 0) + value;
  }
  return sums;
}

/** A status as its class, such as `2xx`. */
export function statusClass({ status }: Labels): string {
  return `${status?.[0]}xx`;
}

/** The console polls all the time; its own requests would hide those of clients. */
export function withoutConsole(family: Family | undefined): Family | undefined {
  return (
    family && {
      ...family,
      samples: family.samples.filter(({ labels }) => !/^(?:\/v1)?\/console(?:\/|$)/.test(labels['route'] ?? '')),
    }
  );
}
