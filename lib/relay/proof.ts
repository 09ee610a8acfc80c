import { VaultError } from '../base/error.ts';
import { readBlock } from '../chain/blocks.ts';
import { hasCode } from '../chain/contract-call.ts';
import { readReceipt, type TransactionReceipt } from '../chain/receipts.ts';
import { controllerIn, findRegistration, type RegistrationPlace } from '../chain/registration-event.ts';
import { isRegistered } from '../chain/registry.ts';
import { agreed, readCommonFinal, readCommonHead } from '../chain/witness.ts';
import { registrationOf } from './contract-calls.ts';
import type { RelayRow } from './store.ts';
import type { Relayer } from './transactions.ts';

// The proof that a registration happened: the registry's own event, in a block of the chain, for both nodes.

/** Whether a receipt holds the event of the relay's registration; true of other calls, which are followed elsewhere. */
export function isShown({ kind, target, didHash, controller }: RelayRow, receipt: TransactionReceipt): boolean {
  if (kind !== 'registration' || didHash === null) return true;
  return controllerIn(receipt, target, didHash) === controller?.toLowerCase();
}

/**
 * Whether the nodes show the same of a mined transaction: a block that is part of the chain, and whether it succeeded
 * with its event. False while that cannot be said.
 */
export async function isCanonical(
  relayer: Relayer,
  relay: RelayRow,
  hash: string,
  found: TransactionReceipt,
): Promise<boolean> {
  try {
    if (relayer.witness && found.block > (await readCommonHead(relayer))) return false;
    const seen = await agreed(relayer, 'registration', async (chain) => {
      const [receipt, block] = await Promise.all([readReceipt(chain, hash), readBlock(chain, found.block)]);
      return receipt && { ...factsOf(relay, receipt), isInChain: block?.hash === receipt.blockHash };
    });
    return JSON.stringify(seen) === JSON.stringify({ ...factsOf(relay, found), isInChain: true });
  } catch (failure) {
    return unlessOfNodes(failure, false);
  }
}

function factsOf(relay: RelayRow, receipt: TransactionReceipt) {
  const { succeeded, block, blockHash } = receipt;
  return { succeeded, block, blockHash, isShown: isShown(relay, receipt) };
}

/** Whether the relay calls the configured registry and that has no code: the relay waits. Throws 502 `rpc_error`. */
export async function isRegistryMissing(relayer: Relayer, relay: RelayRow): Promise<boolean> {
  return relay.kind === 'registration' && isConfigured(relayer, relay) && !(await hasCode(relayer, relay.target));
}

/** Whether the relay calls a registry that is no longer configured and has no code. Throws 502 `rpc_error`. */
export async function isOutdated(relayer: Relayer, relay: RelayRow): Promise<boolean> {
  return relay.kind === 'registration' && !isConfigured(relayer, relay) && !(await hasCode(relayer, relay.target));
}

function isConfigured({ config }: Relayer, { target }: RelayRow): boolean {
  return target === config.didRegistryAddress?.toLowerCase();
}

/**
 * Where the registry's event shows a registration as done, in a final block, by any sender. `no` where the registry
 * does not have it, `unproven` while it has it without an event that is final. Always `no` for a recovery's call: the
 * recovery follows the chain by itself, and is to be free to call again if a re-org takes another's call back.
 */
export async function findDone(relayer: Relayer, relay: RelayRow): Promise<RegistrationPlace | 'no' | 'unproven'> {
  if (relay.kind !== 'registration') return 'no';
  const did = registrationOf(relay);
  try {
    if (!(await agreed(relayer, 'registration', (chain) => isRegistered(chain, did)))) return 'no';
    const to = await readCommonFinal(relayer);
    const search = { to, sinceMs: relay.createdAt };
    return (await agreed(relayer, 'registration', (chain) => findRegistration(chain, did, search))) ?? 'unproven';
  } catch (failure) {
    return unlessOfNodes(failure, 'unproven');
  }
}

function unlessOfNodes<T>(failure: unknown, answer: T): T {
  if (!(failure instanceof VaultError)) throw failure;
  return answer;
}
