import { formatCount, formatDuration, nounOf } from './format.ts';
import type { Drawn, History, HistoryPoint } from './history.ts';

type Counted = 'requests' | 'sends' | 'verifications' | 'registrations' | 'errors';

const TITLES: Readonly<Record<Counted, readonly [string, string, string]>> = {
  requests: ['Requests', 'request', 'requests'],
  sends: ['Codes sent', 'code sent', 'codes sent'],
  verifications: ['Verifications', 'verification', 'verifications'],
  registrations: ['Registrations', 'registration', 'registrations'],
  errors: ['Errors', 'error', 'errors'],
};

/** Outcomes in words, by the counter and in the order they are read. */
const OUTCOMES: Readonly<Record<Counted, readonly (readonly [string, string])[]>> = {
  requests: [
    ['requests.2xx', 'answered'],
    ['requests.3xx', 'unchanged or sent on'],
    ['requests.4xx', 'refused'],
    ['requests.5xx', 'failed'],
  ],
  sends: [['sends.refused', 'refused or failed']],
  verifications: [
    ['verifications.incorrect', 'with a wrong code'],
    ['verifications.expired', 'with an expired code'],
    ['verifications.exhausted', 'after too many attempts'],
    ['verifications.none', 'where no code was sent'],
  ],
  registrations: [
    ['registrations.submitted', 'begun'],
    ['registrations.failed', 'failed'],
  ],
  errors: [['requests.4xx', 'requests refused (4xx), which are not errors of the vault']],
};

/** The charts of a history: every figure, word and bar is of the same span. */
export function drawnOf(history: History): readonly Drawn[] {
  const counted = (Object.keys(TITLES) as Counted[]).map((name) => countedOf(name, history));
  return [...counted, latencyOf(history)];
}

/** The span of a history in words. */
export function spanOf({ range }: Pick<History, 'range'>): string {
  return range === 'hour' ? 'in the last hour' : 'in the last 24 hours';
}

function countedOf(name: Counted, history: History): Drawn {
  const { points, totals } = history;
  const [title, one, many] = TITLES[name];
  const values = points.map((point) => point[name]);
  const sum = values.reduce<number>((all, value) => all + (value ?? 0), 0);
  const words = OUTCOMES[name].flatMap(([key, word]) =>
    (totals[key] ?? 0) > 0 ? [`${formatCount(totals[key] ?? 0)} ${word}`] : [],
  );
  return {
    name,
    title,
    figure: formatCount(sum),
    detail: [spanOf(history), ...words].join(' · '),
    values,
    format: formatCount,
    say(index) {
      const value = values[index] ?? null;
      return value === null ? 'no data' : `${formatCount(value)} ${nounOf(value, one, many)}`;
    },
  };
}

function latencyOf(history: History): Drawn {
  const { points } = history;
  const of = (name: 'p50_ms' | 'p95_ms') => points.map((point) => point[name]);
  const latest = points.findLast(({ p95_ms }) => p95_ms !== null);
  const hasRequests = points.some(({ requests }) => (requests ?? 0) > 0);
  return {
    name: 'latency',
    title: 'Latency, 95th percentile',
    figure: latest?.p95_ms == null ? '–' : formatDuration(latest.p95_ms),
    detail:
      latest?.p50_ms == null
        ? `${hasRequests ? 'not measured' : 'nothing answered'} ${spanOf(history)}`
        : `at ${timeOf(latest)} · median ${formatDuration(latest.p50_ms)} (the pale line)`,
    values: of('p95_ms'),
    below: of('p50_ms'),
    format: formatDuration,
    say(index) {
      const { requests = null, p50_ms = null, p95_ms = null } = points[index] ?? {};
      if (requests === null) return 'no data';
      if (p50_ms === null || p95_ms === null) return 'nothing answered';
      return `${formatDuration(p95_ms)}, median ${formatDuration(p50_ms)}`;
    },
  };
}

/** The time of a step, of the day where it is today's. */
export function timeOf({ at }: Pick<HistoryPoint, 'at'>): string {
  return new Date(at).toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' });
}
