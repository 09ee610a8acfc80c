import { Database as Connection } from 'bun:sqlite';
import { type BoundStatement, createPrepare, runPrepared } from '../../../commands/storage/statements.ts';
import type { Database, Result, Row } from '../../../lib/db/database.ts';

/** A database in memory that goes back to where it was kept: what an order begins with is there again at no cost. */
export interface KeptDatabase extends Database {
  /** From now on `restore` leads back to this. */
  keep(): void;
  restore(): void;
  rows(sql: string, args?: BoundStatement['args']): readonly Row[];
  close(): void;
}

/** Opens an empty one, on the engine and by the statements of the embedded database. */
export function openKeptDatabase(): KeptDatabase {
  const connection = new Connection(':memory:', { strict: true });
  const prepare = createPrepare(connection);
  const run = ({ sql, args }: BoundStatement): Result => runPrepared(prepare(sql), args);
  const say = (sql: string) => run({ sql, args: {} });
  // Transactions do not nest, but savepoints do: what an order writes is inside of one that is rolled back.
  const undo = (name: string) => {
    say(`ROLLBACK TO ${name}`);
    say(`RELEASE ${name}`);
  };
  return {
    execute: async (statement) => run(statement),
    async batch(statements) {
      const results: Result[] = [];
      say('SAVEPOINT batch');
      try {
        for (const statement of statements) results.push(run(statement));
        say('RELEASE batch');
        return results;
      } catch (error) {
        undo('batch');
        throw Object.assign(error as Error, { statementIndex: results.length });
      }
    },
    keep: () => void say('SAVEPOINT kept'),
    restore() {
      undo('kept');
      say('SAVEPOINT kept');
    },
    rows: (sql, args = {}) => run({ sql, args }).rows,
    close: () => connection.close(),
  };
}
