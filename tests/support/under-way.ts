// What this process has under way outside its own code: requests on their way to a server or back, statements,
// signatures, timers of 0 (`count-natives.ts`). All that code does between two of these runs within one turn of the
// event loop, however long a chain of promises it is. So `idle` tells exactly when nothing more comes by itself. What
// code of this process holds back is not under way: a request in the hands of a server of its own, a promise that a test
// resolves later.
import type { Database } from '../../lib/db/database.ts';
import { waitLimitMs } from './limits.ts';

/** Something under way, as messages call it. */
export interface UnderWay {
  readonly what: string;
}

const all = new Set<UnderWay>();
const waiting: (() => void)[] = [];

/** Resolves once nothing is under way: what has not come by then does not come by itself. Throws what does not end. */
export async function idle(): Promise<void> {
  do {
    if (all.size > 0) await noneLeft();
    // Within this turn the code that waited goes on, and begins what is next.
    await new Promise(setImmediate);
  } while (all.size > 0);
}

/** Whether a promise is still pending once nothing is under way, and so stays until a test does something. */
export async function staysPending(promise: Promise<unknown>): Promise<boolean> {
  let isPending = true;
  const settle = () => {
    isPending = false;
  };
  promise.then(settle, settle);
  await idle();
  return isPending;
}

function noneLeft(): Promise<void> {
  return new Promise((resolve, reject) => {
    const limitMs = waitLimitMs();
    const late = () => {
      const names = [...all].map(({ what }) => what);
      reject(new Error(`under way for ${limitMs / 1000} s: ${names.join(', ')}`));
    };
    const limit = setTimeout(late, limitMs);
    waiting.push(() => {
      clearTimeout(limit);
      resolve();
    });
  });
}

/** Counts it from now on. */
export function begin(one: UnderWay): void {
  all.add(one);
}

/** Counts it no more. */
export function end(one: UnderWay): void {
  if (all.delete(one) && all.size === 0) for (const resolve of waiting.splice(0)) resolve();
}

/** Counts what is awaited. */
export async function counted<T>(what: string, work: Promise<T>): Promise<T> {
  const one = { what };
  begin(one);
  try {
    return await work;
  } finally {
    end(one);
  }
}

/** A database whose statements are counted. */
export function countedDatabase<D extends Database>(database: D): D {
  return {
    ...database,
    execute: (statement) => counted('a statement', database.execute(statement)),
    batch: (statements, mode) => counted('a batch of statements', database.batch(statements, mode)),
  };
}
