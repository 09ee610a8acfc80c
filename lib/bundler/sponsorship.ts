import { ACCOUNT_KINDS } from '../chain/account.ts';
import type { PredictAddress } from '../chain/account-address.ts';
import { type Factories, factoryOf, formerFactoryOf } from '../chain/account-factory.ts';
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
  // Where that factory is not set, no account is its own.
  if (!found || (found.kind === 2 && factoryOf(chain.config, 2) === null)) return false;
  // Other code may do anything with a call. An EntryPoint may ignore the creation of an account that exists.
  if (found.kind === 2 && (await isUpgraded(chain, userOperation.sender))) return false;
  return (await chain.predict(found.key, found.kind)).toLowerCase() === userOperation.sender.toLowerCase();
}

/**
 * Whether the sender's operations are forwarded where `BUNDLER_SENDERS` is `own`: an account of a configured factory,
 * or of one that came before (completions-3 §7.5). Throws 502 `rpc_error`.
 */
export async function isServedSender(chain: SenderReader, userOperation: UserOperation): Promise<boolean> {
  return (await isOwnSender(chain, userOperation)) || (await isOfFormerFactory(chain, userOperation));
}

async function isOfFormerFactory(chain: SenderReader, { sender, factory, factoryData }: UserOperation) {
  if (chain.config.accountFactoriesFormer.length === 0) return false;
  if (factory !== undefined) {
    const key = keyIn(factoryData);
    const former = key && (await formerFactoryOf(chain, sender, { key, kind: 2 }));
    return former?.toLowerCase() === factory.toLowerCase();
  }
  const found = await readAccountKey(chain, sender);
  if (found?.kind !== 2 || (await isUpgraded(chain, sender))) return false;
  return (await formerFactoryOf(chain, sender, found)) !== null;
}

/** Selector of `createAccount(uint256,uint256,uint256)`, of both factories. */
const CREATE_ACCOUNT = '0x4c1ed7f5';
function keyOfCreation(
  { config }: SenderReader,
  { factory, factoryData }: UserOperation,
): Pick<FoundKey, 'key' | 'kind'> | undefined {
  const kind = ACCOUNT_KINDS.find((one) => factoryOf(config, one)?.toLowerCase() === factory?.toLowerCase());
  const key = keyIn(factoryData);
  return kind && key && { key, kind };
}

function keyIn(factoryData: string | undefined): FoundKey['key'] | undefined {
  const data = factoryData?.toLowerCase() ?? '';
  return data.startsWith(CREATE_ACCOUNT) ? keyOfWords(data.slice(CREATE_ACCOUNT.length)) : undefined;
}
