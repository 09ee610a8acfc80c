import { DAY_MS, HOUR_MS } from '../base/clock.ts';
import type { Purpose } from '../base/purpose.ts';
import { SWEEP_ROWS_MAX } from '../constants.ts';
import type { Condition, Row, Statement, Value } from '../db/database.ts';
import { PASS_GRANT_MS } from './pass.ts';
import {
  byPass,
  insertText,
  refusalText,
  type SendBy,
  type SendKind,
  type SendText,
  sentText,
} from './send-text-store.ts';

/**
 * A code to send: the limits count its row, which holds the digests. `id` is also its challenge. `digest` is null when
 * the SMS provider keeps the code, `givenPass` when the request brought none; `pass` is that of the message, null where
 * it carries none.
 */
export interface NewCode {
  readonly id: string;
  readonly identifier: string;
  readonly channel: string;
  readonly purpose: Purpose;
  readonly ip: string;
  readonly now: number;
  readonly expiresAt: number;
  readonly digest: string | null;
  readonly isBound: boolean;
  readonly pass: string | null;
  readonly givenPass: string | null;
  /** Asked for by the passkey of a claimed address's holder. */
  readonly isByHolder: boolean;
}

export type { SendBy };

/** How many sends each limit allows in its window. */
export interface SendLimits {
  readonly perIp: number;
  readonly perIdentifier: number;
  /** SMS to one number, in an hour and in a day; `Free` without a pass. */
  readonly perNumber: number;
  readonly perNumberFree: number;
  readonly perNumberDay: number;
  readonly perNumberDayFree: number;
}

/** True of an identifier that never verified. */
const neverVerified = (identifier: string) => `NOT EXISTS (SELECT 1 FROM verifications
  WHERE identifier = ${identifier} AND verified_at IS NOT NULL)`;

const IS_SENT = `EXISTS (SELECT 1 FROM codes WHERE identifier = :identifier AND id = :id)`;
const GOES_TO_STRANGER = `${byPass('grant')} IS NULL AND ${neverVerified('send.identifier')}`;
const GOES_TO_STRANGER_BY_PASS = `${byPass('pass')} IS NULL AND ${neverVerified('send.identifier')}`;
const WENT_TO_STRANGER = `EXISTS (SELECT 1 FROM codes WHERE identifier = :identifier AND id = :id AND by_pass IS NULL)
  AND ${neverVerified(':identifier')}`;

/** True of the row of a send that is written. */
export function isSent({ id, identifier }: Pick<NewCode, 'id' | 'identifier'>): Condition {
  return { sql: IS_SENT, args: { id, identifier } };
}

/** Whether a send without a pass goes to an identifier that never verified: as the insert asks, and for its row. */
export function isToStranger({ id, identifier, givenPass }: Pick<NewCode, 'id' | 'identifier' | 'givenPass'>) {
  return {
    before: { sql: givenPass === null ? GOES_TO_STRANGER : GOES_TO_STRANGER_BY_PASS, args: {} },
    after: { sql: WENT_TO_STRANGER, args: { id, identifier } },
  };
}

/**
 * The grounds on which a send is tried first: with `nothing`, a client with a grant is refused and asks again by it.
 */
export function firstBy({ givenPass, isByHolder }: Pick<NewCode, 'givenPass' | 'isByHolder'>): SendBy {
  if (isByHolder) return 'holder';
  return givenPass === null ? 'nothing' : 'pass';
}

/**
 * Inserts those of the sends whose limits have room, and the budgets by `room`; the others were refused by a limit or a
 * pass. All are of one channel, and no two of one client or identifier. From `WRONG_GUESSES_MAX` wrong guesses in a row
 * on, the code of a send without a pass is dead from the start.
 */
export function insertCodes(sends: readonly NewCode[], limits: SendLimits, room: Condition, by?: SendBy): Statement {
  const text = insertText(kindOf(first(sends), by), room.sql);
  return bound(text, Object.assign({}, room.args, sendsArgs(sends, limits)));
}

