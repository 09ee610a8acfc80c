import { MINUTE_MS } from '../base/clock.ts';
import { worstFailure } from '../base/error.ts';
import { hasCode } from '../chain/contract-call.ts';
import { readSignerState, type SignerState } from '../chain/signer-state.ts';
import { RELAY_LOW_BALANCE_TIMES_MIN } from '../constants.ts';
import { catchUp, closeGap } from './nonce.ts';
import { feesOf, RELAY_IN_FLIGHT_MAX, signQueued, simulateAll } from './sign.ts';
import { recordGenesis, selectGenesis } from './signer-store.ts';
import { type RelayRow, selectAttempts, selectBacklog, selectQueued, selectSent, toAttempt, toRelay } from './store.ts';
import { readTracked, trackRelay } from './track.ts';
import type { Relayer } from './transactions.ts';

/** Sent relays that one turn looks at. */
export const RELAY_SENT_MAX = 100;
/** The age from which a relay that is not mined is reported as stuck. */
const RELAY_STUCK_MS = 2 * MINUTE_MS;

/** Conditions that block relaying or soon will, most severe first. `docs/operating.md` has the remedy of each. */
export const RELAY_BLOCKERS = [
  'chain_reset',
  'unreachable',
  'no_registry',
  'nonce_jump',
  'unfunded',
  'not_registrar',
  'fees_above_cap',
  'stuck',
  'low_balance',
] as const;

/** A member of `RELAY_BLOCKERS`. */
export type RelayBlocker = (typeof RELAY_BLOCKERS)[number];

/**
 * The result of a turn: whether anything changed, so that there may be more to do, and the condition that blocks
 * relaying.
 */
export interface Turn {
  readonly changed: boolean;
  readonly blocker: RelayBlocker | null;
}

/**
 * One turn: reads the chain in one batch, simulates queued relays, follows sent ones and signs queued ones. Throws 502
 * `rpc_error`, with some of it done.
 */
export async function runTurn(relayer: Relayer): Promise<Turn> {
  const { db, clock, signer } = relayer;
  const now = clock.now();
  const [sentRows, queuedRows] = await Promise.all([
    db.read(selectSent(signer, now, RELAY_SENT_MAX)),
    db.read(selectQueued(signer, now, RELAY_IN_FLIGHT_MAX)),
  ]);
  const relays = sentRows.map(toRelay);
  const attempts = (await db.read(selectAttempts(relays))).map(toAttempt);
  const attemptsOf = ({ id }: RelayRow) => attempts.filter(({ relayId }) => relayId === id);
  const [state, isRegistryThere, tracked] = await Promise.all([
    readSignerState(relayer, signer.address),
    hasRegistry(relayer),
    Promise.all(relays.map((relay) => readTracked(relayer, relay, attemptsOf(relay)))),
  ]);
  if (!(await isSameChain(relayer, state))) return { changed: false, blocker: 'chain_reset' };
  const next = await catchUp(relayer, state);
  // Without a nonce nothing is signed, and whether it would succeed is asked for nothing.
  const simulated = next ? await simulateAll(relayer, queuedRows.map(toRelay), feesOf(relayer, state)) : [];
  const followed = await Promise.allSettled(tracked.map((one) => trackRelay(relayer, state, one)));
  const isGap = next !== undefined && (await closeGap(relayer, state, relays, next.nonce));
  const inFlight = relays.filter(({ status, signer: by }) => status === 'signed' && by === signer.address).length;
  const ready = isRegistryThere ? simulated : simulated.filter(({ relay }) => relay.kind !== 'registration');
  const signed = next ? await signQueued(relayer, state, ready, { nextNonce: next.nonce, inFlight }) : false;
  const failure = worstFailure(followed);
  if (failure) throw failure;
  const changed = signed === true || followed.some((result) => result.status === 'fulfilled' && result.value);
  if (!isRegistryThere) return { changed, blocker: 'no_registry' };
  if (typeof signed === 'string') return { changed, blocker: signed };
  const isJump = isGap || next === undefined || next.isDoubted;
  return { changed, blocker: isJump ? 'nonce_jump' : await findBlocker(relayer, state) };
}

/**
 * Whether the chain is the one whose nonces and blocks are stored: a restarted development chain has the same id and
 * another first block.
 */
async function isSameChain({ db, signer }: Relayer, { genesis }: SignerState): Promise<boolean> {
  const [known] = await db.read(selectGenesis(signer.chainId));
  if (known) return known['genesis'] === genesis;
  await db.write(recordGenesis(signer.chainId, genesis));
  return true;
}

/** Whether the registry that the registrar calls has code; true of the guardian, who calls accounts. */
async function hasRegistry(relayer: Relayer): Promise<boolean> {
  const { config, role } = relayer;
  return role !== 'registrar' || config.didRegistryAddress === null || hasCode(relayer, config.didRegistryAddress);
}

/** Finds a condition that the operator should know of although the turn succeeded. */
async function findBlocker(relayer: Relayer, { balance }: SignerState): Promise<RelayBlocker | null> {
  const { config, metrics, role } = relayer;
  metrics.gauge('vault_relay_balance_ether').set(Number(balance) / 1e18, { signer: role });
  if (balance < config.relayMinBalance) return 'unfunded';
  if ((await readBacklog(relayer)).oldestMs > RELAY_STUCK_MS) return 'stuck';
  return balance < config.relayMinBalance * BigInt(RELAY_LOW_BALANCE_TIMES_MIN) ? 'low_balance' : null;
}

/** Sets the relay's metrics from the database, so that they are right in a process where another one relays. */
export async function recordRelayState(relayer: Relayer, now: RelayBlocker | null): Promise<void> {
  const { metrics, role: signer } = relayer;
  const { counts, oldestMs } = await readBacklog(relayer);
  const troubles = metrics.gauge('vault_relay_trouble');
  for (const trouble of RELAY_BLOCKERS) troubles.set(trouble === now ? 1 : 0, { signer, trouble });
  const relays = metrics.gauge('vault_relays');
  for (const [status, count] of Object.entries(counts)) relays.set(count, { signer, status });
  metrics.gauge('vault_relay_oldest_seconds').set(oldestMs / 1000, { signer });
}

/** The open relays by status, and the age of the oldest one that is not mined, in milliseconds. */
async function readBacklog({ db, clock, signer }: Relayer) {
  const counts = { queued: 0, signed: 0, mined: 0 };
  let since = clock.now();
  for (const row of await db.read(selectBacklog(signer))) {
    const status = row['status'] as keyof typeof counts;
    counts[status] = Number(row['relays']);
    if (status !== 'mined') since = Math.min(since, Number(row['since']));
  }
  return { counts, oldestMs: clock.now() - since };
}
