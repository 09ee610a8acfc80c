import { VaultError } from '../base/error.ts';
import { letGo } from '../holders/holders.ts';
import { type HoldersContext, type HoldersTouch, judgeHoldersTouch, RELEASE_LABEL } from './holders-touch.ts';

/**
 * Lets another DID have an address at once, or as soon as its claim is final, by a key that the holder's account has
 * now. True if the address has moved. Throws 409 `no_challenge`, 403 `proof_invalid`, 502 `rpc_error`.
 */
export async function releaseAddress(ctx: HoldersContext, touch: HoldersTouch): Promise<boolean> {
  const { db, clock } = ctx;
  const { key: identifier } = touch.identifier;
  const row = await judgeHoldersTouch(ctx, RELEASE_LABEL, touch);
  const [did, holder] = [String(row['did']), Number(row['holder_id'])];
  const [given] = await db.write(...letGo({ identifier, did, holder }, clock.now()));
  // It is the same request again, or another process was faster.
  if (given?.rowsAffected === 0) throw new VaultError('no_challenge');
  return row['final'] === 1;
}
