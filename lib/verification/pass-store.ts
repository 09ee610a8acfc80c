import { DAY_MS } from '../base/clock.ts';
import { PASS_GUESSES_MAX, SWEEP_ROWS_MAX } from '../constants.ts';
import type { Statement } from '../db/database.ts';
import { DEAD, NO_CODE } from './send-text-store.ts';

/** Clients that one pass lets send at the same time. */
const GRANTS_MAX = 20;

/** A press of a pass's button: the pass's digest and the time of its send, the client, and until when it may send. */
export interface NewGrant {
  readonly pass: string;
  readonly sentAt: number;
  readonly ip: string;
  readonly now: number;
  readonly until: number;
}

const INSERT_GRANT = `INSERT INTO pass_grants (identifier, ip, code, until)
  SELECT identifier, :ip, seq, :until FROM codes
    WHERE sent_at = :sent_at AND pass = :pass AND sent_at > :day_ago AND pass_guesses < ${PASS_GUESSES_MAX}
      AND (SELECT count(*) FROM pass_grants WHERE code = codes.seq AND until > :now AND ip <> :ip) < ${GRANTS_MAX}
  ON CONFLICT (identifier, ip) DO UPDATE SET code = excluded.code, until = excluded.until`;

/** Lets the client send by the pass; `rowsAffected` 0: the pass is unknown, has ended, or has enough clients. */
export function insertGrant({ pass, sentAt, ip, now, until }: NewGrant): Statement {
  return { sql: INSERT_GRANT, args: { pass, sent_at: sentAt, ip, now, until, day_ago: now - DAY_MS } };
}

/** Removes grants that have ended. */
export function sweepGrants(now: number): Statement {
  return {
    sql: `DELETE FROM pass_grants WHERE (identifier, ip) IN
      (SELECT identifier, ip FROM pass_grants WHERE until <= :now LIMIT ${SWEEP_ROWS_MAX})`,
    args: { now },
  };
}

/** The pass of a message without a code: no limit counts its row, and nothing verifies by it. */
export function insertNoticePass({
  id,
  identifier,
  pass,
  now,
}: {
  readonly id: string;
  readonly identifier: string;
  readonly pass: string;
  readonly now: number;
}): Statement {
  return {
    sql: `INSERT INTO codes (id, identifier, channel, ip, sent_at, expires_at, digest, delivery, pass, by_pass)
      VALUES (:id, :identifier, substr(:identifier, 1, instr(:identifier, ':') - 1), '', :now, :now, '${DEAD}', 'accepted',
        :pass, ${NO_CODE})`,
    args: { id, identifier, pass, now },
  };
}
