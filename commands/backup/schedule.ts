import { DAY_MS, MINUTE_MS } from '../../lib/base/clock.ts';
import { describeError, type Log } from '../../lib/base/log.ts';
import { UsageError } from '../cli/arguments.ts';
import { UNIT_MS } from '../cli/units.ts';

/** The pause after a first failure; it doubles, up to the interval. */
const FAILED_PAUSE_MS = MINUTE_MS;
const EVERY_MS_MAX = 7 * DAY_MS;

/** Reads the interval of a flag, such as `30s`, `15m`, `6h` or `1d`. Throws `UsageError`. */
export function readInterval(text: string, flag = '--every'): number {
  const [, count, unit = ''] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  const ms = Number(count) * (UNIT_MS[unit] ?? 0);
  if (ms > 0 && ms <= EVERY_MS_MAX) return ms;
  throw new UsageError(`${flag} must be a number with s, m, h or d, from 1s to 7d, such as 15m.`);
}

/** A schedule: the job, its interval, and its first time. */
export interface Schedule {
  readonly everyMs: number;
  /** Milliseconds until the first turn. */
  readonly firstMs: number;
  /** One turn; its result is logged as `backup_made`. */
  readonly turn: () => Promise<Readonly<Record<string, unknown>>>;
  readonly log: Log;
}

/** Runs turns until SIGTERM or SIGINT, one after the other, also after a failed one. Resolves with the exit code. */
export async function runSchedule({ everyMs, firstMs, turn, log }: Schedule): Promise<number> {
  const stopped = Promise.withResolvers<'stopped'>();
  const stop = () => stopped.resolve('stopped');
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, stop);
  let failures = 0;
  for (let pause = firstMs; ; ) {
    if ((await Promise.race([stopped.promise, Bun.sleep(pause)])) === 'stopped') break;
    const start = performance.now();
    try {
      const made = await turn();
      const ms = Math.round(performance.now() - start);
      failures = 0;
      pause = Math.max(0, everyMs - ms);
      log({ level: 'info', event: 'backup_made', ...made, ms });
    } catch (error) {
      pause = Math.min(everyMs, FAILED_PAUSE_MS * 2 ** failures++);
      const { message, cause } = describeError(error);
      log({ level: 'error', event: 'backup_failed', message, ...(cause && { cause }), failures, againInMs: pause });
    }
  }
  log({ level: 'info', event: 'stopped' });
  return 0;
}
