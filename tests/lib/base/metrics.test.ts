import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { createMetrics, DURATION_BOUNDS_SECONDS } from '../../../lib/base/metrics.ts';
import { always } from '../../support/property.ts';
import { tally } from '../../support/tally.ts';

const CATALOGUE = {
  mails_total: { type: 'counter', help: 'Mails.', labels: ['outcome'] },
  connections: { type: 'gauge', help: 'Connections.', labels: ['state'] },
  wait_seconds: { type: 'histogram', help: 'Waits.', labels: [] },
  short_wait_seconds: { type: 'histogram', help: 'Waits.', labels: [], bounds: [0.1, 1] },
} as const;

test('a counter grows by label, and a held series is the same one', () => {
  const metrics = createMetrics(CATALOGUE);
  const mails = metrics.counter('mails_total');
  const held = mails.of({ outcome: 'sent' });
  mails.add({ outcome: 'sent' });
  held.add();
  held.add(3);
  mails.add({ outcome: 'failed' }, 2);
  mails.add();
  expect(tally(metrics, 'mails_total')).toEqual(['{outcome="sent"} 5', '{outcome="failed"} 2', '{} 1']);
});

test('a gauge is what it was last set to', () => {
  const metrics = createMetrics(CATALOGUE);
  const connections = metrics.gauge('connections');
  const idle = connections.of({ state: 'idle' });
  connections.set(4, { state: 'idle' });
  idle.set(7);
  connections.set(-1);
  expect(tally(metrics, 'connections')).toEqual(['{state="idle"} 7', '{} -1']);
});

describe('a histogram', () => {
  test('has cumulative buckets whose bounds belong to them, ending with +Inf', () => {
    const metrics = createMetrics(CATALOGUE);
    const waits = metrics.histogram('short_wait_seconds');
    for (const seconds of [0, 0.1, 0.10001, 1, 1.5, 99]) waits.observe(seconds);
    const [sample] = metrics.read()[0]?.samples ?? [];
    expect(sample?.buckets).toEqual([
      { le: 0.1, count: 2 },
      { le: 1, count: 4 },
      { le: Number.POSITIVE_INFINITY, count: 6 },
    ]);
    expect(sample?.value).toBeCloseTo(101.70001);
  });

  test('counts in each bucket what is at most its bound', () => {
    const seconds = fc.oneof(fc.constantFrom(...DURATION_BOUNDS_SECONDS), fc.double({ min: 0, max: 20, noNaN: true }));
    always(fc.array(seconds, { maxLength: 40 }), (observed) => {
      const metrics = createMetrics(CATALOGUE);
      const held = metrics.histogram('wait_seconds').of({});
      for (const one of observed) held.observe(one);
      const [sample] = metrics.read()[0]?.samples ?? [];
      const expected = [...DURATION_BOUNDS_SECONDS, Number.POSITIVE_INFINITY].map((le) => ({
        le,
        count: observed.filter((one) => one <= le).length,
      }));
      expect(sample?.buckets).toEqual(expected);
    });
  });

  test('has bounds that grow', () => {
    expect(DURATION_BOUNDS_SECONDS.toSorted((a, b) => a - b)).toEqual(DURATION_BOUNDS_SECONDS);
    expect(new Set(DURATION_BOUNDS_SECONDS).size).toBe(DURATION_BOUNDS_SECONDS.length);
  });
});

test('a family named twice is one; each set of metrics is its own', () => {
  const [metrics, others] = [createMetrics(CATALOGUE), createMetrics(CATALOGUE)];
  metrics.counter('mails_total').add();
  metrics.counter('mails_total').add();
  expect(metrics.read()).toEqual([
    { name: 'mails_total', help: 'Mails.', type: 'counter', samples: [{ labels: {}, value: 2 }] },
  ]);
  expect(others.read()).toEqual([]);
});

test('what was read does not change with what is counted later', () => {
  const metrics = createMetrics(CATALOGUE);
  const mails = metrics.counter('mails_total');
  mails.add();
  const read = metrics.read();
  mails.add();
  expect(read[0]?.samples[0]?.value).toBe(1);
});
