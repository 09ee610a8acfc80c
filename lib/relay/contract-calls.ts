import type { PredictAddress } from '../chain/account-address.ts';
import type { Factories } from '../chain/account-factory.ts';
import type { TransactionFees } from '../chain/fees.ts';
import { isUnchangedForBoth } from '../chain/guarded-account.ts';
import { type RecoveryRefusal, simulateRecoveryCall } from '../chain/recovery-calls.ts';
import { type RegisterForCall, type RegistryRefusal, registerForData, simulate } from '../chain/registry.ts';
import type { SimulatedCall } from '../chain/simulation.ts';
import type { Witnessed } from '../chain/witness.ts';
import type { RelaySigner } from './signer-store.ts';
import type { RelayRow } from './store.ts';

// The contract calls of the kinds of relays. The rest of the outbox treats all kinds alike.

/** The bytes of a relay's call, 0x-hex. */
export function callDataOf(relay: RelayRow): string {
  return relay.kind === 'registration' ? registerForData(registrationOf(relay)) : recoveryCallOf(relay).data;
}

/** The chain as a relay is tried on it: from whom, and where accounts of the factories are. */
type Simulating = Witnessed<Factories | 'finalityBlocks'> & {
  readonly signer: RelaySigner;
  readonly predict: PredictAddress;
};

/**
 * The gas of the call in the newest state at the fees that it is to be signed with, or why it is not to be made. An
 * account that runs other code than its factory's could do anything then, whatever it does in a simulation: it is not
 * called. Throws 502 `rpc_error`.
 */
export async function simulateRelay(
  chain: Simulating,
  relay: RelayRow,
  fees?: TransactionFees,
): Promise<SimulatedCall<RegistryRefusal | RecoveryRefusal>> {
  const from = chain.signer.address;
  if (relay.kind === 'registration') return simulate(chain, from, registrationOf(relay), fees);
  if (!(await isUnchangedForBoth(chain, relay.target))) return { refusal: 'upgraded' };
  return simulateRecoveryCall(chain, { from, ...recoveryCallOf(relay), fees });
}

/** A registration as the registry takes it. */
export function registrationOf({ target, controller, didHash, callData }: RelayRow): RegisterForCall {
  if (controller === null || didHash === null) throw new Error('a relay of a registration names no DID');
  return { registry: target, controller, didHash, callData };
}

function recoveryCallOf({ target, callData }: RelayRow): { readonly to: string; readonly data: string } {
  if (callData === null) throw new Error('a relay of a recovery has no call');
  return { to: target, data: callData };
}
