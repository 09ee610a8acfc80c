import { raiseFees } from '../chain/fees.ts';
import { readFinalBlock } from '../chain/finality.ts';
import { CONFIRMATION_FINAL_DEPTH_BLOCKS, nextCheckAt } from '../chain/next-check.ts';
import { readReceipt, type TransactionReceipt } from '../chain/receipts.ts';
import { readNonce, type SignerState } from '../chain/signer-state.ts';
import { confirmRelay, mineRelay, reopenRelay, replaceAttempt, requeueRelay } from './change-store.ts';
import { isDone, simulateRelay } from './kinds.ts';
import type { RelayAttempt, RelayRow } from './store.ts';
import { broadcast, callAttempt, endRefused, noopAttempt, type Relayer, recordOutcome } from './transactions.ts';

/**
 * Blocks that may pass without the transaction until its fee is raised, and the versions after which only its nonce
 * is freed.
 */
export const RELAY_STUCK_BLOCKS = 5;
const RELAY_ATTEMPTS_MAX = 12;
/** Blocks on top before a revert, or a nonce spent by another transaction, is taken as final. */
export const RELAY_SETTLED_BLOCKS = 12;

/** A relay with a nonce, every version of its transaction, oldest first, and what the node knows of them. */
export interface TrackedRelay {
  readonly relay: RelayRow;
  readonly attempts: readonly RelayAttempt[];
  /** The receipts found; of one nonce at most one. */
  readonly mined: readonly (TransactionReceipt & { readonly attempt: RelayAttempt })[];
  /** Whether the node knows the newest version, mined or pending. */
  readonly isKnown: boolean;
}

/** Reads the receipts of every version, since any of them may be the mined one. Throws 502 `rpc_error`. */
export async function readTracked(
  relayer: Relayer,
  relay: RelayRow,
  attempts: readonly RelayAttempt[],
): Promise<TrackedRelay> {
  const { config, rpc } = relayer;
  const [receipts, known] = await Promise.all([
    Promise.all(attempts.map(({ hash }) => readReceipt(relayer, hash))),
    rpc.call(config.chainId, 'eth_getTransactionByHash', [attempts.at(-1)?.hash]),
  ]);
  const mined = attempts.flatMap((attempt, i) => (receipts[i] ? [{ ...receipts[i], attempt }] : []));
  return { relay, attempts, mined, isKnown: known !== null };
}

/**
 * Moves a relay one step on, by the chain's current state; returns whether anything changed. Throws 502 `rpc_error`.
 */
export async function trackRelay(relayer: Relayer, state: SignerState, tracked: TrackedRelay): Promise<boolean> {
  const { relay, mined } = tracked;
  const made = mined.find(({ succeeded, attempt }) => succeeded && attempt.kind === 'call');
  if (made) return settle(relayer, state, relay, made);
  if (relay.status === 'mined') return reopen(relayer, state, relay);
  const [spent] = mined;
  // A revert, or a nonce that was only freed. A re-org may still mine the call instead, so wait until it is
  // deep.
  if (spent) return state.head - spent.block >= RELAY_SETTLED_BLOCKS && (await end(relayer, tracked, spent));
  const isOwn = relay.signer === relayer.signer.address;
  if (isOwn && relay.nonce !== null && relay.nonce < state.nonce) return recover(relayer, state, relay, relay.nonce);
  const newest = tracked.attempts.at(-1);
  if (!newest) return false;
  if (!tracked.isKnown) await broadcast(relayer, newest);
  return isOwn && isStuck(state, relay, newest) && replace(relayer, state, tracked, newest);
}

/** Takes the call as made, and watches it until its block is final and deep. */
async function settle(
  relayer: Relayer,
  { head }: SignerState,
  relay: RelayRow,
  { block, blockHash, attempt }: TrackedRelay['mined'][number],
): Promise<boolean> {
  const isFinal = block <= (await readFinalBlock(relayer));
  const isSettled = isFinal && head - block >= CONFIRMATION_FINAL_DEPTH_BLOCKS;
  const now = relayer.clock.now();
  const next = isSettled ? null : nextCheckAt(relay.checks, now);
  const mined = { txHash: attempt.hash, block, blockHash, isFinal, nextCheckAt: next };
  const [isNew] = await relayer.db.write(...mineRelay(relay, mined, now));
  const isNews = isNew?.rowsAffected === 1;
  if (isNews && relay.status === 'signed') recordOutcome(relayer, relay, 'confirmed', { tx: attempt.hash, block });
  return isNews;
}

