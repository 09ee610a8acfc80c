import { AsyncLocalStorage } from 'node:async_hooks';
import type { Clock } from '../../../lib/base/clock.ts';
import { createTime } from './time.ts';

/** A party stands still before one of its steps until another has done so many, and for some time after. */
export interface Stand {
  readonly who: string;
  readonly before: number;
  readonly until: string;
  readonly done: number;
  readonly pauseMs: number;
}

/** One step of an order, as a failure shows it. */
export interface Step {
  readonly who: string;
  readonly what: string;
}

/** Where things happen one step at a time. Who was last goes on, until it stands still or has ended. */
export interface Stage {
  /** Goes on by a millisecond with each step, and further only where nothing else can go on. */
  readonly clock: Clock;
  /** What was done in the first play: what follows it goes in line. */
  readonly steps: readonly Step[];
  /** How many of them each party took. */
  readonly lengths: ReadonlyMap<string, number>;
  /** Waits for its turn, and does it then. */
  step<T>(what: string, work: () => T | Promise<T>): Promise<T>;
  /** Has a party begin at a turn of its own; the steps that follow from it are its. */
  act<T>(who: string, work: () => Promise<T>): Promise<T>;
  /** Has the next step wait for what is in no order: a computation of the runtime's own threads. */
  await<T>(work: Promise<T>): Promise<T>;
  /** Lets time pass, with what falls due. */
  pass(ms: number): void;
  /** Takes turns until all that began has ended. Throws what a party throws, and where all wait for nothing. */
  play(): Promise<void>;
}

interface Waiting extends Step {
  readonly go: () => Promise<void>;
}

/** Whose steps they are. */
const party = new AsyncLocalStorage<string>();

/** What the first step of a party does. */
export const BEGINS = 'begins';

/** Whose step it is that time passes. */
export const TIME = 'time';

const STEP_MS = 1;
/** Turns of the event loop after which nothing comes by itself any more. */
const IDLE_TURNS = 50;
/** More than any order has: one that never ends says so. */
const STEPS_MAX = 5_000;

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

/** A stage for an order. */
export function openStage(stands: readonly Stand[], startMs: number): Stage {
  let outside = 0;
  let computed = Promise.withResolvers<void>();
  /** Until the runtime's threads have computed what they were given; undefined if they have. */
  const computing = () => (outside > 0 ? computed.promise : undefined);
  const time = createTime(startMs, computing);
  const steps: Step[] = [];
  const waiting: Waiting[] = [];
  const done = new Map<string, number>();
  const acting = new Set<string>();
  const failures: unknown[] = [];
  const left = new Set(stands);
  let count = 0;
  let isFirst = true;
  let last = '';

  async function settle(): Promise<void> {
    // A turn of the event loop for each look at the threads would keep a processor busy for as long as they take.
    do {
      await computing();
      await turn();
    } while (outside > 0 || time.ticks() > 0);
  }

  /** The stand that keeps a party from its next step. */
  function standOf({ who }: Step): Stand | undefined {
    const own = [...left].filter((one) => one.who === who && one.before === (done.get(who) ?? 0));
    return own.find(({ until, done: count }) => acting.has(until) && (done.get(until) ?? 0) < count);
  }

  /** Takes the next one out of those that wait. Where all stand still, the first goes on. */
  function next(): Waiting {
    const free = waiting.filter((one) => standOf(one) === undefined);
    const one = free.find(({ who }) => who === last) ?? free[0] ?? (waiting[0] as Waiting);
    waiting.splice(waiting.indexOf(one), 1);
    for (const stand of left) {
      if (stand.who !== one.who || stand.before !== (done.get(one.who) ?? 0)) continue;
      left.delete(stand);
      if (stand.pauseMs > 0) stage.pass(stand.pauseMs);
    }
    return one;
  }

  async function isIdle(): Promise<boolean> {
    for (let turns = 0; turns < IDLE_TURNS && acting.size > 0 && waiting.length === 0; turns++) await settle();
    return acting.size > 0 && waiting.length === 0;
  }

  async function take(): Promise<void> {
    if (++count > STEPS_MAX) throw new Error(`no end after ${STEPS_MAX} steps`);
    const { who, what, go } = next();
    last = who;
    if (isFirst) {
      done.set(who, (done.get(who) ?? 0) + 1);
      steps.push({ who, what });
    }
    time.pass(STEP_MS);
    await go();
  }

  const stage: Stage = {
    clock: time.clock,
    steps,
    lengths: done,
    step: (what, work) =>
      new Promise((resolve, reject) => {
        const who = party.getStore() ?? '';
        waiting.push({ who, what, go: async () => Promise.resolve().then(work).then(resolve, reject) });
      }),
    act: (who, work) =>
      party.run(who, () => {
        acting.add(who);
        const ended = stage.step(BEGINS, () => undefined).then(work);
        ended.catch((error) => failures.push(error)).finally(() => acting.delete(who));
        return ended;
      }),
    await(work) {
      if (outside++ === 0) computed = Promise.withResolvers();
      return work.finally(() => {
        if (--outside === 0) computed.resolve();
      });
    },
    pass(ms) {
      if (isFirst) steps.push({ who: TIME, what: `${ms} ms pass` });
      time.pass(ms);
    },
    async play() {
      for (await settle(); acting.size > 0 || waiting.length > 0; await settle()) {
        if (!(await isIdle())) {
          if (waiting.length > 0) await take();
        } else if (!time.skip()) throw new Error('it waits for nothing that can come');
      }
      left.clear();
      isFirst = false;
      if (failures.length > 0) throw failures[0];
    },
  };
  return stage;
}
