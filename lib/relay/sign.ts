import { VaultError } from '../base/error.ts';
import { offerFees, type TransactionFees } from '../chain/fees.ts';
import type { SignerState } from '../chain/signer-state.ts';
import type { SimulatedCall } from '../chain/simulation.ts';
import { signRelay } from './change-store.ts';
import { simulateRelay } from './contract-calls.ts';
import { endRefused } from './end-relay.ts';
import { isOutdated } from './proof.ts';
import type { RelayAttempt, RelayRow } from './store.ts';
import { broadcast, callAttempt, type Relayer, recordOutcome } from './transactions.ts';

/** The most transactions of one signer that are not mined: every node keeps so many (geth's `txpool.accountslots`). */
export const RELAY_IN_FLIGHT_MAX = 16;

/** A queued relay and its simulation; undefined when the node could not be asked. */
export interface Simulated {
  readonly relay: RelayRow;
  readonly simulation: SimulatedCall | undefined;
}

/** Why no relay can be signed now. */
export type SigningBlocker = 'unfunded' | 'fees_above_cap' | 'not_registrar';

/**
 * The fees that a turn signs with: undefined where nothing can be signed, for want of ether or since blocks ask too
 * much.
 */
export function feesOf({ config }: Relayer, { balance, market }: SignerState): TransactionFees | undefined {
  return balance < config.relayMinBalance ? undefined : offerFees(market, config.relayMaxFeeGwei);
}

/** Simulates every queued relay, so that none spends a nonce on a transaction that would revert. */
export function simulateAll(
  relayer: Relayer,
  queued: readonly RelayRow[],
  fees: TransactionFees | undefined,
): Promise<readonly Simulated[]> {
  return Promise.all(
    queued.map(async (relay) => ({
      relay,
      simulation: await simulateOne(relayer, relay, fees).catch(unlessUnreadable),
    })),
  );
}

async function simulateOne(relayer: Relayer, relay: RelayRow, fees?: TransactionFees): Promise<SimulatedCall> {
  // A call of an address without code succeeds.
  if (await isOutdated(relayer, relay)) return { refusal: 'no_registry' };
  return simulateRelay(relayer, relay, fees);
}

function unlessUnreadable(failure: unknown): undefined {
  if (!(failure instanceof VaultError)) throw failure;
}

/**
 * Signs and sends the relays that would succeed, with at most `RELAY_IN_FLIGHT_MAX` not mined; ends those that their
 * contract refuses. Returns whether anything changed, or the condition that blocks signing.
 */
export async function signQueued(
  relayer: Relayer,
  state: SignerState,
  simulated: readonly Simulated[],
  { nextNonce, inFlight }: { readonly nextNonce: number; readonly inFlight: number },
): Promise<boolean | SigningBlocker> {
  const refused: { relay: RelayRow; refusal: string }[] = [];
  const ready: { relay: RelayRow; gas: bigint }[] = [];
  for (const { relay, simulation } of simulated) {
    if (simulation && 'refusal' in simulation) refused.push({ relay, refusal: simulation.refusal });
    else if (simulation) ready.push({ relay, gas: withReserve(simulation.gas) });
  }
  // Without the registrar's role every registration is refused, and none for a reason of its own.
  if (refused.some(({ refusal }) => refusal === 'not_registrar')) return 'not_registrar';
  const ended = await Promise.all(refused.map(({ relay, refusal }) => endRefused(relayer, relay, refusal)));
  const isAnyEnded = ended.some((one) => one);
  if (ready.length === 0) return isAnyEnded;
  const fees = feesOf(relayer, state);
  if (!fees) return state.balance < relayer.config.relayMinBalance ? 'unfunded' : 'fees_above_cap';
  const room = Math.max(0, RELAY_IN_FLIGHT_MAX - inFlight);
  const made = ready.slice(0, room).map(({ relay, gas }, i) => {
    const nonce = nextNonce + i;
    return { relay, nonce, attempt: callAttempt(relayer, relay, nonce, gas, fees) };
  });
  const sent = await storeAndSend(relayer, state.head, made);
  return sent > 0 || isAnyEnded;
}

interface Made {
  readonly relay: RelayRow;
  readonly nonce: number;
  readonly attempt: RelayAttempt;
}

/** Stores nonces and bytes in one write, and only then sends them. Returns how many were sent. */
async function storeAndSend(relayer: Relayer, head: number, made: readonly Made[]): Promise<number> {
  if (made.length === 0) return 0;
  const writes = made.map(({ relay, nonce, attempt }) => signRelay(relay, relayer.signer, nonce, attempt, head));
  const results = await relayer.db.write(...writes.flat());
  const isStored = (i: number) => results[writes.slice(0, i).flat().length]?.rowsAffected === 1;
  const stored = made.filter((_, i) => isStored(i));
  // Started together and in the order of their nonces, so that they travel as one batch.
  await Promise.all(stored.map(({ attempt }) => broadcast(relayer, attempt)));
  for (const { relay, attempt } of stored) recordOutcome(relayer, relay, 'signed', { tx: attempt.hash });
  return stored.length;
}

/** A quarter more gas than the newest state needs, since the state may change before the transaction is mined. */
function withReserve(gas: bigint): bigint {
  return (gas * 5n) / 4n;
}
