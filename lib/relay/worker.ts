import { MINUTE_MS } from '../base/clock.ts';
import { worstFailure } from '../base/error.ts';
import { offerFees } from '../chain/fees.ts';
import { readSignerState, type SignerState } from '../chain/signer-state.ts';
import { RELAY_LOW_BALANCE_TIMES_MIN } from '../constants.ts';
import { recallRelays } from './change-store.ts';
import { RELAY_IN_FLIGHT_MAX, signQueued, simulateAll } from './sign.ts';
import { raiseNonce, recordGenesis, selectGenesis, selectSigner, toStoredSigner } from './signer-store.ts';
import {
  type RelayRow,
  selectAttempts,
  selectAttemptsAt,
  selectBacklog,
  selectQueued,
  selectSent,
  toAttempt,
  toRelay,
} from './store.ts';
import { readTracked, trackRelay } from './track.ts';
import { broadcast, noopAttempt, type Relayer } from './transactions.ts';

/** Sent relays that one turn looks at. */
export const RELAY_SENT_MAX = 100;
/** The age from which a relay that is not mined is reported as stuck. */
const RELAY_STUCK_MS = 2 * MINUTE_MS;

/** Conditions that block relaying or soon will, most severe first. `docs/operating.md` says what to do about each. */
export const RELAY_BLOCKERS = [
  'chain_reset',
  'unreachable',
  'unfunded',
  'not_registrar',
  'fees_above_cap',
  'stuck',
  'low_balance',
] as const;

/** A member of `RELAY_BLOCKERS`. */
export type RelayBlocker = (typeof RELAY_BLOCKERS)[number];

/** The result of a turn: whether anything changed, so that there may be more to do, and what blocks relaying. */
export interface Turn {
  readonly changed: boolean;
  readonly blocker: RelayBlocker | null;
}

/**
 * One turn: reads the chain in one batch, follows what was sent and signs what is queued. Throws 502 `rpc_error`,
 * with some of it done.
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
  const [state, tracked, simulated] = await Promise.all([
    readSignerState(relayer, signer.address),
    Promise.all(relays.map((relay) => readTracked(relayer, relay, attemptsOf(relay)))),
    simulateAll(relayer, queuedRows.map(toRelay)),
  ]);
  if (!(await isSameChain(relayer, state))) return { changed: false, blocker: 'chain_reset' };
  const nextNonce = await catchUp(relayer, state);
  const followed = await Promise.allSettled(tracked.map((one) => trackRelay(relayer, state, one)));
  await fillGap(relayer, state, relays);
  const inFlight = relays.filter(({ status, signer: by }) => status === 'signed' && by === signer.address).length;
  const signed = await signQueued(relayer, state, simulated, { nextNonce, inFlight });
  const failure = worstFailure(followed);
  if (failure) throw failure;
  const changed = signed === true || followed.some((result) => result.status === 'fulfilled' && result.value);
  return { changed, blocker: typeof signed === 'string' ? signed : await findBlocker(relayer, state) };
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

/**
 * The next nonce to sign with, never below the chain's. If the chain is ahead, another used the key, or the database
 * is an old copy.
 */
async function catchUp({ db, log, metrics, signer, clock }: Relayer, { nonce }: SignerState): Promise<number> {
  const [row] = await db.read(selectSigner(signer));
  const stored = row ? toStoredSigner(row).nextNonce : null;
  // What a re-org took back is checked now, not when it is due.
  await db.write(raiseNonce(signer, nonce), recallRelays(signer, nonce, clock.now()));
  if (stored === null || nonce <= stored) return stored ?? nonce;
  log({
    level: 'error',
    event: `${signer.role}_key_used_elsewhere`,
    address: signer.address,
    expected: stored,
    found: nonce,
  });
  metrics.counter('vault_relay_foreign_nonces_total').add({ signer: signer.role }, nonce - stored);
  return nonce;
}

/**
 * Spends the chain's next nonce when no relay has it but one has a later nonce: with the bytes stored for that nonce,
 * which a re-org deeper than the watch took back, else with an empty transaction.
 */
async function fillGap(relayer: Relayer, { nonce, market }: SignerState, relays: readonly RelayRow[]): Promise<void> {
  const { config, db, signer } = relayer;
  const waiting = relays.filter((one) => one.status === 'signed' && one.signer === signer.address);
  const isGap = waiting.length > 0 && waiting.every((one) => one.nonce !== null && one.nonce > nonce);
  if (!isGap) return;
  const stored = (await db.read(selectAttemptsAt(signer, nonce))).map(toAttempt);
  const fees = offerFees(market, config.relayMaxFeeGwei);
  const attempts = stored.length > 0 || !fees ? stored : [noopAttempt(relayer, nonce, fees)];
  await Promise.all(attempts.map((attempt) => broadcast(relayer, attempt)));
}

/** What the operator should know although the turn succeeded. */
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
