// Changes of an account: user operations that its owner's passkey signs, priced before and followed after.
import { nonceOf } from '../../client/payment-nonce.ts';
import type { Account } from '../wallet/account.ts';
import * as api from '../wallet/api.ts';
import { type Config, RefusedError } from '../wallet/api.ts';
import type { Hex } from '../wallet/bytes.ts';
import type { Enclave } from '../wallet/enclave.ts';
import { batchOf, feeOf, type Operation } from '../wallet/operation.ts';
import { draftOf, readStanding, type Standing, signOperation, withSponsor } from '../wallet/send.ts';
import type { Call } from './abi.ts';
import { ProblemError } from './problem.ts';

/** What every step of the page has. */
export interface World {
  readonly config: Config;
  readonly enclave: Enclave;
}

/** An operation that lacks only its signature, and the most that it costs the account, in wei; 0 with a sponsor. */
export interface Price {
  readonly operation: Operation;
  readonly standing: Standing;
  readonly fee: bigint;
  /** What the account can pay of fees, in wei. */
  readonly has: bigint;
  readonly entryPoint: Hex;
}

/** What the account is asked to do: calls of contracts, or of itself. */
export function callDataOf(account: Account, calls: readonly Call[]): Hex {
  const [first] = calls;
  // The account's own functions take the EntryPoint as their caller.
  if (first && calls.length === 1 && first.to === account.address && account.kind === 2) return first.data;
  return batchOf(calls.map(({ to, value, data }) => ({ target: to, value, data })));
}

/** Asks the chain and the sponsor for the price. Throws `RefusedError` if the calls would fail. */
export async function priceOf({ config }: World, account: Account, calls: readonly Call[]): Promise<Price> {
  const { entryPoint } = config;
  if (entryPoint === null) throw new ProblemError('refused', 'This network has no contracts for accounts.');
  const [ether, standing, nonce] = await Promise.all([
    api.readToken('native', account.address),
    readStanding(account),
    // A sequence of its own: operations do not wait for each other.
    nonceOf(crypto.randomUUID()),
  ]);
  const draft = draftOf(account, standing, { callData: callDataOf(account, calls), nonce, config });
  const operation = await withSponsor(draft, entryPoint, config);
  return { operation, standing, fee: feeOf(operation), has: ether.balance + ether.deposit, entryPoint };
}

/** A signed operation on its way, as the page remembers it over a reload. */
export interface Sent {
  readonly userOpHash: Hex;
  /** After this moment it cannot happen any more, in milliseconds; absent if it never ends. */
  readonly endsAt?: number;
  readonly title: string;
  readonly done: readonly [string, string];
  /** The screen that follows. */
  readonly next: string;
}

/** Has the passkey sign. Throws `PasskeyError`. */
export function sign(world: World, account: Account, { operation, standing, entryPoint }: Price) {
  return signOperation(account, operation, { ...world, standing, entryPoint });
}

/**
 * Sends a signed operation, once. A refusal is one unless the bundler says that it has the operation, or its receipt is
 * there.
 */
export async function send(operation: Operation, entryPoint: Hex, userOpHash: Hex): Promise<void> {
  try {
    await api.send(operation, entryPoint);
  } catch (error) {
    if (!(error instanceof RefusedError)) throw error;
    if (!api.isHad(error) && !(await api.readReceipt(userOpHash).catch(() => null))) throw error;
  }
}

/** What became of an operation: its calls succeeded, or they failed, or it has ended unused. */
export type Outcome = 'done' | 'reverted' | 'ended';

/**
 * Waits for an operation's block. One that ends by itself is over some time after its end; `tick` says whether anybody
 * still waits.
 */
export async function settle({ userOpHash, endsAt }: Sent, tick: () => boolean): Promise<Outcome> {
  for (;;) {
    const receipt = await api.readReceipt(userOpHash).catch(() => undefined);
    if (receipt) return receipt.success ? 'done' : 'reverted';
    if (receipt === null && endsAt !== undefined && Date.now() > endsAt + GRACE_MS) return 'ended';
    if (!tick()) return 'ended';
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

const POLL_MS = 1_000;
const GRACE_MS = 60_000;
