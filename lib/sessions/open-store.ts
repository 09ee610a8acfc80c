import { admissionArgs, MAY_REGISTER } from '../admission/admission.ts';
import { ALIAS_LEADS_ELSEWHERE, ALIAS_LEADS_HERE } from '../aliases/aliases.ts';
import { argsIn, fewerThan, type Statement } from '../db/database.ts';
import { emitEvents, sessionRows, takenOverRows } from '../events/emit.ts';
import { SITE_HAS_ROOM, SITE_ROOM } from '../limits/session-share.ts';
import { EARLIEST_LAPSE, ipWindow, type NewSession, SESSION_COUNTS, SESSION_IS_LIVE } from './store.ts';

/** A row of another DID yields to the DID that the alias leads to. */
const YIELDS = `(did_hash <> :did_hash AND ${ALIAS_LEADS_HERE})`;

/** True if the identifier is another's, or has a session or a registration already. */
const IS_TAKEN = `(${ALIAS_LEADS_ELSEWHERE}
  OR EXISTS (SELECT 1 FROM sessions WHERE identifier = :identifier AND ${SESSION_IS_LIVE} AND NOT ${YIELDS})
  OR EXISTS (SELECT 1 FROM registrations WHERE identifier = :identifier AND holds = 1 AND NOT ${YIELDS}))`;

const IP_HAS_ROOM = fewerThan(
  ':per_ip',
  `FROM sessions WHERE ip = :ip AND identifier <> :identifier AND ${SESSION_COUNTS}`,
);

/** Emits `session.lapsed` or `session.taken_over` for the row that `insertSession`, next in the batch, overwrites. */
export function emitReplaced(session: NewSession): Statement {
  const { lapsed, replaced } = textsOf(session);
  const parts = session.ledTo === '' ? lapsed : replaced;
  return emitEvents(parts, admissionArgsOf(session, emitEvents(parts, {}).sql));
}

/** Emits the events of the session that `insertSession`, before in the batch and counted since, opened, if it did. */
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
  const sql = textsOf(session).insert;
  return { sql, args: { ...admissionArgsOf(session, sql), expires_at: expiresAt, ask_at: askAt } };
}

function textsOf({ admission, share }: NewSession): Texts {
  const [alone, sharing] = admission ? WITH_INVITE : WITHOUT_INVITE;
  return share.network === null ? alone : sharing;
}

/**
 * The texts that decide whether a session may be opened: with an invite or without, and for a /48 with a share or not.
 */
function createTexts(isInvited: boolean, isSharing: boolean) {
  const hasRoom = `${IP_HAS_ROOM}${isSharing ? ` AND ${SITE_HAS_ROOM}` : ''}`;
  const admits = `${isInvited ? `${MAY_REGISTER} AND ` : ''}NOT ${IS_TAKEN} AND ${hasRoom}`;
  const row = `FROM sessions WHERE identifier = :identifier AND ${admits}`;
  const lapsed = [sessionRows('session.lapsed', `${row} AND NOT ${SESSION_IS_LIVE}`)];
  return {
    admits,
    lapsed,
    // Without an alias nothing is taken over, and nothing linked: the parts for that are left out.
    replaced: [...lapsed, takenOverRows(`${row} AND ${SESSION_IS_LIVE}`)],
    // A row without an identifier is not written, so it needs no SELECT, which the engine would write to a temporary
    // table first.
    insert: `INSERT OR IGNORE INTO sessions (identifier, app, did, alias_hash, did_hash, ip, created_at,
  expires_at, linked, ask_at)
  VALUES (CASE WHEN ${admits} THEN :identifier END, :app, :did, :alias_hash, :did_hash, :ip, :now, :expires_at,
    ${ALIAS_LEADS_HERE}, :ask_at)
  ON CONFLICT (identifier) DO UPDATE SET
    app = excluded.app, did = excluded.did, did_hash = excluded.did_hash, alias_hash = excluded.alias_hash,
    ip = excluded.ip, counts = 1, created_at = excluded.created_at, expires_at = excluded.expires_at, linked = excluded.linked,
    ask_at = excluded.ask_at, asks = 0`,
    refusal: `SELECT ${isInvited ? `NOT ${MAY_REGISTER} AS not_admitted, ` : ''}${IS_TAKEN} AS taken,
      NOT ${IP_HAS_ROOM} AS ip_full, ${EARLIEST_LAPSE} AS earliest_lapse${isSharing ? `, ${SITE_ROOM}` : ''}
      WHERE changes() = 0`,
  };
}

type Texts = ReturnType<typeof createTexts>;

// Built once: the engine finds a statement by its text, which costs more the newer the text is. The share of a /48 is
// in the texts of those alone that have one: each text that names an argument pays for it.
const WITHOUT_INVITE = [createTexts(false, false), createTexts(false, true)] as const;
const WITH_INVITE = [createTexts(true, false), createTexts(true, true)] as const;

/** The arguments that a text names. */
function admissionArgsOf(session: NewSession, sql: string) {
  const { identifier, app, did, aliasHash, didHash, ledTo, ip, now, perIp, windowSeconds, share, admission } = session;
  const hashes = { alias_hash: aliasHash, did_hash: didHash, led_to: ledTo };
  const limit = { per_ip: perIp, ...ipWindow(windowSeconds, now), ...share.args };
  return argsIn({ identifier, app, did, ...hashes, ip, now, ...limit, ...admissionArgs(admission ?? null) }, sql);
}

/**
 * Why `insertSession` refused: `not_admitted` is 1 when the identifier may not be registered, `taken` when it is taken;
 * `ip_full` when its IP has no room, which it has from `earliest_lapse` on, null when all its sessions count for good;
 * `fullSite` reads the rest. No row if the statement before, `emitOpened`, had something to report.
 */
export function selectRefusal(session: NewSession): Statement {
  const sql = textsOf(session).refusal;
  return { sql, args: admissionArgsOf(session, sql) };
}

/** A row if the identifier has a live session of the same DID. A refusal asks alone: each session would pay for it. */
export function selectOwnSession({ identifier, did, now }: NewSession): Statement {
  return {
    sql: `SELECT 1 FROM sessions WHERE identifier = :identifier AND did = :did AND ${SESSION_IS_LIVE}`,
    args: { identifier, did, now },
  };
}
