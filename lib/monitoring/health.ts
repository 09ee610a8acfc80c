import type { Clock } from '../base/clock.ts';
import { DatabaseUnavailable } from '../base/error.ts';
import { describeError, type Log } from '../base/log.ts';
import type { Clocks } from '../db/clocks.ts';
import { type Statement, textOf } from '../db/database.ts';
import type { OwnedStore } from '../db/store.ts';
import { countReadinessCheck, selectEngine, selectOne, selectSynchronous } from './store.ts';

export { countReadinessCheck } from './store.ts';

/** How long a result is reused. */
export const READY_CACHE_MS = 2_000;

/** How long a server's facts about itself are reused. */
export const SERVER_FACTS_MS = 60_000;

interface Parts {
  readonly db: OwnedStore;
  readonly clock: Clock;
  readonly clocks: Pick<Clocks, 'offMs'>;
  readonly log: Log;
  /** The part that a host closes first when it stops. */
  readonly hub: { isClosed(): boolean };
  /** Whether the database is a server: only then is it asked for its guarantees. */
  readonly onServer?: boolean;
}

/** Whether the database answers a trivial read, migrated or not. */
export async function isReachable({ db }: { readonly db: OwnedStore }): Promise<boolean> {
  return db.raw(selectOne()).then(
    () => true,
    () => false,
  );
}

/**
 * Whether requests can be served: the tables are in place, the database takes writes, the clock is right, and the host
 * does not stop.
 */
export interface Readiness {
  readonly ok: boolean;
  readonly database: 'writable' | DatabaseUnavailable['state'];
  /** How far the clock is ahead of the database's, negative if behind; absent unless it is the wrong one. */
  readonly clock?: { readonly offSeconds: number };
  /** There once the host stops. */
  readonly stopping?: true;
  /** For a database server. */
  readonly server?: ServerFacts;
}

/** A database server's facts about itself; null where it gives none. */
export interface ServerFacts {
  readonly sqlite: string | null;
  /** Whether a write that was answered survives a power loss of the server. */
  readonly survivesPowerLoss: boolean | null;
}

/**
 * A check of readiness by a real write, at most once per `READY_CACHE_MS`; the log says once why it fails. The chain
 * has no influence. Never rejects.
 */
export function createReadiness({ db, clock, clocks, log, hub, onServer = false }: Parts): () => Promise<Readiness> {
  const readFacts = createServerFacts({ db, clock });
  let askedAt = Number.NEGATIVE_INFINITY;
  let answer: Promise<Readiness> | undefined;
  let last: Readiness['database'] = 'writable';
  const ask = (): Promise<Readiness> =>
    db.write(countReadinessCheck()).then(
      async () => {
        last = 'writable';
        return { ok: true, database: 'writable', ...(onServer ? { server: await readFacts() } : {}) } as const;
      },
      (error) => {
        const database = error instanceof DatabaseUnavailable ? error.state : 'unavailable';
        if (database !== last) log({ level: 'warn', event: 'not_ready', database, ...describeError(error) });
        last = database;
        return { ok: false, database } as const;
      },
    );
  return () => {
    const now = clock.monotonic();
    if (!answer || now >= askedAt + READY_CACHE_MS) {
      askedAt = now;
      answer = ask();
    }
    const offMs = clocks.offMs();
    const trouble = offMs === 0 ? {} : { ok: false, clock: { offSeconds: Math.round(offMs / 1000) } };
    return answer.then((state) => ({ ...state, ...trouble, ...(hub.isClosed() ? STOPPING : {}) }));
  };
}

const STOPPING = { ok: false, stopping: true } as const;

/** Reads the server's facts about itself, at most once per `SERVER_FACTS_MS`. Never rejects. */
function createServerFacts({ db, clock }: Pick<Parts, 'db' | 'clock'>): () => Promise<ServerFacts> {
  let askedAt = Number.NEGATIVE_INFINITY;
  let facts: ServerFacts = { sqlite: null, survivesPowerLoss: null };
  return async () => {
    const now = clock.monotonic();
    if (now < askedAt + SERVER_FACTS_MS) return facts;
    askedAt = now;
    const ask = (statement: Statement) => db.raw(statement).catch(() => []);
    const [engine, synchronous] = await Promise.all([ask(selectEngine()), ask(selectSynchronous())]);
    const level = synchronous[0]?.['synchronous'] ?? null;
    facts = {
      sqlite: engine[0] === undefined ? null : textOf(engine[0], 'version'),
      survivesPowerLoss: level === null ? null : Number(level) >= FULL,
    };
    return facts;
  };
}

const FULL = 2;
