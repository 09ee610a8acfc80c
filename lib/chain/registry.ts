/** The calls of `contracts/DIDRegistry.sol` and `DIDRegistry2.sol` that a registrar makes. */
import { addressWord, ZERO_WORD } from './contract-call.ts';
import type { TransactionFees } from './fees.ts';
import { RESOLVE } from './registry-views.ts';
import type { ChainReader } from './rpc.ts';
import { type SimulatedCall, simulateCall } from './simulation.ts';

/** A registration on behalf of a controller; 0x-hex. Its alias hash is zero, which the registry treats as none. */
export interface RegisterForCall {
  readonly registry: string;
  readonly controller: string;
  readonly didHash: string;
  /** The whole call, where it was made when the registration was asked for. */
  readonly callData?: string | null;
}

/** Why the registry would refuse; `reverted` for any other reason. */
export type RegistryRefusal =
  | 'did_taken'
  | 'controller_taken'
  | 'not_registrar'
  | 'consent_expired'
  | 'consent_invalid'
  | 'not_key_of'
  | 'reverted';

/** The gas of a registration in the newest state, or why it would be refused. */
export type Simulation = SimulatedCall<RegistryRefusal>;

/** The call `registerFor(controller, didHash, 0, "")`, unless the registration brings its call. */
export function registerForData({ controller, didHash, callData }: RegisterForCall): string {
  if (callData) return callData;
  const emptyText = `${'80'.padStart(64, '0')}${ZERO_WORD}`;
  return `${REGISTER_FOR}${addressWord(controller)}${didHash.slice(2)}${ZERO_WORD}${emptyText}`;
}

/** Simulates the registration. Throws 502 `rpc_error` when the chain cannot be asked. */
export function simulate(
  chain: ChainReader,
  from: string,
  registration: RegisterForCall,
  fees?: TransactionFees,
): Promise<Simulation> {
  return simulateCall(chain, { from, to: registration.registry, data: registerForData(registration), fees }, REFUSALS);
}

/**
 * Whether the registry has the DID with this controller, which decides whether a registration happened. Throws 502
 * `rpc_error`.
 */
export async function isRegistered({ config, rpc }: ChainReader, registration: RegisterForCall): Promise<boolean> {
  const call = { to: registration.registry, data: `${RESOLVE}${registration.didHash.slice(2)}` };
  const answer = await rpc.call(config.chainId, 'eth_call', [call, 'latest']);
  return String(answer)
    .toLowerCase()
    .startsWith(`0x${addressWord(registration.controller)}`);
}

/** Selector of `registerFor(address,bytes32,bytes32,string)`. */
const REGISTER_FOR = '0xd43af7bd';
/** By the selectors of the registry's errors. */
const REFUSALS: Readonly<Record<string, Exclude<RegistryRefusal, 'reverted'>>> = {
  '0xd3d9f7b2': 'did_taken',
  '0x4ee465fa': 'controller_taken',
  '0x53ac4f07': 'not_registrar',
  '0x962248c1': 'not_registrar',
  '0x992b5308': 'consent_expired',
  '0xb97e753d': 'consent_expired',
  '0x94db27a5': 'consent_invalid',
  '0xf29da020': 'not_key_of',
  '0xd93ad991': 'not_key_of',
};
