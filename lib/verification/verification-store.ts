import { WRONG_GUESSES_BLOCK_MS, WRONG_GUESSES_MAX } from '../constants.ts';
import type { Statement } from '../db/database.ts';

/** Marks the identifier verified and forgets its wrong guesses, if the statement before it in the batch changed a row. */
export function markVerifiedIfChanged(identifier: string, now: number): Statement {
  return {
    sql: `INSERT INTO verifications (identifier, verified_at) SELECT :identifier, :now WHERE changes() = 1
      ON CONFLICT (identifier) DO UPDATE SET verified_at = :now, wrong_guesses = 0`,
    args: { identifier, now },
  };
}

/**
 * Counts a wrong guess; the last one allowed starts the block and the count anew (NIST SP 800-63B section 5.2.2).
 * `ifChanged` counts only when the statement before it in the batch changed a row.
 */
export function countWrongGuess(identifier: string, now: number, { ifChanged }: { ifChanged: boolean }): Statement {
  return {
    sql: `INSERT INTO verifications (identifier, wrong_guesses) SELECT :identifier, 1 WHERE ${ifChanged ? 'changes() = 1' : 'true'}
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