/** A re-org removed its block: the same bytes are sent again. */
async function reopen(relayer: Relayer, { head }: SignerState, relay: RelayRow): Promise<boolean> {
  const [reopened] = await relayer.db.write(...reopenRelay(relay, head, relayer.clock.now()));
  if (reopened?.rowsAffected === 1) recordOutcome(relayer, relay, 'submitted', { reason: 'reorg' });
  return true;
}

/**
 * The nonce is spent, but by none of its versions: the key was used elsewhere. Final only once deep, since a receipt
 * may be late.
 */
async function recover(relayer: Relayer, { head }: SignerState, relay: RelayRow, nonce: number): Promise<boolean> {
  const depth = head - RELAY_SETTLED_BLOCKS;
  if (depth < 0 || (await readNonce(relayer, relayer.signer.address, depth)) <= nonce) return false;
  const isOurs = await isDone(relayer, relay);
  await relayer.db.write(...(isOurs ? confirmRelay(relay, relayer.clock.now()) : [requeueRelay(relay)]));
  recordOutcome(relayer, relay, isOurs ? 'confirmed' : 'submitted', { reason: 'nonce_spent_elsewhere' });
  return true;
}

/**
 * Ends a relay whose transaction reverted, or whose nonce was freed. A recovery's call that was given up because it
 * would have reverted, and would no longer after a re-org, is queued again.
 */
async function end(
  relayer: Relayer,
  { relay, attempts }: TrackedRelay,
  { attempt }: TrackedRelay['mined'][number],
): Promise<boolean> {
  const simulation = await simulateRelay(relayer, relayer.signer.address, relay);
  const isFreed = relay.kind !== 'registration' && attempt.kind === 'noop' && attempts.length < RELAY_ATTEMPTS_MAX;
  if (isFreed && 'gas' in simulation) {
    const [queued] = await relayer.db.write(requeueRelay(relay));
    return queued?.rowsAffected === 1;
  }
  await endRefused(relayer, relay, 'refusal' in simulation ? simulation.refusal : 'reverted');
  return true;
}

async function isAnyMined(relayer: Relayer, attempts: readonly RelayAttempt[]): Promise<boolean> {
  const receipts = await Promise.all(attempts.map(({ hash }) => readReceipt(relayer, hash)));
  return receipts.some((receipt) => receipt !== undefined);
}

/** Whether it has waited for some blocks although it is next, or its fee is below what the blocks ask. */
function isStuck({ head, nonce, market }: SignerState, relay: RelayRow, newest: RelayAttempt): boolean {
  const hasWaited = head - (relay.waitingSince ?? head) >= RELAY_STUCK_BLOCKS;
  return hasWaited && (relay.nonce === nonce || newest.maxFee < market.baseFee);
}

/**
 * Replaces the transaction by one with a higher fee. If the call would revert by now, or was tried often
 * enough, only the nonce is freed.
 */
async function replace(
  relayer: Relayer,
  state: SignerState,
  tracked: TrackedRelay,
  newest: RelayAttempt,
): Promise<boolean> {
  const { relay, attempts } = tracked;
  const fees = raiseFees(newest, state.market, relayer.config.relayMaxFeeGwei);
  if (!fees || relay.nonce === null || state.balance < newest.gas * fees.maxFee) return false;
  const simulation = await simulateRelay(relayer, relayer.signer.address, relay);
  const isRefused = 'refusal' in simulation;
  // Refused because one of its own versions has just been mined: the receipt shows it, or will.
  if (isRefused && ((await isAnyMined(relayer, attempts)) || (await isDone(relayer, relay)))) return false;
  const isGivenUp = isRefused || newest.kind === 'noop' || attempts.length >= RELAY_ATTEMPTS_MAX;
  const attempt = isGivenUp
    ? noopAttempt(relayer, relay.nonce, fees)
    : callAttempt(relayer, relay, relay.nonce, newest.gas, fees);
  const [replaced] = await relayer.db.write(...replaceAttempt(relay, attempt, state.head));
  if (replaced?.rowsAffected !== 1) return false;
  await broadcast(relayer, attempt);
  recordOutcome(relayer, relay, 'signed', { tx: attempt.hash, attempt: attempts.length + 1, kind: attempt.kind });
  return true;
}
