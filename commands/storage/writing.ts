import { describeError, type Log } from '../../lib/base/log.ts';
import { DATABASE_CACHE_MB } from '../../lib/constants.ts';
import type { EmbeddedDatabase } from './sqlite.ts';
import type { WriterThread } from './writer-thread.ts';

/** The settings of `DATABASE_WRITER`. */
export type WriterChoice = 'auto' | 'thread' | 'inline';

/** From when on a sync is slow, as measured at the start. */
export const SLOW_SYNC_MS = 1;
/** A commit is slow from here on; the thread takes over once most of the last ones were. */
export const SLOW_COMMIT_MS = 5;
const COMMITS_WATCHED = 16;
const SLOW_COMMITS = 12;

/** Where the writes of the embedded database run: on the event loop's thread, or on one of their own. */
export interface Writing {
  /** Who writes; a thread that is being started counts. */
  readonly kind: 'inline' | 'thread';
  /** How long a page took to get to the disk at the start; undefined where that was not measured. */
  readonly syncMs: number | undefined;
}

/** The writing of a vault that serves. */
export interface OwnedWriting {
  state(): Writing;
  /** Measures the disk and chooses. */
  choose(): Promise<void>;
  /** Starts the thread if it was chosen, without waiting for it: it takes over between two batches. */
  start(): void;
  /** Resolves with the reason once writes are no longer possible: the thread has ended, or could not start. */
  readonly ended: Promise<Error>;
  /** Closes the database after what it has been asked; `keepsLog` is that of `EmbeddedDatabase.close`. */
  close(keepsLog?: boolean): Promise<void>;
}

interface Order {
  readonly choice: WriterChoice;
  /** The cache of a connection that both reads and writes, where no setting says how large. */
  readonly aloneCacheMb?: number;
  readonly log: Log;
  readonly processors?: number;
}

/** The writing on a database that nobody else closes. It writes inline until `start`. */
export function createWriting(database: EmbeddedDatabase, order: Order): OwnedWriting {
  const { choice, aloneCacheMb, log, processors = navigator.hardwareConcurrency } = order;
  const ended = Promise.withResolvers<Error>();
  let syncMs: number | undefined;
  let reason: string | undefined;
  let kind: Writing['kind'] = 'inline';
  let starting: Promise<WriterThread | undefined> | undefined;

  async function startThread(reason: string): Promise<WriterThread | undefined> {
    kind = 'thread';
    try {
      const { startWriter } = await import('./writer-thread.ts');
      const thread = await startWriter({ ...database.file, processors });
      database.writeOn(thread);
      // Each commit of the thread empties it, and a large one stops everybody meanwhile.
      if (aloneCacheMb !== undefined) database.keepPages(DATABASE_CACHE_MB);
      thread.ended.then(ended.resolve);
      log({ level: 'info', event: 'writer_started', reason });
      return thread;
    } catch (error) {
      kind = 'inline';
      // Who left the choice to the vault has a writer still.
      if (choice === 'thread') ended.resolve(error as Error);
      else log({ level: 'warn', event: 'writer_not_started', ...describeError(error) });
      return undefined;
    }
  }

  return {
    state: () => ({ kind, syncMs }),
    ended: ended.promise,
    async choose() {
      const { measureSync } = await import('./disk-speed.ts');
      syncMs = await measureSync(database.file.path).catch(() => undefined);
      reason = chooseWriter(choice, syncMs, processors);
      if (reason !== undefined) kind = 'thread';
    },
    start() {
      if (reason !== undefined) {
        starting = startThread(reason);
        return;
      }
      if (aloneCacheMb !== undefined) database.keepPages(aloneCacheMb);
      if (choice === 'auto')
        database.watchCommits(
          createWatch(() => {
            starting ??= startThread('most of the last commits were slow');
          }),
        );
    },
    async close(keepsLog = database.file.wasLeftOpen) {
      const thread = await starting;
      // Of the log the thread knows only how it was at the start.
      if (keepsLog || database.file.wasLeftOpen) await thread?.close();
      // The last to close folds it into the file, for which the disk may need its time.
      database.close(keepsLog);
      await thread?.close();
    },
  };
}

/** Why a thread should write, on a disk that takes so long for a page; undefined if none should. */
export function chooseWriter(
  choice: WriterChoice,
  syncMs: number | undefined,
  processors = navigator.hardwareConcurrency,
): string | undefined {
  if (choice === 'inline') return undefined;
  if (choice === 'thread') return 'DATABASE_WRITER=thread';
  if (syncMs === undefined) return 'the disk could not be measured, or not in time';
  if (syncMs >= SLOW_SYNC_MS) return `a durable write takes ${syncMs.toFixed(1)} ms`;
  return processors > 1 ? `${processors} processors` : undefined;
}

/** Called with the time that each commit took, and calls `onSlow` once most of the last ones were slow. */
function createWatch(onSlow: () => void): (ms: number) => void {
  const last: boolean[] = [];
  let slow = 0;
  return (ms) => {
    last.push(ms > SLOW_COMMIT_MS);
    if (ms > SLOW_COMMIT_MS) slow++;
    if (last.length > COMMITS_WATCHED && last.shift()) slow--;
    if (slow >= SLOW_COMMITS) onSlow();
  };
}
