import type { Purpose } from '../base/purpose.ts';
import { PASS_GUESSES_MAX, STRANGERS_CHECKS_MAX, WRONG_GUESSES_MAX } from '../constants.ts';
import { numberOf, type Row, type Statement, textOf } from '../db/database.ts';
import { type EventRows, emitEvents } from '../events/emit.ts';

/**
 * The role of a caller who checks a code: the `holder` of its challenge, the `asker` (the client that asked for it), or
 * a `stranger`, who shares `STRANGERS_CHECKS_MAX` of its checks with all others.
 */
export type CheckRole = 'holder' | 'asker' | 'stranger';

/** A code with the values that its checks need; times are milliseconds. */
export interface StoredCode {
  readonly seq: number;
  readonly id: string;
  readonly purpose: Purpose;
  /** Null where the SMS provider keeps the code. */
  readonly digest: string | null;
  readonly attempts: number;
  readonly strangers: number;
  readonly expiresAt: number;
  readonly consumedAt: number | null;
  /** The row whose pass sent it. */
  readonly byPass: number | null;
  /** Guessing has ended for it: not even the right code verifies. */
  readonly isDead: boolean;
}

/** True of a code that may still verify: too many wrong guesses were made at the codes of its kind. */
const IS_ALIVE = `CASE WHEN codes.by_pass IS NULL
  THEN coalesce((SELECT wrong_guesses FROM verifications WHERE identifier = codes.identifier), 0) < ${WRONG_GUESSES_MAX}
  ELSE coalesce((SELECT pass_guesses FROM codes AS passed WHERE passed.seq = codes.by_pass), 0) < ${PASS_GUESSES_MAX} END`;

const COLUMNS = `seq, id, purpose, digest, attempts, strangers, expires_at, consumed_at, by_pass, NOT (${IS_ALIVE}) AS is_dead`;

const OWN_BY_CLIENT = `SELECT ${COLUMNS} FROM codes
  WHERE identifier = :identifier AND ip = :ip AND purpose = :purpose AND bound = 0 ORDER BY seq DESC LIMIT 1`;
const OWN_BY_CHALLENGE = `SELECT ${COLUMNS} FROM codes WHERE identifier = :identifier AND id = :challenge`;

/** The caller of a check and the purpose that it names. */
export interface CodesQuery {
  readonly identifier: string;
  readonly ip: string;
  readonly challenge: string | undefined;
  readonly purpose: Purpose;
}

/** The caller's own code: with a challenge the one it belongs to, else the client's newest of the purpose. */
export function selectOwnCode({ identifier, ip, challenge, purpose }: CodesQuery): Statement {
  if (challenge === undefined) return { sql: OWN_BY_CLIENT, args: { identifier, ip, purpose } };
  return { sql: OWN_BY_CHALLENGE, args: { identifier, challenge } };
}

/**
 * The newest code that a stranger may try: live, not sent with a pass and not bound, unless a provider keeps it. Of
 * another purpose where there is none of this one: then the check spends a guess of it.
 */
export function selectOthersCode(identifier: string, purpose: Purpose, now: number): Statement {
  return {
    sql: `SELECT ${COLUMNS} FROM codes WHERE identifier = :identifier AND consumed_at IS NULL AND expires_at > :now
      AND (digest IS NULL OR by_pass IS NULL AND bound = 0) ORDER BY purpose = :purpose DESC, seq DESC LIMIT 1`,
    args: { identifier, purpose, now },
  };
}

/** Reads a row of `selectOwnCode` or `selectOthersCode`. */
export function toStoredCode(row: Row): StoredCode {
  return {
    seq: Number(row['seq']),
    id: String(row['id']),
    purpose: row['purpose'] as Purpose,
    digest: textOf(row, 'digest'),
    attempts: Number(row['attempts']),
    strangers: Number(row['strangers']),
    expiresAt: Number(row['expires_at']),
    consumedAt: numberOf(row, 'consumed_at'),
    byPass: numberOf(row, 'by_pass'),
    isDead: Number(row['is_dead']) === 1,
  };
}

