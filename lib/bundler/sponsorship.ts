import { ACCOUNT_KINDS } from '../chain/account.ts';
import type { PredictAddress } from '../chain/account-address.ts';
import { type Factories, factoryOf } from '../chain/account-factory.ts';
import { type FoundKey, keyOfWords, readAccountKey } from '../chain/account-key.ts';
import { isUpgraded } from '../chain/guarded-account.ts';
import type { ChainReader } from '../chain/rpc.ts';
import type { UserOperation } from './user-operation.ts';

/** The chain with the factories. */
export interface SenderReader extends ChainReader<Factories> {
  readonly predict: PredictAddress;
}

/**
 * Whether the sender is an account of a configured factory: deployed already, or created by this user operation. The
 * key named by the operation or the account's code is verified, since the address commits to key, salt and factory.
 * One of the second kind counts as long as its code is the factory's.
 * Throws 502 `rpc_error`.
 */
export async function isOwnSender(chain: SenderReader, userOperation: UserOperation): Promise<boolean> {
  const found =
    userOperation.factory === undefined
      ? await readAccountKey(chain, userOperation.sender)
      : keyOfCreation(chain, userOperation);
  // Without such a factory nobody is its account.
  if (!found || (found.kind === 2 && factoryOf(chain.config, 2) === null)) return false;
  // Other code may do anything with a call. An EntryPoint may ignore the creation of an account that exists.
  if (found.kind === 2 && (await isUpgraded(chain, userOperation.sender))) return false;
  return (await chain.predict(found.key, found.kind)).toLowerCase() === userOperation.sender.toLowerCase();
}

/** Selector of `createAccount(uint256,uint256,uint256)`, of both factories. */
const CREATE_ACCOUNT = '0x4c1ed7f5';
function keyOfCreation(
  { config }: SenderReader,
  { factory, factoryData }: UserOperation,
): Pick<FoundKey, 'key' | 'kind'> | undefined {
  const kind = ACCOUNT_KINDS.find((one) => factoryOf(config, one)?.toLowerCase() === factory?.toLowerCase());
  const data = factoryData?.toLowerCase() ?? '';
  const key = data.startsWith(CREATE_ACCOUNT) ? keyOfWords(data.slice(CREATE_ACCOUNT.length)) : undefined;
  return kind && key && { key, kind };
}
