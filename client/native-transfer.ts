// Ether leaves no log. The proof that an operation moved it is its call, by an account whose code is known.
import { callDataIn, callsIn } from './call-data.ts';
import {
  type AccountFactory,
  accountOfCode,
  IMPLEMENTATION_SLOT,
  isOwnImplementation,
  UPGRADED_EVENT,
} from './known-accounts.ts';
import type { SettledOperation } from './operations.ts';
import { type AskNode, listOf, type MinedTransaction, quantity, readInput } from './payment-node.ts';

/**
 * The verdict on a transfer of ether; `moved` is proven by the account's code, which is known. `not_shown`: a node that
 * has the receipt does not show the transaction yet.
 */
export type NativeFinding = 'moved' | 'no_transfer' | 'not_shown' | Unproven;

/** Why it is not known: another's account, no plain `handleOps`, another function, an account that was upgraded. */
export type Unproven = 'other_account_code' | 'no_input' | 'other_call' | 'upgraded' | 'no_state';

/** Whether an operation that succeeded sent exactly this much ether to the payee. */
export async function judgeNative(
  ask: AskNode,
  operation: SettledOperation,
  { mined, to, amount, factories }: NativeQuestion,
): Promise<NativeFinding> {
  const unknown = await distrust(ask, operation.sender, mined, factories);
  if (unknown) return unknown;
  const sent = await readInput(ask, mined);
  if (!sent) return 'not_shown';
  if (sent.to !== operation.entryPoint) return 'no_input';
  const callData = callDataIn(sent.input, operation);
  if (callData === undefined) return 'no_input';
  const calls = callsIn(callData);
  if (!calls) return 'other_call';
  if (calls.some((call) => call.target === BigInt(to) && call.value === amount)) return 'moved';
  // A call with data may lead anywhere: to the account itself, to its deposit at the EntryPoint.
  return calls.every(({ data }) => data === '0x') ? 'no_transfer' : 'other_call';
}

interface NativeQuestion {
  readonly mined: MinedTransaction;
  readonly to: string;
  readonly amount: bigint;
  readonly factories: readonly AccountFactory[];
}

/** Selector of the factories' `getAddress(uint256,uint256,uint256)`. */
const GET_ADDRESS = '0xe81b22ea';

/** Why the account's code is not known to move what its call says; undefined if it is. */
async function distrust(
  ask: AskNode,
  account: string,
  mined: MinedTransaction,
  factories: readonly AccountFactory[],
): Promise<Unproven | undefined> {
  const found = accountOfCode(String(await ask('eth_getCode', [account, 'latest'])), factories);
  if (!found) return 'other_account_code';
  const { factory, kind } = found.factory;
  // Another factory's contract may have had other code before: it can destroy itself in the transaction that made it.
  const predicted = String(await ask('eth_call', [{ to: factory, data: `${GET_ADDRESS}${found.key}` }, 'latest']));
  if (predicted.toLowerCase() !== `0x${word(account)}`) return 'other_account_code';
  return kind === 2 ? distrustUpgrades(ask, account, mined, factories) : undefined;
}

/**
 * Reads the account's implementation before the block, and its changes in the block's logs: only our code logs them.
 */
async function distrustUpgrades(
  ask: AskNode,
  account: string,
  { block, blockHash }: MinedTransaction,
  factories: readonly AccountFactory[],
): Promise<Unproven | undefined> {
  const isOurs = (implementation: string) => isOwnImplementation(implementation, factories);
  // A creation logs the implementation that the account begins with.
  const areOurs = ({ topics }: { readonly topics?: unknown }) => {
    const one = Array.isArray(topics) ? String(topics[1]) : '';
    return /^0x[0-9a-fA-F]{64}$/.test(one) && isOurs(one);
  };
  const slot = await ask('eth_getStorageAt', [account, IMPLEMENTATION_SLOT, quantity(block - 1)]).catch(
    () => undefined,
  );
  if (typeof slot === 'string' && /^0x[0-9a-fA-F]{64}$/.test(slot)) {
    const upgrades = listOf(await ask('eth_getLogs', [{ address: account, topics: [UPGRADED_EVENT], blockHash }]));
    return isOurs(slot) && upgrades.every(areOurs) ? undefined : 'upgraded';
  }
  // Without that state: an account that never ran anything else. Its first other implementation would be in a log.
  const all = { address: account, topics: [UPGRADED_EVENT], fromBlock: '0x0', toBlock: 'latest' };
  const upgrades = await ask('eth_getLogs', [all])
    .then(listOf)
    .catch(() => undefined);
  if (!upgrades) return 'no_state';
  return upgrades.every(areOurs) ? undefined : 'upgraded';
}

/** An address as a word, 64 digits. */
function word(address: string): string {
  return address.slice(2).toLowerCase().padStart(64, '0');
}
