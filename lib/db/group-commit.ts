import type { Clock } from '../base/clock.ts';
import { sleep } from '../base/clock.ts';
import type { Database, Result } from './database.ts';
import { DATABASE_LOCK_TIMEOUT_MS, isBusy, isRolledBack, retryBusy } from './errors.ts';

/** The most statements of one commit, and the most writes in the queue. */
export const COMMIT_STATEMENTS_MAX = 1_000;
export const COMMIT_QUEUE_MAX = 20_000;

/** Statements as the engine takes them. */
export type Batch = Parameters<Database['batch']>[0];

/**
 * Commits the writes of many callers together: one fsync, or one round trip, serves all that arrived during the
 * previous commit.
 */
export interface Commit {
  /**
   * Runs the statements in order in one transaction and resolves with their results once durable. Throws the engine's
   * error, or when the queue is full.
   */
  write(statements: Batch): Promise<readonly Result[]>;
  /** The same with statements that are made when their commit begins; `build` must not throw. */
  writeLater(build: () => Batch): Promise<readonly Result[]>;
}

/** A group commit with an empty queue. */
export function createCommit({ database, clock }: { database: Database; clock: Clock }): Commit {
  const queue: Write[] = [];
  let draining = false;

  async function drain(): Promise<void> {
    draining = true;
    while (queue.length > 0) {
      // One turn of the event loop, so that every request that is ready now gets into this commit.
      await sleep(clock, 0);
      const failed = await settle({ database, clock }, takeNext(queue));
      if (failed) rejectAll(takeLate(queue, clock.monotonic() - DATABASE_LOCK_TIMEOUT_MS), failed.error);
    }
    draining = false;
  }

  async function enqueue(build: () => Batch): Promise<readonly Result[]> {
    if (queue.length >= COMMIT_QUEUE_MAX) throw new Error('the commit queue is full');
    return new Promise((resolve, reject) => {
      queue.push({ build, batch: undefined, at: clock.monotonic(), resolve, reject });
      if (!draining) drain();
    });
  }

  return {
    async write(statements) {
      const { length } = statements;
      if (length > COMMIT_STATEMENTS_MAX) throw new RangeError(`a write of ${length} statements`);
      return enqueue(() => statements);
    },
    writeLater: enqueue,
  };
}

interface Engine {
  readonly database: Database;
  readonly clock: Clock;
}

interface Failure {
  readonly error: unknown;
}

/** One caller's write and its promise. */
interface Write {
  readonly build: () => Batch;
  /** The batch, built once its commit is near. */
  batch: Batch | undefined;
  /** When it was queued, in milliseconds. */
  readonly at: number;
  readonly resolve: (results: readonly Result[]) => void;
  readonly reject: (error: unknown) => void;
}

function batchOf(write: Write): Batch {
  write.batch ??= write.build();
  return write.batch;
}

function takeNext(queue: Write[]): readonly Write[] {
  let statements = 0;
  const end = queue.findIndex((write) => {
    statements += batchOf(write).length;
    return statements > COMMIT_STATEMENTS_MAX;
  });
  return queue.splice(0, end < 0 ? queue.length : end);
}

/** Takes the writes that came before a moment: where the engine fails, each further try could cost a whole timeout. */
function takeLate(queue: Write[], before: number): readonly Write[] {
  const end = queue.findIndex(({ at }) => at > before);
  return queue.splice(0, end < 0 ? queue.length : end);
}

/**
 * Commits the writes as one batch, or one by one if it was rolled back, so that only the caller of the refused
 * statement fails. Resolves with the error of an engine that fails itself.
 */
async function settle(engine: Engine, writes: readonly Write[]): Promise<Failure | undefined> {
  const failure = await commit(engine, writes);
  if (failure === undefined) return undefined;
  if (writes.length === 1 || !isRefusal(failure.error)) {
    rejectAll(writes, failure.error);
    return isRefusal(failure.error) ? undefined : failure;
  }
  for (const [i, write] of writes.entries()) {
    const alone = await commit(engine, [write]);
    if (alone === undefined) continue;
    write.reject(alone.error);
    if (isRefusal(alone.error)) continue;
    rejectAll(writes.slice(i + 1), alone.error);
    return alone;
  }
  return undefined;
}

/**
 * Whether the batch was rolled back because of a statement. A busy database concerns every caller, and a batch that may
 * be committed must not run again.
 */
function isRefusal(error: unknown): boolean {
  return isRolledBack(error) && !isBusy(error);
}

async function commit({ database, clock }: Engine, writes: readonly Write[]): Promise<Failure | undefined> {
  try {
    const statements = writes.flatMap(batchOf);
    const results = statements.length > 0 ? await retryBusy(clock, () => database.batch(statements, 'write')) : [];
    let start = 0;
    for (const write of writes) {
      const end = start + batchOf(write).length;
      write.resolve(results.slice(start, end));
      start = end;
    }
    return undefined;
  } catch (error) {
    return { error };
  }
}

function rejectAll(writes: readonly Write[], error: unknown): void {
  for (const write of writes) write.reject(error);
}
