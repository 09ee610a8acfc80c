import type { Clock } from '../base/clock.ts';
import { type ErrorCode, VaultError } from '../base/error.ts';
import type { Metrics } from '../base/metrics.ts';

/** One message on its way: labels for the metrics, and the word a caller is given when it does not get through. */
export interface Attempt {
  readonly channel: 'email' | 'sms';
  readonly provider: string;
  readonly failure: ErrorCode;
}

/** Runs one delivery and records its outcome and duration. Throws a `VaultError`: the one thrown by `deliver`, or `failure` with its error as the cause. */
export async function attempt(
  { clock, metrics }: { readonly clock: Clock; readonly metrics: Metrics },
  { channel, provider, failure }: Attempt,
  deliver: () => Promise<void>,
): Promise<void> {
  const messages = metrics.counter('vault_messages_total');
  const duration = metrics.histogram('vault_message_duration_seconds');
  const start = clock.monotonic();
  let outcome = 'failed';
  try {
    await deliver();
    outcome = 'accepted';
  } catch (cause) {
    throw cause instanceof VaultError ? cause : new VaultError(failure, { cause });
  } finally {
    messages.add({ channel, provider, outcome });
    duration.observe((clock.monotonic() - start) / 1000, { channel });
  }
}
