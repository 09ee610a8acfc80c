import { type Draw, openDraw } from '../draw.ts';
import { createAsking } from './asking.ts';
import { audit } from './audit.ts';
import type { ClientPlace, Errand } from './clients/client.ts';
import { crowd, guessCode, proveAddress } from './clients/codes.ts';
import { lookBack } from './clients/looks.ts';
import { countSessions, openSession } from './clients/sessions.ts';
import { startReader } from './clients/streams.ts';
import { LEAP_MS, settle } from './drain.ts';
import { type Ledger, openLedger } from './ledger.ts';
import { type Monitor, startMonitor } from './monitor.ts';
import type { Place } from './place.ts';

/** What a world goes through. */
export interface Ordeal {
  readonly seed: number;
  readonly clients: number;
  readonly readers: number;
  /** The longest pause of a client between two errands. */
  pauseMs: number;
  /** The pause of the monitor between two looks. */
  pollMs: number;
  /** Takes a line for each thing that happens. */
  readonly say: (line: string) => void;
  /** Lets things go wrong, and ends it. */
  readonly rage: (among: { place: ClientPlace; monitor: Monitor; draw: Draw }) => Promise<void>;
}

/** What became of it. */
export interface Undergone {
  readonly ledger: Ledger;
  /** How long each part took. */
  readonly seconds: Readonly<Record<string, number>>;
  readonly events: number;
}

/** All is well again: so long a client may still have no answer that decides, and a reader not all events. */
const PATIENCE_MS = 90_000;
const ERRANDS: readonly Errand[] = [
  openSession,
  openSession,
  proveAddress,
  proveAddress,
  proveAddress,
  guessCode,
  crowd,
  countSessions,
  lookBack,
  lookBack,
];

/** Lets clients work in a world in which one thing after the other goes wrong; then compares. Ends the vaults. */
export async function undergo(world: Place, ordeal: Ordeal, ledger = openLedger()): Promise<Undergone> {
  const { seed, say } = ordeal;
  const { time } = world;
  const asking = createAsking(world, ledger);
  let number = 0;
  const next = () => ++number;
  const place = (n: number): ClientPlace => ({ world, ledger, asking, draw: openDraw(seed + 1_000 * n), next });
  const readers = Array.from({ length: ordeal.readers }, (_, i) => startReader(place(100 + i)));
  const monitor = startMonitor(world, ledger, ordeal);
  let isOver = false;
  const client = async (own: ClientPlace) => {
    while (!isOver) {
      await (ERRANDS[own.draw.below(ERRANDS.length)] as Errand)(own);
      await time.sleep(own.draw.below(ordeal.pauseMs));
    }
  };
  const clients = Array.from({ length: ordeal.clients }, (_, i) => client(place(1 + i)));
  world.receiver.rate = 50;
  const lap = startWatch(time.now, say);
  await ordeal.rage({ place: place(0), monitor, draw: openDraw(seed) });
  lap('tortured');
  isOver = true;
  world.receiver.rate = 0;
  for (const member of world.members) member.passTime(LEAP_MS);
  await Promise.race([Promise.all(clients), time.sleep(PATIENCE_MS)]);
  for (const one of asking.waiting()) ledger.violate('it recovers without a human', `still not decided: ${one}`);
  asking.end();
  await Promise.all(clients);
  await monitor.end();
  lap('ended');
  const broken = (error: unknown) => ledger.violate('the database is whole', String(error));
  const events = await settle(world, ledger).catch((error) => broken(error) ?? 0);
  for (const reader of readers) {
    if (!(await reader.until(events, PATIENCE_MS)))
      ledger.violate('streams have no gap', `${reader.ids.at(-1)} of ${events}`);
  }
  lap('settled');
  await Promise.all(readers.map((reader) => reader.end()));
  await Promise.all(world.members.map((member) => member.stop()));
  lap('stopped');
  await audit(world, { ledger, readers, newest: events }).catch(broken);
  lap('compared');
  return { ledger, seconds: lap.seconds, events };
}

/** How long each lap took, in seconds. */
function startWatch(now: () => number, say: (line: string) => void) {
  let since = now();
  const seconds: Record<string, number> = {};
  const lap = (name: string) => {
    seconds[name] = Math.round((now() - since) / 100) / 10;
    since = now();
    say(`${name} after ${seconds[name]} s`);
  };
  return Object.assign(lap, { seconds });
}
