import { DAY_MS, HOUR_MS } from '../base/clock.ts';
import { SWEEP_ROWS_MAX, WRONG_GUESSES_BLOCK_MS, WRONG_GUESSES_MAX } from '../constants.ts';
import { type Condition, fewerThan, numberOf, type Row, type Statement, textOf, type Value } from '../db/database.ts';
import { clearedAt } from '../limits/limits.ts';

/** A code to send: the limits count its row, which holds the digest (null when the SMS provider keeps the code). */
export interface NewCode {
  readonly id: string;
  readonly identifier: string;
  readonly channel: string;
  readonly ip: string;
  readonly now: number;
  readonly expiresAt: number;
  readonly digest: string | null;
}

/** How many sends each limit allows in its window. */
export interface SendLimits {
  readonly perIp: number;
  readonly perIdentifier: number;
  readonly smsDaily: number;
}

/** The start of each limit's window: sends before the operator's clearing do not count. */
const IP_SINCE = `max(:day_ago, ${clearedAt('sends-per-ip', ':ip')})`;
const IDENTIFIER_SINCE = `max(:hour_ago, ${clearedAt('sends-per-identifier', ':identifier')})`;
const SMS_SINCE = `max(:day_ago, ${clearedAt('sms-per-day')})`;

/** Inserts the send only while every limit has room; `rowsAffected` 0 means that a limit refused. */
export function insertCode(code: NewCode, limits: SendLimits): Statement {
  return {
    sql: `INSERT INTO codes (id, identifier, channel, ip, sent_at, expires_at, digest)
      SELECT :id, :identifier, :channel, :ip, :now, :expires_at, :digest
      WHERE ${fewerThan(':per_ip', `FROM codes WHERE ip = :ip AND sent_at > ${IP_SINCE} ORDER BY seq DESC`)}
        AND (:channel <> 'email'
          OR ${fewerThan(
            ':per_identifier',
            `FROM codes WHERE identifier = :identifier
          AND sent_at > ${IDENTIFIER_SINCE} ORDER BY seq DESC`,
          )})
        AND (:channel <> 'sms' OR ${fewerThan(
          ':sms_daily',
          `FROM codes WHERE channel = 'sms'
        AND sent_at > ${SMS_SINCE}`,
        )})`,
    args: { ...windowArgs(code, limits), id: code.id, now: code.now, expires_at: code.expiresAt, digest: code.digest },
  };
}

/**
 * For each limit the time of the send that must leave the window before the next is allowed, null while it has room.
 * Run after `insertCode` in the same batch.
 */
export function selectSendResets(code: NewCode, limits: SendLimits): Statement {
  return {
    sql: `SELECT
      (SELECT sent_at FROM codes WHERE ip = :ip AND sent_at > ${IP_SINCE} ORDER BY seq DESC
      LIMIT 1 OFFSET :per_ip - 1) AS ip_at,
      (SELECT sent_at FROM codes WHERE :channel = 'email' AND identifier = :identifier AND sent_at > ${IDENTIFIER_SINCE}
        ORDER BY seq DESC LIMIT 1 OFFSET :per_identifier - 1) AS identifier_at,
      (SELECT sent_at FROM codes WHERE :channel = 'sms' AND channel = 'sms' AND sent_at > ${SMS_SINCE}
        ORDER BY sent_at DESC LIMIT 1 OFFSET :sms_daily - 1) AS sms_at`,
    args: windowArgs(code, limits),
  };
}

/** The newest code of an identifier, with what its checks need; times are milliseconds. */
export interface LiveCode {
  readonly seq: number;
  readonly id: string;
  readonly channel: string;
  readonly digest: string | null;
  readonly attempts: number;
  readonly expiresAt: number;
  readonly consumedAt: number | null;
}

/** The newest code of the identifier, one row or none, with the identifier's `blocked_until`. */
export function selectNewestCode(identifier: string): Statement {
  return {
    sql: `SELECT seq, id, channel, digest, attempts, expires_at, consumed_at,
        (SELECT blocked_until FROM verifications WHERE identifier = :identifier) AS blocked_until
      FROM codes WHERE identifier = :identifier ORDER BY seq DESC LIMIT 1`,
    args: { identifier },
  };
}

/** Reads a row of `selectNewestCode`. */
export function toLiveCode(row: Row): LiveCode & { readonly blockedUntil: number } {
  return {
    seq: Number(row['seq']),
    id: String(row['id']),
    channel: String(row['channel']),
    digest: textOf(row, 'digest'),
    attempts: Number(row['attempts']),
    expiresAt: Number(row['expires_at']),
    consumedAt: numberOf(row, 'consumed_at'),
    blockedUntil: Number(row['blocked_until'] ?? 0),
  };
}

/** A check to count against the code `seq` of the identifier. */
export interface CodeCheck {
  readonly identifier: string;
  readonly seq: number;
  readonly now: number;
  readonly attemptsMax: number;
}

/**
 * Spends one attempt of a code that is still newest, unexpired, unconsumed, within its attempts and not blocked;
 * `consume` also consumes it. A returned row is the verdict: the attempts spent so far.
 */
