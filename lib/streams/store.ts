import { SWEEP_ROWS_MAX } from '../constants.ts';
import type { Statement } from '../db/database.ts';

/** Takes a token's stream over: its row is a new one, whose `seq` is greater than that of every stream before it. Returns the seq. */
export function takeStream(cid: string, expiresAt: number): Statement {
  return {
    sql: `INSERT OR REPLACE INTO streams (cid, expires_at) VALUES (:cid, :expires_at) RETURNING seq`,
    args: { cid, expires_at: expiresAt },
  };
}

/** The seq of the stream opened last, 0 when none ever was. */
export function selectLastStream(): Statement {
  return {
    sql: `SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'streams'), 0) AS seq`,
    args: {},
  };
}

/** The streams opened after one, by any process. */
export function selectStreamsAfter(seq: number, limit: number): Statement {
  return {
    sql: `SELECT seq, cid FROM streams WHERE seq > :after ORDER BY seq LIMIT :limit`,
    args: { after: seq, limit },
  };
}

/** The tokens, and links of chains, that were revoked since. */
export function selectRevokedSince(since: number): Statement {
  return { sql: `SELECT cid FROM token_revocations WHERE revoked_at > :since`, args: { since } };
}

/** Forgets tokens that have expired. */
export function sweepStreams(now: number): Statement {
  return {
    sql: `DELETE FROM streams WHERE seq IN (SELECT seq FROM streams WHERE expires_at <= :now LIMIT ${SWEEP_ROWS_MAX})`,
    args: { now },
  };
}
