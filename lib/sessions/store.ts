import { ALIAS_LEADS_ELSEWHERE, ALIAS_LEADS_HERE } from '../aliases/aliases.ts';
import { SWEEP_ROWS_MAX } from '../constants.ts';
import { type Condition, fewerThan, type Statement } from '../db/database.ts';
import { emitEvents, emitSessions, sessionRows, takenOverRows } from '../events/emit.ts';
import { clearedAt } from '../limits/limits.ts';
import { IS_HANDLE, SESSION_IS_ON_CHAIN } from './link-store.ts';

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

/** What another DID holds yields to the DID that the alias leads to. */
const YIELDS = `(did_hash <> :did_hash AND ${ALIAS_LEADS_HERE})`;

/** True if the identifier is another's, or has a session or a registration already. */
const IS_TAKEN = `(${ALIAS_LEADS_ELSEWHERE}
  OR EXISTS (SELECT 1 FROM sessions WHERE identifier = :identifier AND ${SESSION_IS_LIVE} AND NOT ${YIELDS})
  OR EXISTS (SELECT 1 FROM registrations WHERE identifier = :identifier AND holds = 1 AND NOT ${YIELDS}))`;

/** True if a session may be opened. */
const ADMITS = `NOT ${IS_TAKEN}
  AND ${fewerThan(':per_ip', `FROM sessions WHERE ip = :ip AND identifier <> :identifier AND ${SESSION_COUNTS}`)}`;

/** Emits `session.lapsed` or `session.taken_over` for the row that `insertSession`, next in the batch, overwrites. */
export function emitReplaced(session: NewSession): Statement {
  const { app, did, ...args } = admissionArgs(session);
  return session.ledTo === '' ? emitEvents(LAPSED, args) : emitEvents(REPLACED, { ...args, app, did });
}

const REPLACED_ROW = `FROM sessions WHERE identifier = :identifier AND ${ADMITS}`;
const LAPSED = [sessionRows('session.lapsed', `${REPLACED_ROW} AND NOT ${SESSION_IS_LIVE}`)];
// Without an alias nothing is taken over, and nothing linked: the parts for that are left out.
const REPLACED = [...LAPSED, takenOverRows(`${REPLACED_ROW} AND ${SESSION_IS_LIVE}`)];

/** Emits the events of the session that `insertSession`, just before in the batch, opened, if it did. */
export function emitOpened({ identifier, now, ledTo }: NewSession): Statement {
  return emitEvents(ledTo === '' ? CREATED : OPENED, { identifier, now });
}

const OPENED_ROW = `FROM sessions WHERE identifier = :identifier AND changes() > 0`;
const CREATED = [sessionRows('session.created', OPENED_ROW)];
const OPENED = [...CREATED, sessionRows('session.linked', `${OPENED_ROW} AND linked = 1`)];

/**
 * Opens the session only when the identifier is free and the IP has room; overwrites the row of a lapsed session, or of
 * one that yields. It is linked at once if its alias leads to its DID.
 */
export function insertSession(session: NewSession): Statement {
  const { expiresAt, askAt } = session;
  return { sql: INSERT_SESSION, args: { ...admissionArgs(session), expires_at: expiresAt, ask_at: askAt } };
}

// Built once: the engine finds a statement by its text, which costs more the newer the text is. A row without an
// identifier is not written, so it needs no SELECT, which the engine would write to a temporary table first.
const INSERT_SESSION = `INSERT OR IGNORE INTO sessions (identifier, app, did, alias_hash, did_hash, ip, created_at,
  expires_at, linked, ask_at)
  VALUES (CASE WHEN ${ADMITS} THEN :identifier END, :app, :did, :alias_hash, :did_hash, :ip, :now, :expires_at,
    ${ALIAS_LEADS_HERE}, :ask_at)
  ON CONFLICT (identifier) DO UPDATE SET
    app = excluded.app, did = excluded.did, did_hash = excluded.did_hash, alias_hash = excluded.alias_hash,
    ip = excluded.ip, counts = 1, created_at = excluded.created_at, expires_at = excluded.expires_at, linked = excluded.linked,
    ask_at = excluded.ask_at, asks = 0`;

function admissionArgs({ identifier, app, did, aliasHash, didHash, ledTo, ip, now, ...limit }: NewSession) {
  const hashes = { alias_hash: aliasHash, did_hash: didHash, led_to: ledTo };
  const { counted_since } = ipWindow(limit.windowSeconds, now);
  return { identifier, app, did, ...hashes, ip, now, per_ip: limit.perIp, counted_since };
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
type ClaimedSession = Omit<NewSession, 'perIp' | 'windowSeconds' | 'ledTo' | 'askAt'> & {
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

/**
 * Why `insertSession` refused: `taken` is 1 when the identifier is taken; `earliest_lapse` is null when all sessions
 * of the IP count for good. No row if the statement before, `emitOpened`, had something to report.
 */
export function selectRefusal(session: NewSession): Statement {
  const { app, did, per_ip, ...args } = admissionArgs(session);
  return { sql: SELECT_REFUSAL, args: { ...args, ...ipWindow(session.windowSeconds, session.now) } };
}

const SELECT_REFUSAL = `SELECT ${IS_TAKEN} AS taken, ${EARLIEST_LAPSE} AS earliest_lapse WHERE changes() = 0`;

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
