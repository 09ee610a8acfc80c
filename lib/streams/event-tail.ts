import { type Clock, MINUTE_MS, sleep } from '../base/clock.ts';
import { describeError, type Log } from '../base/log.ts';
import type { Store } from '../db/database.ts';
import { readEventSpan, readEventsAfter } from '../events/read.ts';
import { type Frame, frameOf } from './sse.ts';
import { selectLastStream, selectRevokedSince, selectStreamsAfter } from './store.ts';

/** Events read at once. */
export const EVENTS_PAGE_MAX = 200;
/** How often other processes' events are looked for while anybody listens. */
export const STREAM_POLL_MS = 500;
/** Between two clocks: how far back revocations are looked for. */
const STREAM_REVOCATIONS_BACK_MS = MINUTE_MS;

/** Reads what is new in the database, once for all streams of a process. */
export interface Tail {
  /** Begins at the end of the tables. Throws what the database threw. */
  start(): Promise<void>;
  /** Looks now instead of at the next turn. */
  wake(): void;
  stop(): void;
}

interface Parts {
  readonly db: Pick<Store, 'read'>;
  readonly clock: Clock;
  readonly log: Log;
}

/** Who is told. */
interface Listener {
  readonly isWanted: () => boolean;
  readonly event: (frame: Frame, app: string, channel: string) => void;
  readonly taken: (cid: string, seq: number) => void;
  readonly revoked: (cids: ReadonlySet<string>) => void;
}

/** The last event and the last takeover seen. */
interface Place {
  id: number;
  seq: number;
}

/** A tail that stands still until it is started, and then looks every `STREAM_POLL_MS`. */
export function createTail(parts: Parts, listener: Listener): Tail {
  const { clock, log } = parts;
  const place: Place = { id: 0, seq: 0 };
  let starting: Promise<void> | undefined;
  let isReading = false;
  let isStale = false;
  let hasFailed = false;
  let cancel = () => {};

  function schedule(): void {
    cancel();
    cancel = clock.after(STREAM_POLL_MS, () => {
      look(true).finally(() => listener.isWanted() && starting && schedule());
    });
  }

  /** One look at a time: what is committed while it is under way is for the next, which follows at once. */
  async function look(alsoStreams: boolean): Promise<void> {
    isStale = true;
    if (isReading) return;
    isReading = true;
    try {
      if (alsoStreams) {
        await readRevoked(parts, listener);
        while (await readTaken(parts, place, listener)) await sleep(clock, 0);
      }
      while (isStale && listener.isWanted()) {
        isStale = false;
        // A turn of the event loop between two pages, so that a burst does not fill the queues of readers that keep up.
        while (await readEvents(parts, place, listener)) await sleep(clock, 0);
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
    await toEnd(parts, place);
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
      if (starting) look(false);
    },
    stop() {
      cancel();
      starting = undefined;
    },
  };
}

async function toEnd({ db }: Parts, place: Place): Promise<void> {
  const [span, [stream]] = await Promise.all([readEventSpan(db), db.read(selectLastStream())]);
  place.id = span.newest;
  place.seq = Number(stream?.['seq'] ?? 0);
}

/** One page; true when there may be more. */
async function readEvents({ db }: Parts, place: Place, listener: Listener): Promise<boolean> {
  const events = await readEventsAfter(db, place.id, EVENTS_PAGE_MAX);
  for (const event of events) {
    place.id = Math.max(place.id, event.id);
    listener.event(frameOf(event), event.app, event.channel);
  }
  return events.length === EVENTS_PAGE_MAX;
}

/** One page of takeovers; true when there may be more. */
async function readTaken({ db }: Parts, place: Place, listener: Listener): Promise<boolean> {
  const rows = await db.read(selectStreamsAfter(place.seq, EVENTS_PAGE_MAX));
  for (const row of rows) {
    place.seq = Number(row['seq']);
    listener.taken(String(row['cid']), place.seq);
  }
  return rows.length === EVENTS_PAGE_MAX;
}

async function readRevoked({ db, clock }: Parts, listener: Listener): Promise<void> {
  const rows = await db.read(selectRevokedSince(clock.now() - STREAM_REVOCATIONS_BACK_MS));
  if (rows.length > 0) listener.revoked(new Set(rows.map((row) => String(row['cid']))));
}
