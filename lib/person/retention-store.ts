// Deletes old data as the settings say. Each statement reads a step of its table, by the primary key.
import type { Statement, Value } from '../db/database.ts';

/** A kind of rows that are forgotten: their table, and the column by which a step continues. */
interface Forgetting {
  readonly table: string;
  readonly key: string;
  readonly change: string;
  readonly where: string;
}

/** By the setting's member. */
export const FORGETTINGS = {
  verifications: {
    table: 'verifications',
    key: 'identifier',
    change: 'DELETE FROM verifications',
    // Clients that guess at an identifier stay known.
    where: 'verified_at <= :before AND wrong_guesses = 0',
  },
  failedRegistrations: {
    table: 'registrations',
    key: 'id',
    change: 'DELETE FROM registrations',
    where: `status = 'failed' AND registered_at <= :before
      AND NOT EXISTS (SELECT 1 FROM relays WHERE registration_id = registrations.id)`,
  },
  ipsOfSessions: {
    table: 'sessions',
    key: 'identifier',
    change: `UPDATE sessions SET ip = ''`,
    where: `linked = 1 AND created_at <= :before AND ip <> ''`,
  },
  networksOfRelays: {
    table: 'relays',
    key: 'id',
    change: `UPDATE relays SET network = ''`,
    where: `created_at <= :before AND network <> ''`,
  },
} as const satisfies Record<string, Forgetting>;

/** A member of `FORGETTINGS`. */
export type Forgotten = keyof typeof FORGETTINGS;

/** The key up to which a step of `rows` rows goes; no row if fewer are left. */
export function selectForgettingEnd(kind: Forgotten, after: Value, rows: number): Statement {
  const { table, key } = FORGETTINGS[kind];
  return {
    sql: `SELECT ${key} AS last FROM ${table} WHERE ${key} > :after ORDER BY ${key} LIMIT 1 OFFSET :rows`,
    args: { after, rows: rows - 1 },
  };
}

/** Forgets the rows of a step from before a time; without `last` up to the end. */
export function forgetStep(kind: Forgotten, before: number, after: Value, last: Value | undefined): Statement {
  const { key, change, where } = FORGETTINGS[kind];
  return {
    sql: `${change} WHERE ${key} > :after${last === undefined ? '' : ` AND ${key} <= :last`} AND ${where}`,
    args: { before, after, ...(last === undefined ? {} : { last }) },
  };
}
