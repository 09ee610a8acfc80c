import { DAY_MS, HOUR_MS } from '../base/clock.ts';
import {
  PASS_GUESSES_MAX,
  PASS_SENDS_MAX,
  PASS_SENDS_PER_IP_MAX,
  SWEEP_ROWS_MAX,
  WRONG_GUESSES_MAX,
} from '../constants.ts';
import { type Condition, fewerThan, type Row, type Statement, type Value } from '../db/database.ts';
import { clearedAt } from '../limits/limits.ts';
import { PASS_GRANT_MS } from './pass.ts';

/**
 * A code to send: the limits count its row, which holds the digests. `id` is also its challenge. `digest` is null when
 * the SMS provider keeps the code, `givenPass` when the request brought none; `pass` is that of the message, null where
 * it carries none.
 */
export interface NewCode {
  readonly id: string;
  readonly identifier: string;
  readonly channel: string;
  readonly ip: string;
  readonly now: number;
  readonly expiresAt: number;
  readonly digest: string | null;
  readonly isBound: boolean;
  readonly pass: string | null;
  readonly givenPass: string | null;
}

/** How many sends each limit allows in its window. */
export interface SendLimits {
  readonly perIp: number;
  readonly perIdentifier: number;
  /** SMS to one number, in an hour and in a day. */
  readonly perNumber: number;
  readonly perNumberDay: number;
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
const BY_PASS = `CASE WHEN :given_pass IS NULL
  THEN (SELECT passed.seq FROM pass_grants JOIN codes AS passed ON passed.seq = pass_grants.code
    WHERE pass_grants.identifier = :identifier AND pass_grants.ip = :ip AND pass_grants.until > :now
      AND passed.pass_guesses < ${PASS_GUESSES_MAX})
  ELSE (SELECT seq FROM codes WHERE pass = :given_pass AND identifier = :identifier AND sent_at > :day_ago
    AND pass_guesses < ${PASS_GUESSES_MAX}) END`;

/** Whether so many wrong guesses were made at the identifier that a send needs a pass. */
const GUESSED = `EXISTS (SELECT 1 FROM verifications
  WHERE identifier = :identifier AND wrong_guesses >= ${WRONG_GUESSES_MAX})`;

/** The key of a number names the channel. */
const OF_NUMBER = `FROM codes WHERE identifier = :identifier`;

/** True while the limits of a send without a pass have room, and those of one with a pass. */
const HAS_ROOM = `${fewerThan(
  ':per_ip',
  `FROM codes WHERE ip = :ip AND by_pass IS NULL AND sent_at > ${IP_SINCE} ORDER BY seq DESC`,
)} AND (:channel <> 'email' OR ${fewerThan(
  ':per_identifier',
  `FROM codes WHERE identifier = :identifier AND by_pass IS NULL AND sent_at > ${IDENTIFIER_SINCE} ORDER BY seq DESC`,
)})`;
const HAS_ROOM_BY_PASS = `${fewerThan(
  `${PASS_SENDS_MAX}`,
  `FROM codes WHERE identifier = :identifier AND by_pass IS NOT NULL AND sent_at > ${PASS_SINCE} ORDER BY seq DESC`,
)} AND ${fewerThan(
  `${PASS_SENDS_PER_IP_MAX}`,
  `FROM codes WHERE ip = :ip AND by_pass IS NOT NULL AND sent_at > ${PASS_IP_SINCE} ORDER BY seq DESC`,
)}`;
const NUMBER_HAS_ROOM = `(:channel <> 'sms' OR (${fewerThan(
  ':per_number',
  `${OF_NUMBER} AND sent_at > ${NUMBER_SINCE} ORDER BY seq DESC`,
)} AND ${fewerThan(':per_number_day', `${OF_NUMBER} AND sent_at > ${NUMBER_DAY_SINCE} ORDER BY seq DESC`)}))`;

/** True of a send that may be written, unless a budget refuses. A pass that is given and is none refuses. */
const ADMITS = `CASE WHEN ${BY_PASS} IS NOT NULL THEN ${HAS_ROOM_BY_PASS} WHEN :given_pass IS NULL THEN ${HAS_ROOM} END
  AND ${NUMBER_HAS_ROOM}`;

/** The sends by a channel up to this one, itself included: the newest row has those before it. */
const soFar = (column: 'emails_so_far' | 'sms_so_far', channel: string) =>
  `coalesce((SELECT ${column} FROM codes WHERE seq = (SELECT max(seq) FROM codes)), 0) + (:channel = '${channel}')`;

// A row without its id is not written. So the conditions need no SELECT: the engine writes what one selects from the
// table itself to a temporary table first, which costs as much as the row.
const insertText = (room: string) => `INSERT OR IGNORE INTO codes
    (id, identifier, channel, ip, sent_at, expires_at, digest, bound, pass, by_pass, emails_so_far, sms_so_far)
  VALUES (CASE WHEN ${ADMITS} AND ${room} THEN :id END, :identifier, :channel, :ip, :now, :expires_at,
    CASE WHEN :digest IS NOT NULL AND ${GUESSED} AND ${BY_PASS} IS NULL THEN '${DEAD}' ELSE :digest END,
    :bound, CASE WHEN ${BY_PASS} IS NULL THEN :pass END, ${BY_PASS},
    ${soFar('emails_so_far', 'email')}, ${soFar('sms_so_far', 'sms')})`;

// The engine finds a statement by its text, and there is one for each set of budgets.
const insertTexts = new Map<string, string>();

/** True of an identifier that never verified. */
const NEVER_VERIFIED = `NOT EXISTS (SELECT 1 FROM verifications
  WHERE identifier = :identifier AND verified_at IS NOT NULL)`;

const IS_SENT = `EXISTS (SELECT 1 FROM codes WHERE identifier = :identifier AND id = :id)`;
const GOES_TO_STRANGER = `${BY_PASS} IS NULL AND ${NEVER_VERIFIED}`;
const WENT_TO_STRANGER = `EXISTS (SELECT 1 FROM codes WHERE identifier = :identifier AND id = :id AND by_pass IS NULL)
  AND ${NEVER_VERIFIED}`;

/** True of the row of a send that is written. */
export function isSent({ id, identifier }: Pick<NewCode, 'id' | 'identifier'>): Condition {
  return { sql: IS_SENT, args: { id, identifier } };
}

/** Whether a send without a pass goes to an identifier that never verified: as the insert asks, and for its row. */
export function isToStranger({ id, identifier }: Pick<NewCode, 'id' | 'identifier'>) {
  return {
    before: { sql: GOES_TO_STRANGER, args: { identifier } },
    after: { sql: WENT_TO_STRANGER, args: { id, identifier } },
  };
}

/**
 * Inserts the send only while every limit has room, and the budgets by `room`; `rowsAffected` 0 means that a limit or
 * the given pass refused. From `WRONG_GUESSES_MAX` wrong guesses in a row on, the code of a send without a pass is dead
 * from the start.
 */
export function insertCode(code: NewCode, limits: SendLimits, room: Condition): Statement {
  const { id, expiresAt, digest, isBound, pass } = code;
  const own = { id, expires_at: expiresAt, digest, bound: isBound ? 1 : 0, pass };
  const sql = insertTexts.get(room.sql) ?? insertText(room.sql);
  insertTexts.set(room.sql, sql);
  return { sql, args: Object.assign(windowArgs(code, limits), own, room.args) };
}

const SELECT_SEND_RESETS = `SELECT
  last_insert_rowid() AS seq, by_pass IS NOT NULL AS is_passed, guessed,
  CASE WHEN by_pass IS NULL THEN (SELECT sent_at FROM codes
    WHERE ip = :ip AND codes.by_pass IS NULL AND sent_at > ${IP_SINCE}
    ORDER BY seq DESC LIMIT 1 OFFSET :per_ip - 1) END AS ip_at,
  CASE WHEN by_pass IS NULL THEN (SELECT sent_at FROM codes
    WHERE :channel = 'email' AND identifier = :identifier AND codes.by_pass IS NULL AND sent_at > ${IDENTIFIER_SINCE}
    ORDER BY seq DESC LIMIT 1 OFFSET :per_identifier - 1) END AS identifier_at,
  CASE WHEN by_pass IS NOT NULL THEN (SELECT sent_at FROM codes
    WHERE identifier = :identifier AND codes.by_pass IS NOT NULL AND sent_at > ${PASS_SINCE}
    ORDER BY seq DESC LIMIT 1 OFFSET ${PASS_SENDS_MAX - 1}) END AS pass_at,
  CASE WHEN by_pass IS NOT NULL THEN (SELECT sent_at FROM codes
    WHERE ip = :ip AND codes.by_pass IS NOT NULL AND sent_at > ${PASS_IP_SINCE}
    ORDER BY seq DESC LIMIT 1 OFFSET ${PASS_SENDS_PER_IP_MAX - 1}) END AS pass_ip_at,
  (SELECT sent_at ${OF_NUMBER} AND :channel = 'sms' AND sent_at > ${NUMBER_SINCE}
    ORDER BY seq DESC LIMIT 1 OFFSET :per_number - 1) AS number_at,
  (SELECT sent_at ${OF_NUMBER} AND :channel = 'sms' AND sent_at > ${NUMBER_DAY_SINCE}
    ORDER BY seq DESC LIMIT 1 OFFSET :per_number_day - 1) AS number_day_at
  FROM (SELECT ${BY_PASS} AS by_pass, ${GUESSED} AS guessed)`;

/**
 * For each limit the time of the send that must leave the window before the next is allowed, null while it has room;
 * and what `toSent` reads. Run right after `insertCode` in the same batch.
 */
export function selectSendResets(code: NewCode, limits: SendLimits): Statement {
  return { sql: SELECT_SEND_RESETS, args: windowArgs(code, limits) };
}

/** A send that was asked for: whether a pass let it through, and whether its code needs one to verify. */
export interface Sent {
  /** Of the row, if it was written. */
  readonly seq: number;
  readonly isPassed: boolean;
  readonly needsPass: boolean;
}

/** Reads a send of `selectSendResets`. */
export function toSent(row: Row): Sent {
  return {
    seq: Number(row['seq']),
    isPassed: Number(row['is_passed']) === 1,
    needsPass: Number(row['guessed']) === 1,
  };
}

/** Takes a send back that surely reached nobody: it counts for no limit, and its pass lets nothing through. */
export function giveBack({ id, identifier, channel }: Pick<NewCode, 'id' | 'identifier' | 'channel'>) {
  const own = 'identifier = :identifier AND id = :id';
  const uncount = `UPDATE codes SET emails_so_far = emails_so_far - (:channel = 'email'),
      sms_so_far = sms_so_far - (:channel = 'sms')
    WHERE seq > (SELECT seq FROM codes WHERE ${own})`;
  return [
    { sql: uncount, args: { id, identifier, channel } },
    { sql: `DELETE FROM codes WHERE ${own}`, args: { id, identifier } },
  ];
}

/** Records that the next hop refused the message. */
export function markRefused(seq: number): Statement {
  return { sql: `UPDATE codes SET delivery = 'refused' WHERE seq = :seq`, args: { seq } };
}

/** Records that it took these messages. */
export function markAccepted(seqs: readonly number[]): Statement {
  return {
    sql: `UPDATE codes SET delivery = 'accepted' WHERE seq IN (SELECT value FROM json_each(:seqs))`,
    args: { seqs: JSON.stringify(seqs) },
  };
}

/**
 * Marks codes that expired with their delivery unrecorded: the process died between the commit and the mail.
 * `rowsAffected` counts each once over all processes.
 */
export function markLostCodes(now: number): Statement {
  return {
    sql: `UPDATE codes SET delivery = 'lost' WHERE seq IN
      (SELECT seq FROM codes WHERE delivery = 'pending' AND expires_at <= :now LIMIT ${SWEEP_ROWS_MAX})`,
    args: { now },
  };
}

/** Removes sends that no window counts any more, and whose pass and its last grants have ended. */
export function sweepCodes(now: number): Statement {
  return {
    sql: `DELETE FROM codes WHERE seq IN (SELECT seq FROM codes WHERE sent_at <= :day_ago LIMIT ${SWEEP_ROWS_MAX})`,
    args: { day_ago: now - DAY_MS - PASS_GRANT_MS },
  };
}

function windowArgs(code: NewCode, limits: SendLimits): Record<string, Value> {
  return {
    ip: code.ip,
    identifier: code.identifier,
    channel: code.channel,
    now: code.now,
    given_pass: code.givenPass,
    day_ago: code.now - DAY_MS,
    hour_ago: code.now - HOUR_MS,
    per_ip: limits.perIp,
    per_identifier: limits.perIdentifier,
    per_number: limits.perNumber,
    per_number_day: limits.perNumberDay,
  };
}
