import type { Clock } from '../base/clock.ts';
import { describeError, type Log } from '../base/log.ts';
import type { OwnedStore } from '../db/store.ts';
import { countReadinessCheck, selectOne } from './store.ts';

export { countReadinessCheck } from './store.ts';

/** How long a result is reused. */
export const READY_CACHE_MS = 2_000;

interface Parts {
  readonly db: OwnedStore;
  readonly clock: Clock;
  readonly log: Log;
}

/** Whether the database answers a trivial read, migrated or not. */
export async function isReachable({ db }: { readonly db: OwnedStore }): Promise<boolean> {
  return db.raw(selectOne()).then(
    () => true,
    () => false,
  );
}

/** Whether requests can be served: the tables are in place and the database takes writes. */
export interface Readiness {
  readonly ok: boolean;
  readonly database: 'writable' | 'unavailable';
}

/**
 * A check of readiness by a real write, at most once per `READY_CACHE_MS`; the log says once that it fails. The chain
 * has no influence. Never rejects.
 */
export function createReadiness({ db, clock, log }: Parts): () => Promise<Readiness> {
  let askedAt = Number.NEGATIVE_INFINITY;
  let answer: Promise<Readiness> | undefined;
  let wasReady = true;
  const ask = (): Promise<Readiness> =>
    db.write(countReadinessCheck()).then(
      () => {
        wasReady = true;
        return { ok: true, database: 'writable' } as const;
      },
      (error) => {
        if (wasReady) log({ level: 'warn', event: 'not_ready', ...describeError(error) });
        wasReady = false;
        return { ok: false, database: 'unavailable' } as const;
      },
    );
  return () => {
    const now = clock.now();
    if (!answer || now >= askedAt + READY_CACHE_MS) {
      askedAt = now;
      answer = ask();
    }
    return answer;
  };
}
