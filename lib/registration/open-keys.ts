import { rpcError, VaultError } from '../base/error.ts';
import { keyInCode } from '../chain/account-key.ts';
import { readCode, toQuantity } from '../chain/contract-call.ts';
import { readShownKeys } from '../chain/owner-keys.ts';
import { readDidEntry } from '../chain/registry-views.ts';
import type { ChainReader } from '../chain/rpc.ts';
import { agreed, readCommonHead } from '../chain/witness.ts';
import { selectAccountKeys, toKnownKeys } from '../holders/holders.ts';
import { didHash } from '../identity/did.ts';
import type { Platform } from '../platform.ts';

type Ctx = Pick<Platform, 'config' | 'clock' | 'db' | 'rpc' | 'witness' | 'log' | 'metrics'>;

/** A DID with the account that is said to control it, lower-case. `isConfirmed`: the vault has read its event. */
export interface OwnedDid {
  readonly did: string;
  readonly account: string;
  readonly isConfirmed: boolean;
}

/**
 * The keys that open the account of a DID now, by the chain: the vault's record may be minutes old. Undefined for an
 * account that is not there yet, which has the key that its address follows from. Only an answer counts: where a node,
 * or one of two, gives none, it throws 502 `rpc_error`. Throws 403 `proof_invalid` for a DID that another account has,
 * or that was deactivated.
 */
export async function readOpenKeys(ctx: Ctx, owned: OwnedDid): Promise<readonly string[] | undefined> {
  const { account, isConfirmed } = owned;
  const block = ctx.witness ? await readCommonHead(ctx) : undefined;
  const { code, keys, isSeveral, entry } = await agreed(ctx, 'registration', (chain) => readNow(chain, owned, block));
  if (entry === undefined) throw rpcError('the registry does not say who controls the DID');
  if (entry === null && isConfirmed) throw rpcError('the node lacks a registration that is confirmed');
  if (entry && (entry.controller !== account || !entry.active))
    throw new VaultError('proof_invalid', { reason: 'did', hint: DID_MOVED });
  if (code === '0x') {
    const known = toKnownKeys(await ctx.db.read(selectAccountKeys([account]))).get(account);
    if (known && known.size > 1) throw rpcError('the node lacks an account that has had several keys');
    return undefined;
  }
  // `getKeys` of our own code always answers.
  const isSilent = isSeveral ? false : keys.length === 0 || keyInCode(code)?.kind === 2;
  if (isSilent) throw rpcError('the account does not say its keys');
  return keys;
}

const DID_MOVED = 'The DID is controlled by another account now, or was deactivated.';

async function readNow(chain: ChainReader<'didRegistryAddress'>, { account, did }: OwnedDid, block?: number) {
  const registry = chain.config.didRegistryAddress;
  const tag = block === undefined ? 'latest' : toQuantity(block);
  const at = block === undefined ? {} : { block };
  const [shown, code, entry] = await Promise.all([
    readShownKeys(chain, account, tag),
    readCode(chain, account, tag),
    registry === null ? undefined : readDidEntry({ ...chain, ...at, registry }, didHash(did)),
  ]);
  return { ...shown, code, entry };
}
