import type { Draw } from '../../support/draw.ts';
import type { Time } from '../../support/torture/place.ts';
import { openAgenda } from '../agenda.ts';

/** Time that passes only when nobody has anything to do: what falls due next runs, and all that it sets going. */
export interface VirtualTime extends Time {
  /** Calls `fn` once, so much later; returns what prevents it. */
  after(ms: number, fn: () => void): () => void;
  /** Lets time pass until the work is done, or is to be left where it is. Throws where nothing would ever end it. */
  run(work: Promise<unknown>, isLeft: () => boolean): Promise<void>;
}

/** When a simulation begins. */
const EPOCH_MS = Date.UTC(2026, 0, 1);

/** Time that begins at 0. */
export function openTime(): VirtualTime {
  const agenda = openAgenda<{ readonly at: number; readonly fn: () => void; isCancelled: boolean }>();
  let now = 0;
  const after = (ms: number, fn: () => void) => {
    const entry = { at: now + Math.max(0, ms), fn, isCancelled: false };
    agenda.put(entry.at, entry);
    return () => {
      entry.isCancelled = true;
    };
  };
  return {
    now: () => now,
    wall: () => EPOCH_MS + Math.floor(now),
    after,
    sleep: (ms) => new Promise((resolve) => void after(ms, resolve)),
    async run(work, isLeft) {
      let isDone = false;
      work.then(
        () => (isDone = true),
        () => (isDone = true),
      );
      for (;;) {
        await untilQuiet();
        if (isLeft()) return;
        if (isDone) return void (await work);
        const next = agenda.take(Number.POSITIVE_INFINITY);
        if (next === undefined) throw new Error('nothing is due any more, and the work is not done');
        now = next.at;
        if (!next.isCancelled) next.fn();
      }
    },
  };
}

let underWay = 0;

/** Promises have been followed to their ends, and no thread computes. */
async function untilQuiet(): Promise<void> {
  do await new Promise(setImmediate);
  while (underWay > 0);
}

/**
 * Takes chance out of this process until the returned function is called: what it draws follows from the draw, and what
 * threads compute is ready in the order in which it was asked for.
 */
export function banChance(draw: Draw): () => void {
  const before = { random: Math.random, fill: crypto.getRandomValues };
  Math.random = () => draw.below(2 ** 32) / 2 ** 32;
  const fill = (view: Uint8Array) => {
    view.set(draw.bytes(view.length));
    return view;
  };
  setOwn(crypto, 'getRandomValues', fill);
  let last: Promise<unknown> = Promise.resolve();
  const names = Object.getOwnPropertyNames(Object.getPrototypeOf(crypto.subtle)) as (keyof SubtleCrypto)[];
  const methods = names.filter((name) => typeof crypto.subtle[name] === 'function' && `${name}` !== 'constructor');
  for (const name of methods) {
    const method = crypto.subtle[name].bind(crypto.subtle) as (...given: unknown[]) => Promise<unknown>;
    setOwn(crypto.subtle, name, (...given: unknown[]) => {
      underWay++;
      const result = last.then(() => method(...given)).finally(() => underWay--);
      last = result.catch(() => undefined);
      return result;
    });
  }
  return () => {
    Math.random = before.random;
    setOwn(crypto, 'getRandomValues', before.fill);
    for (const name of methods) Reflect.deleteProperty(crypto.subtle, name);
  };
}

function setOwn(object: object, name: string, value: unknown): void {
  Object.defineProperty(object, name, { value, writable: true, configurable: true });
}
