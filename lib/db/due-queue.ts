import type { Condition, Statement, Value } from './database.ts';
import { latestEnd } from './leases.ts';

/** Rows of a table that wait for the time in a column; NULL waits for nothing. An index on the column finds them. */
export interface Waiting {
  readonly table: string;
  readonly at: string;
  /** The column that tells rows apart, if not `id`. */
  readonly key?: string;
  /** The longest that a row is leased or put off: milliseconds, or SQL of them over the row. */
  readonly longest: number | string;
}

/** The time, and the most rows to take from a queue. */
export interface Taking {
  readonly now: number;
  readonly limit: number;
}

/** The columns that a lease sets in its rows and those that it returns; where `held` is false it takes no rows. */
export interface Leasing extends Taking {
  readonly set: string;
  readonly returning?: string;
  readonly args?: Readonly<Record<string, Value>>;
  readonly held?: Condition;
}

/** The statements of a queue of due rows. */
export interface DueQueue {
  /** One row if any is due, else none: a cheap check for an idle vault. */
  any(now: number): Statement;
  /** The due rows that the condition is true of, the longest waiting first. */
  select(columns: string, taking: Taking & { readonly and?: Condition }): Statement;
  /** Changes the due rows that have waited longest. Its `set` puts them off, so that other processes skip them. */
  lease(leasing: Leasing): Statement;
  /**
   * Makes rows due that a clock which was off has put off for longer than a row is ever put off. A process that holds a
   * lease of such a row can no longer change it.
   */
  recallLate(now: number, and?: Condition): Statement;
}

/** The queue of the rows that wait. */
export function dueQueue({ table, at, key = 'id', longest }: Waiting): DueQueue {
  const due = `FROM ${table} WHERE ${at} <= :now`;
  const first = `ORDER BY ${at} LIMIT :limit`;
  const isLate = typeof longest === 'number' ? '' : `AND ${at} > :latest + ${longest}`;
  const mostMs = typeof longest === 'number' ? longest : 0;
  const also = (condition?: Condition) => (condition ? `AND ${condition.sql}` : '');
  return {
    any: (now) => ({ sql: `SELECT 1 ${due} LIMIT 1`, args: { now } }),
    select: (columns, { now, limit, and }) => ({
      sql: `SELECT ${columns} ${due} ${also(and)} ${first}`,
      args: { now, limit, ...and?.args },
    }),
    lease: ({ set, returning = '*', now, limit, args, held }) => ({
      sql: `UPDATE ${table} SET ${set} WHERE ${key} IN (SELECT ${key} ${due} ${first}) ${also(held)}
        RETURNING ${returning}`,
      args: { now, limit, ...args, ...held?.args },
    }),
    recallLate: (now, and) => ({
      sql: `UPDATE ${table} SET ${at} = :now WHERE ${at} > :latest ${isLate} ${also(and)}`,
      args: { now, latest: latestEnd(now, mostMs), ...and?.args },
    }),
  };
}
