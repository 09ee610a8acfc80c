import type { Log } from '../base/log.ts';
import type { Metrics } from '../base/metrics.ts';

/** A node's impossible answer: it lies, is broken, or is a node of another chain than the settings say. */
export function reportContradiction(
  { log, metrics }: { readonly log: Log; readonly metrics: Metrics },
  about: 'decimals' | 'factory' | 'prediction',
  details: Readonly<Record<string, unknown>>,
): void {
  metrics.counter('vault_node_contradictions_total').add({ about });
  log({ level: 'error', event: 'node_contradiction', about, ...details });
}
