import type { Clock } from '../base/clock.ts';
import { sleep } from '../base/clock.ts';

/** How long another process's lock is waited for. */
export const DATABASE_LOCK_TIMEOUT_MS = 5_000;
/** A busy database is tried again after this pause, doubled each time up to the longest, until `DATABASE_LOCK_TIMEOUT_MS` is over. */
export const BUSY_RETRY_MS = 10;
export const BUSY_RETRY_MAX_MS = 100;

/**
 * Whether a batch that failed is certain to have left nothing behind; only then may its statements run again. Three failures are certain:
 *
 * - One of a statement, told by `statementIndex` (`LibsqlBatchError`, the built-in adapter): engines run COMMIT only after every statement
 *   succeeded and roll back otherwise; over Hrana that condition is part of the request (`executeHranaBatch` in `@libsql/client`).
 * - BEGIN or COMMIT refused as busy, or COMMIT for a deferred constraint: SQLite keeps the transaction open, the engine rolls it back.
 * - `SQL_…` of a libSQL server: it could not read a statement's text and ran none.
 *
 * After anything else (a timeout, a lost connection, a proxy's answer, an I/O error at COMMIT) the batch may well be committed.
 */
export function isRolledBack(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return 'statementIndex' in error || /^(SQLITE_BUSY|SQLITE_CONSTRAINT|SQL_)/.test(codeOf(error));
}

/** Whether the engine did nothing because another process was writing: the same batch may succeed in a moment. */
export function isBusy(error: unknown): boolean {
  return codeOf(error).startsWith('SQLITE_BUSY');
}

/** Runs `work`, and again while the database is busy, for up to `DATABASE_LOCK_TIMEOUT_MS`. Throws what the last try threw. An engine that waits that long by itself is asked once. */
export async function retryBusy<T>(clock: Clock, work: () => Promise<T>): Promise<T> {
  const deadline = clock.monotonic() + DATABASE_LOCK_TIMEOUT_MS;
  for (let pause = BUSY_RETRY_MS; ; pause = Math.min(2 * pause, BUSY_RETRY_MAX_MS)) {
    try {
      return await work();
    } catch (error) {
      if (!isBusy(error) || clock.monotonic() >= deadline) throw error;
    }
    await sleep(clock, pause);
  }
}

/** The engine's word for the failure; a name, since classes differ between engines and between copies of one library. */
function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}
