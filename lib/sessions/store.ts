import { SWEEP_ROWS_MAX } from '../constants.ts';
import { type Condition, fewerThan, type Statement } from '../db/database.ts';
import { emitEvents, emitSessions, sessionRows } from '../events/emit.ts';
import { clearedAt } from '../limits/limits.ts';

/**
 * A session to open: identifier key, DID, their on-chain hashes, client key, and the per-IP limit; times are
 * milliseconds.
 */
export interface NewSession {
  readonly identifier: string;
  readonly app: string;
  readonly did: string;
  readonly aliasHash: string;
  readonly didHash: string;
  readonly ip: string;
  readonly now: number;
  readonly expiresAt: number;
  readonly perIp: number;
}

/** SQL that is true of a live session row: linked, or not lapsed yet. Needs `:now`. */
export const SESSION_IS_LIVE = '(linked = 1 OR expires_at > :now)';

/**
 * SQL that is true of a session row that uses a slot of its IP: a live one that the operator has not cleared. Needs
 * `:now` and `:ip`.
 */
export const SESSION_COUNTS = `${SESSION_IS_LIVE} AND created_at > ${clearedAt('registrations-per-ip', ':ip')}`;

/** SQL of the earliest lapse among an IP's counted sessions, null when none of them lapses. Needs `:now` and `:ip`. */
export const EARLIEST_LAPSE = `(SELECT expires_at FROM sessions WHERE ip = :ip AND linked = 0 AND expires_at > :now
  AND created_at > ${clearedAt('registrations-per-ip', ':ip')} ORDER BY expires_at LIMIT 1)`;

/** SQL that is true of a session row whose alias the registry maps to its DID, as far as the follower has read. */
export const SESSION_IS_ON_CHAIN = `EXISTS (SELECT 1 FROM chain_events
  WHERE kind = 'AliasRegistered' AND subject = sessions.alias_hash AND object = sessions.did_hash)`;

/** True if a session may be opened. */
const ADMITS = `NOT EXISTS (SELECT 1 FROM sessions WHERE identifier = :identifier AND ${SESSION_IS_LIVE})
  AND NOT EXISTS (SELECT 1 FROM registrations WHERE identifier = :identifier AND status <> 'failed')
  AND ${fewerThan(':per_ip', `FROM sessions WHERE ip = :ip AND ${SESSION_COUNTS}`)}`;

/** Emits `session.lapsed` for the row that `insertSession`, next in the batch, will overwrite. */
export function emitReplaced({ identifier, ip, now, perIp }: NewSession): Statement {
  return emitEvents(REPLACED, { identifier, ip, now, per_ip: perIp });
}

const REPLACED = [sessionRows('session.lapsed', `FROM sessions WHERE identifier = :identifier AND ${ADMITS}`)];

/** Emits the events of the session that `insertSession`, just before in the batch, opened, if it did. */
export function emitOpened({ identifier, now }: NewSession): Statement {
  return emitEvents(OPENED, { identifier, now });
}

const OPENED_ROW = `FROM sessions WHERE identifier = :identifier AND changes() > 0`;
const OPENED = [
  sessionRows('session.created', OPENED_ROW),
  sessionRows('session.linked', `${OPENED_ROW} AND linked = 1`),
];

/**
 * Opens the session only when the identifier is free and the IP has room; overwrites a lapsed session's row. It is
 * linked at once if the chain already has its alias.
 */
export function insertSession(session: NewSession): Statement {
  const { identifier, app, did, aliasHash, didHash, ip, now, expiresAt, perIp } = session;
  return {
    sql: INSERT_SESSION,
    args: {
      identifier,
      app,
      did,
      alias_hash: aliasHash,
      did_hash: didHash,
      ip,
      now,
      expires_at: expiresAt,
      per_ip: perIp,
    },
  };
}

// Built once: the engine finds a statement by its text, which costs more the newer the text is.
const INSERT_SESSION = `INSERT INTO sessions (identifier, app, did, alias_hash, did_hash, ip, created_at,
  expires_at, linked)
  SELECT :identifier, :app, :did, :alias_hash, :did_hash, :ip, :now, :expires_at, EXISTS (SELECT 1 FROM chain_events
    WHERE kind = 'AliasRegistered' AND subject = :alias_hash AND object = :did_hash)
  WHERE ${ADMITS}
  ON CONFLICT (identifier) DO UPDATE SET
    app = excluded.app, did = excluded.did, did_hash = excluded.did_hash, alias_hash = excluded.alias_hash,
    ip = excluded.ip,    created_at = excluded.created_at, expires_at = excluded.expires_at, linked = excluded.linked`;

/** Links the live sessions whose alias was registered for their DID in block `from` or later. */
export function linkSessions(from: number, now: number, { sql, args }: Condition): readonly Statement[] {
  const linked = `linked = 0 AND expires_at > :now AND ${ALIAS_SINCE} AND ${sql}`;
  const named = { from, now, ...args };
  return [
    emitSessions('session.linked', `FROM sessions WHERE ${linked}`, named),
    { sql: `UPDATE sessions SET linked = 1 WHERE ${linked}`, args: named },
  ];
}

