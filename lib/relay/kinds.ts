import { type RecoveryRefusal, simulateRecoveryCall } from '../chain/recovery-calls.ts';
import { type RegisterForCall, type RegistryRefusal, registerForData, simulate } from '../chain/registry.ts';
import type { ChainReader } from '../chain/rpc.ts';
import type { SimulatedCall } from '../chain/simulation.ts';
import type { RelayRow } from './store.ts';

// What the kinds of relays do on-chain. The rest of the outbox makes no difference between them.

/** The bytes of a relay's call, 0x-hex. */
export function callDataOf(relay: RelayRow): string {
  return relay.kind === 'registration' ? registerForData(registrationOf(relay)) : recoveryCallOf(relay).data;
}

/** The gas of the call in the newest state, or why its contract would refuse it. Throws 502 `rpc_error`. */
export function simulateRelay(
  chain: ChainReader,
  from: string,
  relay: RelayRow,
): Promise<SimulatedCall<RegistryRefusal | RecoveryRefusal>> {
  if (relay.kind === 'registration') return simulate(chain, from, registrationOf(relay));
  return simulateRecoveryCall(chain, { from, ...recoveryCallOf(relay) });
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
