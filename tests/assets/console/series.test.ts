import { describe, expect, test } from 'bun:test';
import type { Overview } from '../../../assets/console/overview.ts';
import { appended, bucketsBetween, growth, pointBetween, quantile, total } from '../../../assets/console/series.ts';

function overview(counters: Partial<Overview['counters']>, latency: Overview['latency'] = []): Overview {
  return {
    at: '2025-01-01T00:00:05.000Z',
    client: '127.0.0.1',
    version: '0',
    live: true,
    apps: [],
    account_kinds: [],
    events: { types: [], channels: [], first_id: 0, last_id: 0 },
    counters: { requests: {}, sends: {}, verifications: {}, sessions: {}, registrations: {}, ...counters },
    latency,
    limits: {},
    guessing: {},
    upstreams: {},
    delivery: { email: { provider: 'log', messages: {} }, sms: { provider: 'none', messages: {} } },
    calls: {},
    configured: { registry: false, indexer: false, follower: false, relay: false, webhooks: false },
    database: { state: 'writable', queries: {}, connections: { used: 0, max: 10, waiting: 0 } },
    relay: null,
    clock: { off_ms: 0 },
    follower: null,
  };
}

describe('growth', () => {
  test('is what was added, also of words that are new', () => {
    expect(growth({ ok: 2 }, { ok: 5, failed: 1 })).toEqual({ ok: 3, failed: 1 });
  });

  test('counts from nothing when the process began anew', () => {
    expect(growth({ ok: 900, failed: 1 }, { ok: 4, failed: 1 })).toEqual({ ok: 4, failed: 1 });
    expect(growth({ ok: 900, failed: 1 }, { ok: 901 })).toEqual({ ok: 901 });
  });

  test('totals', () => {
    expect(total({})).toBe(0);
    expect(total({ a: 1, b: 2 })).toBe(3);
  });
});

describe('quantiles', () => {
  const buckets = [
    { le: 0.01, count: 50 },
    { le: 0.1, count: 90 },
    { le: null, count: 100 },
  ];

  test('lie on a straight line inside their bucket, and at the last bound beyond it', () => {
    expect(quantile(buckets, 0.25)).toBeCloseTo(5);
    expect(quantile(buckets, 0.5)).toBeCloseTo(10);
    expect(quantile(buckets, 0.7)).toBeCloseTo(55);
    expect(quantile(buckets, 0.99)).toBeCloseTo(100);
  });

  test('are none where nothing was counted', () => {
    expect(quantile([], 0.5)).toBeNull();
    expect(quantile([{ le: null, count: 0 }], 0.5)).toBeNull();
  });

  test('are of the time between two readings', () => {
    const after = [
      { le: 0.01, count: 50 },
      { le: 0.1, count: 100 },
      { le: null, count: 110 },
    ];
    expect(bucketsBetween(buckets, after).map(({ count }) => count)).toEqual([0, 10, 10]);
    expect(bucketsBetween(after, buckets).map(({ count }) => count)).toEqual([50, 90, 100]);
  });
});

test('a point says what happened between two readings', () => {
  const before = overview({ requests: { '2xx': 5 }, sends: { accepted: 1 } }, [
    { le: 0.01, count: 5 },
    { le: null, count: 5 },
  ]);
  const after = overview(
    { requests: { '2xx': 8, '4xx': 2, '5xx': 1 }, sends: { accepted: 2, refused: 1 }, registrations: { confirmed: 1 } },
    [
      { le: 0.01, count: 11 },
      { le: null, count: 11 },
    ],
  );
  expect(pointBetween(before, after)).toEqual({
    atMs: Date.UTC(2025, 0, 1, 0, 0, 5),
    requests: 6,
    errors: 1,
    sends: 1,
    verifications: 0,
    registrations: 1,
    p50: 5,
    p95: 9.5,
  });
});

test('a history keeps the newest', () => {
  expect(appended([1, 2, 3], 4, 3)).toEqual([2, 3, 4]);
  expect(appended([], 1, 3)).toEqual([1]);
});