/**
 * The rows of those that `insertCodes` has just written in the same batch, with the time of the send that must leave
 * the window before the next is allowed for each limit, null while it has room. If some were refused there are others'
 * rows beside them: look for yours by its id.
 */
export function selectSends(sends: readonly NewCode[], limits: SendLimits, by?: SendBy): Statement {
  return bound(sentText(kindOf(first(sends), by)), { ...windowArgs(newestOf(sends), limits), count: sends.length });
}

/** True of a send that is written: of a JSON list `of` its identifier and its id. */
export const IS_SENT_OF = `EXISTS (SELECT 1 FROM codes WHERE identifier = of ->> 0 AND id = of ->> 1)`;

/** The limits that refused a send, as `selectSends` has them, and in `is_passed` whether there is a pass. */
export function selectSendRefusal(code: NewCode, limits: SendLimits, by?: SendBy): Statement {
  const { ip, identifier, givenPass } = code;
  const own = { ip, identifier, given_pass: givenPass };
  return bound(refusalText(kindOf(code, by)), Object.assign(own, windowArgs(code.now, limits)));
}

/** A send that was written: whether a pass let it through, and whether its code needs one to verify. */
export interface Sent {
  readonly seq: number;
  readonly isPassed: boolean;
  readonly needsPass: boolean;
}

/** Reads a send of `selectSends`. */
export function toSent(row: Row): Sent {
  return { seq: Number(row['seq']), isPassed: isPassed(row), needsPass: Number(row['needs_pass']) === 1 };
}

/** Whether a pass lets the send of `selectSends` or `selectSendRefusal` through. */
export function isPassed(row: Row): boolean {
  return Number(row['is_passed']) === 1;
}

/**
 * Takes a send back that surely reached nobody: it counts for no limit, its code verifies nothing, and its pass lets
 * nothing through.
 */
export function giveBack({ id, identifier }: Pick<NewCode, 'id' | 'identifier'>): Statement {
  return { sql: `DELETE FROM codes WHERE identifier = :identifier AND id = :id`, args: { id, identifier } };
}

/** Records that the next hop refused the message. */
export function markRefused(seq: number): Statement {
  return { sql: `UPDATE codes SET delivery = 'refused' WHERE seq = :seq`, args: { seq } };
}

/** Records that the message was kept back: a vault that is not open does not know its recipient. */
export function markWithheld(seq: number): Statement {
  return { sql: `UPDATE codes SET delivery = 'withheld' WHERE seq = :seq`, args: { seq } };
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

function kindOf(code: NewCode, by = firstBy(code)): SendKind {
  return { isSms: code.channel === 'sms', by };
}

function first(sends: readonly NewCode[]): NewCode {
  const [one] = sends;
  if (!one) throw new RangeError('no send');
  return one;
}

/** The statement with the arguments that its text names: an engine refuses others. */
function bound({ sql, names }: SendText, given: Record<string, Value>): Statement {
  const args: Record<string, Value> = {};
  for (const name of names) args[name] = given[name] as Value;
  return { sql, args };
}

/** Windows end with the newest of the sends, which came within a moment. */
function sendsArgs(sends: readonly NewCode[], limits: SendLimits): Record<string, Value> {
  const rows = sends.map(({ id, identifier, purpose, ip, now, expiresAt, digest, isBound, pass, givenPass }) => [
    id,
    identifier,
    purpose,
    ip,
    now,
    expiresAt,
    digest,
    isBound ? 1 : 0,
    pass,
    givenPass,
  ]);
  return { ...windowArgs(newestOf(sends), limits), sends: JSON.stringify(rows) };
}

function newestOf(sends: readonly NewCode[]): number {
  return sends.reduce((newest, code) => Math.max(newest, code.now), 0);
}

function windowArgs(now: number, limits: SendLimits): Record<string, Value> {
  return {
    now,
    day_ago: now - DAY_MS,
    hour_ago: now - HOUR_MS,
    per_ip: limits.perIp,
    per_identifier: limits.perIdentifier,
    per_number: limits.perNumber,
    per_number_free: limits.perNumberFree,
    per_number_day: limits.perNumberDay,
    per_number_day_free: limits.perNumberDayFree,
  };
}
