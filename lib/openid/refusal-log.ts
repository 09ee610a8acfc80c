import { MINUTE_MS } from '../base/clock.ts';
import type { Platform } from '../platform.ts';
import type { OpenIdFacts } from './parts.ts';

/** A refusal as the operator reads it. */
interface LoggedRefusal {
  readonly reason: string;
  /** Undefined where there is no such client. */
  readonly client: string | undefined;
  readonly message: string;
}

/** Logs one line a minute for each client and reason: anybody may send a wrong request as often as they like. */
export function logRefusal(
  { log, clock, refusals }: Pick<Platform, 'log' | 'clock'> & Pick<OpenIdFacts, 'refusals'>,
  event: 'authorize_refused' | 'token_refused',
  { reason, client, message }: LoggedRefusal,
): void {
  const key = `${event} ${reason} ${client ?? ''}`;
  const now = clock.monotonic();
  if (now - (refusals.get(key) ?? Number.NEGATIVE_INFINITY) < MINUTE_MS) return;
  refusals.set(key, now);
  log({ level: 'warn', event, reason, client: client ?? null, message });
}
