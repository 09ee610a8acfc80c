import { connect } from '../../../commands/storage/connection.ts';
import { type BoundStatement, createPrepare, runBatch, runPrepared } from '../../../commands/storage/statements.ts';
import type { Database, Result, Value } from '../../../lib/db/database.ts';

/** What the runs of one text took. */
export interface Runs {
  readonly micros: number[];
  /** Of the newest run. */
  args: Readonly<Record<string, Value>>;
}

/** A file as the vault opens it, which notes of each statement what its runs take. Close it when done. */
export interface TimedDatabase {
  readonly database: Database;
  readonly runs: ReadonlyMap<string, Runs>;
  /** Runs a text so many times with its newest arguments, and keeps nothing of it. */
  replay(sql: string, times: number): void;
  close(): void;
}

/** No commit waits for the disk here: what a statement takes on a warm file is the processor's time. */
export function openTimed(path: string): TimedDatabase {
  const { connection } = connect(path);
  connection.run('PRAGMA synchronous = OFF');
  const prepare = createPrepare(connection);
  const runs = new Map<string, Runs>();
  const run = ({ sql, args }: BoundStatement): Result => {
    const known = prepare(sql);
    const start = Bun.nanoseconds();
    const result = runPrepared(known, args);
    const micros = (Bun.nanoseconds() - start) / 1000;
    const one = runs.get(sql) ?? { micros: [], args };
    one.micros.push(micros);
    one.args = args;
    runs.set(sql, one);
    return result;
  };
  return {
    runs,
    database: {
      execute: async (statement) => run(statement),
      batch: async (statements, mode) => runBatch(connection, run, statements, mode),
    },
    replay(sql, times) {
      const { args = {} } = runs.get(sql) ?? {};
      for (let i = 0; i < times; i++) {
        connection.run('BEGIN IMMEDIATE');
        run({ sql, args });
        connection.run('ROLLBACK');
      }
    },
    close: () => connection.close(true),
  };
}
