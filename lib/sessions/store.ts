import type { AdmissionTerms } from '../admission/admission.ts';
import { SWEEP_ROWS_MAX } from '../constants.ts';
import type { Condition, Statement } from '../db/database.ts';
import { emitSessions } from '../events/emit.ts';
import { clearedAt } from '../limits/limits.ts';
import type { SessionShare } from '../limits/session-share.ts';
import { IS_HANDLE, SESSION_IS_ON_CHAIN } from './link-store.ts';

/**
 * A session to open: identifier key, DID, their on-chain hashes, client key, and the limits of client and /48;
 * times are milliseconds.
 */
export interface NewSession {
  readonly identifier: string;
  readonly app: string;
  readonly did: string;
  readonly aliasHash: string;
  readonly didHash: string;
  /** Where the alias leads, of `AliasAnswer`; '' unless it is a handle. */
  readonly ledTo: string;
  /** When the chain is asked about it next; null unless it is a handle. */
  readonly askAt: number | null;
  readonly ip: string;
  readonly now: number;
  readonly expiresAt: number;
  readonly perIp: number;
  /** How long it counts; 0 is for good. */
  readonly windowSeconds: number;
  readonly share: SessionShare;
  /** The terms of admission if the identifier is not registered; null where anybody may open a session. */
  readonly admission?: AdmissionTerms | null;
}

/** SQL that is true of a live session row: linked, or not lapsed yet. Needs `:now`. */
export const SESSION_IS_LIVE = '(linked = 1 OR expires_at > :now)';

/**
 * SQL that is true of a session row that uses a slot of its IP: a live one of the window that the operator has not
 * cleared, unless an attestation stands for it. Needs `:now`, `:ip` and `:counted_since` (`ipWindow`).
 */
export const SESSION_COUNTS = `counts = 1 AND ${SESSION_IS_LIVE}
  AND created_at > max(:counted_since, ${clearedAt('registrations-per-ip', ':ip')})`;

/**
 * SQL of the earliest time at which one of an IP's counted sessions lapses or leaves the window, null when none does.
 * Needs the same and `:ip_window`.
 */
export const EARLIEST_LAPSE = `(SELECT min(ends_at) FROM (
  SELECT (SELECT expires_at FROM sessions WHERE ip = :ip AND linked = 0 AND expires_at > :now AND ${SESSION_COUNTS}
    ORDER BY expires_at LIMIT 1) AS ends_at
  UNION ALL SELECT :ip_window + (SELECT created_at FROM sessions WHERE ip = :ip AND ${SESSION_COUNTS}
    ORDER BY created_at LIMIT 1)))`;

/** The arguments of both: since when sessions count, and the window in milliseconds, null where they count for good. */
export function ipWindow(windowSeconds: number, now: number): { counted_since: number; ip_window: number | null } {
  const window = windowSeconds * 1000;
  return window === 0 ? { counted_since: 0, ip_window: null } : { counted_since: now - window, ip_window: window };
}

/**
 * Unlinks the linked sessions for which the condition is true, except those whose alias leads to their DID in the
 * index. One that a registration opened ends with it; one that its DID opened before lives on until it lapses.
 */
export function releaseSessions({ sql, args }: Condition, now: number): readonly Statement[] {
  const released = `linked = 1 AND ${sql} AND NOT ${SESSION_IS_ON_CHAIN}`;
  return [
    emitSessions('session.unlinked', `FROM sessions WHERE ${released} AND expires_at > :now`, { ...args, now }),
    {
      sql: `UPDATE sessions SET linked = 0, ask_at = CASE WHEN ${IS_HANDLE} AND expires_at > :now THEN :now END
        WHERE ${released}`,
      args: { ...args, now },
    },
  ];
}

/**
 * Gives the sessions for which the condition is true to the registrations that hold their identifiers now, if the
 * statement before it in the batch changed a row. One that gets another DID lives no longer than it is linked.
 */
export function followHolderIfChanged({ sql, args }: Condition, now: number): Statement {
  return {
    sql: `UPDATE sessions SET linked = 1, ask_at = NULL,
        expires_at = CASE did WHEN (SELECT did ${HOLDER}) THEN expires_at ELSE min(expires_at, :now) END,
        (did, did_hash) = (SELECT did, did_hash ${HOLDER})
      WHERE changes() > 0 AND ${sql} AND EXISTS (SELECT 1 ${HOLDER} AND ${SESSION_FOLLOWS})`,
    args: { ...args, now },
  };
}

/**
 * SQL that is true of a session and of the registration that gets its identifier, if the session goes with it. The
 * linked session of a handle goes only where its alias leads: the one it leads to may not hold the handle yet.
 */
export const SESSION_FOLLOWS = `(registrations.channel <> 'handle' OR registrations.aliased = 1 OR sessions.linked = 0)`;

