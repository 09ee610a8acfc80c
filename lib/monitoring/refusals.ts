import { HOUR_MS, isoTime } from '../base/clock.ts';
import { ERRORS, type ErrorCode } from '../base/error.ts';
import { REFUSED, type ReadCtx, readMinutes } from './minutes.ts';

/** How often a route answered with an error. It names no caller. */
export interface Refusal {
  readonly error: string;
  readonly status: number;
  /** The cause of the error. */
  readonly cause: string;
  /** The route's path; `unknown` where there is none. */
  readonly route: string;
  readonly count: number;
}

/** The refusals of all processes in the last hour, the most frequent first. */
export interface Refusals {
  /** ISO 8601. */
  readonly since: string;
  readonly refusals: readonly Refusal[];
}

/** Reads the refusals of the last hour, by error and route. */
export async function readRefusals(ctx: ReadCtx): Promise<Refusals> {
  const now = ctx.clock.now();
  const sums = new Map<string, number>();
  for (const { counts } of await readMinutes(ctx, now - HOUR_MS, now))
    for (const [key, count] of Object.entries(counts))
      if (key.startsWith(REFUSED)) sums.set(key, (sums.get(key) ?? 0) + count);
  const refusals = Array.from(sums, ([key, count]) => refusalOf(key, count));
  return { since: isoTime(now - HOUR_MS), refusals: refusals.toSorted((a, b) => b.count - a.count) };
}

function refusalOf(key: string, count: number): Refusal {
  const [error = '', route = ''] = key.slice(REFUSED.length).split(' ');
  // Another release may have written the minute.
  const { status, cause } = ERRORS[error as ErrorCode] ?? { status: 0, cause: '' };
  return { error, status, cause, route, count };
}
