import { VaultError } from '../base/error.ts';
import { letGo, selectChallenged } from '../holders/holders.ts';
import type { Identifier } from '../identity/identifier.ts';
import { type Assertion, publicKeyOf, verifyAssertion } from '../identity/passkey.ts';
import type { Platform } from '../platform.ts';
import { proofInvalid } from '../registration/proof-fault.ts';
import { openTouch } from '../registration/touch.ts';
import { readHoldersKeys } from './holders-keys.ts';

/** What a holder signs to let go of an address: these lines and a nonce. */
export const RELEASE_LABEL = 'vault/release/v1';

type Ctx = Pick<Platform, 'config' | 'keys' | 'clock' | 'db' | 'rpc' | 'witness' | 'log' | 'metrics'>;

/** A touch of the holder's passkey. */
export interface ReleaseRequest {
  readonly identifier: Identifier;
  readonly assertion: Assertion;
  readonly nonce: string;
}

/**
 * Lets another DID have an address at once, or as soon as its claim is final, by a key that the holder's account has
 * now. True if the address has moved. Throws 409 `no_challenge`, 403 `proof_invalid`, 502 `rpc_error`.
 */
export async function releaseAddress(ctx: Ctx, { identifier, assertion, nonce }: ReleaseRequest): Promise<boolean> {
  const { config, db, clock } = ctx;
  const [row] = await db.read(selectChallenged(identifier.key));
  if (!row) throw new VaultError('no_challenge');
  const did = String(row['did']);
  const lines = [RELEASE_LABEL, config.registrarDid, identifier.key, did];
  const { challenge } = openTouch(ctx, { lines, nonce, assertion });
  const keys = await readHoldersKeys(ctx, row);
  if (keys === undefined) throw proofInvalid('account', config);
  const judged = keys.map(async (key) => {
    const point = publicKeyOf(key);
    return point ? verifyAssertion(assertion, challenge, point) : false;
  });
  if (!(await Promise.all(judged)).includes(true)) throw proofInvalid('signature', config);
  const holder = Number(row['holder_id']);
  const [given] = await db.write(...letGo({ identifier: identifier.key, did, holder }, clock.now()));
  // It is the same request again, or another process was faster.
  if (given?.rowsAffected === 0) throw new VaultError('no_challenge');
  return row['final'] === 1;
}
