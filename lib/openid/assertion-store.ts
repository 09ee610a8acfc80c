import { toHex, utf8 } from '../base/bytes.ts';
import { sha256Digest } from '../base/hmac.ts';
import { SWEEP_ROWS_MAX } from '../constants.ts';
import type { Statement } from '../db/database.ts';

/** Notes an assertion by its `jti` until it has ended; `rowsAffected` 0 means that it was shown before. */
export function insertAssertion(client: string, jti: string, until: number): Statement {
  return {
    sql: `INSERT INTO client_assertions (id, until) VALUES (:id, :until) ON CONFLICT (id) DO NOTHING`,
    args: { id: toHex(sha256Digest(utf8(`${client}\n${jti}`))), until },
  };
}

/** Removes assertions that have ended. */
export function sweepAssertions(now: number): Statement {
  return {
    sql: `DELETE FROM client_assertions WHERE id IN
      (SELECT id FROM client_assertions WHERE until <= :now LIMIT ${SWEEP_ROWS_MAX})`,
    args: { now },
  };
}
