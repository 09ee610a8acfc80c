// The key of an account that has no code yet.
import { ACCOUNT_KINDS } from '../chain/account.ts';
import type { PredictAddress } from '../chain/account-address.ts';
import { type Factories, factoryOf, formerFactoryOf } from '../chain/account-factory.ts';
import type { ChainReader } from '../chain/rpc.ts';
import { coordinatesOf } from '../identity/passkey.ts';
import type { Platform } from '../platform.ts';
import { selectProofKeys } from './sign-in-store.ts';

type Ctx = Pick<Platform, 'db'> & ChainReader<Factories> & { readonly predict: PredictAddress };

/**
 * The key that an account's address follows from, 0x and x ‖ y in hex; undefined where none is known. The records only
 * propose keys: that the address follows from one is computed. Throws 502 `rpc_error`.
 */
export async function findPredictedKey(
  ctx: Ctx,
  { account, dids }: { readonly account: string; readonly dids: readonly string[] },
): Promise<string | undefined> {
  const { db, predict, config } = ctx;
  const kinds = ACCOUNT_KINDS.filter((kind) => factoryOf(config, kind) !== null);
  for (const row of await db.read(selectProofKeys(account, dids))) {
    const text = String(row['key']);
    const key = { ...coordinatesOf(text), salt: 0n };
    const predicted = await Promise.all(kinds.map((kind) => predict(key, kind)));
    if (predicted.some((address) => address.toLowerCase() === account)) return text;
    if ((await formerFactoryOf(ctx, account, { key, kind: 2 })) !== null) return text;
  }
  return undefined;
}