/** A check to count against the code `seq` of the identifier. */
export interface CodeCheck {
  readonly identifier: string;
  readonly seq: number;
  readonly ip: string;
  readonly now: number;
  readonly attemptsMax: number;
}

const SPEND = 'UPDATE codes SET attempts = attempts + 1';
const WHILE_LIVE = `WHERE seq = :seq AND consumed_at IS NULL AND expires_at > :now AND attempts < :attempts_max`;
/** An erasure leaves the row of a code, under another name: a check that has read it before verifies nothing. */
const IS_OWN = 'identifier = :identifier';
/** A client's newer code replaces its own; a challenge keeps to its code. */
const ROLES: Readonly<Record<CheckRole, { readonly set: string; readonly only: string }>> = {
  holder: { set: '', only: '' },
  asker: {
    set: '',
    only: ` AND seq = (SELECT max(seq) FROM codes AS newer WHERE newer.identifier = :identifier AND newer.ip = :ip
      AND newer.purpose = codes.purpose AND newer.bound = 0)`,
  },
  stranger: { set: ', strangers = strangers + 1', only: ` AND strangers < ${STRANGERS_CHECKS_MAX}` },
};
const CONSUMES = { set: ', consumed_at = :now', only: ` AND ${IS_ALIVE}` };
const KEEPS = { set: '', only: '' };

function spendText({ set, only }: (typeof ROLES)['holder'], end: typeof KEEPS): string {
  return `${SPEND}${set}${end.set} ${WHILE_LIVE} AND ${IS_OWN}${only}${end.only} RETURNING attempts`;
}

const TEXTS = Object.fromEntries(
  Object.entries(ROLES).map(([role, part]) => [role, [spendText(part, KEEPS), spendText(part, CONSUMES)] as const]),
) as unknown as Readonly<Record<CheckRole, readonly [string, string]>>;

/**
 * Spends one attempt of a code that is unexpired, unconsumed and within its attempts and the role's share of them, and
 * still the asker's newest one; `consume` also consumes it, if guessing has not ended for it. A returned row is the
 * verdict: the attempts spent so far.
 */
export function spendAttempt({ identifier, seq, ip, now, attemptsMax }: CodeCheck, role: CheckRole, consume: boolean) {
  const own = role === 'asker' ? { ip } : {};
  return { sql: TEXTS[role][consume ? 1 : 0], args: { ...own, identifier, seq, now, attempts_max: attemptsMax } };
}

/**
 * A provider that keeps the code repeats the same one to all who ask, and gives it five checks. The first two askers
 * keep `KEPT_CHECKS` each, regardless of later ones; all others, and these two beyond theirs, share the rest.
 */
const KEPT_CHECKS = 2;
const SHARED_CHECKS = 1;
const ASKERS_KEPT = 2;

/** The live sends of one code of the provider, of the number and the purpose of the row `codes`. */
const OF_SAME_CODE = `FROM codes AS one WHERE one.identifier = :identifier AND one.purpose = codes.purpose
  AND one.digest IS NULL AND one.consumed_at IS NULL AND one.expires_at > :now`;
const IS_LIVE_SEND = `seq = :seq AND ${IS_OWN} AND consumed_at IS NULL AND expires_at > :now`;
const IS_EARLY = `codes.ip IN (SELECT one.ip ${OF_SAME_CODE} GROUP BY one.ip ORDER BY min(one.seq) LIMIT ${ASKERS_KEPT})`;
const KEPT_SPENT = `(SELECT sum(one.attempts - one.strangers) ${OF_SAME_CODE} AND one.ip = codes.ip)`;
const SHARED_SPENT = `(SELECT sum(one.strangers) ${OF_SAME_CODE})`;

