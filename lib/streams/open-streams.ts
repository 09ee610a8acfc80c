import type { Clock } from '../base/clock.ts';
import type { Metrics } from '../base/metrics.ts';
import type { Config } from '../config/config.ts';
import { controlFrame, HEARTBEAT_FRAME, type StreamNotice } from './sse.ts';
import { type Subscriber, wants } from './subscriber.ts';
import { createStreamTimers } from './timers.ts';

/** The open streams of this process by token, with their heartbeats and expiry. */
export interface OpenStreams {
  readonly all: ReadonlySet<Subscriber>;
  /** Adds a stream; supersedes another one of the same token. */
  add(subscriber: Subscriber): void;
  /** Ends a stream after an optional last frame. Does nothing if it has ended. */
  end(subscriber: Subscriber, last?: Uint8Array<ArrayBuffer>): void;
  /** Ends a stream with a control frame. */
  finish(subscriber: Subscriber, why: StreamNotice, data: string | number): void;
  /** Ends the token's stream if it is older than `seq`. */
  supersede(cid: string, seq: number): void;
  /** Counts a stream that missed events. */
  rewound(): void;
}

interface Parts {
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly config: Pick<Config, 'streamHeartbeatSeconds'>;
  /** Shared by all hubs of a vault, where requests are isolated. */
  readonly open: { streams: number };
}

/** An empty set of streams; `onEmpty` is called when the last one has ended. */
export function createOpenStreams(parts: Parts, onEmpty: () => void): OpenStreams {
  const report = createReport(parts);
  const all = new Set<Subscriber>();
  const holders = new Map<string, Subscriber>();
  const timers = createStreamTimers<Subscriber>({
    clock: parts.clock,
    beatMs: parts.config.streamHeartbeatSeconds * 1000,
    // A reader that is behind needs no heartbeat.
    onBeat: (subscriber) => wants(subscriber) && subscriber.controller?.enqueue(HEARTBEAT_FRAME),
    onEnd: (subscriber) => finish(subscriber, 'token-expired', Math.floor(subscriber.expiresAt / 1000)),
  });

  function end(subscriber: Subscriber, last?: Uint8Array<ArrayBuffer>): void {
    if (subscriber.ended) return;
    subscriber.ended = true;
    subscriber.queue = [];
    all.delete(subscriber);
    if (holders.get(subscriber.cid) === subscriber) holders.delete(subscriber.cid);
    timers.delete(subscriber);
    report.ended();
    if (all.size === 0) onEmpty();
    if (last) subscriber.controller?.enqueue(last);
    subscriber.controller?.close();
    subscriber.controller = undefined;
  }

  function finish(subscriber: Subscriber, why: StreamNotice, data: string | number): void {
    if (why === 'superseded') report.superseded();
    end(subscriber, controlFrame(why, data));
  }

  return {
    all,
    end,
    finish,
    rewound: report.rewound,
    add(subscriber) {
      const before = holders.get(subscriber.cid);
      if (before) finish(before, 'superseded', subscriber.cid);
      holders.set(subscriber.cid, subscriber);
      all.add(subscriber);
      timers.add(subscriber, subscriber.expiresAt);
      report.opened();
    },
    supersede(cid, seq) {
      const subscriber = holders.get(cid);
      if (!subscriber) return;
      subscriber.newerSeq = Math.max(subscriber.newerSeq, seq);
      // Its own seq may not be known yet: then `open` compares again.
      if (subscriber.seq > 0 && subscriber.newerSeq > subscriber.seq) finish(subscriber, 'superseded', cid);
    },
  };
}

function createReport({ metrics, open }: Parts) {
  const gauge = metrics.gauge('vault_streams').of({});
  const rewinds = metrics.counter('vault_stream_rewinds_total').of({});
  const superseded = metrics.counter('vault_streams_superseded_total').of({});
  return {
    opened: () => gauge.set(++open.streams),
    ended: () => gauge.set(--open.streams),
    rewound: () => rewinds.add(),
    superseded: () => superseded.add(),
  };
}
