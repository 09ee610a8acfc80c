/** The calls of `contracts/Account2.sol` that propose, finish and veto a recovery. */
import { uint256Word } from './contract-call.ts';
import type { ChainReader } from './rpc.ts';
import { type PlannedCall, type SimulatedCall, simulateCall } from './simulation.ts';

/**
 * Why a recovery's call is not made: the error that its account would answer, `reverted` for any other reason;
 * `upgraded` where the account runs other code than its factory's.
 */
export type RecoveryRefusal = (typeof REFUSALS)[keyof typeof REFUSALS] | 'upgraded' | 'too_costly' | 'reverted';

/** The contents of a proposal: the new key, its label and the commitment that it acts on, both 0x-hex of 32 bytes. */
export interface ProposedKey {
  readonly x: bigint;
  readonly y: bigint;
  readonly label: string;
  readonly commitment: string;
}

/** The call `proposeRecovery(x, y, label, commitment)`: the account refuses another commitment than its own. */
export function proposeRecoveryData({ x, y, label, commitment }: ProposedKey): string {
  return `0x8f80db03${uint256Word(x)}${uint256Word(y)}${label.slice(2)}${commitment.slice(2)}`;
}

/** The call `finishRecovery()`. */
export function finishRecoveryData(): string {
  return '0xc7423803';
}

/** The call `cancelRecovery()`: the guardian's own withdrawal. */
export function cancelRecoveryData(): string {
  return '0x0ba234d6';
}

/** The call `vetoRecovery(signature)`; the signature is 0x-hex. */
export function vetoRecoveryData(signature: string): string {
  const hex = signature.slice(2);
  const padded = hex.padEnd(Math.ceil(hex.length / 64) * 64, '0');
  return `0x04da66d8${uint256Word(32n)}${uint256Word(BigInt(hex.length / 2))}${padded}`;
}

/**
 * Simulates a recovery's call. Gas is capped, since an account whose owners gave it other code might use any amount.
 * Throws 502 `rpc_error` when the chain cannot be asked.
 */
export async function simulateRecoveryCall(
  chain: ChainReader,
  call: PlannedCall,
): Promise<SimulatedCall<RecoveryRefusal>> {
  const simulated = await simulateCall<RecoveryRefusal>(chain, call, REFUSALS);
  return 'gas' in simulated && simulated.gas > RECOVERY_GAS_MAX ? { refusal: 'too_costly' } : simulated;
}

/** More than a veto takes on a chain that verifies P-256 in Solidity. */
export const RECOVERY_GAS_MAX = 1_000_000n;

/** By the selectors of the account's errors. */
const REFUSALS = {
  '0xef6d0f02': 'not_guardian',
  '0x2f0f9ed6': 'commitment_differs',
  '0xc9e71f29': 'barred',
  '0x1bec7830': 'pending',
  '0xc993b993': 'no_recovery',
  '0x7b26c166': 'not_ready',
  '0x50b425ea': 'key_is_owner',
  '0x76d4e1e8': 'key_invalid',
  '0x3f871af4': 'veto_invalid',
  '0xe5298400': 'too_many_keys',
} as const;
