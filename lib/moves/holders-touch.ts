import { VaultError } from '../base/error.ts';
import type { Row } from '../db/database.ts';
import { selectChallenged } from '../holders/holders.ts';
import type { Identifier } from '../identity/identifier.ts';
import { type Assertion, publicKeyOf, verifyAssertion } from '../identity/passkey.ts';
import type { Platform } from '../platform.ts';
import { proofInvalid } from '../registration/proof-fault.ts';
import { openTouch } from '../registration/touch.ts';
import { readHoldersKeys } from './holders-keys.ts';

/** The first line that a holder signs to let go of an address; others and a nonce follow. */
export const RELEASE_LABEL = 'vault/release/v1';
/** The first line that a holder signs to get a code for an address that another DID claims. */
export const KEEP_LABEL = 'vault/keep/v1';

/** The services that a holder's touch needs. */
export type HoldersContext = Pick<Platform, 'config' | 'keys' | 'clock' | 'db' | 'rpc' | 'witness' | 'log' | 'metrics'>;

/** A touch of the passkey of an address's holder. */
export interface HoldersTouch {
  readonly identifier: Identifier;
  readonly assertion: Assertion;
  readonly nonce: string;
}

/**
 * Judges a touch over the lines of a label, by a key that the holder's account has now: its row, with the DID that
 * claims the address. Throws 409 `no_challenge`, 403 `proof_invalid`, 502 `rpc_error`.
 */
export async function judgeHoldersTouch(
  ctx: HoldersContext,
  label: string,
  { identifier, assertion, nonce }: HoldersTouch,
): Promise<Row> {
  const { config, db } = ctx;
  const [row] = await db.read(selectChallenged(identifier.key));
  if (!row) throw new VaultError('no_challenge');
  const lines = [label, config.registrarDid, identifier.key, String(row['did'])];
  const { challenge } = openTouch(ctx, { lines, nonce, assertion });
  const keys = await readHoldersKeys(ctx, row);
  if (keys === undefined) throw proofInvalid('account', config);
  const judged = keys.map(async (key) => {
    const point = publicKeyOf(key);
    return point ? verifyAssertion(assertion, challenge, point) : false;
  });
  if (!(await Promise.all(judged)).includes(true)) throw proofInvalid('signature', config);
  return row;
}
