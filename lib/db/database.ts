/** A column's value or a parameter. No blobs, as engines return them in different types: digests are hex text. */
export type Value = null | string | number | bigint;

/** One SQL statement with named parameters, written `:name` in the text. */
export interface Statement {
  readonly sql: string;
  readonly args: Readonly<Record<string, Value>>;
  /** It inserts events: open streams are woken once it is committed. */
  readonly emits?: true;
}

/** SQL that is true while fewer rows than the parameter `limit` match `from`; reads at most that many rows. */
export function fewerThan(limit: string, from: string): string {
  return `(${limit} > 0 AND NOT EXISTS (SELECT 1 ${from} LIMIT 1 OFFSET ${limit} - 1))`;
}

/** The arguments that a text names: engines refuse others. */
export function argsIn(args: Readonly<Record<string, Value>>, sql: string): Record<string, Value> {
  const found: Record<string, Value> = {};
  for (const name of namesIn(sql)) if (name in args) found[name] = args[name] as Value;
  return found;
}

// To search the texts of a claim costs it a sixth of its time, and there are few of them.
const known = new Map<string, readonly string[]>();

function namesIn(sql: string): readonly string[] {
  const names = known.get(sql) ?? [...new Set(Array.from(sql.matchAll(/:([a-z_]+)/g), ([, name]) => name as string))];
  known.set(sql, names);
  return names;
}

/** Part of a WHERE, with the arguments it names. */
export type Condition = Statement;

/** A row by column name. */
export type Row = Readonly<Record<string, unknown>>;

/** A column's text; null where it is NULL. */
export function textOf(row: Row, column: string): string | null {
  return row[column] === null ? null : String(row[column]);
}

/** A column's number; null where it is NULL. */
export function numberOf(row: Row, column: string): number | null {
  return row[column] === null ? null : Number(row[column]);
}

/**
 * The result of one statement. The verdict of a conditional write is `rowsAffected`, or with RETURNING the rows
 * (there `@libsql/client` on a file counts 0).
 */
export interface Result {
  readonly rows: readonly Row[];
  readonly rowsAffected: number;
}

/** The damage that was found in a database. It holds until the process ends. */
export interface Damage {
  found?: string;
  /** Whether it was reported. */
  isReported?: boolean;
}

/**
 * The database port of both engines; `Client` of `@libsql/client` fits it. `batch` runs in one transaction, all or
 * nothing. Deliberately no `transaction`: an open local write transaction makes every other write fail.
 */
export interface Database {
  /** `file` if absent. With another one, such as `http`, each call is a request to a server. */
  readonly protocol?: string;
  /** The damage that its host or a store on it has found, for all of them. */
  readonly damage?: Damage;
  execute(statement: { sql: string; args: Record<string, Value> }): Promise<Result>;
  batch(statements: { sql: string; args: Record<string, Value> }[], mode: 'read' | 'write'): Promise<Result[]>;
}

/** The store that services use: reads go with the others of their turn, writes through the group commit. */
export interface Store {
  /** Whether each call is a request to a database server, which compiles each statement each time. */
  readonly isServer: boolean;
  /** The rows of one reading statement. */
  read(statement: Statement): Promise<readonly Row[]>;
  /** As `read`; `build` is called each time that the request goes: until the first, others can join the statement. */
  readLater(build: () => Statement): Promise<readonly Row[]>;
  /**
   * Runs the statements in order in one transaction (shared with other callers' writes) and resolves once durable.
   * Reads among them see the writes before them.
   */
  write(...statements: readonly Statement[]): Promise<readonly Result[]>;
  /** As `write`; `build` is called when the commit begins, so that others can join the statements until then. */
  writeLater(build: () => readonly Statement[]): Promise<readonly Result[]>;
}
