import type { AccountKey } from '../chain/account.ts';
import type { Predict } from '../chain/account-address.ts';
import { findWords, GET_OWNER, ZERO_WORD } from '../chain/contract-call.ts';
import type { ChainReader } from '../chain/rpc.ts';
import type { UserOperation } from './user-operation.ts';

interface Chain extends ChainReader<'hyperauthFactoryAddress'> {
  readonly predict: Predict;
}

/**
 * Whether the operation's sender is an account of the configured factory: there already, or created by this operation. What the
 * operation or the sender's own code says of its key is only a hint: an address commits to key, salt and factory. Throws 502 `rpc_error`.
 */
export async function isOwnSender(chain: Chain, operation: UserOperation): Promise<boolean> {
  const key =
    operation.factory === undefined ? await readKey(chain, operation.sender) : keyOfCreation(chain, operation);
  if (!key) return false;
  return (await chain.predict(key)).toLowerCase() === operation.sender.toLowerCase();
}

/** Selector of `createAccount(uint256,uint256,uint256)`. */
const CREATE_ACCOUNT = '0x4c1ed7f5';
/** The code of our accounts (ERC-1167 with immutable arguments): it delegates, and ends in x ‖ y ‖ salt. */
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
  // Accounts of another factory, whose code says nothing: at its default salt, the only one that can be guessed.
  const owner = await findWords(rpc, config.chainId, { to: account, data: GET_OWNER }, 2);
  return owner && keyOf(`${owner.join('')}${ZERO_WORD}`);
}

function keyOf(words: string): AccountKey | undefined {
  if (!/^[0-9a-f]{192}$/.test(words)) return undefined;
  const at = (start: number) => BigInt(`0x${words.slice(start, start + 64)}`);
  return { x: at(0), y: at(64), salt: at(128) };
}
