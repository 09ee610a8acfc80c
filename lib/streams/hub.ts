import { type Clock, sleep } from '../base/clock.ts';
import { describeError, type Log } from '../base/log.ts';
import type { Metrics } from '../base/metrics.ts';
import type { Config } from '../config/config.ts';
import type { Store } from '../db/database.ts';
import { readEventSpan } from '../events/read.ts';
import { createTail, type Tail } from './event-tail.ts';
import { createOpenStreams, type OpenStreams } from './open-streams.ts';
import { controlFrame, openFrame, retryFrame } from './sse.ts';
import { takeStream } from './store.ts';
import { feed, type Host, offer, type Subscriber } from './subscriber.ts';

/** Open streams of one process. */
const STREAMS_MAX = 50_000;
const STREAM_RETRY_MS = 5_000;

/** Who asks for a stream: what it may see, the token it has shown, and the event after which it goes on (`unknown`: an id that was none). */
export interface Subscription extends Pick<Subscriber, 'app' | 'channels' | 'cid' | 'cids' | 'expiresAt'> {
  readonly after?: number | 'unknown' | undefined;
}

/** The open streams of one process. */
export interface Hub {
  /** Opens a stream, which ends the one before it with the same token, in any process. Never fails: a stream that cannot be served ends at once, and its client asks again. */
  open(subscription: Subscription): Promise<ReadableStream<Uint8Array>>;
  /** Looks for events at once, as one was just committed here. Costs nothing while nobody listens. */
  wake(): void;
  /** Ends all streams, and takes no new ones. */
  close(): void;
}

interface Parts {
  readonly db: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly config: Pick<Config, 'streamHeartbeatSeconds' | 'streamQueueEventsMax'>;
  /** Counts over all hubs of a vault, where requests are isolated. */
  readonly open: { streams: number };
}

/** A hub that does nothing until a stream is opened, and nothing after the last one has ended. */
export function createHub(parts: Parts): Hub {
  const streams = createOpenStreams(parts, () => tail.stop());
  const host: Host = {
    db: parts.db,
    queueMax: parts.config.streamQueueEventsMax,
    rewound: streams.rewound,
    end: streams.end,
    pause: () => sleep(parts.clock, 0),
    failed: (error) => parts.log({ level: 'warn', event: 'stream_failed', ...describeError(error) }),
  };
  const tail = createTail(parts, {
    isWanted: () => streams.all.size > 0,
    event: (frame, app, channel) => {
      for (const one of streams.all) if (one.app === app && one.channels.includes(channel)) offer(host, one, frame);
    },
    taken: streams.supersede,
    revoked: (cids) => {
      for (const one of streams.all)
        if (one.cids.some((cid) => cids.has(cid))) streams.finish(one, 'token-revoked', one.cid);
    },
  });
  let closed = false;

  return {
    async open({ after, ...asked }) {
      if (closed || streams.all.size >= STREAMS_MAX) return endedStream();
      const one = subscriberOf(asked);
      const stream = streamOf(host, one);
      streams.add(one);
      try {
        await begin({ ...parts, host, streams, tail }, one, after);
      } catch (error) {
        host.failed(error);
        streams.end(one, retryFrame(STREAM_RETRY_MS));
      }
      return stream;
    },
    wake: () => tail.wake(),
    close() {
      closed = true;
      for (const one of streams.all) streams.end(one);
    },
  };
}

/** In the order that no event can slip through: listening begins, then the place is read, then what lies between is paged. */
async function begin(
  { db, host, streams, tail }: Parts & { host: Host; streams: OpenStreams; tail: Tail },
  one: Subscriber,
  after: Subscription['after'],
): Promise<void> {
  await tail.start();
  const [taken] = await db.write(takeStream(one.cid, one.expiresAt));
  one.seq = Number(taken?.rows[0]?.['seq'] ?? 0);
  if (!one.ended) streams.supersede(one.cid, one.newerSeq);
  const span = await readEventSpan(db);
  if (one.ended) return;
  const { cursor, isRewound } = placeOf(after, span.newest, span.oldest);
  one.cursor = cursor;
  one.newest = span.newest;
  one.controller?.enqueue(openFrame(cursor));
  if (isRewound) {
    streams.rewound();
    one.controller?.enqueue(controlFrame('rewind-required', cursor));
  }
  one.mode = 'paging';
  feed(host, one);
}

function streamOf(host: Host, one: Subscriber): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>({
    start(controller) {
      one.controller = controller;
    },
    pull: () => feed(host, one),
    cancel() {
      // Nobody reads it any more: closing it again would throw.
      one.controller = undefined;
      host.end(one);
    },
  });
}

/** Where a stream goes on, and whether it may have lost events: the ids before the oldest kept are gone, those past the newest were never given. */
export function placeOf(
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
    mode: 'opening',
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

/** A stream that only says when to ask again. */
export function endedStream(): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      controller.enqueue(retryFrame(STREAM_RETRY_MS));
      controller.close();
    },
  });
}
