import { PASS_GUESSES_MAX, PASS_SENDS_MAX, PASS_SENDS_PER_IP_MAX, WRONG_GUESSES_MAX } from '../constants.ts';
import { fewerThan } from '../db/database.ts';
import { clearedAt } from '../limits/limits.ts';

/** What decides which limits a send has. A libSQL server compiles each text each time, so a text holds only its own. */
export interface SendKind {
  readonly isSms: boolean;
  /** Whether the request brought a pass. */
  readonly isGiven: boolean;
}

/** A text with the names of its parameters. */
export interface SendText {
  readonly sql: string;
  readonly names: readonly string[];
}

/** The start of each limit's window: sends before the operator's clearing do not count. */
const IP_SINCE = `max(:day_ago, ${clearedAt('sends-per-ip', ':ip')})`;
const IDENTIFIER_SINCE = `max(:hour_ago, ${clearedAt('sends-per-identifier', ':identifier')})`;
const PASS_SINCE = `max(:hour_ago, ${clearedAt('pass-sends-per-identifier', ':identifier')})`;
const PASS_IP_SINCE = `max(:day_ago, ${clearedAt('pass-sends-per-ip', ':ip')})`;
const NUMBER_SINCE = `max(:hour_ago, ${clearedAt('sends-per-number', ':identifier')})`;
const NUMBER_DAY_SINCE = `max(:day_ago, ${clearedAt('sends-per-number-day', ':identifier')})`;

/** The digest of a code that was never sent: no code has it. */
const DEAD = 'dead';

/**
 * The row whose pass lets this send through: that of the pass given, else of the client's live grant; null without one.
 */
export function byPass(isGiven: boolean): string {
  return isGiven
    ? `(SELECT seq FROM codes WHERE pass = :given_pass AND identifier = :identifier AND sent_at > :day_ago
        AND pass_guesses < ${PASS_GUESSES_MAX})`
    : `(SELECT passed.seq FROM pass_grants JOIN codes AS passed ON passed.seq = pass_grants.code
        WHERE pass_grants.identifier = :identifier AND pass_grants.ip = :ip AND pass_grants.until > :now
          AND passed.pass_guesses < ${PASS_GUESSES_MAX})`;
}

/** Whether so many wrong guesses were made at the identifier that a send needs a pass. */
const GUESSED = `EXISTS (SELECT 1 FROM verifications
  WHERE identifier = :identifier AND wrong_guesses >= ${WRONG_GUESSES_MAX})`;

/** The key of a number names the channel. */
const OF_NUMBER = `FROM codes WHERE identifier = :identifier`;

/** True while the limits of a send without a pass have room, and those of one with a pass. */
const IP_HAS_ROOM = fewerThan(
  ':per_ip',
  `FROM codes WHERE ip = :ip AND by_pass IS NULL AND sent_at > ${IP_SINCE} ORDER BY seq DESC`,
);
const IDENTIFIER_HAS_ROOM = fewerThan(
  ':per_identifier',
  `FROM codes WHERE identifier = :identifier AND by_pass IS NULL AND sent_at > ${IDENTIFIER_SINCE} ORDER BY seq DESC`,
);
const HAS_ROOM_BY_PASS = `${fewerThan(
  `${PASS_SENDS_MAX}`,
  `FROM codes WHERE identifier = :identifier AND by_pass IS NOT NULL AND sent_at > ${PASS_SINCE} ORDER BY seq DESC`,
)} AND ${fewerThan(
  `${PASS_SENDS_PER_IP_MAX}`,
  `FROM codes WHERE ip = :ip AND by_pass IS NOT NULL AND sent_at > ${PASS_IP_SINCE} ORDER BY seq DESC`,
)}`;
const NUMBER_HAS_ROOM = `${fewerThan(
  ':per_number',
  `${OF_NUMBER} AND sent_at > ${NUMBER_SINCE} ORDER BY seq DESC`,
)} AND ${fewerThan(':per_number_day', `${OF_NUMBER} AND sent_at > ${NUMBER_DAY_SINCE} ORDER BY seq DESC`)}`;

/** True of a send that may be written, unless a budget refuses. A pass that is given and is none refuses. */
function admits({ isSms, isGiven }: SendKind): string {
  const free = isSms ? IP_HAS_ROOM : `${IP_HAS_ROOM} AND ${IDENTIFIER_HAS_ROOM}`;
  const room = isGiven
    ? `${byPass(true)} IS NOT NULL AND ${HAS_ROOM_BY_PASS}`
    : `CASE WHEN ${byPass(false)} IS NULL THEN ${free} ELSE ${HAS_ROOM_BY_PASS} END`;
  return isSms ? `${room} AND ${NUMBER_HAS_ROOM}` : room;
}

