import type { Condition, Row, Statement } from '../db/database.ts';

/** The roles of operators: a viewer sees states and masked rows, an operator does all but appoint others. */
export const OPERATOR_ROLES = ['viewer', 'operator'] as const;

/** One of `OPERATOR_ROLES`. */
export type OperatorRole = (typeof OPERATOR_ROLES)[number];

/** An operator, who calls the console by a token; `id` is its CID, times are milliseconds. */
export interface Operator {
  readonly name: string;
  readonly id: string;
  readonly role: OperatorRole;
  readonly createdAt: number;
  readonly expiresAt: number;
}

/** Adds an operator, in place of one of that name whose token has ended; `rowsAffected` 0: the name is taken. */
export function insertOperator({ name, id, role, createdAt, expiresAt }: Operator): Statement {
  return {
    sql: `INSERT INTO operators (name, id, role, created_at, expires_at)
      VALUES (:name, :id, :role, :created_at, :expires_at)
      ON CONFLICT (name) DO UPDATE SET id = excluded.id, role = excluded.role, created_at = excluded.created_at,
        expires_at = excluded.expires_at WHERE expires_at <= excluded.created_at`,
    args: { name, id, role, created_at: createdAt, expires_at: expiresAt },
  };
}

/** The operator whose token has this CID; one row or none. */
export function selectOperator(id: string): Statement {
  return { sql: 'SELECT * FROM operators WHERE id = :id', args: { id } };
}

/** All operators, by name. */
export function selectOperators(): Statement {
  return { sql: 'SELECT * FROM operators ORDER BY name', args: {} };
}

/** The operators that a statement is about: one by name, or all where a condition holds. */
export type Ended = { readonly name: string } | { readonly when: Condition };

const endedOf = (ended: Ended): Condition =>
  'name' in ended ? { sql: 'name = :name', args: { name: ended.name } } : ended.when;

/** Ends tokens; `rowsAffected` is the verdict. */
export function deleteOperators(ended: Ended): Statement {
  const { sql, args } = endedOf(ended);
  return { sql: `DELETE FROM operators WHERE ${sql}`, args };
}

/** The tokens that would be ended, for the batch that ends them: open streams look for revoked ones alone. */
export function revokeEnded(ended: Ended, now: number): Statement {
  const { sql, args } = endedOf(ended);
  return {
    sql: `INSERT INTO token_revocations (cid, revoked_at, expires_at)
      SELECT id, :revoked_at, expires_at FROM operators WHERE ${sql} ON CONFLICT DO NOTHING`,
    args: { ...args, revoked_at: now },
  };
}

/** Reads a row of `operators`. */
export function toOperator(row: Row): Operator {
  return {
    name: String(row['name']),
    id: String(row['id']),
    role: String(row['role']) as OperatorRole,
    createdAt: Number(row['created_at']),
    expiresAt: Number(row['expires_at']),
  };
}
