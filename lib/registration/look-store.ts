import type { Row, Statement } from '../db/database.ts';

/** A registration that is final and no longer watched, with the vault's record of it. */
export interface SettledRegistration {
  readonly id: number;
  readonly didHash: string;
  /** Null without a handle, and for a handle that it has lost. */
  readonly aliasHash: string | null;
  readonly isActive: boolean;
  readonly isAliased: boolean;
}

/** The settled registrations of an account, up to `limit`: those that were looked at longest ago. */
export function selectSettled(account: string, limit: number): Statement {
  return {
    sql: `SELECT id, did_hash, CASE WHEN channel = 'handle' AND lost IS NULL THEN alias_hash END AS alias_hash, active,
        aliased
      FROM registrations WHERE controller = :account AND status = 'confirmed' AND final = 1 AND next_check_at IS NULL
      ORDER BY looked_at, id LIMIT :limit`,
    args: { account, limit },
  };
}

/** Reads a row of `selectSettled`. */
export function toSettled(row: Row): SettledRegistration {
  return {
    id: Number(row['id']),
    didHash: String(row['did_hash']),
    aliasHash: row['alias_hash'] === null ? null : String(row['alias_hash']),
    isActive: row['active'] === 1,
    isAliased: row['aliased'] === 1,
  };
}

/**
 * Notes that the chain agreed at `askedAt` with the stored rows of an account; rows that changed meanwhile are left
 * out.
 */
export function sawRegistrations(account: string, seen: readonly SettledRegistration[], askedAt: number): Statement {
  const rows = seen.map(({ id, isActive, isAliased }) => [id, Number(isActive), Number(isAliased)]);
  return {
    sql: `UPDATE registrations SET looked_at = :asked_at WHERE looked_at < :asked_at AND controller = :account
      AND status = 'confirmed' AND final = 1 AND next_check_at IS NULL AND (id, active, aliased) IN
        (SELECT value ->> 0, value ->> 1, value ->> 2 FROM json_each(:rows))`,
    args: { account, rows: JSON.stringify(rows), asked_at: askedAt },
  };
}

/** Has these watched again. */
export function recheckRegistrations(ids: readonly number[], now: number): Statement {
  return {
    sql: `UPDATE registrations SET next_check_at = :now WHERE id IN (SELECT value FROM json_each(:ids))
      AND status = 'confirmed' AND next_check_at IS NULL`,
    args: { ids: JSON.stringify(ids), now },
  };
}
