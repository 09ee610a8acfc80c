import { type Clock, MINUTE_MS, sleep } from '../base/clock.ts';
import { describeError, type Log } from '../base/log.ts';
import type { Store } from '../db/database.ts';
import { readEventSpan, readEventsAfter } from '../events/read.ts';
import { eventFrame, type Frame } from './sse.ts';
import { selectLastStream, selectRevokedSince, selectStreamsAfter } from './store.ts';

/** Events per read. */
export const EVENTS_PAGE_MAX = 200;
/** How often the database is polled for events of other processes while streams are open. */
export const STREAM_POLL_MS = 500;
/** How far back revocations are read, since another process's clock may be behind. */
const STREAM_REVOCATIONS_BACK_MS = MINUTE_MS;

/** Reads new events, takeovers and revocations from the database, once for all streams of a process. */
export interface EventTail {
  /** Starts behind the newest event. Rejects if the database cannot be read; the next call tries again. */
  start(): Promise<void>;
  /** Reads events now instead of at the next poll. Does nothing before `start`. */
  wake(): void;
  stop(): void;
}

interface Parts {
  readonly db: Pick<Store, 'read'>;
  readonly clock: Clock;
  readonly log: Log;
}

interface Listener {
  /** Whether there are open streams; without them polling stops. */
  readonly isWanted: () => boolean;
  readonly onEvent: (frame: Frame, app: string, channel: string) => void;
  /** The token's stream was opened again, by any process. */
  readonly onTakeover: (cid: string, seq: number) => void;
  readonly onRevoked: (cids: ReadonlySet<string>) => void;
}

/** The last event id and the last stream seq that were read. */
interface TailPosition {
  id: number;
  seq: number;
}

/** An event tail that polls every `STREAM_POLL_MS` from `start` to `stop`. */
export function createEventTail(parts: Parts, listener: Listener): EventTail {
  const { clock, log } = parts;
  const position: TailPosition = { id: 0, seq: 0 };
  let starting: Promise<void> | undefined;
  let isReading = false;
  let isStale = false;
  let hasFailed = false;
  let cancel = () => {};

  function schedule(): void {
    cancel();
    cancel = clock.after(STREAM_POLL_MS, () => {
      readNew(true).finally(() => listener.isWanted() && starting && schedule());
    });
  }

  /** One read at a time. A commit meanwhile sets `isStale`, and its events are read right after. */
  async function readNew(alsoStreams: boolean): Promise<void> {
    isStale = true;
    if (isReading) return;
    isReading = true;
    try {
      if (alsoStreams) {
        await readRevoked(parts, listener);
        while (await readTakeovers(parts, position, listener)) await sleep(clock, 0);
      }
      while (isStale && listener.isWanted()) {
        isStale = false;
        // A turn of the event loop between two pages, so that a burst does not fill the queues of readers that keep up.
        while (await readEvents(parts, position, listener)) await sleep(clock, 0);
      }
      if (hasFailed) log({ level: 'info', event: 'stream_tail_recovered' });
      hasFailed = false;
    } catch (error) {
      if (!hasFailed) log({ level: 'warn', event: 'stream_tail_failed', ...describeError(error) });
      hasFailed = true;
    } finally {
      isReading = false;
    }
  }

  async function begin(): Promise<void> {
    await moveToEnd(parts, position);
    schedule();
  }

  return {
    start() {
      starting ??= begin().catch((error) => {
        starting = undefined;
        throw error;
      });
      return starting;
    },
    wake() {
      if (starting) readNew(false);
    },
    stop() {
      cancel();
      starting = undefined;
    },
  };
}

async function moveToEnd({ db }: Parts, position: TailPosition): Promise<void> {
  const [span, [stream]] = await Promise.all([readEventSpan(db), db.read(selectLastStream())]);
  position.id = span.newest;
  position.seq = Number(stream?.['seq'] ?? 0);
}

/** One page; true when there may be more. */
async function readEvents({ db }: Parts, position: TailPosition, listener: Listener): Promise<boolean> {
  const events = await readEventsAfter(db, position.id, EVENTS_PAGE_MAX);
  for (const event of events) {
    position.id = Math.max(position.id, event.id);
    listener.onEvent(eventFrame(event), event.app, event.channel);
  }
  return events.length === EVENTS_PAGE_MAX;
}

/** One page of takeovers; true when there may be more. */
async function readTakeovers({ db }: Parts, position: TailPosition, listener: Listener): Promise<boolean> {
  const rows = await db.read(selectStreamsAfter(position.seq, EVENTS_PAGE_MAX));
  for (const row of rows) {
    position.seq = Number(row['seq']);
    listener.onTakeover(String(row['cid']), position.seq);
  }
  return rows.length === EVENTS_PAGE_MAX;
}

async function readRevoked({ db, clock }: Parts, listener: Listener): Promise<void> {
  const rows = await db.read(selectRevokedSince(clock.now() - STREAM_REVOCATIONS_BACK_MS));
  if (rows.length > 0) listener.onRevoked(new Set(rows.map((row) => String(row['cid']))));
}
