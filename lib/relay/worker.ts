import { MINUTE_MS } from '../base/clock.ts';
import { worstFailure } from '../base/error.ts';
import { offer } from '../chain/fees.ts';
import { readStanding, type Standing } from '../chain/signer-state.ts';
import { RELAY_LOW_BALANCE_TIMES_MIN } from '../constants.ts';
import { recallRelays } from './change-store.ts';
import { RELAY_IN_FLIGHT_MAX, signQueued, simulateAll } from './sign.ts';
import { noteGenesis, raiseNonce, selectGenesis, selectSigner, toSignerState } from './signer-store.ts';
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
import { follow, readSent } from './track.ts';
import { broadcast, noopAttempt, type Relayer } from './transactions.ts';

/** Sent relays that one turn looks at. */
export const RELAY_SENT_MAX = 100;
/** A relay this old that is not mined is told of. */
const RELAY_STUCK_MS = 2 * MINUTE_MS;

/** What keeps the registrar from getting on, or soon will, the worst first. `docs/operating.md` says what to do about each. */
export const TROUBLES = [
  'chain_reset',
  'unreachable',
  'unfunded',
  'not_registrar',
  'fees_above_cap',
  'stuck',
  'low_balance',
] as const;

export type Trouble = (typeof TROUBLES)[number];

/** What came of a turn: whether anything changed, so that there may be more, and what is in the way. */
export interface Turn {
  readonly changed: boolean;
  readonly trouble: Trouble | null;
}

/** Looks at the chain, all in one batch, follows what was sent, and signs what is queued. Throws 502 `rpc_error`, with some of it done. */
export async function workOutbox(relayer: Relayer): Promise<Turn> {
  const { db, clock, signer } = relayer;
  const now = clock.now();
  const [sentRows, queuedRows] = await Promise.all([
    db.read(selectSent(signer.chainId, now, RELAY_SENT_MAX)),
    db.read(selectQueued(signer.chainId, now, RELAY_IN_FLIGHT_MAX)),
  ]);
  const relays = sentRows.map(toRelay);
  const attempts = (await db.read(selectAttempts(relays))).map(toAttempt);
  const attemptsOf = ({ id }: RelayRow) => attempts.filter(({ relayId }) => relayId === id);
  const [standing, sent, simulated] = await Promise.all([
    readStanding(relayer, signer.address),
    Promise.all(relays.map((relay) => readSent(relayer, relay, attemptsOf(relay)))),
    simulateAll(relayer, queuedRows.map(toRelay)),
  ]);
  if (!(await isSameChain(relayer, standing))) return { changed: false, trouble: 'chain_reset' };
  const nextNonce = await catchUp(relayer, standing);
  const followed = await Promise.allSettled(sent.map((one) => follow(relayer, standing, one)));
  await fillGap(relayer, standing, relays);
  const inFlight = relays.filter(({ status, signer: by }) => status === 'signed' && by === signer.address).length;
  const signed = await signQueued(relayer, standing, simulated, { nextNonce, inFlight });
  const failure = worstFailure(followed);
  if (failure) throw failure;
  const changed = signed === true || followed.some((result) => result.status === 'fulfilled' && result.value);
  return { changed, trouble: typeof signed === 'string' ? signed : await findTrouble(relayer, standing) };
}

/** Whether the chain is the one whose nonces and blocks are stored: a development chain that is started anew has the same id and another first block. */
async function isSameChain({ db, signer }: Relayer, { genesis }: Standing): Promise<boolean> {
  const [known] = await db.read(selectGenesis(signer.chainId));
  if (known) return known['genesis'] === genesis;
  await db.write(noteGenesis(signer.chainId, genesis));
  return true;
}

/** The next nonce to sign with. One that the chain is ahead of was used by someone else, or the database is an old copy: never below the chain's. */
async function catchUp({ db, log, metrics, signer, clock }: Relayer, { nonce }: Standing): Promise<number> {
  const [row] = await db.read(selectSigner(signer));
  const stored = row ? toSignerState(row).nextNonce : null;
  // What a re-org took back is looked at now, not when it is due.
  await db.write(raiseNonce(signer, nonce), recallRelays(signer, nonce, clock.now()));
  if (stored === null || nonce <= stored) return stored ?? nonce;
  log({
    level: 'error',
    event: 'registrar_key_used_elsewhere',
    address: signer.address,
    expected: stored,
    found: nonce,
  });
  metrics.counter('vault_relay_foreign_nonces_total').add({}, nonce - stored);
  return nonce;
}

/**
 * Spends the chain's next nonce when no relay waits for it, but one behind it does: with the bytes that are stored under it, which a re-org deeper
 * than any watch took back, else with nothing.
 */
async function fillGap(relayer: Relayer, { nonce, market }: Standing, relays: readonly RelayRow[]): Promise<void> {
  const { config, db, signer } = relayer;
  const waiting = relays.filter((one) => one.status === 'signed' && one.signer === signer.address);
  const isGap = waiting.length > 0 && waiting.every((one) => one.nonce !== null && one.nonce > nonce);
  if (!isGap) return;
  const stored = (await db.read(selectAttemptsAt(signer, nonce))).map(toAttempt);
  const fees = offer(market, config.relayMaxFeeGwei);
  const attempts = stored.length > 0 || !fees ? stored : [noopAttempt(relayer, nonce, fees)];
  await Promise.all(attempts.map((attempt) => broadcast(relayer, attempt)));
}

/** What is to be warned of although the turn went well. */
async function findTrouble(relayer: Relayer, { balance }: Standing): Promise<Trouble | null> {
  const { config, metrics } = relayer;
  metrics.gauge('vault_relay_balance_ether').set(Number(balance) / 1e18);
  if (balance < config.relayMinBalance) return 'unfunded';
  if ((await readBacklog(relayer)).oldestMs > RELAY_STUCK_MS) return 'stuck';
  return balance < config.relayMinBalance * BigInt(RELAY_LOW_BALANCE_TIMES_MIN) ? 'low_balance' : null;
}

/** Tells by the metrics how the relay is, also of a process where another one relays: by what the database says. */
export async function report(relayer: Relayer, now: Trouble | null): Promise<void> {
  const { metrics } = relayer;
  const { counts, oldestMs } = await readBacklog(relayer);
  const troubles = metrics.gauge('vault_relay_trouble');
  for (const trouble of TROUBLES) troubles.set(trouble === now ? 1 : 0, { trouble });
  const relays = metrics.gauge('vault_relays');
  for (const [status, count] of Object.entries(counts)) relays.set(count, { status });
  metrics.gauge('vault_relay_oldest_seconds').set(oldestMs / 1000);
}

/** How many relays are open, by status, and how long the oldest of them waits to be mined. */
async function readBacklog({ db, clock, signer }: Relayer) {
  const counts = { queued: 0, signed: 0, mined: 0 };
  let since = clock.now();
  for (const row of await db.read(selectBacklog(signer.chainId))) {
    const status = row['status'] as keyof typeof counts;
    counts[status] = Number(row['relays']);
    if (status !== 'mined') since = Math.min(since, Number(row['since']));
  }
  return { counts, oldestMs: clock.now() - since };
}
