import { type Clock, systemClock } from '../../lib/base/clock.ts';
import type { Result } from '../../lib/db/database.ts';
import { DATABASE_STALLED } from '../../lib/db/errors.ts';
import type { OpenFile } from './connection.ts';
import type { BoundStatement } from './statements.ts';
import {
  type Failure,
  fromAnswer,
  fromFailure,
  type WriterOutcome,
  type WriterTask,
  writeOrder,
} from './writer-messages.ts';

/** How long a write waits for the disk, and the opening for the thread. */
export const WRITER_ANSWER_MS = 10_000;
/** From when on a thread without an answer is stalled, and when it is given up. */
export const WRITER_STALLED_MS = 60_000;
export const WRITER_GIVEN_UP_MS = 600_000;

/** A message to the writer: an order, to open, to close, or to check a file that it does not write. */
export type ToWriter =
  | string
  | { readonly open: OpenFile; readonly sharesCore: boolean }
  | { readonly close: true }
  | { readonly check: OpenFile };

type FromWriter =
  | string
  | [number, WriterOutcome]
  | { readonly ready: true }
  | { readonly closed: true }
  | { readonly failure: Failure };

/** A thread with a connection of its own, which commits while this one reads. */
export interface WriterThread {
  /**
   * Runs statements on the thread, in the order of the calls, and resolves once they are durable. Throws the engine's
   * error. If the disk has not answered for `WRITER_ANSWER_MS`, or the thread has ended, the outcome is unknown. Later
   * calls are then refused, and have not run, until the disk answers: as `DATABASE_STALLED` once that takes
   * `WRITER_STALLED_MS`.
   */
  run(task: WriterTask, statements: readonly BoundStatement[]): Promise<Result[]>;
  /** Resolves with the reason once the thread has ended without being asked to, or is given up. */
  readonly ended: Promise<Error>;
  /** Ends the thread after what it has been asked. */
  close(): Promise<void>;
}

interface Start extends OpenFile {
  readonly clock?: Clock;
  /** The script that the thread runs. */
  readonly entry?: string;
  readonly processors?: number;
}

/** Starts the thread. Throws if it cannot, or if the path leads to another file by now. */
export async function startWriter(start: Start): Promise<WriterThread> {
  const { clock = systemClock, entry = WRITER_ENTRY, processors = navigator.hardwareConcurrency, ...file } = start;
  const worker = new Worker(entry);
  const post = (message: ToWriter) => worker.postMessage(message);
  const answers = createAnswers(clock, () => giveUp('a write has no answer from the disk for 10 minutes'));
  const opened = Promise.withResolvers<void>();
  const closed = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<Error>();
  /** Why nothing is asked of the thread any more. */
  let end: Error | undefined;
  let last = 0;

  listen(worker, {
    onOpened: opened.resolve,
    onRefused: (failure) => opened.reject(fromFailure(failure)),
    onAnswer: answers.settle,
    onClosed: closed.resolve,
    onEnd: giveUp,
  });

  function giveUp(reason: string): void {
    const error = Object.assign(new Error(`the writer has ended: ${reason}`), { code: WRITER_ENDED });
    answers.rejectAll(error);
    opened.reject(error);
    closed.resolve();
    if (end) return;
    end = error;
    ended.resolve(error);
  }

  async function close(): Promise<void> {
    if (!end) post({ close: true });
    else closed.resolve();
    end ??= new Error('the database is closed');
    await closed.promise;
    worker.terminate();
  }

  post({ open: file, sharesCore: processors === 1 });
  const cancel = clock.after(WRITER_ANSWER_MS, () => opened.reject(new Error('the writer does not start')));
  await opened.promise
    .catch((error) => {
      end = error;
      worker.terminate();
      throw error;
    })
    .finally(cancel);
  return {
    ended: ended.promise,
    close,
    async run(task, statements) {
      if (end) throw end;
      answers.refuseWhileLate();
      const order = writeOrder(++last, task, statements);
      const answer = answers.expect(last);
      post(order);
      return answer;
    },
  };
}

interface Listener {
  readonly onOpened: () => void;
  readonly onRefused: (failure: Failure) => void;
  readonly onAnswer: (id: number, outcome: WriterOutcome) => void;
  readonly onClosed: () => void;
  /** Called at least once when the thread ends, asked to or not. */
  readonly onEnd: (reason: string) => void;
}

