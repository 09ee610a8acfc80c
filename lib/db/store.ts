import type { Clock } from '../base/clock.ts';
import { DatabaseUnavailable } from '../base/error.ts';
import { describeError, type Log } from '../base/log.ts';
import type { Metrics } from '../base/metrics.ts';
import { SQL_TEXTS_MAX } from '../constants.ts';
import { type Bound, bind } from './bind.ts';
import { refuseOnceDamaged } from './damage.ts';
import type { Damage, Database, Result, Row, Statement, Store } from './database.ts';
import { asUnavailable } from './errors.ts';
import { type Commit, createCommit } from './group-commit.ts';
import { migrate as migrateTables } from './migrations.ts';
import { createPool } from './pool.ts';
import { gatherReads, isRead, isServer, type Read } from './read-batches.ts';

/** The store with the methods for its owner. */
export interface OwnedStore extends Store {
  /**
   * Migrates the database once; `read` and `write` wait for it themselves. Throws its error, and tries again at the
   * next call.
   */
  ready(): Promise<void>;
  /** The rows of one statement, without waiting for migrations: for the health check. */
  raw(statement: Statement): Promise<readonly Row[]>;
  /** Resolves when no call is under way. */
  idle(): Promise<void>;
}

interface Settings {
  readonly database: Database;
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly maxConnections: number;
  readonly migrate?: (database: Database, clock: Clock) => Promise<unknown>;
  /** Shared by stores on one database, so that only one of them checks the tables. */
  readonly schema?: Schema;
  readonly log?: Log;
  /** Current failures; shared by stores on one database, so that the log reports each once. */
  readonly outages?: Outages;
  /** Shared by stores on one database, so that none writes once one has found it. */
  readonly damage?: Damage;
  /** Called with the number of events that a write inserted, once it is durable. */
  readonly onEvents?: (events: number) => void;
}

/** Whether the tables are known to be up to date. */
export interface Schema {
  isCurrent: boolean;
}

/** The kinds of calls that failed the last time because the database was away. */
export type Outages = Set<'read' | 'write'>;

/**
 * The only access to the engine: calls are counted, timed and bounded, and wait for migrations. Asks the engine
 * nothing before the first use. Throws `DatabaseUnavailable` while the engine does not serve, which the log says once.
 */
export function createStore({
  database,
  clock,
  metrics,
  maxConnections,
  migrate = migrateTables,
  schema = { isCurrent: false },
  log = () => undefined,
  outages = new Set(),
  damage = {},
  onEvents = () => undefined,
}: Settings): OwnedStore {
  const pool = createPool({ clock, metrics, maxConnections });
  const gauge = metrics.gauge('vault_db_damaged');
  gauge.set(damage.found === undefined ? 0 : 1);
  const whole = refuseOnceDamaged(database, damage, (cause) => {
    gauge.set(1);
    log({ level: 'error', event: 'database_damaged', message: RESTORE, cause });
  });
  const engine = pooled(whole, pool.run);
  const gathered = gatherReads({ database: engine, clock, maxConnections });
  const ask = createAsk(engine, gathered);
  const drained: (() => void)[] = [];
  let uses = 0;
  let migrating: Promise<void> | undefined;

  async function migrateOnce(): Promise<void> {
    try {
      await migrate(engine, clock);
      schema.isCurrent = true;
    } finally {
      migrating = undefined;
    }
  }

  async function ready(): Promise<void> {
    if (schema.isCurrent) return;
    migrating ??= migrateOnce();
    await migrating;
  }

  /** Reads and writes fail apart: a full disk still reads. */
  function fail(operation: 'read' | 'write', error: unknown): unknown {
    const seen = asUnavailable(error);
    if (seen instanceof DatabaseUnavailable && seen.state !== 'damaged' && !outages.has(operation)) {
      outages.add(operation);
      log({ level: 'warn', event: 'database_unavailable', operation, ...describeError(error) });
    }
    return seen;
  }

  /** `prepare` checks the arguments: that one is wrong says nothing about the database. */
  async function counted<T>(
    operation: 'read' | 'write',
    prepare: () => () => Promise<T>,
    gate?: () => Promise<void>,
  ): Promise<T> {
    let isPrepared = false;
    uses++;
    try {
      const work = prepare();
      isPrepared = true;
      if (gate && !schema.isCurrent) await gate();
      const result = await work();
      if (outages.size > 0 && outages.delete(operation)) log({ level: 'info', event: 'database_recovered', operation });
      return result;
    } catch (error) {
      throw isPrepared ? fail(operation, error) : error;
    } finally {
      if (--uses === 0 && drained.length > 0) for (const resolve of drained.splice(0)) resolve();
    }
  }

  const read = (statement: Statement) => () => {
    const bound = bind(statement);
    return () => ask(bound).then(rowsOf);
  };

  const writing = createWriting(createCommit({ database: engine, clock }), onEvents);

  return {
    isServer: isServer(database),
    ready: () => counted('write', () => ready),
    raw: (statement) => counted('read', read(statement)),
    read: (statement) => counted('read', read(statement), ready),
    readLater: (build) => counted('read', () => () => gathered(() => bind(build())).then(rowsOf), ready),
    write: (...statements) => counted('write', () => writing.write(statements), ready),
    writeLater: (build) => counted('write', () => () => writing.writeLater(build), ready),
    idle: () => (uses === 0 ? Promise.resolve() : new Promise((resolve) => drained.push(resolve))),
  };
}

