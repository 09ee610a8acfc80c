import type { Clock } from '../base/clock.ts';
import type { Metrics } from '../base/metrics.ts';
import type { Config } from '../config/config.ts';
import { controlFrame, HEARTBEAT_FRAME, type StreamNotice } from './sse.ts';
import { type Subscriber, wants } from './subscriber.ts';
import { createStreamTimers } from './timers.ts';

/** The streams that are open, each under its token, with their heartbeats and their ends. */
export interface OpenStreams {
  readonly all: ReadonlySet<Subscriber>;
  /** Adds one; another with its token here is superseded at once. */
  add(one: Subscriber): void;
  /** Ends one behind its last frame; nothing happens to one that has ended. */
  end(one: Subscriber, last?: Uint8Array<ArrayBuffer>): void;
  finish(one: Subscriber, why: StreamNotice, data: string | number): void;
  /** Ends the one with this token unless it is as new as `seq`. */
  supersede(cid: string, seq: number): void;
  rewound(): void;
}

interface Parts {
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly config: Pick<Config, 'streamHeartbeatSeconds'>;
  /** Counts over all hubs of a vault, where requests are isolated. */
  readonly open: { streams: number };
}

/** Starts without any; `onEmpty` is called when the last one has ended. */
export function createOpenStreams(parts: Parts, onEmpty: () => void): OpenStreams {
  const report = createReport(parts);
  const all = new Set<Subscriber>();
  const holders = new Map<string, Subscriber>();
  const timers = createStreamTimers<Subscriber>({
    clock: parts.clock,
    beatMs: parts.config.streamHeartbeatSeconds * 1000,
    // A reader that is behind needs no sign of life.
    onBeat: (one) => wants(one) && one.controller?.enqueue(HEARTBEAT_FRAME),
    onEnd: (one) => finish(one, 'token-expired', Math.floor(one.expiresAt / 1000)),
  });

  function end(one: Subscriber, last?: Uint8Array<ArrayBuffer>): void {
    if (one.ended) return;
    one.ended = true;
    one.queue = [];
    all.delete(one);
    if (holders.get(one.cid) === one) holders.delete(one.cid);
    timers.delete(one);
    report.ended();
    if (all.size === 0) onEmpty();
    if (last) one.controller?.enqueue(last);
    one.controller?.close();
    one.controller = undefined;
  }

  function finish(one: Subscriber, why: StreamNotice, data: string | number): void {
    if (why === 'superseded') report.superseded();
    end(one, controlFrame(why, data));
  }

  return {
    all,
    end,
    finish,
    rewound: report.rewound,
    add(one) {
      const before = holders.get(one.cid);
      if (before) finish(before, 'superseded', one.cid);
      holders.set(one.cid, one);
      all.add(one);
      timers.add(one, one.expiresAt);
      report.opened();
    },
    supersede(cid, seq) {
      const one = holders.get(cid);
      if (!one) return;
      one.newerSeq = Math.max(one.newerSeq, seq);
      // Its own place may not be known yet: then it is compared once it is.
      if (one.seq > 0 && one.newerSeq > one.seq) finish(one, 'superseded', cid);
    },
  };
}

function createReport({ metrics, open }: Parts) {
  const gauge = metrics.gauge('vault_streams', 'Event streams that are open.').of({});
  const rewinds = metrics.counter('vault_stream_rewinds_total', 'Streams told that they missed events.').of({});
  const superseded = metrics
    .counter('vault_streams_superseded_total', 'Streams ended by a newer one of their token.')
    .of({});
  return {
    opened: () => gauge.set(++open.streams),
    ended: () => gauge.set(--open.streams),
    rewound: () => rewinds.add(),
    superseded: () => superseded.add(),
  };
}
