import { concat } from '../base/bytes.ts';
import type { Store } from '../db/database.ts';
import { readEventsOf } from '../events/read.ts';
import { EVENTS_PAGE_MAX } from './event-tail.ts';
import { controlFrame, type Frame, frameOf } from './sse.ts';

/** Ids that one page looks through for a stream of few channels, which holds up the process meanwhile. */
export const EVENTS_SCANNED_MAX = 20_000;
/** Queued events that are joined into one piece. */
const STREAM_CHUNK_EVENTS_MAX = 200;

/** One open stream. It reads what it missed from the database page by page, as its reader takes them, and is then given what comes. */
export interface Subscriber {
  readonly app: string;
  readonly channels: readonly string[];
  /** The token it was opened with, and all names by which that may be revoked. */
  readonly cid: string;
  readonly cids: readonly string[];
  readonly expiresAt: number;
  /** `opening` until its place is known; `paging` while it reads what it missed; `live` then. */
  mode: 'opening' | 'paging' | 'live';
  /** Its place among all that were opened with the token; 0 until it is known, and the greatest of another's seen meanwhile. */
  seq: number;
  newerSeq: number;
  /** All events of its up to this id were given to it. */
  cursor: number;
  /** The id of the newest event when it was opened. */
  newest: number;
  queue: Frame[];
  /** What did not fit the queue while a page was read. */
  missed: boolean;
  overflowed: boolean;
  reading: boolean;
  ended: boolean;
  controller: ReadableStreamDefaultController<Uint8Array> | undefined;
}

/** What a subscriber needs of the hub it belongs to. */
export interface Host {
  readonly db: Pick<Store, 'read'>;
  readonly queueMax: number;
  /** Counts an overflow. */
  readonly rewound: () => void;
  /** Ends the stream behind its last frame. */
  readonly end: (one: Subscriber, last?: Uint8Array<ArrayBuffer>) => void;
  readonly failed: (error: unknown) => void;
  /** Lets others have their turn. */
  readonly pause: () => Promise<void>;
}

/** Hands a subscriber an event: kept for it until its reader takes it, up to the queue's length. */
export function offer(host: Host, one: Subscriber, frame: Frame): void {
  if (one.ended || one.overflowed || frame.id <= one.cursor) return;
  if (one.mode !== 'live') {
    // What a page under way may have missed; what comes between two pages will be in the next.
    if (!one.reading || one.missed) return;
    if (one.queue.length >= host.queueMax) {
      one.queue = [];
      one.missed = true;
    } else one.queue.push(frame);
    return;
  }
  if (one.queue.length === 0 && wants(one)) {
    one.cursor = frame.id;
    one.controller?.enqueue(frame.bytes);
  } else if (one.queue.length < host.queueMax) one.queue.push(frame);
  else {
    one.queue = [];
    one.overflowed = true;
    host.rewound();
  }
}

/** Gives the reader what it is ready for. Called when it asks for more, and when there may be more. */
export function feed(host: Host, one: Subscriber): void {
  if (one.ended || one.reading || one.mode === 'opening' || !wants(one)) return;
  if (one.mode === 'paging') {
    one.reading = true;
    readPage(host, one).catch((error) => {
      host.failed(error);
      host.end(one);
    });
  } else if (one.queue.length > 0) give(one, one.queue.splice(0, STREAM_CHUNK_EVENTS_MAX));
  // The reader has taken all there was before the overflow. Its stream ends, and it resumes from the table.
  else if (one.overflowed) host.end(one, controlFrame('rewind-required', one.cursor));
}

/** Whether the stream takes more now: it does not while its socket is full. */
export function wants({ controller }: Subscriber): boolean {
  return (controller?.desiredSize ?? 0) > 0;
}

/** Reads on from the cursor; an incomplete page of the last stretch means that all that follows has come to the queue meanwhile. */
async function readPage(host: Host, one: Subscriber): Promise<void> {
  const { app, channels, cursor: after } = one;
  const stretchEnd = after + EVENTS_SCANNED_MAX;
  // What is before the newest one at the opening was committed then, so that nothing more comes into this stretch.
  const isFar = stretchEnd < one.newest;
  const asked = { app, channels, after, ...(isFar ? { until: stretchEnd } : {}) };
  const events = await readEventsOf(host.db, asked, EVENTS_PAGE_MAX);
  if (isFar) await host.pause();
  if (one.ended) return;
  give(
    one,
    events.map((event) => frameOf(event)),
  );
  const isWhole = events.length < EVENTS_PAGE_MAX;
  if (isFar && isWhole) one.cursor = stretchEnd;
  const queued = one.queue.filter(({ id }) => id > one.cursor);
  const isCurrent = !isFar && isWhole && !one.missed;
  one.queue = isCurrent ? queued : [];
  one.missed = false;
  if (isCurrent) one.mode = 'live';
  // Not before: giving lets the reader ask for more at once, and a second page would be read beside what comes live.
  one.reading = false;
  // An empty page gives the reader nothing to ask for more behind.
  feed(host, one);
}

function give(one: Subscriber, frames: readonly Frame[]): void {
  const last = frames.at(-1);
  if (!last) return;
  one.cursor = last.id;
  one.controller?.enqueue(frames.length === 1 ? last.bytes : concat(...frames.map(({ bytes }) => bytes)));
}
