import type { Clock } from '../base/clock.ts';
import { type ErrorCode, VaultError } from '../base/error.ts';
import type { Metrics } from '../base/metrics.ts';

/** Labels of one message for the metrics, and the error code when its delivery fails. */
export interface MessageDelivery {
  readonly channel: 'email' | 'sms';
  readonly provider: string;
  readonly failure: ErrorCode;
}

/**
 * Runs one delivery and records its outcome and duration. Throws the `VaultError` of `deliver`, or one with code
 * `failure` and the error as its cause.
 */
export async function measureDelivery(
  { clock, metrics }: { readonly clock: Clock; readonly metrics: Metrics },
  { channel, provider, failure }: MessageDelivery,
  deliver: () => Promise<void>,
): Promise<void> {
  const messages = metrics.counter('vault_messages_total');
  const duration = metrics.histogram('vault_message_duration_seconds');
  const start = clock.monotonic();
  let outcome = 'failed';
  try {
    await deliver();
    outcome = 'accepted';
    metrics.calls.record(channel, clock.now());
  } catch (cause) {
    metrics.calls.record(channel, clock.now(), cause);
    throw cause instanceof VaultError ? cause : new VaultError(failure, { cause });
  } finally {
    messages.add({ channel, provider, outcome });
    duration.observe((clock.monotonic() - start) / 1000, { channel });
  }
}

/**
 * Whether a message surely reached nobody: no connection was made, or it was refused before it was accepted, for a
 * reason that lies with the vault or its provider. A refusal of the recipient does not count: it would make trying out
 * addresses free. Read from the member `reachedNobody` of the error or of its causes.
 */
export function reachedNobody(error: unknown): boolean {
  for (let one = error, depth = 0; one instanceof Error && depth < 5; one = one.cause, depth++) {
    if ('reachedNobody' in one && one.reachedNobody === true) return true;
  }
  return false;
}
