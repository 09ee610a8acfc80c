import { raiseFees } from '../chain/fees.ts';
import {
  CONFIRMATION_FINAL_DEPTH_BLOCKS,
  nextCheckAt,
  readReceipt,
  type TransactionReceipt,
} from '../chain/receipts.ts';
import { isRegistered } from '../chain/registry.ts';
import type { SignerState } from '../chain/signer-state.ts';
import { readCommonFinal } from '../chain/witness.ts';
import { mineRelay, reopenRelay, replaceAttempt, requeueRelay } from './change-store.ts';
import { registrationOf, simulateRelay } from './contract-calls.ts';
import { endDone, endRefused } from './end-relay.ts';
import { RELAY_SETTLED_BLOCKS, readNonceAtDepth } from './nonce-at-depth.ts';
import { findDone, isCanonical, isRegistryMissing, isShown } from './proof.ts';
import type { RelayAttempt, RelayRow } from './store.ts';
import { broadcast, callAttempt, noopAttempt, type Relayer, recordOutcome } from './transactions.ts';

/**
 * Blocks that may pass without the transaction until its fee is raised, and the versions after which only its nonce
 * is freed.
 */
export const RELAY_STUCK_BLOCKS = 5;
const RELAY_ATTEMPTS_MAX = 12;

/** A relay with a nonce, every version of its transaction, oldest first, and the node's answers about them. */
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
  if (made && isShown(relay, made)) return settle(relayer, state, relay, made);
  if (made) return endUnshown(relayer, state, relay, made);
  if (relay.status === 'mined') return reopen(relayer, state, relay);
  const [spent] = mined;
  // A revert, or a nonce that was only freed. A re-org may still mine the call instead, so wait until it is
  // deep.
  if (spent) return isDeep(state, spent) && (await end(relayer, tracked, spent));
  const isOwn = relay.signer === relayer.signer.address;
  if (isOwn && relay.nonce !== null && relay.nonce < state.nonce) return recover(relayer, state, relay, relay.nonce);
  const newest = tracked.attempts.at(-1);
  if (!newest) return false;
  if (!tracked.isKnown) await broadcast(relayer, newest);
  return isOwn && isStuck(state, relay, newest) && replace(relayer, state, tracked, newest);
}

function isDeep({ head }: SignerState, { block }: TransactionReceipt): boolean {
  return head - block >= RELAY_SETTLED_BLOCKS;
}

type Mined = TrackedRelay['mined'][number];

/** Takes the call as made, and watches it until its block is final and deep. */
async function settle(relayer: Relayer, { head }: SignerState, relay: RelayRow, found: Mined): Promise<boolean> {
  const { block, blockHash, attempt } = found;
  // A recovery's call is only followed here: its result is read from its account.
  if (relay.kind === 'registration' && !(await isCanonical(relayer, relay, attempt.hash, found))) return false;
  const isFinal = block <= (await readCommonFinal(relayer));
  const isSettled = isFinal && head - block >= CONFIRMATION_FINAL_DEPTH_BLOCKS;
  const now = relayer.clock.now();
  const next = isSettled ? null : nextCheckAt(relay.checks, now);
  const mined = { txHash: attempt.hash, block, blockHash, isFinal, nextCheckAt: next };
  const [isNew] = await relayer.db.write(...mineRelay(relay, mined, now));
  const isNews = isNew?.rowsAffected === 1;
  if (isNews && relay.status === 'signed') recordOutcome(relayer, relay, 'confirmed', { tx: attempt.hash, block });
  return isNews;
}

/**
 * The registration's transaction is mined, but its registry says nothing of it. While the registry has no code it may
 * be the wrong node, or the wrong branch: that is not known yet. Else it is over once it is deep.
 */
async function endUnshown(relayer: Relayer, state: SignerState, relay: RelayRow, found: Mined): Promise<boolean> {
  if (relay.status === 'mined') return found.blockHash !== relay.minedHash && reopen(relayer, state, relay);
  if (!isDeep(state, found) || (await isRegistryMissing(relayer, relay))) return false;
  return (await isCanonical(relayer, relay, found.attempt.hash, found)) && endRefused(relayer, relay, 'no_event');
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
async function recover(relayer: Relayer, state: SignerState, relay: RelayRow, nonce: number): Promise<boolean> {
  const deep = await readNonceAtDepth(relayer, state, RELAY_SETTLED_BLOCKS);
  if (deep === undefined || deep <= nonce) return false;
  const why = { reason: 'nonce_spent_elsewhere' };
  const done = await findDone(relayer, relay);
  if (done !== 'no') return endDone(relayer, relay, done, why);
  const [queued] = await relayer.db.write(...requeueRelay(relay));
  if (queued?.rowsAffected !== 1) return false;
  recordOutcome(relayer, relay, 'submitted', why);
  return true;
}

/**
 * Ends a relay whose transaction reverted, or whose nonce was freed. A call that was given up because it would have
 * reverted, and would no longer after a re-org, is queued again: its own transaction may have been on the block that
 * is gone.
 */
async function end(relayer: Relayer, { relay, attempts }: TrackedRelay, found: Mined): Promise<boolean> {
  const { attempt } = found;
  if (!(await isCanonical(relayer, relay, attempt.hash, found))) return false;
  const simulation = await simulateRelay(relayer, relay);
  const isFreed = attempt.kind === 'noop' && attempts.length < RELAY_ATTEMPTS_MAX;
  if (isFreed && 'gas' in simulation) {
    const [queued] = await relayer.db.write(...requeueRelay(relay));
    return queued?.rowsAffected === 1;
  }
  return endRefused(relayer, relay, 'refusal' in simulation ? simulation.refusal : 'reverted');
}

/** Whether the registry has the registration now. */
async function isStanding(relayer: Relayer, relay: RelayRow): Promise<boolean> {
  return relay.kind === 'registration' && isRegistered(relayer, registrationOf(relay));
}

async function isAnyMined(relayer: Relayer, attempts: readonly RelayAttempt[]): Promise<boolean> {
  const receipts = await Promise.all(attempts.map(({ hash }) => readReceipt(relayer, hash)));
  return receipts.some((receipt) => receipt !== undefined);
}

/** Whether it has waited for some blocks although it is next, or its fee is below the blocks' base fee. */
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
  const simulation = await simulateRelay(relayer, relay, fees);
  const isRefused = 'refusal' in simulation;
  // Refused because one of its own versions has just been mined: the receipt shows it, or will.
  if (isRefused && ((await isAnyMined(relayer, attempts)) || (await isStanding(relayer, relay)))) return false;
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
