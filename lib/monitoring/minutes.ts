import { isoTime, MINUTE_MS } from '../base/clock.ts';
import type { MetricName } from '../base/metric-catalogue.ts';
import { DURATION_BOUNDS_SECONDS, type Family, type Metrics } from '../base/metrics.ts';
import type { Statement } from '../db/database.ts';
import type { Platform } from '../platform.ts';
import { type Outcomes, statusClass, sumBy, withoutConsole } from './families.ts';
import { insertMinute, type Minute, selectMinutes, toMinute } from './store.ts';

/** The counters that a process has written, so that the next minute has only their growth since. */
export interface MinuteState {
  at: number | undefined;
  totals: Outcomes;
}

/** Nothing written yet. */
export function createMinutes(): MinuteState {
  return { at: undefined, totals: {} };
}

/** The spans that charts show, in minutes, and how many of them a point has. */
const RANGES = { hour: { minutes: 60, step: 1 }, day: { minutes: 1_440, step: 15 } } as const;

/** A span of the charts. */
export type Range = keyof typeof RANGES;

/** Its names. */
export const RANGE_NAMES = Object.keys(RANGES) as readonly Range[];

/** The counts of one step; all null where no process of the database is known to have run. */
export interface ActivityPoint {
  readonly at: string;
  readonly requests: number | null;
  readonly errors: number | null;
  readonly sends: number | null;
  readonly verifications: number | null;
  readonly registrations: number | null;
  /** Milliseconds; null too when nothing was answered. */
  readonly p50_ms: number | null;
  readonly p95_ms: number | null;
}

/** The counts of all processes, the oldest step first, and their sums by `<counter>.<outcome>`. */
export interface Activity {
  readonly range: Range;
  readonly step_seconds: number;
  readonly points: readonly ActivityPoint[];
  readonly totals: Outcomes;
}

type Ctx = Pick<Platform, 'clock' | 'metrics'> & { readonly minutes: MinuteState };

/** The services that reading minutes needs. */
export type ReadCtx = Ctx & Pick<Platform, 'db'>;

/**
 * Statements that write the growth of the counters since the last time, once a minute, along with a write that happens
 * anyway; `written` is called when they are committed.
 */
export function nextMinute({ clock, metrics, minutes }: Ctx): {
  readonly statements: readonly Statement[];
  readonly written: () => void;
} {
  const at = clock.now();
  const totals = readTotals(metrics);
  const span = at - (minutes.at ?? at);
  const isDue = minutes.at === undefined || span >= MINUTE_MS / 2 || span < 0;
  if (!isDue) return { statements: [], written: () => undefined };
  const minute: Minute = { at, spanMs: Math.max(0, span), counts: bounded(growth(minutes.totals, totals)) };
  return {
    statements: [insertMinute(minute)],
    written() {
      minutes.at = at;
      minutes.totals = totals;
    },
  };
}

/** The minutes of all processes in a span of time, and the counts that this process has not written yet. */
export async function readMinutes(ctx: ReadCtx, from: number, to: number): Promise<readonly Minute[]> {
  const written = (await ctx.db.read(selectMinutes(from, to))).map(toMinute);
  const now = ctx.clock.now();
  const spanMs = Math.max(0, now - (ctx.minutes.at ?? now));
  return [...written, { at: now, spanMs, counts: growth(ctx.minutes.totals, readTotals(ctx.metrics)) }];
}

/** Reads the history up to now, with the counts that this process has not written yet. */
export async function readActivity(ctx: ReadCtx, range: Range): Promise<Activity> {
  const { minutes, step } = RANGES[range];
  const stepMs = step * MINUTE_MS;
  const end = Math.floor(ctx.clock.now() / stepMs) * stepMs + stepMs;
  const from = end - minutes * MINUTE_MS;
  const known = await readMinutes(ctx, from, end);
  const steps = Array.from({ length: minutes / step }, () => ({
    isKnown: false,
    counts: {} as Record<string, number>,
  }));
  const totals: Record<string, number> = {};
  for (const { at, spanMs, counts } of known) {
    const indexOf = (time: number) => Math.min(steps.length - 1, Math.max(0, Math.floor((time - from) / stepMs)));
    for (let i = indexOf(at - spanMs); i <= indexOf(at); i++) (steps[i] as (typeof steps)[0]).isKnown = true;
    const middle = steps[indexOf(at - spanMs / 2)]?.counts ?? {};
    for (const [key, count] of Object.entries(counts)) {
      middle[key] = (middle[key] ?? 0) + count;
      if (![LATENCY, REFUSED, OF_APP].some((prefix) => key.startsWith(prefix)))
        totals[key] = (totals[key] ?? 0) + count;
    }
  }
  const points = steps.map(({ isKnown, counts }, i) => pointOf(from + i * stepMs, isKnown ? counts : undefined));
  return { range, step_seconds: stepMs / 1_000, points, totals };
}

