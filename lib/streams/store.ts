import { SWEEP_ROWS_MAX } from '../constants.ts';
import type { Statement } from '../db/database.ts';

/** Gives the token's stream to this caller. Returns its `seq`, greater than that of every earlier stream. */
export function takeStream(cid: string, expiresAt: number): Statement {
  return {
    sql: `INSERT OR REPLACE INTO streams (cid, expires_at) VALUES (:cid, :expires_at) RETURNING seq`,
    args: { cid, expires_at: expiresAt },
  };
}

/** The seq of the newest stream; 0 if no stream was ever opened. */
export function selectLastStream(): Statement {
  return {
    sql: `SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'streams'), 0) AS seq`,
    args: {},
  };
}

/** `seq` and `cid` of the streams opened after `seq`, by any process, oldest first. */
export function selectStreamsAfter(seq: number, limit: number): Statement {
  return {
    sql: `SELECT seq, cid FROM streams WHERE seq > :after ORDER BY seq LIMIT :limit`,
    args: { after: seq, limit },
  };
}

/** The CIDs of tokens and delegations revoked after `since` (milliseconds). */
export function selectRevokedSince(since: number): Statement {
  return { sql: `SELECT cid FROM token_revocations WHERE revoked_at > :since`, args: { since } };
}

/** The tokens that have opened a stream, have not ended and were not revoked, the newest first. */
export function selectLiveTokens(now: number, limit: number): Statement {
  return {
    sql: `SELECT cid, expires_at FROM streams WHERE expires_at > :now
      AND cid NOT IN (SELECT cid FROM token_revocations) ORDER BY expires_at DESC LIMIT :limit`,
    args: { now, limit },
  };
}

/** Deletes the rows of expired tokens. */
export function sweepStreams(now: number): Statement {
  return {
    sql: `DELETE FROM streams WHERE seq IN (SELECT seq FROM streams WHERE expires_at <= :now LIMIT ${SWEEP_ROWS_MAX})`,
    args: { now },
  };
}
