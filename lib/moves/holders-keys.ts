import { VaultError } from '../base/error.ts';
import { type Row, textOf } from '../db/database.ts';
import type { Platform } from '../platform.ts';
import { readOpenKeys } from '../registration/open-keys.ts';

type Ctx = Pick<Platform, 'config' | 'clock' | 'db' | 'rpc' | 'witness' | 'log' | 'metrics'>;

/**
 * The keys of a holder's account now, from a row of its challenge; undefined where its DID is another account's now, or
 * deactivated. Throws 502 `rpc_error`.
 */
export async function readHoldersKeys(ctx: Ctx, row: Row): Promise<readonly string[] | undefined> {
  const owned = { did: String(row['holder_did']), account: String(row['holder_controller']), isConfirmed: true };
  const known = [textOf(row, 'holder_key'), textOf(row, 'holder_proof_key')].filter((key) => key !== null);
  return readOpenKeys(ctx, owned).then(
    // An account that is not there yet has the key that its address follows from.
    (keys) => keys ?? known,
    (error) => {
      if (error instanceof VaultError && error.code === 'proof_invalid') return undefined;
      throw error;
    },
  );
}