function pointOf(at: number, counts: Outcomes | undefined): ActivityPoint {
  const sum = (prefix: string) => {
    if (!counts) return null;
    return Object.entries(counts).reduce((all, [key, count]) => (key.startsWith(prefix) ? all + count : all), 0);
  };
  return {
    at: isoTime(at),
    requests: sum('requests.'),
    errors: sum('requests.5xx'),
    sends: sum('sends.accepted'),
    verifications: sum('verifications.verified'),
    registrations: sum('registrations.confirmed'),
    p50_ms: quantile(counts ?? {}, 0.5),
    p95_ms: quantile(counts ?? {}, 0.95),
  };
}

const LATENCY = 'latency.';
/** Before `<error> <route>`. */
export const REFUSED = 'refused.';
/** Before `<app> <outcome>` of codes, and `<app> refused <stage> <reason>` of sign-ins. */
export const OF_APP = 'app.';

/** The counters of the charts, flat: `requests.2xx`, `latency.3` for the fourth bucket. */
function readTotals(metrics: Metrics): Outcomes {
  const families = new Map(metrics.read().map((family) => [family.name as MetricName, family]));
  const outcomes = (name: MetricName) => sumBy(families.get(name), ({ outcome }) => outcome);
  return {
    ...named('requests.', sumBy(withoutConsole(families.get('vault_http_requests_total')), statusClass)),
    ...named('sends.', outcomes('vault_codes_sent_total')),
    ...named('verifications.', outcomes('vault_codes_checked_total')),
    ...named('registrations.', outcomes('vault_registrations_total')),
    ...named(REFUSED, refusals(families.get('vault_refusals_total'))),
    ...named(OF_APP, codesOfApps(families.get('vault_authorization_codes_total'))),
    ...named(OF_APP, refusalsOfApps(families.get('vault_client_refusals_total'))),
    ...named(LATENCY, latencies(withoutConsole(families.get('vault_http_request_duration_seconds')))),
  };
}

function named(prefix: string, counts: Outcomes): Outcomes {
  return Object.fromEntries(Object.entries(counts).map(([key, count]) => [prefix + key, count]));
}

/** Requests by bucket; the samples' own counts are cumulative. */
function latencies(family: Family | undefined): Outcomes {
  const counts: Record<string, number> = {};
  for (const { buckets = [] } of family?.samples ?? []) {
    for (const [i, { count }] of buckets.entries()) {
      counts[i] = (counts[i] ?? 0) + count - (buckets[i - 1]?.count ?? 0);
    }
  }
  return counts;
}

function refusals(family: Family | undefined): Outcomes {
  return sumBy(family, ({ error, route }) => `${error} ${route}`);
}

function codesOfApps(family: Family | undefined): Outcomes {
  return sumBy(family, ({ client, outcome }) => `${client} ${outcome}`);
}

function refusalsOfApps(family: Family | undefined): Outcomes {
  return sumBy(family, ({ client, stage, reason }) => `${client} refused ${stage} ${reason}`);
}

/** What a minute has at most of each: words, routes and apps are known ones, but all of them are too much for a row. */
const BOUNDED = [
  [REFUSED, 100],
  [OF_APP, 300],
] as const;

/** The counts with the most frequent refusals, and what apps did most, alone. */
function bounded(counts: Outcomes): Outcomes {
  const all = Object.entries(counts);
  const free = all.filter(([key]) => !BOUNDED.some(([prefix]) => key.startsWith(prefix)));
  const kept = BOUNDED.flatMap(([prefix, max]) => {
    const own = all.filter(([key]) => key.startsWith(prefix));
    return own.toSorted(([, a], [, b]) => b - a).slice(0, max);
  });
  return Object.fromEntries([...free, ...kept]);
}

function growth(before: Outcomes, after: Outcomes): Outcomes {
  const grown = Object.entries(after).map(([key, count]) => [key, count - (before[key] ?? 0)] as const);
  return Object.fromEntries(grown.filter(([, count]) => count > 0));
}

/**
 * The quantile in milliseconds, interpolated linearly inside its bucket like Prometheus' `histogram_quantile`. Beyond
 * the last bound it is that bound; null if nothing was counted.
 */
export function quantile(counts: Outcomes, q: number): number | null {
  const of = (i: number) => counts[LATENCY + i] ?? 0;
  const all = [...DURATION_BOUNDS_SECONDS, 0].reduce((sum, _, i) => sum + of(i), 0);
  if (all === 0) return null;
  let below = 0;
  for (const [i, bound] of DURATION_BOUNDS_SECONDS.entries()) {
    const lower = DURATION_BOUNDS_SECONDS[i - 1] ?? 0;
    if (below + of(i) >= q * all) return 1_000 * (lower + ((bound - lower) * (q * all - below)) / Math.max(1, of(i)));
    below += of(i);
  }
  return 1_000 * (DURATION_BOUNDS_SECONDS.at(-1) ?? 0);
}
