import { raise } from '../chain/fees.ts';
import { CONFIRMATION_FINAL_DEPTH_BLOCKS, nextCheckAt } from '../chain/next-check.ts';
import { type Receipt, readReceipt } from '../chain/receipts.ts';
import { isRegistered, simulate } from '../chain/registry.ts';
import { readNonce, type Standing } from '../chain/signer-state.ts';
import { confirmRelay, mineRelay, reopenRelay, replaceAttempt, requeueRelay } from './change-store.ts';
import type { Attempt, RelayRow } from './store.ts';
import { broadcast, callAttempt, judge, noopAttempt, type Relayer, tell } from './transactions.ts';

/** Blocks without the transaction until it is sent with a higher fee, and how many such attempts until only its nonce is freed. */
export const RELAY_STUCK_BLOCKS = 5;
const RELAY_ATTEMPTS_MAX = 12;
/** Blocks on top until a revert, or a nonce that another spent, is believed. */
export const RELAY_SETTLED_BLOCKS = 12;

/** A relay that has a nonce, with every version of its transaction, oldest first, and what the chain knows of them. */
export interface Sent {
  readonly relay: RelayRow;
  readonly attempts: readonly Attempt[];
  /** The receipts there are; of one nonce at most one. */
  readonly mined: readonly (Receipt & { readonly attempt: Attempt })[];
  /** Whether the node has the newest version, mined or waiting. */
  readonly isKnown: boolean;
}

/** Asks for the receipts of every version, since any of them may be the one that was mined. Throws 502 `rpc_error`. */
export async function readSent(relayer: Relayer, relay: RelayRow, attempts: readonly Attempt[]): Promise<Sent> {
  const { config, rpc } = relayer;
  const [receipts, known] = await Promise.all([
    Promise.all(attempts.map(({ hash }) => readReceipt(relayer, hash))),
    rpc.call(config.chainId, 'eth_getTransactionByHash', [attempts.at(-1)?.hash]),
  ]);
  const mined = attempts.flatMap((attempt, i) => (receipts[i] ? [{ ...receipts[i], attempt }] : []));
  return { relay, attempts, mined, isKnown: known !== null };
}

/** Follows a relay one step, by what the chain says of it now; returns whether anything changed. Throws 502 `rpc_error`. */
export async function follow(relayer: Relayer, standing: Standing, sent: Sent): Promise<boolean> {
  const { relay, mined } = sent;
  const registered = mined.find(({ succeeded, attempt }) => succeeded && attempt.kind === 'call');
  if (registered) return settle(relayer, standing, relay, registered);
  if (relay.status === 'mined') return reopen(relayer, standing, relay);
  const [spent] = mined;
  // A revert, or a nonce that was only freed. A re-org may still put the registration in its place, so it is believed once it is deep.
  if (spent) return standing.head - spent.block >= RELAY_SETTLED_BLOCKS && (await end(relayer, relay));
  const isOwn = relay.signer === relayer.signer.address;
  if (isOwn && relay.nonce !== null && relay.nonce < standing.nonce)
    return recover(relayer, standing, relay, relay.nonce);
  const newest = sent.attempts.at(-1);
  if (!newest) return false;
  if (!sent.isKnown) await broadcast(relayer, newest);
  return isOwn && isStuck(standing, relay, newest) && replace(relayer, standing, sent, newest);
}

/** In a block: the registration is confirmed, and watched until that block is deep. */
async function settle(
  relayer: Relayer,
  { head }: Standing,
  relay: RelayRow,
  { block, blockHash, attempt }: Sent['mined'][number],
): Promise<boolean> {
  const isDeep = head - block >= CONFIRMATION_FINAL_DEPTH_BLOCKS;
  const now = relayer.clock.now();
  const place = { txHash: attempt.hash, block, blockHash, nextCheckAt: isDeep ? null : nextCheckAt(relay.checks, now) };
  const results = await relayer.db.write(...mineRelay(relay, place, now));
  const isNews = results.at(-1)?.rowsAffected === 1;
  if (isNews && relay.status === 'signed') tell(relayer, relay, 'confirmed', { tx: attempt.hash, block });
  return isNews;
}

/** A re-org took its block: the same bytes are sent again. */
async function reopen(relayer: Relayer, { head }: Standing, relay: RelayRow): Promise<boolean> {
  const [reopened] = await relayer.db.write(...reopenRelay(relay, head, relayer.clock.now()));
  if (reopened?.rowsAffected === 1) tell(relayer, relay, 'submitted', { reason: 'reorg' });
  return true;
}

/** Its nonce is spent and none of its versions did it: the key was used elsewhere. Believed once that is deep, since a receipt may only be late. */
async function recover(relayer: Relayer, { head }: Standing, relay: RelayRow, nonce: number): Promise<boolean> {
  const depth = head - RELAY_SETTLED_BLOCKS;
  if (depth < 0 || (await readNonce(relayer, relayer.signer.address, depth)) <= nonce) return false;
  const isOurs = await isRegistered(relayer, relay);
  await relayer.db.write(...(isOurs ? confirmRelay(relay, relayer.clock.now()) : [requeueRelay(relay)]));
  tell(relayer, relay, isOurs ? 'confirmed' : 'submitted', { reason: 'nonce_spent_elsewhere' });
  return true;
}

/** The call is refused for good: it reverted, or was given up. */
async function end(relayer: Relayer, relay: RelayRow): Promise<boolean> {
  const simulation = await simulate(relayer, relayer.signer.address, relay);
  await judge(relayer, relay, 'refusal' in simulation ? simulation.refusal : 'reverted');
  return true;
}

/** Some blocks have passed it over, and it is its turn, or its fee is below what they ask. */
function isStuck({ head, nonce, market }: Standing, relay: RelayRow, newest: Attempt): boolean {
  const hasWaited = head - (relay.waitingSince ?? head) >= RELAY_STUCK_BLOCKS;
  return hasWaited && (relay.nonce === nonce || newest.maxFee < market.baseFee);
}

/** Offers more under the same nonce. When the registration would revert by now, or was offered often enough, only the nonce is freed. */
async function replace(relayer: Relayer, standing: Standing, sent: Sent, newest: Attempt): Promise<boolean> {
  const { relay, attempts } = sent;
  const fees = raise(newest, standing.market, relayer.config.relayMaxFeeGwei);
  if (!fees || relay.nonce === null || standing.balance < newest.gas * fees.maxFee) return false;
  const simulation = await simulate(relayer, relayer.signer.address, relay);
  const isRefused = 'refusal' in simulation;
  // Refused because one of its own versions was just mined: the receipt will tell.
  if (isRefused && (await isRegistered(relayer, relay))) return false;
  const isGivenUp = isRefused || newest.kind === 'noop' || attempts.length >= RELAY_ATTEMPTS_MAX;
  const attempt = isGivenUp
    ? noopAttempt(relayer, relay.nonce, fees)
    : callAttempt(relayer, relay, relay.nonce, newest.gas, fees);
  const [replaced] = await relayer.db.write(...replaceAttempt(relay, attempt, standing.head));
  if (replaced?.rowsAffected !== 1) return false;
  await broadcast(relayer, attempt);
  tell(relayer, relay, 'signed', { tx: attempt.hash, attempt: attempts.length + 1, kind: attempt.kind });
  return true;
}