/** The sends by a channel up to this one, itself included: the newest row has those before it. */
const soFar = (column: 'emails_so_far' | 'sms_so_far', channel: string) =>
  `coalesce((SELECT ${column} FROM codes WHERE seq = (SELECT max(seq) FROM codes)), 0) + (:channel = '${channel}')`;

/**
 * The text that inserts a send of a kind if `room` holds. A row without its id is not written. So the conditions need
 * no SELECT: the engine writes what one selects from the table itself to a temporary table first, which costs as much
 * as the row.
 */
export function insertText(kind: SendKind, room: string): SendText {
  const passed = byPass(kind.isGiven);
  return textOnce(
    `insert ${nameOf(kind)} ${room}`,
    () => `INSERT OR IGNORE INTO codes
    (id, identifier, channel, ip, sent_at, expires_at, digest, bound, pass, by_pass, emails_so_far, sms_so_far)
  VALUES (CASE WHEN ${admits(kind)} AND ${room} THEN :id END, :identifier, :channel, :ip, :now, :expires_at,
    CASE WHEN :digest IS NOT NULL AND ${GUESSED} AND ${passed} IS NULL THEN '${DEAD}' ELSE :digest END,
    :bound, CASE WHEN ${passed} IS NULL THEN :pass END, ${passed},
    ${soFar('emails_so_far', 'email')}, ${soFar('sms_so_far', 'sms')})`,
  );
}

/** The text that reads, for each limit of a kind, the time of the send that must leave the window. */
export function resetsText(kind: SendKind): SendText {
  return textOnce(`resets ${nameOf(kind)}`, () => {
    const at = (isAsked: boolean, text: string) => (isAsked ? text : 'NULL');
    return `SELECT
  last_insert_rowid() AS seq, by_pass IS NOT NULL AS is_passed, guessed,
  ${at(
    !kind.isGiven,
    `CASE WHEN by_pass IS NULL THEN (SELECT sent_at FROM codes
    WHERE ip = :ip AND codes.by_pass IS NULL AND sent_at > ${IP_SINCE}
    ORDER BY seq DESC LIMIT 1 OFFSET :per_ip - 1) END`,
  )} AS ip_at,
  ${at(
    !kind.isGiven && !kind.isSms,
    `CASE WHEN by_pass IS NULL THEN (SELECT sent_at FROM codes
    WHERE identifier = :identifier AND codes.by_pass IS NULL AND sent_at > ${IDENTIFIER_SINCE}
    ORDER BY seq DESC LIMIT 1 OFFSET :per_identifier - 1) END`,
  )} AS identifier_at,
  CASE WHEN by_pass IS NOT NULL THEN (SELECT sent_at FROM codes
    WHERE identifier = :identifier AND codes.by_pass IS NOT NULL AND sent_at > ${PASS_SINCE}
    ORDER BY seq DESC LIMIT 1 OFFSET ${PASS_SENDS_MAX - 1}) END AS pass_at,
  CASE WHEN by_pass IS NOT NULL THEN (SELECT sent_at FROM codes
    WHERE ip = :ip AND codes.by_pass IS NOT NULL AND sent_at > ${PASS_IP_SINCE}
    ORDER BY seq DESC LIMIT 1 OFFSET ${PASS_SENDS_PER_IP_MAX - 1}) END AS pass_ip_at,
  ${at(
    kind.isSms,
    `(SELECT sent_at ${OF_NUMBER} AND sent_at > ${NUMBER_SINCE} ORDER BY seq DESC LIMIT 1 OFFSET :per_number - 1)`,
  )} AS number_at,
  ${at(
    kind.isSms,
    `(SELECT sent_at ${OF_NUMBER} AND sent_at > ${NUMBER_DAY_SINCE}
      ORDER BY seq DESC LIMIT 1 OFFSET :per_number_day - 1)`,
  )} AS number_day_at
  FROM (SELECT ${byPass(kind.isGiven)} AS by_pass, ${GUESSED} AS guessed)`;
  });
}

function nameOf({ isSms, isGiven }: SendKind): string {
  return `${isSms ? 'sms' : 'email'} ${isGiven ? 'by a given pass' : ''}`;
}

// The engine finds a statement by its text, and there is one for each kind and each set of budgets.
const texts = new Map<string, SendText>();

function textOnce(name: string, build: () => string): SendText {
  const known = texts.get(name);
  if (known) return known;
  const sql = build();
  const text = { sql, names: [...new Set(Array.from(sql.matchAll(/:([a-z_]+)/g), ([, found = '']) => found))] };
  texts.set(name, text);
  return text;
}
