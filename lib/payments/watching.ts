import { VaultError, worstFailure } from '../base/error.ts';
import { describeError } from '../base/log.ts';
import type { Row, Statement } from '../db/database.ts';
import type { Platform } from '../platform.ts';
import { type ChainEnds, type OutcomeContext, readEnds } from './outcome.ts';

/** How long one process looks before it takes the lease again. The lease saves work; safety does not depend on it. */
const WATCH_LEASE_MS = 5_000;
/** The rows that one turn looks at. */
const WATCHED_MAX = 50;

/** The services that a watch over nonces needs. */
export type WatchContext = OutcomeContext & Pick<Platform, 'leases'>;

/** Rows that wait for the chain to show the end of their nonces. */
export interface Watch<Watched> {
  readonly name: 'payments' | 'sponsorships';
  /** The longest pause after the chain's node did not answer. */
  readonly retryMaxMs: number;
  /** The due rows, at most `limit`. */
  readonly select: (ctx: WatchContext, limit: number) => Statement;
  readonly read: (row: Row) => Watched;
  /** Any of it may happen in several processes at once: each write holds only if nobody was faster. */
  readonly look: (ctx: WatchContext, watched: Watched, ends: ChainEnds) => Promise<void>;
}

/** A background task: looks at the due rows in turns. */
export function createWatch<Watched>(watch: Watch<Watched>): (ctx: WatchContext) => Promise<boolean> {
  const { name, retryMaxMs, select, read, look } = watch;
  let failures = 0;
  let dueAt = 0;
  return async (ctx) => {
    const { config, clock, db, leases, log } = ctx;
    if (clock.monotonic() < dueAt || config.entryPointAddress === null) return false;
    const rows = await db.read(select(ctx, WATCHED_MAX));
    if (rows.length === 0 || !(await leases.take(name, WATCH_LEASE_MS))) return false;
    try {
      const ends = await readEnds(ctx);
      // One that cannot be judged now holds up no other.
      const failure = worstFailure(await Promise.allSettled(rows.map((row) => look(ctx, read(row), ends))));
      if (failure && !(failure instanceof VaultError)) throw failure;
      failures = 0;
      return rows.length === WATCHED_MAX;
    } catch (error) {
      if (!(error instanceof VaultError)) throw error;
      log({ level: 'debug', event: `${name}_interrupted`, ...describeError(error) });
      dueAt = clock.monotonic() + Math.min(retryMaxMs, 1000 * 2 ** failures++);
      return false;
    }
  };
}
