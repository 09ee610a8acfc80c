import { type Draw, openDraw } from '../support/draw.ts';
import { createAsking } from './asking.ts';
import { audit } from './audit.ts';
import type { ClientPlace, Errand } from './clients/client.ts';
import { crowd, guessCode, proveAddress } from './clients/codes.ts';
import { lookBack } from './clients/looks.ts';
import { countSessions, openSession } from './clients/sessions.ts';
import { startReader } from './clients/streams.ts';
import { LEAP_MS, settle } from './drain.ts';
import { allFaults } from './faults/all.ts';
import type { Fault } from './faults/fault.ts';
import { type Ledger, openLedger, type Violation } from './ledger.ts';
import { startMonitor } from './monitor.ts';
import { openWorld, type WorldName } from './worlds.ts';

/** How one world is tortured. */
export interface TortureOptions {
  readonly world: WorldName;
  readonly seed: number;
  /** How long things go wrong; settling and the audit come after. */
  readonly ms: number;
  readonly binary: string;
  /** The names of the only faults; all that can happen without it. */
  readonly only?: readonly string[];
  /** Takes a line for each thing that happens. */
  readonly say?: (line: string) => void;
}

/** What became of it. */
export interface TortureResult {
  readonly world: WorldName;
  readonly seed: number;
  /** How long each part took. */
  readonly seconds: Readonly<Record<string, number>>;
  readonly faults: Readonly<Record<string, number>>;
  /** Faults that this world or machine has not, and why. */
  readonly impossible: Readonly<Record<string, string>>;
  readonly statuses: Readonly<Record<number, number>>;
  readonly checks: Readonly<Record<string, number>>;
  readonly acknowledged: Readonly<Record<'sessions' | 'verified' | 'registrations' | 'webhooks' | 'events', number>>;
  readonly ownEndings: number;
  readonly violations: readonly Violation[];
}

const CLIENTS = 10;
const READERS = 3;
const PAUSE_MS = 30;
/** All is well again: so long a client may still have no answer that decides. */
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

/** Lets clients work in a world in which one thing after the other goes wrong; then compares. */
export async function torture({
  world: name,
  seed,
  ms,
  binary,
  only,
  say = () => {},
}: TortureOptions): Promise<TortureResult> {
  const world = await openWorld(name, { seed, binary });
  try {
    const ledger = openLedger();
    const draw = openDraw(seed);
    const asking = createAsking(world.members, ledger);
    let number = 0;
    const next = () => ++number;
    const place = (n: number): ClientPlace => ({ world, ledger, asking, draw: openDraw(seed + 1_000 * n), next });
    const readers = Array.from({ length: READERS }, (_, i) => startReader(place(100 + i)));
    const monitor = startMonitor(world.members, ledger);
    const faults = allFaults({ world, monitor }).filter((one) => only?.includes(one.name) ?? true);
    let isOver = false;
    const client = async (own: ClientPlace) => {
      while (!isOver) {
        await (ERRANDS[own.draw.below(ERRANDS.length)] as Errand)(own);
        await Bun.sleep(own.draw.below(2 * PAUSE_MS));
      }
    };
    const clients = Array.from({ length: CLIENTS }, (_, i) => client(place(1 + i)));
    world.receiver.rate = 50;
    const lap = startWatch(say);
    await rage(faults, { draw, ms, untilReady: monitor.untilReady, say });
    lap('tortured');
    isOver = true;
    world.receiver.rate = 0;
    for (const member of world.members) member.passTime(LEAP_MS);
    await Promise.race([Promise.all(clients), Bun.sleep(PATIENCE_MS)]);
    for (const one of asking.waiting()) ledger.violate('it recovers without a human', `still not decided: ${one}`);
    asking.end();
    await Promise.all(clients);
    await monitor.end();
    lap('ended');
    const broken = (error: unknown) => ledger.violate('the database is whole', String(error));
    const newest = await settle(world, ledger).catch((error) => broken(error) ?? 0);
    for (const reader of readers) {
      if (!(await reader.until(newest, 20_000)))
        ledger.violate('streams have no gap', `${reader.ids.at(-1)} of ${newest}`);
    }
    lap('settled');
    await Promise.all(readers.map((reader) => reader.end()));
    await Promise.all(world.members.map((member) => member.stop()));
    lap('stopped');
    await audit(world, { ledger, readers, newest }).catch(broken);
    lap('compared');
    return resultOf({ world: name, seed }, faults, ledger, {
      seconds: lap.seconds,
      webhooks: world.receiver.received.length,
      events: newest,
      ownEndings: world.members.reduce((sum, member) => sum + member.ownEndings(), 0),
    });
  } finally {
    await world.stop();
  }
}

/** One fault after the other, each once before any comes again. */
async function rage(
  faults: readonly Fault[],
  {
    draw,
    ms,
    untilReady,
    say,
  }: { draw: Draw; ms: number; untilReady: (after: string) => Promise<void>; say: (line: string) => void },
): Promise<void> {
  const end = performance.now() + ms;
  const possible = faults.filter(({ impossible }) => impossible === undefined);
  let waiting: Fault[] = [];
  await Bun.sleep(possible.length === 0 ? ms : 300);
  // Each has its turn, also where the time is over before.
  for (let struck = 0; performance.now() < end || struck < possible.length; struck++) {
    if (waiting.length === 0) waiting = [...possible];
    const [one] = waiting.splice(draw.below(waiting.length), 1);
    if (!one) return;
    say(one.name);
    await one.strike(draw);
    await untilReady(one.name);
    await Bun.sleep(100 + draw.below(700));
  }
}

function resultOf(
  of: Pick<TortureResult, 'world' | 'seed'>,
  faults: readonly Fault[],
  ledger: Ledger,
  more: {
    seconds: Readonly<Record<string, number>>;
    webhooks: number;
    events: number;
    ownEndings: number;
  },
): TortureResult {
  const possible = faults.filter(({ impossible }) => impossible === undefined);
  const { sessions, verified, registrations } = ledger;
  return {
    ...of,
    seconds: more.seconds,
    faults: Object.fromEntries(possible.map((one) => [one.name, one.fired()])),
    impossible: Object.fromEntries(faults.flatMap(({ name, impossible }) => (impossible ? [[name, impossible]] : []))),
    statuses: Object.fromEntries(ledger.statuses),
    checks: Object.fromEntries(ledger.checks),
    acknowledged: {
      sessions: sessions.size,
      verified: verified.size,
      registrations: registrations.size,
      webhooks: more.webhooks,
      events: more.events,
    },
    ownEndings: more.ownEndings,
    violations: ledger.violations,
  };
}

/** How long each lap took, in seconds. */
function startWatch(say: (line: string) => void) {
  let since = performance.now();
  const seconds: Record<string, number> = {};
  const lap = (name: string) => {
    const now = performance.now();
    seconds[name] = Math.round((now - since) / 100) / 10;
    since = now;
    say(`${name} after ${seconds[name]} s`);
  };
  return Object.assign(lap, { seconds });
}
