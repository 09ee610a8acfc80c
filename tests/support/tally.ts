import type { Metrics } from '../../lib/base/metrics.ts';

/** The series of one family as lines, `{label="value",…} number`; a histogram's number is how often it observed. */
export function tally(metrics: Metrics, name: string): string[] {
  const family = metrics.read().find((one) => one.name === name);
  return (family?.samples ?? []).map(({ labels, value, buckets }) => {
    const pairs = Object.entries(labels).map(([label, text]) => `${label}="${text}"`);
    return `{${pairs.join(',')}} ${buckets?.at(-1)?.count ?? value}`;
  });
}
