import type { Clock } from '../base/clock.ts';
import type { Metrics } from '../base/metrics.ts';
import { SQL_TEXTS_MAX } from '../constants.ts';
import type { Database, Result, Row, Statement, Store, Value } from './database.ts';
import { createCommit } from './group-commit.ts';
import { migrate as migrateTables } from './migrations.ts';
import { createPool } from './pool.ts';

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
  /** Called with the number of events that a write inserted, once it is durable. */
  readonly onEvents?: (events: number) => void;
}

/** Whether the tables are known to be up to date. */
export interface Schema {
  isCurrent: boolean;
}

/**
 * The only access to the engine: calls are counted, timed and bounded, and wait for migrations. Asks the engine
 * nothing before the first use.
 */
export function createStore({
  database,
  clock,
  metrics,
  maxConnections,
  migrate = migrateTables,
  schema = { isCurrent: false },
  onEvents = () => undefined,
}: Settings): OwnedStore {
  const pool = createPool({ clock, metrics, maxConnections });
  const engine = pooled(database, pool.run);
  const commit = createCommit({ database: engine, clock });
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

  async function rowsOf(statement: Statement): Promise<readonly Row[]> {
    return (await engine.execute(bind(statement))).rows;
  }

  async function counted<T>(work: () => Promise<T>, gate?: () => Promise<void>): Promise<T> {
    uses++;
    try {
      if (gate && !schema.isCurrent) await gate();
      return await work();
    } finally {
      if (--uses === 0) for (const resolve of drained.splice(0)) resolve();
    }
  }

  async function write(statements: readonly Statement[]): Promise<readonly Result[]> {
    const results = await commit.write(statements.map(bind));
    let events = 0;
    for (let i = 0; i < statements.length; i++) if (statements[i]?.emits) events += results[i]?.rowsAffected ?? 0;
    if (events > 0) onEvents(events);
    return results;
  }

  return {
    ready: () => counted(ready),
    raw: (statement) => counted(() => rowsOf(statement)),
    read: (statement) => counted(() => rowsOf(statement), ready),
    write: (...statements) => counted(() => write(statements), ready),
    idle: () => (uses === 0 ? Promise.resolve() : new Promise((resolve) => drained.push(resolve))),
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
  return {
    execute: (statement) => run(operationOf(statement.sql), () => database.execute(statement)),
    batch: (statements, mode) =>
      run(statements.length === 1 && statements[0] ? operationOf(statements[0].sql) : 'batch', () =>
        database.batch(statements, mode),
      ),
  };
}

/** Converts arguments to what every engine accepts. Throws before a wrong one could fail a batch shared with others. */
function bind({ sql, args }: Statement): { sql: string; args: Record<string, Value> } {
  const bound: Record<string, Value> = {};
  for (const name in args) bound[name] = toColumn(name, args[name]);
  return { sql, args: bound };
}

/** Integers become bigint, because libSQL binds every number as REAL. */
function toColumn(name: string, value: unknown): Value {
  if (typeof value === 'string' || value === null) return value;
  if (Number.isSafeInteger(value)) return BigInt(value as number);
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  if (typeof value === 'bigint' && BigInt.asIntN(64, value) === value) return value;
  throw new TypeError(`:${name} is not a value that a column can store`);
}
