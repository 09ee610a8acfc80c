import type { Statement } from '../db/database.ts';

/** Stores the salt of subjects if there is none. */
export function insertSalt(salt: string): Statement {
  return {
    sql: `INSERT INTO subject_salt (id, salt) SELECT 1, :salt WHERE NOT EXISTS (SELECT 1 FROM subject_salt)`,
    args: { salt },
  };
}

/** The salt, one row or none. */
export function selectSalt(): Statement {
  return { sql: `SELECT salt FROM subject_salt`, args: {} };
}
