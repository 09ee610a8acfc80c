import { DAY_MS, MINUTE_MS } from '../base/clock.ts';
import { SWEEP_ROWS_MAX } from '../constants.ts';
import type { Condition, Statement } from '../db/database.ts';

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

const COUNT_WRONG_GUESS = (when: string) => `INSERT INTO verifications (identifier, wrong_guesses, guessed_at)
  SELECT :identifier, 1, :now WHERE ${when}
  ON CONFLICT (identifier) DO UPDATE SET wrong_guesses = wrong_guesses + 1, guessed_at = excluded.guessed_at
  RETURNING wrong_guesses`;
const COUNT_IF_CHANGED = COUNT_WRONG_GUESS('changes() = 1');
const COUNT_OF_CODE = COUNT_WRONG_GUESS('EXISTS (SELECT 1 FROM codes WHERE seq = :seq AND identifier = :identifier)');

/**
 * Counts a wrong guess in a row against the identifier's live codes, if the statement before it in the batch changed a
 * row, and returns their number.
 */
export function countWrongGuess(identifier: string, now: number): Statement {
  return { sql: COUNT_IF_CHANGED, args: { identifier, now } };
}

/** As `countWrongGuess`, of a code whose attempt was spent before: unless it was erased since. */
export function countSpentGuess(identifier: string, seq: number, now: number): Statement {
  return { sql: COUNT_OF_CODE, args: { identifier, seq, now } };
}

/** Forgets the wrong guesses of identifiers at whose codes nobody has guessed for a day. */
export function sweepGuesses(now: number): readonly Statement[] {
  const quiet = (and: string) => `(SELECT identifier FROM verifications
    WHERE wrong_guesses > 0 AND guessed_at <= :before${and} ORDER BY guessed_at LIMIT ${SWEEP_ROWS_MAX})`;
  const args = { before: now - DAY_MS };
  return [
    { sql: `DELETE FROM verifications WHERE verified_at IS NULL AND identifier IN ${quiet('')}`, args },
    {
      sql: `UPDATE verifications SET wrong_guesses = 0 WHERE identifier IN ${quiet(' AND verified_at IS NOT NULL')}`,
      args,
    },
  ];
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

/** True of an attestation that nothing has used up. */
export function unusedAttestation({ signature }: Pick<SpentAttestation, 'signature'>): Condition {
  return { sql: 'NOT EXISTS (SELECT 1 FROM attestation_uses WHERE signature = :signature)', args: { signature } };
}

/** Whether an attestation is spent: one row if it is. */
export function selectAttestationUse(signature: string): Statement {
  return { sql: `SELECT 1 FROM attestation_uses WHERE signature = :signature`, args: { signature } };
}

/** Notes the nonce of an email token, beside the attestations; `rowsAffected` 0 means that it was used before. */
export function useNonce(id: string, endsAt: number): Statement {
  return {
    sql: `INSERT INTO attestation_uses (signature, expires_at) VALUES (:id, :ends_at) ON CONFLICT (signature) DO NOTHING`,
    args: { id, ends_at: endsAt },
  };
}

/** Changes the row of a nonce that was used, so that the statement behind it takes effect. */
export function touchNonce(id: string): Statement {
  return { sql: `UPDATE attestation_uses SET expires_at = expires_at WHERE signature = :id`, args: { id } };
}

/** Frees a spent attestation, if the statement before it in the batch changed a row and the condition holds. */
export function freeAttestationIfChanged(signature: string, { sql, args }: Condition): Statement {
  return {
    sql: `DELETE FROM attestation_uses WHERE signature = :signature AND changes() = 1 AND ${sql}`,
    args: { ...args, signature },
  };
}

/** How long a use outlives its attestation: requests that were under way, and processes whose clock is behind. */
export const ATTESTATION_USE_KEPT_MS = 10 * MINUTE_MS;

/** Removes uses of attestations that expired so long ago that nothing can still be written by them. */
export function sweepAttestationUses(now: number): Statement {
  return {
    sql: `DELETE FROM attestation_uses WHERE signature IN
      (SELECT signature FROM attestation_uses WHERE expires_at <= :before LIMIT ${SWEEP_ROWS_MAX})`,
    args: { before: now - ATTESTATION_USE_KEPT_MS },
  };
}
