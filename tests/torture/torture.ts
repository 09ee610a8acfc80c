import type { Draw } from '../support/draw.ts';
import type { Fault } from '../support/torture/faults/fault.ts';
import type { Violation } from '../support/torture/ledger.ts';
import { type Undergone, undergo } from '../support/torture/undergo.ts';
import { allFaults } from './faults/all.ts';
import { openWorld, type World, type WorldName } from './worlds.ts';

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
const PAUSE_MS = 60;
const POLL_MS = 250;

/** Lets clients work in a world in which one thing after the other goes wrong; then compares. */
export async function torture(options: TortureOptions): Promise<TortureResult> {
  const { world: name, seed, ms, binary, only, say = () => {} } = options;
  const world = await openWorld(name, { seed, binary });
  let faults: readonly Fault[] = [];
  try {
    const undergone = await undergo(world, {
      seed,
      say,
      clients: CLIENTS,
      readers: READERS,
      pauseMs: PAUSE_MS,
      pollMs: POLL_MS,
      async rage({ monitor, draw }) {
        faults = allFaults({ world, monitor }).filter((one) => only?.includes(one.name) ?? true);
        await rage(faults, { draw, ms, untilReady: monitor.untilReady, say });
      },
    });
    return resultOf(options, world, faults, undergone);
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
  { world: name, seed }: TortureOptions,
  { receiver, members }: World,
  faults: readonly Fault[],
  { ledger, seconds, events }: Undergone,
): TortureResult {
  const possible = faults.filter(({ impossible }) => impossible === undefined);
  const { sessions, verified, registrations } = ledger;
  return {
    world: name,
    seed,
    seconds,
    faults: Object.fromEntries(possible.map((one) => [one.name, one.fired()])),
    impossible: Object.fromEntries(faults.flatMap(({ name, impossible }) => (impossible ? [[name, impossible]] : []))),
    statuses: Object.fromEntries(ledger.statuses),
    checks: Object.fromEntries(ledger.checks),
    acknowledged: {
      sessions: sessions.size,
      verified: verified.size,
      registrations: registrations.size,
      webhooks: receiver.received.length,
      events,
    },
    ownEndings: members.reduce((sum, member) => sum + member.ownEndings(), 0),
    violations: ledger.violations,
  };
}
