import { type Clock, sleep } from '../base/clock.ts';
import type { Bound } from './bind.ts';
import type { Database, Result } from './database.ts';
import { isRefused, retryBusy } from './errors.ts';
import { DATABASE_QUEUE_MAX, DATABASE_WAIT_MS } from './pool.ts';

/** The most requests for reads under way, except slow ones, and the most reads of one. */
export const READ_REQUESTS_MAX = 3;
export const READ_BATCH_MAX = 64;

/** A request that takes longer is slow: others do not wait for it while there are connections. */
export const READ_SLOW_MS = 250;

/** Whether each call of the database is a request to a server. */
export function isServer({ protocol = 'file' }: Database): boolean {
  return protocol !== 'file';
}

/** Whether a statement surely changes nothing: only such a one may share a request, and run again. */
export function isRead(sql: string): boolean {
  return /^\s*(?:select|with)\b/i.test(sql) && !/\b(?:insert|update|delete|replace|returning)\b/i.test(sql);
}

/** One reading statement at a time, of many callers; `build` is called each time that a request with it goes. */
export type Read = (build: () => Bound) => Promise<Result>;

/**
 * Sends the reads of a turn to the database as one request: a server's requests cost more than its reads, and on a file
 * a transaction of its own costs half a look-up. The rules:
 *
 * - Reads that come while `READ_REQUESTS_MAX` requests are under way, except slow ones, go with the next.
 * - A read goes only into a request that is sent after it was asked for.
 * - If a request is refused for one of its reads, that one goes again alone and the others together. A read that is
 *   refused twice goes alone, so that only its caller fails. After no answer nothing goes again.
 * - No read waits longer than `DATABASE_WAIT_MS` for a server. For a file it waits for its turn, however long.
 */
export function gatherReads({ database, clock, maxConnections }: Settings): Read {
  const waiting: Asked[] = [];
  const onServer = isServer(database);
  const room = createRoom({ clock, maxConnections, slowMs: onServer ? READ_SLOW_MS : undefined }, () => {
    if (waiting.length > 0) void wake();
  });
  let isAwake = false;

  async function wake(): Promise<void> {
    if (isAwake) return;
    isAwake = true;
    // One turn of the event loop, so that every request that is ready now gets into this one.
    await sleep(clock, 0);
    isAwake = false;
    while (room.isFree() && waiting.length > 0) void send();
  }

  async function send(): Promise<void> {
    const reads = takeNext(waiting, onServer ? clock.monotonic() - DATABASE_WAIT_MS : -Infinity);
    if (reads.length === 0) return;
    const leave = room.enter();
    try {
      const statements = reads.map(({ build }) => build());
      const results = await ask(statements);
      for (const [i, { resolve }] of reads.entries()) resolve(results[i] as Result);
    } catch (error) {
      if (reads.length === 1 || !isRefused(error)) for (const { reject } of reads) reject(error);
      else waiting.unshift(...again(reads, error));
    } finally {
      leave();
    }
  }

  async function ask(statements: Bound[]): Promise<readonly Result[]> {
    const [first] = statements;
    return retryBusy(clock, async () => {
      if (statements.length === 1 && first) return [await database.execute(first)];
      const results = await database.batch(statements, 'read');
      if (results.length !== statements.length)
        throw new Error(`${results.length} results for ${statements.length} reads`);
      return results;
    });
  }

  return (build) =>
    new Promise((resolve, reject) => {
      if (waiting.length >= DATABASE_QUEUE_MAX) throw new Error('the queue for the database server is full');
      waiting.push({ build, at: clock.monotonic(), refusals: 0, isAlone: false, resolve, reject });
      if (room.isFree()) void wake();
    });
}

/** The requests under way. A slow one, on a server, leaves its place to others, but not its connection. */
function createRoom({ clock, maxConnections, slowMs }: RoomSettings, onFree: () => void) {
  // A write always finds a connection.
  const mostInAll = Math.max(1, maxConnections - 1);
  const most = Math.min(READ_REQUESTS_MAX, mostInAll);
  let underWay = 0;
  let slow = 0;
  return {
    isFree: () => underWay - slow < most && underWay < mostInAll,
    /** Begins a request, and returns the function that ends it. */
    enter(): () => void {
      let isSlow = false;
      const onSlow = () => {
        isSlow = true;
        slow++;
        onFree();
      };
      const cancel = slowMs === undefined ? undefined : clock.after(slowMs, onSlow);
      underWay++;
      return () => {
        cancel?.();
        if (isSlow) slow--;
        underWay--;
        onFree();
      };
    },
  };
}

interface RoomSettings {
  readonly clock: Clock;
  readonly maxConnections: number;
  readonly slowMs: number | undefined;
}

interface Settings {
  readonly database: Database;
  readonly clock: Clock;
  readonly maxConnections: number;
}

interface Asked {
  readonly build: () => Bound;
  readonly at: number;
  /** In how many requests that were refused it was. */
  readonly refusals: number;
  /** It goes by itself. */
  readonly isAlone: boolean;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

/** Takes the reads of the next request, and rejects those that wait since before `late`. */
function takeNext(waiting: Asked[], late: number): readonly Asked[] {
  const end = waiting.findIndex(({ at }) => at > late);
  for (const { reject } of waiting.splice(0, end < 0 ? waiting.length : end))
    reject(new Error(`the database server took no read for ${DATABASE_WAIT_MS / 1000} s`));
  const alone = waiting.findIndex(({ isAlone }) => isAlone);
  return waiting.splice(0, alone === 0 ? 1 : Math.min(alone < 0 ? waiting.length : alone, READ_BATCH_MAX));
}

/**
 * The reads of a refused request as they go again: each alone if the server does not say which statement it was refused
 * for, or if it was theirs.
 */
function again(reads: readonly Asked[], error: unknown): readonly Asked[] {
  const failed = (error as { statementIndex?: unknown }).statementIndex;
  return reads.map((read, i) => ({
    ...read,
    refusals: read.refusals + 1,
    isAlone: typeof failed !== 'number' || i === failed || read.refusals > 0,
  }));
}
