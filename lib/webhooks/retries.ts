import { DAY_MS, HOUR_MS } from '../base/clock.ts';
import type { Random } from '../base/random.ts';

/** The pause after the first attempt; later ones grow to `WEBHOOK_RETRY_MAX_MS`. */
export const WEBHOOK_RETRY_MIN_MS = 5_000;
/** The longest pause between two attempts, without the random part. */
export const WEBHOOK_RETRY_MAX_MS = 2 * HOUR_MS;
/** The factor between two pauses. */
export const RETRY_GROWTH = 3;
/** The largest random part by which a pause is longer or shorter. */
export const RETRY_JITTER = 0.1;
/** How many pauses are shorter than `WEBHOOK_RETRY_MAX_MS`. */
export const WEBHOOK_GROWING_PAUSES = Math.ceil(
  Math.log(WEBHOOK_RETRY_MAX_MS / WEBHOOK_RETRY_MIN_MS) / Math.log(RETRY_GROWTH),
);

/** The statuses whose `Retry-After` is obeyed. */
export const RETRY_AFTER_STATUSES: readonly number[] = [429, 503];
/** The `last_error` of a delivery that waits longer than its attempts make it, because the receiver asked for it. */
export const ASKED_TO_WAIT = 'retry_after';

/** How long a delivery is tried. */
export const WEBHOOK_GIVE_UP_MS = DAY_MS;
/**
 * A delivery is tried so often, whatever the time: a day has 18 to 20 attempts, and at least 12 where each answer asks
 * for the longest pause. Fewer by the end of the day mean a clock that is off, or a vault that was down.
 */
export const WEBHOOK_ATTEMPTS_MIN = 10;
/** A delivery is tried no more often, whatever the time. */
export const WEBHOOK_ATTEMPTS_MAX = 30;

/**
 * The pause in milliseconds after `attempts` failures. A longer `Retry-After` (`askedMs`) wins, up to
 * `WEBHOOK_RETRY_MAX_MS`.
 */
export function retryPause(attempts: number, random: Random, askedMs = 0): number {
  const chance = ((random(1)[0] ?? 0) / 255) * 2 - 1;
  const pause = grownPause(attempts) * (1 + RETRY_JITTER * chance);
  return Math.round(Math.max(pause, Math.min(askedMs, WEBHOOK_RETRY_MAX_MS)));
}

/** The longest pause in milliseconds after `attempts` failures without a `Retry-After`. */
export function longestPause(attempts: number): number {
  return Math.round(grownPause(attempts) * (1 + RETRY_JITTER));
}

/** Whether the failure of the attempt with this number is the last one; the next one would be at `nextAt`. */
export function isLastAttempt(attempt: number, nextAt: number, giveUpAt: number): boolean {
  return attempt >= WEBHOOK_ATTEMPTS_MAX || (attempt >= WEBHOOK_ATTEMPTS_MIN && nextAt > giveUpAt);
}

function grownPause(attempts: number): number {
  return Math.min(WEBHOOK_RETRY_MIN_MS * RETRY_GROWTH ** (attempts - 1), WEBHOOK_RETRY_MAX_MS);
}