export function spendAttempt({ identifier, seq, now, attemptsMax }: CodeCheck, consume: boolean): Statement {
  return {
    sql: `UPDATE codes SET attempts = attempts + 1${consume ? ', consumed_at = :now' : ''}
      WHERE seq = :seq AND consumed_at IS NULL AND expires_at > :now AND attempts < :attempts_max
        AND seq = (SELECT max(seq) FROM codes WHERE identifier = :identifier)
        AND NOT EXISTS (SELECT 1 FROM verifications WHERE identifier = :identifier AND blocked_until > :now)
      RETURNING attempts`,
    args: { identifier, seq, now, attempts_max: attemptsMax },
  };
}

/** True of a code without attempts left. */
export function isExhausted(seq: number, attemptsMax: number): Condition {
  return {
    sql: `EXISTS (SELECT 1 FROM codes WHERE seq = :seq AND attempts >= :attempts_max)`,
    args: { seq, attempts_max: attemptsMax },
  };
}

/** Consumes a code that the SMS provider approved; its attempt was spent before. */
export function consumeCode(seq: number, now: number): Statement {
  return { sql: `UPDATE codes SET consumed_at = :now WHERE seq = :seq AND consumed_at IS NULL`, args: { seq, now } };
}

/** Records the delivery of the message: `accepted` by the next hop or `refused`. */
export function markDelivery(id: string, identifier: string, delivery: 'accepted' | 'refused'): Statement {
  return {
    sql: `UPDATE codes SET delivery = :delivery WHERE identifier = :identifier AND id = :id`,
    args: { id, identifier, delivery },
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

/** Removes sends that no window counts any more. */
export function sweepCodes(now: number): Statement {
  return {
    sql: `DELETE FROM codes WHERE seq IN (SELECT seq FROM codes WHERE sent_at <= :day_ago LIMIT ${SWEEP_ROWS_MAX})`,
    args: { day_ago: now - DAY_MS },
  };
}

function windowArgs(code: NewCode, limits: SendLimits): Record<string, Value> {
  return {
    ip: code.ip,
    identifier: code.identifier,
    channel: code.channel,
    day_ago: code.now - DAY_MS,
    hour_ago: code.now - HOUR_MS,
    per_ip: limits.perIp,
    per_identifier: limits.perIdentifier,
    sms_daily: limits.smsDaily,
  };
}

/**
 * Marks the identifier verified and resets its wrong guesses, if the statement before it in the batch changed a row.
 */
export function markVerifiedIfChanged(identifier: string, now: number): Statement {
  return {
    sql: `INSERT INTO verifications (identifier, verified_at) SELECT :identifier, :now WHERE changes() = 1
      ON CONFLICT (identifier) DO UPDATE SET verified_at = :now, wrong_guesses = 0`,
    args: { identifier, now },
  };
}

/**
 * Counts a wrong guess; the last one allowed starts the block and resets the count (NIST SP 800-63B section 5.2.2).
 * With `ifChanged`, only when the statement before it in the batch changed a row.
 */
export function countWrongGuess(identifier: string, now: number, { ifChanged }: { ifChanged: boolean }): Statement {
  return {
    sql: `INSERT INTO verifications (identifier, wrong_guesses) SELECT :identifier, 1
      WHERE ${ifChanged ? 'changes() = 1' : 'true'}
      ON CONFLICT (identifier) DO UPDATE SET
        wrong_guesses = (wrong_guesses + 1) % ${WRONG_GUESSES_MAX},
        blocked_until = CASE WHEN wrong_guesses + 1 >= ${WRONG_GUESSES_MAX} THEN :blocked_until ELSE blocked_until END`,
    args: { identifier, blocked_until: now + WRONG_GUESSES_BLOCK_MS },
  };
}

/** When the identifier was last verified: one row or none, `verified_at` null when it never was. */
export function selectVerifiedAt(identifier: string): Statement {
  return { sql: `SELECT verified_at FROM verifications WHERE identifier = :identifier`, args: { identifier } };
}

/** An attestation to spend: its signature, 0x-hex, and its expiry in milliseconds. */
export interface SpentAttestation {
  readonly signature: string;
  readonly expiresAt: number;
}

/** Spends an attestation if the condition holds. */
export function spendAttestation({ signature, expiresAt }: SpentAttestation, { sql, args }: Condition): Statement {
  return {
    sql: `INSERT INTO attestation_uses (signature, expires_at) SELECT :signature, :attestation_expires_at WHERE ${sql}`,
    args: { ...args, signature, attestation_expires_at: expiresAt },
  };
}

/** Frees a spent attestation, if the statement before it in the batch changed a row. */
export function freeAttestationIfChanged(signature: string): Statement {
  return { sql: `DELETE FROM attestation_uses WHERE signature = :signature AND changes() = 1`, args: { signature } };
}

/** Removes uses of expired attestations, which their expiry already refuses. */
export function sweepAttestationUses(now: number): Statement {
  return {
    sql: `DELETE FROM attestation_uses WHERE signature IN
      (SELECT signature FROM attestation_uses WHERE expires_at <= :now LIMIT ${SWEEP_ROWS_MAX})`,
    args: { now },
  };
}
