import type { Condition, Row, Statement } from '../db/database.ts';

/** What an operator may do: a viewer sees states and masked rows, an operator does all but appoint others. */
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

/** Ends the token of one operator; `rowsAffected` is the verdict. */
export function deleteOperator(name: string): Statement {
  return { sql: 'DELETE FROM operators WHERE name = :name', args: { name } };
}

/** Ends the tokens of all, where a condition is given if it holds. */
export function deleteOperators({ sql, args }: Condition = { sql: 'true', args: {} }): Statement {
  return { sql: `DELETE FROM operators WHERE ${sql}`, args };
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
