/** Blocks on top of a confirmed registration's block until it is no longer watched for a re-org. */
export const CONFIRMATION_FINAL_DEPTH_BLOCKS = 64;

/** The shortest and the longest pause between two checks of one transaction. */
export const CONFIRMATION_POLL_MIN_MS = 1_000;
export const CONFIRMATION_POLL_MAX_MS = 30_000;

/**
 * When a transaction is checked again, in milliseconds. The pause grows: a new transaction is mined within seconds,
 * an old one may wait.
 */
export function nextCheckAt(checks: number, now: number): number {
  return now + Math.min(CONFIRMATION_POLL_MAX_MS, CONFIRMATION_POLL_MIN_MS * 2 ** Math.min(checks, 5));
}
