import { DAY_MS } from '../base/clock.ts';
import { offerFees } from '../chain/fees.ts';
import { readNonce, type SignerState } from '../chain/signer-state.ts';
import { recallRelays, requeueBeyond } from './change-store.ts';
import { RELAY_SETTLED_BLOCKS, readNonceAtDepth } from './nonce-at-depth.ts';
import { RELAY_IN_FLIGHT_MAX } from './sign.ts';
import { countFill, lowerNonce, raiseNonce, selectSigner, toStoredSigner } from './signer-store.ts';
import { type RelayRow, selectAttemptsAt, toAttempt } from './store.ts';
import { broadcast, noopAttempt, type Relayer } from './transactions.ts';

// The signer's next nonce. A node's word that it has jumped is believed where a deep block shows that the key was used;
// a next nonce that the chain never reached is taken back.

/** The most empty transactions of a signer in a rolling day. */
const FILLS_PER_DAY_MAX = 64;

/** The nonce that a turn signs with. */
export interface NextNonce {
  readonly nonce: number;
  /** Whether the node shows a later one that is not believed yet: it may be wrong, so this one is tried. */
  readonly isDoubted: boolean;
}

/** The nonce to sign with: the stored one, raised to the chain's as far as that is believed. */
export async function catchUp(relayer: Relayer, state: SignerState): Promise<NextNonce | undefined> {
  const { db, signer, clock } = relayer;
  const [row] = await db.read(selectSigner(signer));
  const stored = row ? toStoredSigner(row).nextNonce : null;
  // Relays that a re-org took back are checked now, not when they are due.
  await db.write(recallRelays(signer, state.nonce, clock.now()));
  if (stored !== null && state.nonce <= stored) return { nonce: stored, isDoubted: false };
  const settled = await readSettledNonce(relayer, state);
  const known = stored ?? (await readFirst(relayer, state, settled));
  if (known === undefined) return undefined;
  // Deep blocks show how far the key was used; a nonce on top of them may be a wrong answer.
  const isUsed = settled !== undefined && settled > known;
  const believed = isUsed ? Math.min(state.nonce, settled + RELAY_IN_FLIGHT_MAX) : known;
  if (stored === null || believed > stored) await db.write(raiseNonce(signer, believed));
  if (stored !== null && believed > stored) reportUse(relayer, stored, believed);
  return { nonce: believed, isDoubted: state.nonce > believed };
}

/**
 * The nonce to begin with: the deep one. A later one, of a key that was used a moment ago, has to be near it, and is
 * asked about once more.
 */
async function readFirst({ rpc, config, signer }: Relayer, { nonce }: SignerState, settled: number | undefined) {
  const isNear = settled !== undefined && nonce > settled && nonce <= settled + RELAY_IN_FLIGHT_MAX;
  return isNear && (await readNonce({ rpc, config }, signer.address, 'latest')) === nonce ? nonce : settled;
}

function reportUse({ log, metrics, signer }: Relayer, expected: number, found: number): void {
  log({ level: 'error', event: `${signer.role}_key_used_elsewhere`, address: signer.address, expected, found });
  metrics.counter('vault_relay_foreign_nonces_total').add({ signer: signer.role }, found - expected);
}

/** The nonce in a block so deep that no re-org changes it; undefined while that cannot be said. */
async function readSettledNonce(relayer: Relayer, state: SignerState): Promise<number | undefined> {
  const { config } = relayer;
  return readNonceAtDepth(
    relayer,
    state,
    Math.min(RELAY_SETTLED_BLOCKS, config.finalityBlocks ?? RELAY_SETTLED_BLOCKS),
  );
}

/**
 * Spends or takes back the nonces between the chain's and the first one that waits, which no relay has. Of few, the
 * next is spent: with the bytes stored for it, which a re-org deeper than the watch took back, else with an empty
 * transaction. Many are a mistake: the relays behind them are queued again. Returns whether nonces are missing.
 */
export async function closeGap(
  relayer: Relayer,
  state: SignerState,
  relays: readonly RelayRow[],
  nextNonce: number,
): Promise<boolean> {
  const { db, signer } = relayer;
  const waiting = relays.filter((one) => one.status === 'signed' && one.signer === signer.address);
  const first = Math.min(nextNonce, ...waiting.map(({ nonce }) => nonce ?? state.nonce));
  const isFar = first > state.nonce + RELAY_IN_FLIGHT_MAX;
  if (first <= state.nonce || (waiting.length === 0 && !isFar)) return false;
  const stored = (await db.read(selectAttemptsAt(signer, state.nonce))).map(toAttempt);
  if (stored.length > 0) {
    await Promise.all(stored.map((attempt) => broadcast(relayer, attempt)));
    return false;
  }
  if (!state.isCertain) return true;
  if (isFar) await takeBack(relayer, state, nextNonce);
  else await fill(relayer, state);
  return true;
}

/** Lowers the next nonce to the chain's, unless a deep block shows that the chain has been further. */
async function takeBack(relayer: Relayer, state: SignerState, nextNonce: number): Promise<void> {
  const { db, signer, log, metrics } = relayer;
  const settled = await readSettledNonce(relayer, state);
  if (settled === undefined || settled > state.nonce) return;
  const range = { from: nextNonce, to: state.nonce };
  const [lowered, requeued] = await db.write(lowerNonce(signer, range), requeueBeyond(signer, state.nonce));
  if (lowered?.rowsAffected !== 1) return;
  const of = { address: signer.address, ...range, relays: requeued?.rowsAffected ?? 0 };
  log({ level: 'error', event: `${signer.role}_nonces_taken_back`, ...of });
  metrics.counter('vault_relay_nonces_taken_back_total').add({ signer: signer.role }, range.from - range.to);
}

/** Spends the chain's next nonce with nothing, within the day's bound. */
async function fill(relayer: Relayer, { nonce, market }: SignerState): Promise<void> {
  const { config, db, clock, signer, metrics } = relayer;
  const fees = offerFees(market, config.relayMaxFeeGwei);
  if (!fees) return;
  const now = clock.now();
  const [counted] = await db.write(countFill(signer, { nonce, now, since: now - DAY_MS, max: FILLS_PER_DAY_MAX }));
  if (counted?.rowsAffected !== 1) return;
  metrics.counter('vault_relay_fills_total').add({ signer: signer.role });
  await broadcast(relayer, noopAttempt(relayer, nonce, fees));
}
