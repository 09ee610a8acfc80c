import type { Database as Connection, Statement as Prepared } from 'bun:sqlite';
import { SQL_TEXTS_MAX } from '../../lib/constants.ts';
import type { Result, Value } from '../../lib/db/database.ts';

/** A statement and its arguments. */
export type BoundStatement = { readonly sql: string; readonly args: Record<string, Value> };

/** A statement with the facts that its runs need. */
export interface Known {
  readonly statement: Prepared<Record<string, unknown>, [Record<string, Value>]>;
  readonly parameters: number;
  readonly returnsRows: boolean;
  readonly writes: boolean;
}

/** Prepares a text once and keeps it; the oldest goes when there are too many. */
export function createPrepare(connection: Connection): (sql: string) => Known {
  const known = new Map<string, Known>();
  return (sql) => {
    const found = known.get(sql);
    if (found) return found;
    const statement: Known['statement'] = connection.prepare(planOnce(sql));
    const made = {
      statement,
      parameters: statement.paramsCount,
      returnsRows: statement.reader,
      writes: !statement.readonly,
    };
    const [oldest] = known;
    if (oldest && known.size >= SQL_TEXTS_MAX) {
      oldest[1].statement.finalize();
      known.delete(oldest[0]);
    }
    known.set(sql, made);
    return made;
  };
}

/**
 * The text with a plus before each parameter, which changes no value. Without it SQLite takes the value for a part of
 * the plan wherever it sorts, looks for a least or greatest row or weighs a partial index, and compiles the statement
 * anew at each run: ten times its cost.
 */
function planOnce(sql: string): string {
  return sql.replace(/'(?:[^']|'')*'|:[a-z_]/g, (found) => (found.startsWith(':') ? `+${found}` : found));
}

/** Runs a statement. Throws a `RangeError` unless the arguments are as many as its parameters. */
export function runPrepared(
  { statement, parameters, returnsRows, writes }: Known,
  args: Record<string, Value>,
): Result {
  // SQLite ignores an argument that the text does not name, a libSQL server refuses it: a mistake must show on both.
  const given = Object.keys(args).length;
  if (given !== parameters) throw new RangeError(`${given} arguments for ${parameters} parameters`);
  if (!returnsRows) return { rows: [], rowsAffected: statement.run(args).changes };
  const rows = statement.all(args);
  return { rows, rowsAffected: writes ? rows.length : 0 };
}

/**
 * One transaction; a failure carries the index of the statement that failed, as `LibsqlBatchError` does, and none when
 * it was COMMIT.
 */
export function runBatch(
  connection: Connection,
  run: (statement: BoundStatement) => Result,
  statements: readonly BoundStatement[],
  mode: 'read' | 'write',
): Result[] {
  run(mode === 'write' ? BEGIN_WRITE : BEGIN_READ);
  const results: Result[] = [];
  try {
    for (const statement of statements) results.push(run(statement));
    run(COMMIT);
    return results;
  } catch (error) {
    // A full disk or the like has ended the transaction already.
    if (connection.inTransaction) run(ROLLBACK);
    const failed = results.length < statements.length ? { statementIndex: results.length } : {};
    throw Object.assign(error as Error, failed);
  }
}

const BEGIN_WRITE = { sql: 'BEGIN IMMEDIATE', args: {} };
const BEGIN_READ = { sql: 'BEGIN', args: {} };
const COMMIT = { sql: 'COMMIT', args: {} };
const ROLLBACK = { sql: 'ROLLBACK', args: {} };
