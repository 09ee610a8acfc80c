import type { AccountKey } from '../chain/account.ts';
import type { PredictAddress } from '../chain/account-address.ts';
import { keyOfWords, readAccountKey } from '../chain/account-key.ts';
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
      ? (await readAccountKey(chain, userOperation.sender))?.key
      : keyOfCreation(chain, userOperation);
  if (!key) return false;
  return (await chain.predict(key)).toLowerCase() === userOperation.sender.toLowerCase();
}

/** Selector of `createAccount(uint256,uint256,uint256)`. */
const CREATE_ACCOUNT = '0x4c1ed7f5';
function keyOfCreation({ config }: Chain, { factory, factoryData }: UserOperation): AccountKey | undefined {
  if (factory?.toLowerCase() !== config.hyperauthFactoryAddress?.toLowerCase()) return undefined;
  const data = factoryData?.toLowerCase() ?? '';
  return data.startsWith(CREATE_ACCOUNT) ? keyOfWords(data.slice(CREATE_ACCOUNT.length)) : undefined;
}
