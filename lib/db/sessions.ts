import { SWEEP_ROWS_MAX } from '../constants.ts';
import type { Statement } from './database.ts';

/** A session about to be opened: identifier key, DID, client key, and the per-IP limit in force. */
export interface NewSession {
  readonly identifier: string;
  readonly did: string;
  readonly ip: string;
  readonly now: number;
  readonly expiresAt: number;
  readonly perIp: number;
}

/** SQL that is true of a session row that counts: linked for good, or not lapsed yet. Needs `:now`. */
export const SESSION_IS_LIVE = '(linked = 1 OR expires_at > :now)';

/** One statement that opens the session only when the identifier is free and the IP has room; a lapsed session's row is taken over. */
export function insertSession({ identifier, did, ip, now, expiresAt, perIp }: NewSession): Statement {
  return {
    sql: `INSERT INTO sessions (identifier, did, ip, created_at, expires_at)
      SELECT :identifier, :did, :ip, :now, :expires_at
      WHERE NOT EXISTS (SELECT 1 FROM sessions WHERE identifier = :identifier AND ${SESSION_IS_LIVE})
        AND NOT EXISTS (SELECT 1 FROM registrations WHERE identifier = :identifier AND status <> 'failed')
        AND (SELECT count(*) FROM sessions WHERE ip = :ip AND ${SESSION_IS_LIVE}) < :per_ip
      ON CONFLICT (identifier) DO UPDATE SET
        did = excluded.did, ip = excluded.ip, created_at = excluded.created_at, expires_at = excluded.expires_at`,
    args: { identifier, did, ip, now, expires_at: expiresAt, per_ip: perIp },
  };
}

/** Why `insertSession` refused: `taken` 1 when the identifier is held, and the earliest lapse among the IP's sessions, null when all are linked. */
export function selectRefusal({ identifier, ip, now }: NewSession): Statement {
  return {
    sql: `SELECT
      EXISTS (SELECT 1 FROM sessions WHERE identifier = :identifier AND ${SESSION_IS_LIVE})
        OR EXISTS (SELECT 1 FROM registrations WHERE identifier = :identifier AND status <> 'failed') AS taken,
      (SELECT min(expires_at) FROM sessions WHERE ip = :ip AND linked = 0 AND expires_at > :now) AS earliest_lapse`,
    args: { identifier, ip, now },
  };
}

/** Whether the identifier is linked to a DID, by a session or by a registration. */
export function selectLinked(identifier: string): Statement {
  return {
    sql: `SELECT EXISTS (SELECT 1 FROM sessions WHERE identifier = :identifier AND linked = 1)
      OR EXISTS (SELECT 1 FROM registrations WHERE identifier = :identifier AND status <> 'failed') AS linked`,
    args: { identifier },
  };
}

/** Live sessions of one IP and of all: the linked ones as tallied, the others counted by their lapse. */
export function selectSessionCounts(ip: string, now: number): Statement {
  return {
    sql: `SELECT
      (SELECT count(*) FROM sessions WHERE ip = :ip AND ${SESSION_IS_LIVE}) AS by_ip,
      (SELECT value FROM tallies WHERE name = 'linked_sessions')
        + (SELECT count(*) FROM sessions WHERE linked = 0 AND expires_at > :now) AS total`,
    args: { ip, now },
  };
}

/** Removes sessions that lapsed without a DID. */
export function sweepSessions(now: number): Statement {
  return {
    sql: `DELETE FROM sessions WHERE linked = 0 AND identifier IN
      (SELECT identifier FROM sessions WHERE linked = 0 AND expires_at <= :now LIMIT ${SWEEP_ROWS_MAX})`,
    args: { now },
  };
}
