// A stream has three phases.
// 1. Backfill: the events after the client's last id are read from the table, a page whenever the reader wants one. New
//    events are queued only while a page is being read, since the next page has the others. So memory is bounded.
// 2. Cutover: the first incomplete page reaches the end of the table. Events that were committed during that read are
//    in the queue; ids up to the cursor are dropped. So no event is lost or sent twice. If the queue overflowed, page
//    again.
// 3. Streaming: new events go out in the order of their ids, which is the order of commits. A reader that falls behind
//    by more than the queue receives `rewind-required` after the last event it got, and resumes in phase 1.
import { type Clock, sleep } from '../base/clock.ts';
import { describeError, type Log } from '../base/log.ts';
import type { Metrics } from '../base/metrics.ts';
import type { Config } from '../config/config.ts';
import type { Store } from '../db/database.ts';
import { ALL_APPS } from '../events/catalogue.ts';
import { readEventSpan } from '../events/read.ts';
import { createEventTail, type EventTail } from './event-tail.ts';
import { createOpenStreams, type OpenStreams } from './open-streams.ts';
import { controlFrame, openFrame, retryFrame } from './sse.ts';
import { takeStream } from './store.ts';
import { enqueue, type StreamHost, type Subscriber, sendNext } from './subscriber.ts';

/** The most open streams of one process. */
const STREAMS_MAX = 50_000;
const STREAM_RETRY_MS = 5_000;

/**
 * A request for a stream: app or `ALL_APPS`, channels and token, and the id after which it resumes (`unknown`: the
 * given id is not that of an event).
 */
export interface Subscription extends Pick<Subscriber, 'app' | 'channels' | 'cid' | 'cids' | 'expiresAt'> {
  readonly after?: number | 'unknown' | undefined;
}

/** The open streams of one process. */
export interface Hub {
  /**
   * Opens a stream, and ends an earlier one of the same token in any process. Never rejects: a stream that cannot be
   * served ends at once, and its client reconnects.
   */
  open(subscription: Subscription): Promise<ReadableStream<Uint8Array>>;
  /** Reads new events now, after a commit of this process. Does nothing without open streams. */
  wake(): void;
  /** Ends all streams; new ones end at once. */
  close(): void;
  /** Whether it was closed, as a host that stops does first. */
  isClosed(): boolean;
}

interface Parts {
  readonly db: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly config: Pick<Config, 'streamHeartbeatSeconds' | 'streamQueueEventsMax'>;
  /** Shared by all hubs of a vault, where requests are isolated. */
  readonly open: { streams: number };
}

/** A hub; it reads the database only while streams are open. */
export function createHub(parts: Parts): Hub {
  const streams = createOpenStreams(parts, () => eventTail.stop());
  const host: StreamHost = {
    db: parts.db,
    queueMax: parts.config.streamQueueEventsMax,
    rewound: streams.rewound,
    end: streams.end,
    pause: () => sleep(parts.clock, 0),
    failed: (error) => parts.log({ level: 'warn', event: 'stream_failed', ...describeError(error) }),
  };
  const eventTail = createEventTail(parts, {
    isWanted: () => streams.all.size > 0,
    onEvent: (frame, app, channel) => {
      for (const subscriber of streams.all)
        if ((subscriber.app === app || subscriber.app === ALL_APPS) && subscriber.channels.includes(channel))
          enqueue(host, subscriber, frame);
    },
    onTakeover: streams.supersede,
    onRevoked: (cids) => {
      for (const subscriber of streams.all)
        if (subscriber.cids.some((cid) => cids.has(cid))) streams.finish(subscriber, 'token-revoked', subscriber.cid);
    },
  });
  let closed = false;

  return {
    async open({ after, ...asked }) {
      if (closed || streams.all.size >= STREAMS_MAX) return endedStream();
      const subscriber = subscriberOf(asked);
      const stream = streamOf(host, subscriber);
      streams.add(subscriber);
      try {
        await begin({ ...parts, host, streams, eventTail }, subscriber, after);
      } catch (error) {
        host.failed(error);
        streams.end(subscriber, retryFrame(STREAM_RETRY_MS));
      }
      return stream;
    },
    wake: () => eventTail.wake(),
    close() {
      closed = true;
      for (const subscriber of streams.all) streams.end(subscriber, retryFrame(STREAM_RETRY_MS));
    },
    isClosed: () => closed,
  };
}

/** The order matters, so that no event is missed: start the tail, then read the span of events, then backfill. */
async function begin(
  { db, host, streams, eventTail }: Parts & { host: StreamHost; streams: OpenStreams; eventTail: EventTail },
  subscriber: Subscriber,
  after: Subscription['after'],
): Promise<void> {
  await eventTail.start();
  const [taken] = await db.write(takeStream(subscriber.cid, subscriber.expiresAt));
  subscriber.seq = Number(taken?.rows[0]?.['seq'] ?? 0);
  if (!subscriber.ended) streams.supersede(subscriber.cid, subscriber.newerSeq);
  const span = await readEventSpan(db);
  if (subscriber.ended) return;
  const { cursor, isRewound } = resumeAfter(after, span.newest, span.oldest);
  subscriber.cursor = cursor;
  subscriber.newest = span.newest;
  subscriber.controller?.enqueue(openFrame(cursor));
  if (isRewound) {
    streams.rewound();
    subscriber.controller?.enqueue(controlFrame('rewind-required', cursor));
  }
  subscriber.phase = 'backfill';
  sendNext(host, subscriber);
}

function streamOf(host: StreamHost, subscriber: Subscriber): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>({
    start(controller) {
      subscriber.controller = controller;
    },
    pull: () => sendNext(host, subscriber),
    cancel() {
      // Its reader has cancelled it: closing it again would throw.
      subscriber.controller = undefined;
      host.end(subscriber);
    },
  });
}

/**
 * The id after which a stream resumes, and whether its client may have missed events: ids below `oldest` are deleted,
 * and an id above `newest` was never assigned.
 */
export function resumeAfter(
  after: Subscription['after'],
  newest: number,
  oldest: number,
): { readonly cursor: number; readonly isRewound: boolean } {
  if (after === undefined) return { cursor: newest, isRewound: false };
  if (after === 'unknown' || after > newest) return { cursor: newest, isRewound: true };
  const beforeOldest = Math.max(0, oldest - 1);
  return after < beforeOldest ? { cursor: beforeOldest, isRewound: after > 0 } : { cursor: after, isRewound: false };
}

function subscriberOf(asked: Omit<Subscription, 'after'>): Subscriber {
  return {
    app: asked.app,
    channels: asked.channels,
    cid: asked.cid,
    cids: asked.cids,
    expiresAt: asked.expiresAt,
    phase: 'opening',
    seq: 0,
    newerSeq: 0,
    cursor: 0,
    newest: 0,
    queue: [],
    missed: false,
    overflowed: false,
    reading: false,
    ended: false,
    controller: undefined,
  };
}

/** A stream that ends at once and says when to reconnect. */
export function endedStream(): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      controller.enqueue(retryFrame(STREAM_RETRY_MS));
      controller.close();
    },
  });
}