/**
 * Unlinks the sessions that only an alias registered in block `from` or later links; they lapse at `lapseAt`
 * (milliseconds) unless linked again.
 */
export function unlinkSessions(
  { from, lapseAt, now }: { readonly from: number; readonly lapseAt: number; readonly now: number },
  { sql, args }: Condition,
): readonly Statement[] {
  const unlinked = `linked = 1 AND ${ALIAS_SINCE}
    AND NOT EXISTS (SELECT 1 FROM registrations
      WHERE registrations.identifier = sessions.identifier AND registrations.did = sessions.did AND status <> 'failed')
    AND ${sql}`;
  return [
    emitSessions('session.unlinked', `FROM sessions WHERE ${unlinked}`, { from, now, ...args }),
    {
      sql: `UPDATE sessions SET linked = 0, expires_at = max(expires_at, :lapse_at) WHERE ${unlinked}`,
      args: { from, lapse_at: lapseAt, ...args },
    },
  ];
}

const ALIAS_SINCE = `(alias_hash, did_hash) IN
  (SELECT subject, object FROM chain_events WHERE block >= :from AND kind = 'AliasRegistered')`;

/**
 * Ends the sessions for which the condition is true, except those that the chain links. Their identifiers are free
 * again.
 */
export function lapseSessions({ sql, args }: Condition, now: number): Statement {
  return {
    sql: `UPDATE sessions SET linked = 0, expires_at = :now WHERE ${sql} AND NOT ${SESSION_IS_ON_CHAIN}`,
    args: { ...args, now },
  };
}

/**
 * Opens a linked session for a registration, or takes over the identifier's session, if the condition holds. A live
 * session of the same DID keeps app, IP and creation time.
 */
export function openClaimedSession(session: Omit<NewSession, 'perIp'>, { sql, args }: Condition): Statement {
  const { identifier, app, did, aliasHash, didHash, ip, now, expiresAt } = session;
  return {
    sql: `INSERT INTO sessions (identifier, app, did, alias_hash, did_hash, ip, created_at, expires_at, linked)
      SELECT :identifier, :app, :did, :alias_hash, :did_hash, :ip, :now, :expires_at, 1 WHERE ${sql}
      ON CONFLICT (identifier) DO UPDATE SET linked = 1, did = excluded.did, alias_hash = excluded.alias_hash,
        did_hash = excluded.did_hash,
        app = CASE WHEN ${IS_OWN} THEN sessions.app ELSE excluded.app END,
        ip = CASE WHEN ${IS_OWN} THEN sessions.ip ELSE excluded.ip END,
        created_at = CASE WHEN ${IS_OWN} THEN sessions.created_at ELSE excluded.created_at END`,
    args: { ...args, identifier, app, did, alias_hash: aliasHash, did_hash: didHash, ip, now, expires_at: expiresAt },
  };
}

/** True of a session row that is live under the claim's own DID. */
const IS_OWN = `sessions.did = excluded.did AND (sessions.linked = 1 OR sessions.expires_at > :now)`;

/**
 * Why `insertSession` refused: `taken` is 1 when the identifier is taken; `earliest_lapse` is null when all sessions
 * of the IP are linked.
 */
export function selectRefusal({ identifier, ip, now }: NewSession): Statement {
  return { sql: SELECT_REFUSAL, args: { identifier, ip, now } };
}

const SELECT_REFUSAL = `SELECT
  EXISTS (SELECT 1 FROM sessions WHERE identifier = :identifier AND ${SESSION_IS_LIVE})
    OR EXISTS (SELECT 1 FROM registrations WHERE identifier = :identifier AND status <> 'failed') AS taken,
  ${EARLIEST_LAPSE} AS earliest_lapse`;

/** One row whose `linked` is 1 if a session or a registration links the identifier to a DID. */
export function selectLinked(identifier: string): Statement {
  return {
    sql: `SELECT EXISTS (SELECT 1 FROM sessions WHERE identifier = :identifier AND linked = 1)
      OR EXISTS (SELECT 1 FROM registrations WHERE identifier = :identifier AND status <> 'failed') AS linked`,
    args: { identifier },
  };
}

/**
 * The live sessions of one IP, counted up to `most`, and of all: the tally without the lapsed ones that are not swept
 * yet.
 */
export function selectSessionCounts(ip: string, now: number, most: number): Statement {
  return {
    sql: `SELECT
      (SELECT count(*) FROM (SELECT 1 FROM sessions WHERE ip = :ip AND ${SESSION_COUNTS} LIMIT :most)) AS by_ip,
      (SELECT value FROM tallies WHERE name = 'sessions')
        - (SELECT count(*) FROM sessions WHERE linked = 0 AND expires_at <= :now) AS total`,
    args: { ip, now, most },
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
