// Changes of an account: user operations that its owner's passkey signs, priced before and followed after.
import { nonceOf } from '../../client/payment-nonce.ts';
import type { Call } from '../../client/wallet/abi.ts';
import type { Account } from '../../client/wallet/account.ts';
import type { Hex } from '../../client/wallet/bytes.ts';
import type { Enclave } from '../../client/wallet/enclave.ts';
import { batchOf, feeOf, type Operation } from '../../client/wallet/operation.ts';
import { draftOf, type Standing, signOperation, withSponsor } from '../../client/wallet/send.ts';
import { type Config, RefusedError, UnreachableError } from '../../client/wallet/vault.ts';
import * as api from '../wallet/api.ts';
import { isSearched, judge, type Version } from '../wallet/judge.ts';
import { ProblemError } from './problem.ts';

/** The parts that every step of the page uses. */
export interface World {
  readonly config: Config;
  readonly enclave: Enclave;
}

/** An operation that lacks only its signature, and the most that it costs the account, in wei; 0 with a sponsor. */
export interface Price {
  readonly operation: Operation;
  readonly standing: Standing;
  readonly fee: bigint;
  /** The wei that the account can pay for fees. */
  readonly has: bigint;
  readonly entryPoint: Hex;
}

/** The call data of an account for calls of contracts, or of itself. */
export function callDataOf(account: Account, calls: readonly Call[]): Hex {
  const [first] = calls;
  // The account's own functions take the EntryPoint as their caller.
  if (first && calls.length === 1 && first.to === account.address && account.kind === 2) return first.data;
  return batchOf(calls.map(({ to, value, data }) => ({ target: to, value, data })));
}

/**
 * Asks the chain and the sponsor for the price. `earlier` was signed for the same calls: of both at most one happens.
 * Throws `RefusedError` if the calls would fail.
 */
export async function priceOf(
  { config }: World,
  account: Account,
  calls: readonly Call[],
  earlier?: Sent,
): Promise<Price> {
  const { entryPoint } = config;
  if (entryPoint === null) throw new ProblemError('refused', 'This network has no contracts for accounts.');
  const [ether, standing, nonce] = await Promise.all([
    api.readToken('native', account.address),
    api.readStanding(account),
    // A sequence of its own: operations do not wait for each other.
    earlier?.nonce ?? nonceOf(crypto.randomUUID()),
  ]);
  const draft = draftOf(account, standing, { callData: callDataOf(account, calls), nonce, config });
  const operation = await withSponsor(draft, entryPoint, config, api.gas);
  return { operation, standing, fee: feeOf(operation), has: ether.balance + ether.deposit, entryPoint };
}

/** A change on its way, as the page remembers it over a reload: all that was signed for one nonce. */
export interface Sent {
  readonly account: Hex;
  readonly chainId: number;
  readonly entryPoint: Hex;
  readonly nonce: Hex;
  /** The block from which its operation is looked for. */
  readonly since: number;
  readonly versions: readonly Version[];
  readonly title: string;
  readonly done: readonly [string, string];
  /** The screen that follows. */
  readonly next: string;
  /** The key that it removes from the account. */
  readonly removes?: Hex | undefined;
}

/** Has the passkey sign. Throws `PasskeyError`. */
export function sign(world: World, account: Account, { operation, standing, entryPoint }: Price) {
  return signOperation(account, operation, { ...world, standing, entryPoint });
}

/** Sends a signed operation; answers what the bundler said against it. That decides nothing: only a block does. */
export async function send(operation: Operation, entryPoint: Hex): Promise<string | undefined> {
  try {
    await api.send(operation, entryPoint);
  } catch (error) {
    if (error instanceof RefusedError) return api.isHad(error) ? undefined : error.message;
    if (error instanceof UnreachableError) return '';
    throw error;
  }
  return undefined;
}

/** The outcome of a change: its calls succeeded, or they failed, or it ended unused. */
export type Outcome = 'done' | 'reverted' | 'ended';

/** Waits for a change's block, while `tick` says that somebody waits. Only a final one shows that it did not happen. */
export async function settle(sent: Sent, tick: () => boolean): Promise<Outcome> {
  const { account, nonce, versions } = sent;
  let { since } = sent;
  const slowAt = Date.now() + FAST_MS;
  while (tick()) {
    const hint = versions.at(-1)?.userOpHash ?? '0x';
    const outcome = await api.readOutcome({ account, nonce, since, hint }).catch(() => undefined);
    const verdict = outcome && judge({ ...sent, token: 'native' }, outcome);
    if (verdict?.is === 'paid') return 'done';
    if (verdict?.is === 'nothing') return verdict.why === 'ended' ? 'ended' : 'reverted';
    if (outcome?.operation) since = outcome.operation.block;
    else if (outcome) since = isSearched(outcome) ? sent.since : outcome.next;
    await new Promise((resolve) => setTimeout(resolve, Date.now() < slowAt ? POLL_MS : POLL_SLOW_MS));
  }
  return 'ended';
}

/** Many people may share one address, and the vault counts its questions. */
const POLL_MS = 1_500;
const POLL_SLOW_MS = 6_000;
const FAST_MS = 45_000;