const RESTORE = 'The database is damaged, and nothing is written any more: stop the vault and restore a backup.';

function rowsOf({ rows }: Result): readonly Row[] {
  return rows;
}

/** Writes through the group commit, which report the events that they inserted. */
function createWriting(commit: Commit, onEvents: (events: number) => void) {
  const report = (statements: readonly Statement[], results: readonly Result[]) => {
    let events = 0;
    for (let i = 0; i < statements.length; i++) if (statements[i]?.emits) events += results[i]?.rowsAffected ?? 0;
    if (events > 0) onEvents(events);
    return results;
  };
  return {
    write(statements: readonly Statement[]) {
      const batch = statements.map(bind);
      return async () => report(statements, await commit.write(batch));
    },
    async writeLater(build: () => readonly Statement[]) {
      let statements: readonly Statement[] = [];
      let fault: { readonly error: unknown } | undefined;
      const results = await commit.writeLater(() => {
        // Statements that cannot be built fail their own caller alone: the commit goes on with the others.
        try {
          statements = build();
          return statements.map(bind);
        } catch (error) {
          fault = { error };
          return [];
        }
      });
      if (fault) throw fault.error;
      return report(statements, results);
    },
  };
}

function pooled(database: Database, run: ReturnType<typeof createPool>['run']): Database {
  const operations = new Map<string, string>();
  const operationOf = (sql: string) => {
    const known = operations.get(sql);
    if (known) return known;
    if (operations.size >= SQL_TEXTS_MAX) operations.clear();
    const keyword = /^\s*(select|insert|update|delete)\b/i.exec(sql)?.[1]?.toLowerCase() ?? 'other';
    operations.set(sql, keyword);
    return keyword;
  };
  const batchOf = ([first, second]: readonly Statement[]) => (first && !second ? operationOf(first.sql) : 'batch');
  return {
    ...(database.protocol === undefined ? {} : { protocol: database.protocol }),
    execute: (statement) => run(operationOf(statement.sql), () => database.execute(statement)),
    batch: (statements, mode) =>
      run(mode === 'read' ? 'select' : batchOf(statements), () => database.batch(statements, mode)),
  };
}

/** How a statement of its own is asked: those that read, together with the others of their turn. */
function createAsk(database: Database, gathered: Read): (statement: Bound) => Promise<Result> {
  const known = new Map<string, boolean>();
  const isReading = (sql: string) => {
    const reads = known.get(sql) ?? isRead(sql);
    if (known.size < SQL_TEXTS_MAX) known.set(sql, reads);
    return reads;
  };
  return (statement) => (isReading(statement.sql) ? gathered(() => statement) : database.execute(statement));
}
