/** Blocks on top of a confirmed registration's own until its block is no longer watched for a re-org. */
export const CONFIRMATION_FINAL_DEPTH_BLOCKS = 64;

/** Pauses between two looks at one transaction. */
export const CONFIRMATION_POLL_MIN_MS = 1_000;
export const CONFIRMATION_POLL_MAX_MS = 30_000;

/** When a transaction is looked at again, ms: later each time, since a fresh one is seen within seconds and an old one costs little. */
export function nextCheckAt(checks: number, now: number): number {
  return now + Math.min(CONFIRMATION_POLL_MAX_MS, CONFIRMATION_POLL_MIN_MS * 2 ** Math.min(checks, 5));
}