const SPEND_KEPT = `${SPEND} WHERE ${IS_LIVE_SEND} AND ${IS_EARLY} AND ${KEPT_SPENT} < ${KEPT_CHECKS}`;
const SPEND_SHARED = `${SPEND}, strangers = strangers + 1 WHERE ${IS_LIVE_SEND} AND ${SHARED_SPENT} < ${SHARED_CHECKS}`;
const CHECKS_LEFT = `SELECT max(0, ${SHARED_CHECKS} - ${SHARED_SPENT})
    + CASE WHEN ${IS_EARLY} THEN max(0, ${KEPT_CHECKS} - ${KEPT_SPENT}) ELSE 0 END AS checks_left
  FROM codes WHERE ${IS_LIVE_SEND}`;

/**
 * Spends a check of a code that the SMS provider keeps, by the send `seq`: one that its asker keeps, else a shared one.
 * One of the first two changes a row unless none is left; the last says how many the asker has now.
 */
export function spendProviderCheck({ identifier, seq, now }: ProviderCheck, isAsker: boolean): readonly Statement[] {
  const args = { identifier, seq, now };
  const shared = { sql: SPEND_SHARED, args };
  const left = { sql: CHECKS_LEFT, args };
  if (!isAsker) return [shared, left];
  return [{ sql: SPEND_KEPT, args }, { sql: `${SPEND_SHARED} AND changes() = 0`, args }, left];
}

type ProviderCheck = Pick<CodeCheck, 'identifier' | 'seq' | 'now'>;

/**
 * Consumes a code that the SMS provider approved, for all who asked for it; a check of the send `seq` was spent before.
 * Nothing changes unless that one is live.
 */
export function consumeCode({ identifier, seq, now }: ProviderCheck): Statement {
  const live = `SELECT purpose FROM codes AS own WHERE own.seq = :seq AND own.identifier = :identifier
    AND own.consumed_at IS NULL`;
  return {
    sql: `UPDATE codes SET consumed_at = :now WHERE seq IN (SELECT seq FROM codes AS one
      WHERE one.identifier = :identifier AND one.purpose = (${live}) AND one.digest IS NULL AND one.consumed_at IS NULL)`,
    args: { identifier, seq, now },
  };
}

/** Counts a wrong guess against the pass that sent the code, if the statement before it in the batch changed a row. */
export function countPassGuess(byPass: number): Statement {
  return {
    sql: `UPDATE codes SET pass_guesses = pass_guesses + 1 WHERE seq = :by_pass AND changes() = 1`,
    args: { by_pass: byPass },
  };
}

const SHOWN = { channel: ':channel', identifier: ':shown' };
const AFTER_WRONG_GUESS: readonly EventRows[] = [
  {
    type: 'code.exhausted',
    app: ':app',
    data: SHOWN,
    from: `WHERE changes() > 0 AND EXISTS (SELECT 1 FROM codes WHERE seq = :seq AND attempts >= :attempts_max)`,
  },
  {
    type: 'code.guessing',
    app: ':app',
    data: SHOWN,
    from: `WHERE changes() > 0 AND EXISTS (SELECT 1 FROM verifications
      WHERE identifier = :identifier AND wrong_guesses = ${WRONG_GUESSES_MAX})`,
  },
];

/** The identifier and the app in the events of a wrong guess. */
export interface GuessShown {
  readonly app: string;
  readonly channel: string;
  readonly shown: string;
}

/**
 * Follows the statement that counts the guess: emits `code.exhausted` for a code's last attempt, and `code.guessing`
 * for the guess that makes an identifier's sends pass-only.
 */
export function emitWrongGuess({ app, channel, shown }: GuessShown, check: CodeCheck): Statement {
  const { identifier, seq, now, attemptsMax } = check;
  return emitEvents(AFTER_WRONG_GUESS, { app, channel, shown, identifier, seq, now, attempts_max: attemptsMax });
}
