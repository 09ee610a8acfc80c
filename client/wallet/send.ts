// An account's operation from its draft to the bytes that a bundler takes.

import { type Account, type AccountState, factoryOf, indexOf, NoAccountError } from './account.ts';
import { formatAmount } from './amount.ts';
import { type Hex, toHex } from './bytes.ts';
import { VALID_SECONDS_MAX } from './constants.ts';
import type { Enclave } from './enclave.ts';
import {
  type Creation,
  costOf,
  draftOperation,
  factoryDataOf,
  type Operation,
  signatureHead,
  withGas,
} from './operation.ts';
import { askPasskey } from './passkey.ts';
import { type Config, type Fees, RefusedError } from './vault.ts';
import { isSignedBy } from './verify.ts';

/** The chain's state of an account and of its next block. `at` is the device's time of it, in milliseconds. */
export interface Standing {
  readonly state: AccountState;
  readonly fees: Fees;
  readonly at: number;
}

/**
 * The operation that makes a call of the account, and deploys the account if needed; without gas. Throws
 * `NoAccountError` where that cannot be done.
 */
export function draftOf(
  account: Account,
  { state, fees }: Standing,
  { callData, nonce, config }: { readonly callData: Hex; readonly nonce: Hex; readonly config: Config },
): Operation {
  const { maxFeePerGas, maxPriorityFeePerGas, p256 } = fees;
  return draftOperation({
    sender: account.address,
    nonce,
    callData,
    kind: account.kind,
    creation: state.isDeployed ? undefined : creationOf(account, config),
    maxFeePerGas,
    maxPriorityFeePerGas,
    p256,
  });
}

/** The creation of an account. Throws `NoAccountError` if its key is unknown, or the vault names no factory for it. */
function creationOf({ kind, x, y }: Account, config: Config): Creation {
  const factory = factoryOf(config, kind);
  if (x === undefined || y === undefined || factory === undefined) throw new NoAccountError();
  return { factory, factoryData: factoryDataOf(x, y) };
}

/** An operation may cost more in fees than the vault's operator allows. Nothing was signed. */
export class FeeBoundError extends Error {
  override readonly name = 'FeeBoundError';
}

/** Throws `FeeBoundError` for an operation that may cost its account or its sponsor more than `feeMax`. */
export function checkFee(operation: Operation, { feeMax }: Pick<Config, 'feeMax'>): Operation {
  const cost = costOf(operation);
  if (cost <= BigInt(feeMax)) return operation;
  const ether = (wei: bigint) => `${formatAmount(wei, 18)} ETH`;
  throw new FeeBoundError(`Up to ${ether(cost)}; the operator of this vault allows ${ether(BigInt(feeMax))}.`);
}

/** How a bundler and its sponsor are asked for gas. Both throw `RefusedError`. */
export interface GasSource {
  sponsor(operation: Operation, entryPoint: string): Promise<unknown>;
  estimate(operation: Operation, entryPoint: string): Promise<unknown>;
}

/**
 * The draft with gas, and with a paymaster if one sponsors it; else the account pays. Throws `RefusedError` if it would
 * fail on-chain, and `FeeBoundError`.
 */
export async function withSponsor(
  draft: Operation,
  entryPoint: Hex,
  config: Pick<Config, 'feeMax'>,
  gas: GasSource,
): Promise<Operation> {
  try {
    return checkFee(withGas(draft, await gas.sponsor(draft, entryPoint)), config);
  } catch (error) {
    if (!(error instanceof RefusedError)) throw error;
  }
  try {
    return checkFee(withGas(draft, await gas.estimate(draft, entryPoint)), config);
  } catch (error) {
    if (!(error instanceof RefusedError)) throw error;
    // The account cannot pay for gas. The draft shows the least that it would take.
    if (error.aa === 'AA21') return checkFee(draft, config);
    const { factory, factoryData, ...created } = draft;
    // Somebody has created the account meanwhile.
    if (error.aa === 'AA10' && factory !== undefined) return withSponsor(created, entryPoint, config, gas);
    throw error;
  }
}

/** A signed operation. `validUntil` is its last second by the chain's time; absent if it never ends. */
export interface Signed {
  readonly operation: Operation;
  readonly userOpHash: Hex;
  readonly validUntil?: number;
}

/** The parts needed to sign. */
export interface Signing {
  readonly config: Pick<Config, 'rpId' | 'chainId' | 'feeMax'>;
  readonly enclave: Enclave;
  readonly entryPoint: Hex;
  readonly standing: Standing;
  /** The operation may end no later than this, in the device's milliseconds. */
  readonly endsBy?: number;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Has the account's passkey sign. A signature for an account of kind 2 ends 10 minutes from now at the latest. Throws
 * `PasskeyError`, `FeeBoundError`, and `NoAccountError` if the passkey is not one of the account's keys.
 */
export async function signOperation(account: Account, operation: Operation, signing: Signing): Promise<Signed> {
  const { config, enclave, entryPoint, standing, signal } = signing;
  checkFee(operation, config);
  const hash = enclave.userOpHash(operation, entryPoint, config.chainId);
  const userOpHash = toHex(hash);
  const { credentialId, address, x, y } = account;
  const sign = async (challenge: Uint8Array<ArrayBuffer>) => {
    const assertion = await askPasskey(config.rpId, challenge, [credentialId], { signal });
    // A shop may have named the account: only the passkey's own signature shows that it is its.
    if (x && y && !(await isSignedBy({ x, y }, assertion, enclave))) throw new NoAccountError(address);
    return enclave.packAssertion(assertion);
  };
  if (account.kind === 1) return { operation: { ...operation, signature: await sign(hash) }, userOpHash };
  const index = standing.state.isDeployed ? indexOf(standing.state, account) : 0;
  if (index === undefined) throw new NoAccountError(address);
  const now = Date.now();
  const seconds = Math.min(VALID_SECONDS_MAX, Math.floor(((signing.endsBy ?? Infinity) - now) / 1000));
  const validUntil = standing.fees.time + Math.floor((now - standing.at) / 1000) + seconds;
  const assertion = await sign(enclave.operationDigest(hash, validUntil));
  const signature: Hex = `${signatureHead(index, validUntil)}${assertion.slice(2)}`;
  return { operation: { ...operation, signature }, userOpHash, validUntil };
}
