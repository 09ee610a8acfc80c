import { expect, test } from 'bun:test';
import { drawnOf } from '../../../assets/console/chart-words.ts';
import type { History, HistoryPoint } from '../../../assets/console/history.ts';

const NOTHING = { requests: 0, errors: 0, sends: 0, verifications: 0, registrations: 0, p50_ms: null, p95_ms: null };
const UNKNOWN = {
  requests: null,
  errors: null,
  sends: null,
  verifications: null,
  registrations: null,
  p50_ms: null,
  p95_ms: null,
};
const at = (minute: number, more: Partial<HistoryPoint> = NOTHING): HistoryPoint => ({
  ...NOTHING,
  ...more,
  at: new Date(Date.UTC(2026, 0, 15, 9, minute)).toISOString(),
});

function drawn(points: readonly HistoryPoint[], totals: History['totals'] = {}) {
  const all = drawnOf({ range: 'hour', step_seconds: 60, points, totals });
  return (name: string) => all.find((one) => one.name === name);
}

test('figure, words and bars are of the same span, and outcomes are told in words', () => {
  const of = drawn(
    [at(0, { requests: 1_200, errors: 0, verifications: 0 }), at(1, { requests: 2, verifications: 2 })],
    {
      'requests.2xx': 2,
      'requests.4xx': 1_200,
      'verifications.verified': 2,
      'verifications.none': 1_200,
    },
  );
  expect(of('requests')?.figure).toBe('1,202');
  expect(of('requests')?.detail).toBe('in the last hour · 2 answered · 1,200 refused');
  expect(of('verifications')?.figure).toBe('2');
  expect(of('verifications')?.detail).toBe('in the last hour · 1,200 where no code was sent');
  expect(of('errors')?.detail).toContain('1,200 requests refused (4xx), which are not errors of the vault');
  expect(of('requests')?.say(1)).toBe('2 requests');
  expect(of('registrations')?.say(0)).toBe('0 registrations');
});

test('latency says what it knows, and never "nothing" beside requests', () => {
  const busy = drawn([at(0, { requests: 5, p50_ms: 2.04, p95_ms: 12 }), at(1)]);
  expect(busy('latency')?.figure).toBe('12 ms');
  expect(busy('latency')?.detail).toEndWith('median 2 ms (the pale line)');
  expect(busy('latency')?.say(1)).toBe('nothing answered');
  expect(drawn([at(0)])('latency')?.detail).toBe('nothing answered in the last hour');
  expect(drawn([at(0, { requests: 5 })])('latency')?.detail).toBe('not measured in the last hour');
});

test('no data is not zero', () => {
  const of = drawn([at(0, UNKNOWN), at(1, { sends: 1 })]);
  expect(of('sends')?.values).toEqual([null, 1]);
  expect([of('sends')?.say(0), of('sends')?.say(1), of('latency')?.say(0)]).toEqual([
    'no data',
    '1 code sent',
    'no data',
  ]);
});
