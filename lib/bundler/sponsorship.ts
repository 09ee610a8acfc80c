import type { AccountKey } from '../chain/account.ts';
import type { PredictAddress } from '../chain/account-address.ts';
import { findWords, GET_OWNER, ZERO_WORD } from '../chain/contract-call.ts';
import type { ChainReader } from '../chain/rpc.ts';
import type { UserOperation } from './user-operation.ts';

interface Chain extends ChainReader<'hyperauthFactoryAddress'> {
  readonly predict: PredictAddress;
}

/**
 * Whether the sender is an account of the configured factory: deployed already, or created by this user operation. The
 * key named by the operation or the account's code is verified, since the address commits to key, salt and factory.
 * Throws 502 `rpc_error`.
 */
export async function isOwnSender(chain: Chain, userOperation: UserOperation): Promise<boolean> {
  const key =
    userOperation.factory === undefined
      ? await readKey(chain, userOperation.sender)
      : keyOfCreation(chain, userOperation);
  if (!key) return false;
  return (await chain.predict(key)).toLowerCase() === userOperation.sender.toLowerCase();
}

/** Selector of `createAccount(uint256,uint256,uint256)`. */
const CREATE_ACCOUNT = '0x4c1ed7f5';
/** The code of our accounts: an ERC-1167 proxy that ends in its immutable arguments x ‖ y ‖ salt. */
const CLONE = /^0x363d3d373d3d3d363d73[0-9a-f]{40}5af43d82803e903d91602b57fd5bf3([0-9a-f]{192})$/;

function keyOfCreation({ config }: Chain, { factory, factoryData }: UserOperation): AccountKey | undefined {
  if (factory?.toLowerCase() !== config.hyperauthFactoryAddress?.toLowerCase()) return undefined;
  const data = factoryData?.toLowerCase() ?? '';
  return data.startsWith(CREATE_ACCOUNT) ? keyOf(data.slice(CREATE_ACCOUNT.length)) : undefined;
}

async function readKey({ config, rpc }: Chain, account: string): Promise<AccountKey | undefined> {
  const code = await rpc.call(config.chainId, 'eth_getCode', [account, 'latest']);
  if (code === '0x') return undefined;
  const key = keyOf(CLONE.exec(String(code).toLowerCase())?.[1] ?? '');
  if (key) return key;
  // An account of a factory whose proxies have no arguments: only the default salt can be tried.
  const owner = await findWords(rpc, config.chainId, { to: account, data: GET_OWNER }, 2);
  return owner && keyOf(`${owner.join('')}${ZERO_WORD}`);
}

function keyOf(words: string): AccountKey | undefined {
  if (!/^[0-9a-f]{192}$/.test(words)) return undefined;
  const at = (start: number) => BigInt(`0x${words.slice(start, start + 64)}`);
  return { x: at(0), y: at(64), salt: at(128) };
}
