import type { Statement } from '../db/database.ts';

/** The newest codes of an identifier, and in each row when it was last verified; one row without a code if it was. */
export function selectHistory(identifier: string, most: number): Statement {
  return {
    sql: `SELECT verified_at, seq, sent_at, expires_at, attempts, delivery, consumed_at
      FROM (SELECT :identifier AS identifier)
      LEFT JOIN verifications USING (identifier)
      LEFT JOIN (SELECT * FROM codes WHERE identifier = :identifier ORDER BY seq DESC LIMIT :most) USING (identifier)
      ORDER BY seq DESC`,
    args: { identifier, most },
  };
}
