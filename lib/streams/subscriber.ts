import { concat } from '../base/bytes.ts';
import type { Store } from '../db/database.ts';
import { readEventsOf } from '../events/read.ts';
import { EVENTS_PAGE_MAX } from './event-tail.ts';
import { controlFrame, eventFrame, type Frame } from './sse.ts';

/** Ids that one page scans for a stream of few channels; the query blocks the process meanwhile. */
export const EVENTS_SCANNED_MAX = 20_000;
/** Queued events that are sent as one chunk. */
const STREAM_CHUNK_EVENTS_MAX = 200;

/** The state of one open stream. The phases are described in `hub.ts`. */
export interface Subscriber {
  readonly app: string;
  readonly channels: readonly string[];
  /** The token's CID, and all CIDs by which its chain may be revoked. */
  readonly cid: string;
  readonly cids: readonly string[];
  /** Milliseconds. */
  readonly expiresAt: number;
  phase: 'opening' | 'backfill' | 'streaming';
  /** The seq of its row in `streams`; 0 until it is written. */
  seq: number;
  /** The greatest seq of the token's streams that the tail has reported. */
  newerSeq: number;
  /** Every event up to this id has been sent, or is of another app or channel. */
  cursor: number;
  /** The id of the newest event when the stream was opened. */
  newest: number;
  queue: Frame[];
  /** The queue overflowed while a page was read: the backfill needs another page. */
  missed: boolean;
  /** The queue overflowed while streaming: the stream ends once its reader has taken the events that were sent. */
  overflowed: boolean;
  reading: boolean;
  ended: boolean;
  controller: ReadableStreamDefaultController<Uint8Array> | undefined;
}

/** The parts of the hub that a subscriber uses. */
export interface StreamHost {
  readonly db: Pick<Store, 'read'>;
  readonly queueMax: number;
  /** Counts an overflow. */
  readonly rewound: () => void;
  /** Ends the stream after an optional last frame. */
  readonly end: (subscriber: Subscriber, last?: Uint8Array<ArrayBuffer>) => void;
  /** Logs an error of the database. */
  readonly failed: (error: unknown) => void;
  /** Yields to the event loop. */
  readonly pause: () => Promise<void>;
}

/** Sends a new event, or queues it until the reader takes it: up to `queueMax` events. */
export function enqueue(host: StreamHost, subscriber: Subscriber, frame: Frame): void {
  if (subscriber.ended || subscriber.overflowed || frame.id <= subscriber.cursor) return;
  if (subscriber.phase !== 'streaming') {
    // The page being read may miss this event; an event between two pages will be in the next one.
    if (!subscriber.reading || subscriber.missed) return;
    if (subscriber.queue.length >= host.queueMax) {
      subscriber.queue = [];
      subscriber.missed = true;
    } else subscriber.queue.push(frame);
    return;
  }
  if (subscriber.queue.length === 0 && wants(subscriber)) {
    subscriber.cursor = frame.id;
    subscriber.controller?.enqueue(frame.bytes);
  } else if (subscriber.queue.length < host.queueMax) subscriber.queue.push(frame);
  else {
    subscriber.queue = [];
    subscriber.overflowed = true;
    host.rewound();
  }
}

/**
 * Sends the next page of the backfill, or queued events, if the reader wants more. Called by its pull and after each
 * page.
 */
export function sendNext(host: StreamHost, subscriber: Subscriber): void {
  if (subscriber.ended || subscriber.reading || subscriber.phase === 'opening' || !wants(subscriber)) return;
  if (subscriber.phase === 'backfill') {
    subscriber.reading = true;
    backfill(host, subscriber).catch((error) => {
      host.failed(error);
      host.end(subscriber);
    });
  } else if (subscriber.queue.length > 0) send(subscriber, subscriber.queue.splice(0, STREAM_CHUNK_EVENTS_MAX));
  // The reader has taken all events before the overflow. Its stream ends, and it resumes from the table.
  else if (subscriber.overflowed) host.end(subscriber, controlFrame('rewind-required', subscriber.cursor));
}

/** Whether the stream takes more now; false while its socket is full. */
export function wants({ controller }: Subscriber): boolean {
  return (controller?.desiredSize ?? 0) > 0;
}

/**
 * Reads and sends the next page. An incomplete page of the last stretch is the cutover: later events are in the queue.
 */
async function backfill(host: StreamHost, subscriber: Subscriber): Promise<void> {
  const { app, channels, cursor: after } = subscriber;
  const stretchEnd = after + EVENTS_SCANNED_MAX;
  // Everything before the newest event at the opening was committed then: nothing is added to this stretch.
  const isFar = stretchEnd < subscriber.newest;
  const asked = { app, channels, after, ...(isFar ? { until: stretchEnd } : {}) };
  const events = await readEventsOf(host.db, asked, EVENTS_PAGE_MAX);
  if (isFar) await host.pause();
  if (subscriber.ended) return;
  send(subscriber, events.map(eventFrame));
  const isWhole = events.length < EVENTS_PAGE_MAX;
  if (isFar && isWhole) subscriber.cursor = stretchEnd;
  const queued = subscriber.queue.filter(({ id }) => id > subscriber.cursor);
  const isCurrent = !isFar && isWhole && !subscriber.missed;
  subscriber.queue = isCurrent ? queued : [];
  subscriber.missed = false;
  if (isCurrent) subscriber.phase = 'streaming';
  // Not earlier: sending makes the reader pull at once, and a second page would be read beside the new events.
  subscriber.reading = false;
  // After an empty page the reader does not pull again.
  sendNext(host, subscriber);
}

function send(subscriber: Subscriber, frames: readonly Frame[]): void {
  const last = frames.at(-1);
  if (!last) return;
  subscriber.cursor = last.id;
  subscriber.controller?.enqueue(frames.length === 1 ? last.bytes : concat(...frames.map(({ bytes }) => bytes)));
}