function listen(worker: Worker, listener: Listener): void {
  const { onOpened, onRefused, onAnswer, onClosed, onEnd } = listener;
  worker.addEventListener('error', ({ message }) => onEnd(messageIn(message)));
  worker.addEventListener('close', () => onEnd('its thread is gone'));
  worker.addEventListener('messageerror', () => onEnd('a message could not be read'));
  worker.addEventListener('message', ({ data }: MessageEvent<FromWriter>) => {
    if (typeof data === 'string' || Array.isArray(data)) {
      const answer = readAnswer(data);
      if (answer) onAnswer(...answer);
      else onEnd('an answer could not be read');
    } else if ('ready' in data) onOpened();
    else if ('closed' in data) onClosed();
    else onRefused(data.failure);
  });
}

function readAnswer(data: string | [number, WriterOutcome]): [number, WriterOutcome] | undefined {
  try {
    return fromAnswer(data);
  } catch {
    return undefined;
  }
}

/** In the program, the source's path below its root; from the source, the file beside this one. */
export const WRITER_ENTRY = Bun.isStandaloneExecutable
  ? './commands/storage/writer.ts'
  : new URL('./writer.ts', import.meta.url).href;

const WRITER_ENDED = 'WRITER_ENDED';
const WRITER_LATE = 'WRITER_LATE';

/** The message of an error: the runtime may put an excerpt of the source above it, and a stack trace below. */
function messageIn(text: string): string {
  return (/^(?:\w*Error|error): .*/m.exec(text) ?? /.*/.exec(text))?.[0] ?? '';
}

interface Waiting {
  readonly resolve: (results: Result[]) => void;
  readonly reject: (error: Error) => void;
  readonly cancelTimer: () => void;
}

/** The calls whose answers are awaited; `onGivenUp` is called when one has none for `WRITER_GIVEN_UP_MS`. */
function createAnswers(clock: Clock, onGivenUp: () => void) {
  const waiting = new Map<number, Waiting>();
  /** Orders whose callers wait no longer. */
  const late = new Map<number, Late>();

  function watch(id: number): void {
    const cancelStalled = clock.after(WRITER_STALLED_MS - WRITER_ANSWER_MS, () => {
      order.isStalled = true;
    });
    const cancelGivenUp = clock.after(WRITER_GIVEN_UP_MS - WRITER_ANSWER_MS, onGivenUp);
    const order: Late = {
      isStalled: false,
      cancelTimers() {
        cancelStalled();
        cancelGivenUp();
      },
    };
    late.set(id, order);
  }

  return {
    expect: (id: number) =>
      new Promise<Result[]>((resolve, reject) => {
        const cancelTimer = clock.after(WRITER_ANSWER_MS, () => {
          waiting.delete(id);
          watch(id);
          reject(lateError('a write has no answer from the disk, and may be durable later'));
        });
        waiting.set(id, { resolve, reject, cancelTimer });
      }),
    refuseWhileLate() {
      const [oldest] = late.values();
      if (oldest) throw lateError('an earlier write has no answer from the disk', oldest.isStalled);
    },
    settle(id: number, outcome: WriterOutcome) {
      late.get(id)?.cancelTimers();
      late.delete(id);
      const call = waiting.get(id);
      if (!call) return;
      waiting.delete(id);
      call.cancelTimer();
      if ('results' in outcome) call.resolve(outcome.results);
      else call.reject(fromFailure(outcome.failure));
    },
    rejectAll(error: Error) {
      for (const { cancelTimers } of late.values()) cancelTimers();
      late.clear();
      for (const { reject, cancelTimer } of waiting.values()) {
        cancelTimer();
        reject(error);
      }
      waiting.clear();
    },
  };
}

interface Late {
  isStalled: boolean;
  readonly cancelTimers: () => void;
}

function lateError(what: string, isStalled = false): Error {
  const ms = isStalled ? WRITER_STALLED_MS : WRITER_ANSWER_MS;
  return Object.assign(new Error(`${what} for ${ms / 1000} s`), { code: isStalled ? DATABASE_STALLED : WRITER_LATE });
}
