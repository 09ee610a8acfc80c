import type { Clock } from '../base/clock.ts';
import { sleep } from '../base/clock.ts';
import { DatabaseUnavailable } from '../base/error.ts';
import { type Random, systemRandom } from '../base/random.ts';

/** How long to wait for another process's lock. */
export const DATABASE_LOCK_TIMEOUT_MS = 5_000;
/**
 * The pause before a busy database is tried again, doubled up to the longest, for `DATABASE_LOCK_TIMEOUT_MS` in all.
 * Up to half of each is left out at random: processes that met once would else meet again.
 */
export const BUSY_RETRY_MS = 10;
export const BUSY_RETRY_MAX_MS = 100;

/**
 * Whether a failed batch has certainly changed nothing; only then may its statements run again. Certain are:
 *
 * - An error of one statement, shown by `statementIndex` (`LibsqlBatchError`, the built-in adapter): engines run COMMIT
 *   only after every statement succeeded and roll back otherwise; over Hrana that condition is part of the request
 *   (`executeHranaBatch` in `@libsql/client`).
 * - BEGIN or COMMIT refused as busy, or COMMIT for a deferred constraint: SQLite keeps the transaction open, the engine
 *   rolls it back.
 * - `SQL_…` of a libSQL server: it could not parse a statement and ran none.
 *
 * After anything else (a timeout, a lost connection, an I/O error at COMMIT) the batch may be committed.
 */
export function isRolledBack(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return 'statementIndex' in error || /^(SQLITE_BUSY|SQLITE_CONSTRAINT|SQL_)/.test(codeOf(error));
}

/** Whether the engine did nothing because another process was writing: the same batch may succeed soon. */
export function isBusy(error: unknown): boolean {
  return codeOf(error).startsWith('SQLITE_BUSY');
}

/**
 * Runs `work`, and again while the database is busy, for up to `DATABASE_LOCK_TIMEOUT_MS`; an engine that waits that
 * long itself is asked once. Throws the last error.
 */
export async function retryBusy<T>(clock: Clock, work: () => Promise<T>, random: Random = systemRandom): Promise<T> {
  const deadline = clock.monotonic() + DATABASE_LOCK_TIMEOUT_MS;
  for (let pause = BUSY_RETRY_MS; ; pause = Math.min(2 * pause, BUSY_RETRY_MAX_MS)) {
    try {
      return await work();
    } catch (error) {
      if (!isBusy(error) || clock.monotonic() >= deadline) throw error;
    }
    await sleep(clock, pause * (1 - (random(1)[0] ?? 0) / 512));
  }
}

/**
 * Whether the engine answered and refuses one of the statements: the others may run again without it. False where it
 * did not answer, or is too busy at the moment.
 */
export function isRefused(error: unknown): boolean {
  if (error instanceof RangeError || codeOf(error) === ANSWER_TOO_LARGE) return true;
  return !isBusy(error) && isRolledBack(error);
}

/** Whether the engine finds the file damaged, or no database; a libSQL server says it by the same codes. */
export function isDamaged(error: unknown): error is Error {
  return /^SQLITE_(?:CORRUPT|NOTADB)/.test(codeOf(error));
}

/** The code of a call that the engine refuses since it has not answered an earlier one for long. */
export const DATABASE_STALLED = 'DATABASE_STALLED';

/** The code of an answer that is longer than its reader accepts; a libSQL server uses it too. */
export const ANSWER_TOO_LARGE = 'RESPONSE_TOO_LARGE';

/**
 * The engine's error code; compared by name, since classes differ between engines and between copies of one library.
 */
function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}

/**
 * The error for a caller of the store, by an engine's failure. A statement that the engine refuses is a fault of ours
 * or a constraint's, and stays. After any other failure (no answer, no place, no lock) the database is unavailable.
 */
export function asUnavailable(error: unknown): unknown {
  if (error instanceof RangeError || REFUSED.test(codeOf(error))) return error;
  const reason = error instanceof Error ? error.message : String(error);
  return new DatabaseUnavailable(`The database is unavailable: ${reason}`, { cause: error, state: stateOf(error) });
}

function stateOf(error: unknown): DatabaseUnavailable['state'] {
  if (isDamaged(error)) return 'damaged';
  return codeOf(error) === DATABASE_STALLED ? 'stalled' : 'unavailable';
}

/** SQLite's codes for a statement that it does not run, and a libSQL server's for one that it cannot read. */
const REFUSED = /^(?:SQLITE_(?:ERROR|UNKNOWN|CONSTRAINT|MISMATCH|MISUSE|RANGE|TOOBIG|INTERNAL|AUTH)|SQL_)/;
