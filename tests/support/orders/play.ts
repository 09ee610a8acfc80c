import type { LogEntry } from '../../../lib/base/log.ts';
import type { Context } from '../../../lib/context.ts';
import { openStage, type Stage, type Stand, type Step } from './stage.ts';
import { openVault, type Plant, type Reply, type StagedVault, type World } from './vaults.ts';

/** An order, as it is drawn. */
export interface Order {
  /** Whether all parties are of one process; else each has one of its own. */
  readonly isShared: boolean;
  readonly stands: readonly Stand[];
}

/** One after the other, each in a process of its own. */
export const IN_LINE: Order = { isShared: false, stands: [] };

/** What an order plays on. */
export interface Scene extends Pick<Stage, 'step' | 'pass' | 'play'> {
  readonly world: World;
  /** Whether a party stands still for so long that what waits may be given up. */
  readonly isPaused: boolean;
  /** What the vaults log. */
  readonly entries: readonly LogEntry[];
  /** Has a party do something beside the others. */
  act<T>(who: string, work: (party: Party) => Promise<T>): Promise<T>;
}

/** What a party has: a vault, as a client of an address of its own. */
export interface Party {
  readonly ctx: Context;
  call(
    line: string,
    body?: Readonly<Record<string, unknown>>,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Reply>;
}

/** Things that happen at once. `play` throws if something is not as it must be after them. */
export interface Pair {
  readonly world: World;
  play(scene: Scene): Promise<void>;
}

/** What was done in an order, and how many steps each party took. */
export type Played = Pick<Stage, 'steps' | 'lengths'>;

/** Plays one order on the world as it was kept. Throws `PlayedWrong`. */
export async function playOne(pair: Pair, order: Order, plant?: Plant): Promise<Played> {
  const { world } = pair;
  world.database.restore();
  world.chain.restore();
  const stage = openStage(order.stands, world.startMs);
  try {
    await awaiting(stage, () => pair.play(sceneOf(pair, stage, order, plant)));
  } catch (failure) {
    throw { steps: stage.steps, failure } satisfies PlayedWrong;
  }
  return stage;
}

/** An order in which something is not as it must be. */
export interface PlayedWrong {
  readonly steps: readonly Step[];
  readonly failure: unknown;
}

function sceneOf({ world }: Pair, stage: Stage, { isShared, stands }: Order, plant: Plant | undefined): Scene {
  const vaults = new Map<string, StagedVault>();
  const entries: LogEntry[] = [];
  let parties = 0;
  const vaultOf = (who: string) => {
    const name = isShared ? '' : who;
    const log = (entry: LogEntry) => void entries.push(entry);
    const vault = vaults.get(name) ?? openVault(world, stage, { number: vaults.size, plant, log });
    vaults.set(name, vault);
    return vault;
  };
  return {
    step: stage.step,
    pass: stage.pass,
    play: stage.play,
    world,
    entries,
    isPaused: stands.some(({ pauseMs }) => pauseMs > 0),
    act(who, work) {
      const peer = `203.0.113.${++parties}`;
      // Not every party has a vault.
      return stage.act(who, () =>
        work({
          get ctx() {
            return vaultOf(who).ctx;
          },
          call: (line, body, headers) => vaultOf(who).call(line, { body, headers, peer }),
        }),
      );
    },
  };
}

const ON_THREADS = ['importKey', 'verify', 'sign', 'digest'] as const;

/** Has the stage wait for what the runtime computes on threads of its own. */
async function awaiting(stage: Stage, work: () => Promise<void>): Promise<void> {
  const { subtle } = crypto;
  for (const name of ON_THREADS) {
    const own = subtle[name] as (...args: unknown[]) => Promise<unknown>;
    const value = (...args: unknown[]) => stage.await(own.apply(subtle, args));
    Object.defineProperty(subtle, name, { configurable: true, value });
  }
  try {
    await work();
  } finally {
    for (const name of ON_THREADS) Reflect.deleteProperty(subtle, name);
  }
}

/** Throws what is violated, unless the value is one of these. */
export function must(what: string, found: unknown, ...right: readonly unknown[]): void {
  if (!right.some((one) => Bun.deepEquals(found, one, true))) throw new Error(`${what}: ${JSON.stringify(found)}`);
}

/** The word of an error, or `ok`. */
export function wordOf({ status, body }: Reply): string {
  return status < 300 ? 'ok' : String(body?.error ?? status);
}
