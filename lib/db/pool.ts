import type { Clock } from '../base/clock.ts';
import type { Metrics } from '../base/metrics.ts';

/** The most requests that wait for a connection. */
export const DATABASE_QUEUE_MAX = 20_000;

/**
 * The longest wait for a connection. Without it the waits behind an engine that hangs add up: each takes all timeouts
 * of those before it.
 */
export const DATABASE_WAIT_MS = 10_000;

/** Bounds the concurrent requests to the engine; the rest wait in a bounded queue. Each is counted and timed. */
export interface Pool {
  /**
   * Runs `work` when a connection is free. Throws its error, at once when the queue is full, and after
   * `DATABASE_WAIT_MS` without a connection.
   */
  run<T>(operation: string, work: () => Promise<T>): Promise<T>;
}

/** A pool with all connections idle. `operation` becomes a label, so its values must be few. */
export function createPool({ clock, metrics, maxConnections }: Settings): Pool {
  const report = createReport(metrics, maxConnections);
  const waiting: Waiter[] = [];
  let used = 0;
  let cancelTimer: (() => void) | undefined;

  async function acquire(): Promise<void> {
    if (waiting.length >= DATABASE_QUEUE_MAX) {
      report.refused();
      throw new Error('the database queue is full');
    }
    const asked = clock.monotonic();
    await new Promise<void>((resolve, reject) => {
      report.pending(waiting.push({ asked, resolve, reject }));
      if (waiting.length === 1) setTimer();
    });
    report.waited((clock.monotonic() - asked) / 1000);
  }

  /** One timer, for the first in the queue: it has waited longest. */
  function setTimer(): void {
    cancelTimer?.();
    const [first] = waiting;
    cancelTimer = first && clock.after(first.asked + DATABASE_WAIT_MS - clock.monotonic(), rejectLate);
  }

  function rejectLate(): void {
    const now = clock.monotonic();
    const end = waiting.findIndex(({ asked }) => asked + DATABASE_WAIT_MS > now);
    for (const { reject } of waiting.splice(0, end < 0 ? waiting.length : end)) {
      report.refused();
      reject(new Error(`no connection to the database was free in ${DATABASE_WAIT_MS / 1000} s`));
    }
    report.pending(waiting.length);
    setTimer();
  }

  function release(): void {
    // Passed straight to the next waiter, so that a later caller cannot take it.
    const next = waiting.shift();
    if (next) {
      report.pending(waiting.length);
      next.resolve();
      if (waiting.length === 0) setTimer();
    } else report.used(--used);
  }

  return {
    async run(operation, work) {
      if (used < maxConnections) {
        report.used(++used);
        report.waited(0);
      } else await acquire();
      const started = clock.monotonic();
      let outcome: Outcome = 'error';
      try {
        const result = await work();
        outcome = 'ok';
        return result;
      } finally {
        report.ended(operation, outcome, (clock.monotonic() - started) / 1000);
        release();
      }
    },
  };
}

interface Waiter {
  /** When it came, in milliseconds. */
  readonly asked: number;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

interface Settings {
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly maxConnections: number;
}

type Outcome = 'ok' | 'error';

function createReport(metrics: Metrics, maxConnections: number) {
  const queries = metrics.counter('vault_db_queries_total');
  const durations = metrics.histogram('vault_db_query_duration_seconds');
  const wait = metrics.histogram('vault_db_pool_acquire_wait_seconds').of({});
  const connections = metrics.gauge('vault_db_pool_connections');
  const [usedConnections, idleConnections] = [connections.of({ state: 'used' }), connections.of({ state: 'idle' })];
  const pending = metrics.gauge('vault_db_pool_pending_requests').of({});
  const refusals = metrics.counter('vault_db_pool_refused_total').of({});
  const known = new Map<string, ReturnType<typeof seriesOf>>();
  const seriesOf = (operation: string, outcome: Outcome) => ({
    count: queries.of({ operation, outcome }),
    duration: durations.of({ operation }),
  });
  const remember = (key: string, series: ReturnType<typeof seriesOf>) => {
    known.set(key, series);
    return series;
  };
  const used = (count: number) => {
    usedConnections.set(count);
    idleConnections.set(maxConnections - count);
  };
  metrics.gauge('vault_db_pool_connections_max').set(maxConnections);
  used(0);
  return {
    used,
    pending: pending.set,
    refused: () => refusals.add(),
    waited: (seconds: number) => wait.observe(seconds),
    ended(operation: string, outcome: Outcome, seconds: number) {
      const key = `${operation} ${outcome}`;
      const { count, duration } = known.get(key) ?? remember(key, seriesOf(operation, outcome));
      count.add();
      duration.observe(seconds);
    },
  };
}
