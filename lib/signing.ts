import { offer } from './chain/fees.ts';
import { type Simulation, simulate } from './chain/registrar.ts';
import type { Standing } from './chain/standing.ts';
import { RELAY_IN_FLIGHT_MAX } from './constants.ts';
import { signRelay } from './db/outbox.ts';
import type { RelayRow } from './db/relays.ts';
import { broadcast, callAttempt, judge, type Relayer, tell } from './relayer.ts';

/** A queued relay with what its registration would come to; undefined when the node could not tell. */
export interface Simulated {
  readonly relay: RelayRow;
  readonly simulation: Simulation | undefined;
}

/** Why nothing more is signed for now. */
export type Obstacle = 'unfunded' | 'fees_above_cap' | 'not_registrar';

/** Tries every queued relay without sending it, so that none burns a nonce that would revert. */
export function simulateAll(relayer: Relayer, queued: readonly RelayRow[]): Promise<readonly Simulated[]> {
  const from = relayer.signer.address;
  return Promise.all(
    queued.map(async (relay) => ({
      relay,
      simulation: await simulate(relayer, from, relay).catch(() => undefined),
    })),
  );
}

/**
 * Gives nonces from `nextNonce` on to the relays that would succeed, stores what was signed in one write, and only then broadcasts it; what the
 * registry refuses ends here. At most `RELAY_IN_FLIGHT_MAX` transactions are under way. Returns whether anything changed, or what is in the way.
 */
export async function signQueued(
  relayer: Relayer,
  standing: Standing,
  simulated: readonly Simulated[],
  { nextNonce, inFlight }: { readonly nextNonce: number; readonly inFlight: number },
): Promise<boolean | Obstacle> {
  const refused = simulated.flatMap(({ relay, simulation }) =>
    simulation && 'refusal' in simulation ? [{ relay, refusal: simulation.refusal }] : [],
  );
  // Without the role every registration is refused, and none for a reason of its own.
  if (refused.some(({ refusal }) => refusal === 'not_registrar')) return 'not_registrar';
  await Promise.all(refused.map(({ relay, refusal }) => judge(relayer, relay, refusal)));
  const ready = simulated.flatMap(({ relay, simulation }) =>
    simulation && 'gas' in simulation ? [{ relay, gas: withReserve(simulation.gas) }] : [],
  );
  if (ready.length === 0) return refused.length > 0;
  if (standing.balance < relayer.config.relayMinBalance) return 'unfunded';
  const fees = offer(standing.market, relayer.config.relayMaxFeeGwei);
  if (!fees) return 'fees_above_cap';
  const taken = ready.slice(0, Math.max(0, RELAY_IN_FLIGHT_MAX - inFlight));
  const made = taken.map(({ relay, gas }, i) => {
    const nonce = nextNonce + i;
    const attempt = callAttempt(relayer, relay, nonce, gas, fees);
    return { relay, attempt, statements: signRelay(relay, relayer.signer, nonce, attempt, standing.head) };
  });
  const results = await relayer.db.write(...made.flatMap(({ statements }) => statements));
  let at = 0;
  const stored = made.filter(({ statements }) => {
    const isStored = results[at]?.rowsAffected === 1;
    at += statements.length;
    return isStored;
  });
  // Started together and in the order of their nonces, so that they travel as one batch.
  await Promise.all(stored.map(({ attempt }) => broadcast(relayer, attempt)));
  for (const { relay, attempt } of stored) tell(relayer, relay, 'signed', { tx: attempt.hash });
  return stored.length > 0 || refused.length > 0;
}

/** A quarter more than the newest state needs: the state may be another when the transaction is mined. */
function withReserve(gas: bigint): bigint {
  return (gas * 5n) / 4n;
}
