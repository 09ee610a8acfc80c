import type { Bound } from './bind.ts';
import type { Many, Result, Row } from './database.ts';

/** One caller's read. */
export interface AskedRead {
  readonly statement: Bound;
  readonly many?: Many | undefined;
}

/** Reads that one statement answers. */
export interface ReadPart<R extends AskedRead> {
  readonly statement: Bound;
  readonly reads: readonly R[];
  /** The results of its reads, in order, from that of the statement. */
  split(result: Result): readonly Result[];
}

/** Each read by itself. */
export function singly<R extends AskedRead>(reads: readonly R[]): readonly ReadPart<R>[] {
  return reads.map((read) => ({ statement: read.statement, reads: [read], split: (result) => [result] }));
}

/** The reads by what one statement can answer: those that differ in one argument alone, if they have a text for it. */
export function together<R extends AskedRead>(reads: readonly R[]): readonly ReadPart<R>[] {
  const kinds = new Map<Many, R[]>();
  for (const read of reads) {
    if (!read.many) continue;
    const known = kinds.get(read.many);
    if (known) known.push(read);
    else kinds.set(read.many, [read]);
  }
  const alone = reads.filter(({ many }) => !many || kinds.get(many)?.length === 1);
  const joined = [...kinds].flatMap(([many, some]) => (some.length > 1 ? [joinedOf(many, some)] : []));
  return [...singly(alone), ...joined];
}

function joinedOf<R extends AskedRead>({ argument, sql }: Many, reads: readonly R[]): ReadPart<R> {
  const valueIn = ({ statement }: R) => String(statement.args[argument]);
  const values = new Set(reads.map(valueIn));
  return {
    statement: { sql, args: { many: JSON.stringify([...values]) } },
    reads,
    split({ rows }) {
      const found = new Map<string, Row[]>();
      for (const value of values) found.set(value, []);
      for (const row of rows) found.get(String(row['asked']))?.push(row);
      return reads.map((read) => ({ rows: found.get(valueIn(read)) ?? [], rowsAffected: 0 }));
    },
  };
}