const HOLDER = `FROM registrations WHERE identifier = sessions.identifier AND holds = 1`;

/** SQL that is true of a session whose identifier a registration holds. */
export const SESSION_HAS_HOLDER = `EXISTS (SELECT 1 FROM registrations
  WHERE registrations.identifier = sessions.identifier AND holds = 1)`;

/** A session that a registration opens. The chain is asked about the registration instead. */
type ClaimedSession = Omit<NewSession, 'perIp' | 'windowSeconds' | 'share' | 'ledTo' | 'askAt' | 'admission'> & {
  /** 0 if an attestation stands for it: it uses no slot of its IP. */
  readonly counts: 0 | 1;
};

/**
 * Opens a linked session for a registration, or takes over the identifier's session, if the condition holds. It lives
 * no longer than it is linked. A live session of the same DID keeps app, IP, creation time and its own end: a claim
 * that anyone can make, and that fails, must not end it.
 */
export function openClaimedSession(session: ClaimedSession, { sql, args }: Condition): Statement {
  const { identifier, app, did, aliasHash, didHash, ip, now, expiresAt, counts } = session;
  return {
    sql: `INSERT INTO sessions (identifier, app, did, alias_hash, did_hash, ip, created_at, expires_at, linked, counts)
      SELECT :identifier, :app, :did, :alias_hash, :did_hash, :ip, :now, :now, 1, :counts WHERE ${sql}
      ON CONFLICT (identifier) DO UPDATE SET linked = 1, did = excluded.did, alias_hash = excluded.alias_hash,
        did_hash = excluded.did_hash, ask_at = NULL,
        app = CASE WHEN ${IS_OWN} THEN sessions.app ELSE excluded.app END,
        ip = CASE WHEN ${IS_OWN} THEN sessions.ip ELSE excluded.ip END,
        counts = CASE WHEN ${IS_OWN} THEN sessions.counts ELSE excluded.counts END,
        created_at = CASE WHEN ${IS_OWN} THEN sessions.created_at ELSE excluded.created_at END,
        expires_at = CASE WHEN NOT ${IS_OWN} THEN excluded.expires_at
          WHEN sessions.linked = 1 THEN max(sessions.expires_at, :expires_at) ELSE sessions.expires_at END`,
    args: {
      ...args,
      identifier,
      app,
      did,
      alias_hash: aliasHash,
      did_hash: didHash,
      ip,
      now,
      expires_at: expiresAt,
      counts,
    },
  };
}

/** True of a session row that is live under the claim's own DID. */
const IS_OWN = `sessions.did = excluded.did AND (sessions.linked = 1 OR sessions.expires_at > :now)`;

/** One row whose `linked` is 1 if a session or a registration links the identifier, `live` 1 if it has a session. */
export function selectHolders(identifier: string, now: number): Statement {
  return {
    sql: `SELECT EXISTS (SELECT 1 FROM sessions WHERE identifier = :identifier AND linked = 1)
        OR EXISTS (SELECT 1 FROM registrations WHERE identifier = :identifier AND holds = 1) AS linked,
      EXISTS (SELECT 1 FROM sessions WHERE identifier = :identifier AND ${SESSION_IS_LIVE}) AS live`,
    args: { identifier, now },
  };
}

/** Lapsed sessions that are subtracted. There are more only while a sweep catches up after a long stop. */
const LAPSED_COUNTED_MAX = 5_000;

/**
 * The live sessions of one IP, counted up to `most`, and of all: the tally without the lapsed ones that are not swept
 * yet.
 */
export function selectSessionCounts(ip: string, windowSeconds: number, now: number, most: number): Statement {
  return {
    sql: `SELECT
      (SELECT count(*) FROM (SELECT 1 FROM sessions WHERE ip = :ip AND ${SESSION_COUNTS} LIMIT :most)) AS by_ip,
      (SELECT value FROM tallies WHERE name = 'sessions')
        - (SELECT count(*) FROM (SELECT 1 FROM sessions WHERE linked = 0 AND expires_at <= :now LIMIT ${LAPSED_COUNTED_MAX}))
        AS total`,
    args: { ip, now, most, counted_since: ipWindow(windowSeconds, now).counted_since },
  };
}

/** Removes sessions that lapsed without a DID. */
export function sweepSessions(now: number): readonly Statement[] {
  // Ordered, so that both statements mean the same rows.
  const lapsed = `linked = 0 AND identifier IN (SELECT identifier FROM sessions
    WHERE linked = 0 AND expires_at <= :now ORDER BY expires_at, identifier LIMIT ${SWEEP_ROWS_MAX})`;
  return [
    emitSessions('session.lapsed', `FROM sessions WHERE ${lapsed}`, { now }),
    { sql: `DELETE FROM sessions WHERE ${lapsed}`, args: { now } },
  ];
}
