import { openDraw } from '../../support/draw.ts';
import type { Fault } from '../../support/torture/faults/fault.ts';
import { openLedger, type Violation } from '../../support/torture/ledger.ts';
import type { Monitor } from '../../support/torture/monitor.ts';
import { type Ordeal, undergo } from '../../support/torture/undergo.ts';
import { checkCommits } from './commits.ts';
import { allFaults } from './faults.ts';
import { openHistory } from './history.ts';
import { banChance, openTime } from './time.ts';
import { openWorld } from './world.ts';

/** A life of simulated vaults. */
export interface SimulationOptions {
  readonly seed: number;
  /** Steps of people and of the chain after which it ends; all that are drawn without it. */
  readonly steps?: number | undefined;
  /** Takes each line of the trace. */
  readonly say?: (line: string) => void;
}

/** What became of it. */
export interface Simulated {
  readonly seed: number;
  /** The first thing that must not have happened; the life ended with it. */
  readonly violation: Violation | undefined;
  /** Of the whole trace: the same for the same seed. */
  readonly digest: string;
  /** The last lines of the trace. */
  readonly lines: readonly string[];
  readonly counts: Readonly<Record<'steps' | 'faults' | 'commits' | 'answers' | 'comparisons' | 'seconds', number>>;
}

const LINES_KEPT = 40;
const [CLIENTS, READERS, STRIKES_MAX] = [6, 4, 3];
/** The pauses of clients and monitor while things go wrong, and while they do not. */
const [BUSY, CALM] = [
  { pauseMs: 200, pollMs: 250 },
  { pauseMs: 30_000, pollMs: 5_000 },
];

/** Runs one to its end, or to the first violation. */
export async function simulate({ seed, steps, say = () => {} }: SimulationOptions): Promise<Simulated> {
  const draw = openDraw(seed);
  const time = openTime();
  const trace = openTrace(time.now, say);
  const allowChance = banChance(openDraw(seed + 1));
  const ledger = openLedger();
  const world = await openWorld(draw, time, trace.say);
  const counts = { steps: 0, faults: 0, commits: 0 };
  const checkCommit = checkCommits(world, ledger);
  world.disk.onCommit = (statements) => {
    trace.note(`commit ${counts.commits++}`);
    checkCommit(statements);
  };
  const ordeal: Ordeal = {
    seed,
    clients: CLIENTS,
    readers: READERS,
    ...BUSY,
    say: trace.say,
    async rage({ place, monitor, draw }) {
      const history = await openHistory(world, place, draw);
      const { strike, rest } = striker(allFaults(world, monitor, ledger), { monitor, draw, say: trace.say });
      for (const step of history.steps.slice(0, steps)) {
        trace.say(`step ${++counts.steps}: ${Object.values(step).join(', ')}`);
        Object.assign(ordeal, BUSY);
        const striking = strike(1 + draw.below(STRIKES_MAX));
        await time.sleep(draw.below(2_000));
        await history.take(step);
        counts.faults += await striking;
        Object.assign(ordeal, CALM);
        await history.compare();
      }
      if (counts.steps === steps) return;
      // However short the history: each fault has struck.
      Object.assign(ordeal, BUSY);
      counts.faults += await strike(rest());
      Object.assign(ordeal, CALM);
      await history.compare();
    },
  };
  try {
    await time.run(undergo(world, ordeal, ledger), () => ledger.violations.length > 0);
  } finally {
    allowChance();
    world.disk.close();
  }
  const [violation] = ledger.violations;
  if (violation) trace.say(`VIOLATED: ${violation.invariant}: ${violation.detail}`);
  const answers = [...ledger.statuses.values()].reduce((sum, n) => sum + n, 0);
  const comparisons = [...ledger.checks.values()].reduce((sum, n) => sum + n, 0);
  const seconds = Math.round(time.now() / 1000);
  return { seed, violation, ...trace.end(), counts: { ...counts, answers, comparisons, seconds } };
}

/**
 * Strikes with one fault after the other, each once before any comes again, and answers how many happened. `rest`: so
 * many have not come in this round.
 */
function striker(
  faults: readonly Fault[],
  { monitor, draw, say }: { monitor: Monitor; draw: ReturnType<typeof openDraw>; say: (line: string) => void },
): { strike(times: number): Promise<number>; rest(): number } {
  const possible = faults.filter(({ impossible }) => impossible === undefined);
  let waiting = [...possible];
  const strike = async (times: number) => {
    const before = sumOf(possible);
    for (let struck = 0; struck < times; struck++) {
      if (waiting.length === 0) waiting = [...possible];
      const [one] = waiting.splice(draw.below(waiting.length), 1);
      say(`fault: ${one?.name}`);
      await one?.strike(draw);
      say(`over: ${one?.name}`);
      await monitor.untilReady(one?.name ?? '');
    }
    return sumOf(possible) - before;
  };
  return { strike, rest: () => waiting.length };
}

const sumOf = (faults: readonly Fault[]) => faults.reduce((sum, one) => sum + one.fired(), 0);

/** All that happened, as a digest and its last lines; `note` is for what is too much to read. */
function openTrace(now: () => number, hear: (line: string) => void) {
  const hasher = new Bun.CryptoHasher('sha256');
  let lines: string[] = [];
  const note = (line: string) => void hasher.update(`${now()} ${line}\n`);
  return {
    note,
    say(text: string) {
      note(text);
      const line = `${(now() / 1000).toFixed(3).padStart(10)} ${text}`;
      lines = [...lines.slice(1 - LINES_KEPT), line];
      hear(line);
    },
    end: () => ({ digest: hasher.digest('hex').slice(0, 16), lines }),
  };
}
