import { WRONG_GUESSES_MAX } from '../constants.ts';
import { numberOf, type Result } from '../db/database.ts';
import type { Identifier, ProvableChannel } from '../identity/identifier.ts';
import type { Platform } from '../platform.ts';

/**
 * Counts in `vault_guessing_total` when a write brings an identifier to `WRONG_GUESSES_MAX` wrong guesses in a row;
 * `at` is the place of `countWrongGuess` among its statements.
 */
export async function countGuess(
  { metrics }: Pick<Platform, 'metrics'>,
  { channel }: Identifier<ProvableChannel>,
  write: Promise<readonly Result[]>,
  at: number,
): Promise<readonly Result[]> {
  const results = await write;
  const row = results[at]?.rows[0];
  if (row && numberOf(row, 'wrong_guesses') === WRONG_GUESSES_MAX)
    metrics.counter('vault_guessing_total').add({ channel });
  return results;
}
