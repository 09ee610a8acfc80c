import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { createMetrics, type Family } from '../../../lib/base/metrics.ts';
import {
  canonicalNumber,
  chooseFormat,
  formatMetrics,
  type PrometheusFormat,
} from '../../../lib/monitoring/prometheus.ts';
import { readExposition } from '../../support/exposition.ts';
import { always } from '../../support/property.ts';

const FORMATS: readonly PrometheusFormat[] = ['text', 'openmetrics'];

const CATALOGUE = {
  mails_total: { type: 'counter', help: 'Mails "sent"\nor \\ not.', labels: ['outcome'] },
  memory_bytes: { type: 'gauge', help: 'Memory.', labels: [] },
  empty_total: { type: 'counter', help: 'Nothing yet.', labels: [] },
  wait_seconds: { type: 'histogram', help: 'Waits.', labels: ['kind'], bounds: [0.005, 1, 10] },
} as const;

function example(): readonly Family[] {
  const metrics = createMetrics(CATALOGUE);
  metrics.counter('mails_total').add({ outcome: 'sent' }, 3);
  metrics.gauge('memory_bytes').set(1.5);
  metrics.counter('empty_total');
  const waits = metrics.histogram('wait_seconds');
  for (const seconds of [0.001, 0.5, 20]) waits.observe(seconds, { kind: 'a"b\\c\nd' });
  return metrics.read();
}

test('the text format is 0.0.4 to the letter', () => {
  expect(formatMetrics(example(), 'text')).toBe(`# HELP mails_total Mails "sent"\\nor \\\\ not.
# TYPE mails_total counter
mails_total{outcome="sent"} 3
# HELP memory_bytes Memory.
# TYPE memory_bytes gauge
memory_bytes 1.5
# HELP wait_seconds Waits.
# TYPE wait_seconds histogram
wait_seconds_bucket{kind="a\\"b\\\\c\\nd",le="0.005"} 1
wait_seconds_bucket{kind="a\\"b\\\\c\\nd",le="1.0"} 2
wait_seconds_bucket{kind="a\\"b\\\\c\\nd",le="10.0"} 2
wait_seconds_bucket{kind="a\\"b\\\\c\\nd",le="+Inf"} 3
wait_seconds_sum{kind="a\\"b\\\\c\\nd"} 20.501
wait_seconds_count{kind="a\\"b\\\\c\\nd"} 3
`);
});

test('OpenMetrics names the family of a counter without _total, tells units, escapes quotes of help, and ends with # EOF', () => {
  const lines = formatMetrics(example(), 'openmetrics').split('\n');
  expect(lines.slice(0, 6)).toEqual([
    '# HELP mails Mails \\"sent\\"\\nor \\\\ not.',
    '# TYPE mails counter',
    'mails_total{outcome="sent"} 3',
    '# HELP memory_bytes Memory.',
    '# TYPE memory_bytes gauge',
    '# UNIT memory_bytes bytes',
  ]);
  expect(lines).toContain('# UNIT wait_seconds seconds');
  expect(lines.slice(-2)).toEqual(['# EOF', '']);
});

describe('canonical numbers', () => {
  // The lists of OpenMetrics 1.0, "Considerations: Canonical Numbers".
  test('powers of ten are as the standard lists them', () => {
    const powers = Array.from({ length: 21 }, (_, i) => canonicalNumber(Number(`1e${i - 10}`)));
    expect(powers.join(' ')).toBe(
      '1e-10 1e-09 1e-08 1e-07 1e-06 1e-05 0.0001 0.001 0.01 0.1 1.0 10.0 100.0 1000.0 10000.0 100000.0 1e+06 1e+07 1e+08 1e+09 1e+10',
    );
  });

  test('0.0 to 10.0 by thousandths are plain decimals', () => {
    for (let i = 0; i <= 10_000; i++) {
      const plain = (i / 1000).toFixed(3).replace(/0{1,2}$/, '');
      expect(canonicalNumber(i / 1000)).toBe(plain);
    }
  });

  test('what is no number has a word', () => {
    expect([Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, Number.NaN].map(canonicalNumber)).toEqual([
      '+Inf',
      '-Inf',
      'NaN',
    ]);
  });

  test('any number is read back as itself', () => {
    always(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
      // A zero has no sign.
      expect(Number(canonicalNumber(value))).toBe(value + 0);
    });
  });
});

describe('what is written is read back as it was', () => {
  const label = fc.string({ unit: fc.constantFrom('a', '"', '\\', '\n', '{', '}', ',', '=', ' ', '#', 'é', '🔑') });
  const value = fc.oneof(fc.integer(), fc.double({ noNaN: true }));
  const cases = fc.record({ help: label, values: fc.array(fc.tuple(label, label, value), { maxLength: 8 }) });

  test.each(FORMATS)('gauges in the format %s', (format) => {
    always(cases, ({ help, values }) => {
      const family: Family = {
        name: 'a_gauge',
        help,
        type: 'gauge',
        samples: values.map(([one, other, number]) => ({ labels: { one, other }, value: number })),
      };
      const read = readExposition(formatMetrics([family], format));
      expect(read.eof).toBe(format === 'openmetrics');
      const samples = family.samples.map(({ labels, value }) => ({ name: 'a_gauge', labels, value: value + 0 }));
      expect(read.families).toEqual(
        values.length === 0 ? [] : [{ name: 'a_gauge', help, type: 'gauge', unit: undefined, samples }],
      );
    });
  });

  test.each(FORMATS)('histograms in the format %s: buckets are cumulative, +Inf is the count', (format) => {
    const seconds = fc.array(fc.double({ min: 0, max: 20, noNaN: true }), { minLength: 1, maxLength: 30 });
    always(fc.tuple(label, seconds), ([kind, observed]) => {
      const metrics = createMetrics(CATALOGUE);
      for (const one of observed) metrics.histogram('wait_seconds').observe(one, { kind });
      const [family] = readExposition(formatMetrics(metrics.read(), format)).families;
      const of = (name: string) => family?.samples.filter((sample) => sample.name === name) ?? [];
      const buckets = of('wait_seconds_bucket');
      for (const { labels, value } of buckets) {
        const le = Number(labels['le']?.replace('Inf', 'Infinity'));
        expect([labels['kind'], value]).toEqual([kind, observed.filter((one) => one <= le).length]);
      }
      expect(buckets.at(-1)?.labels['le']).toBe('+Inf');
      expect(of('wait_seconds_count')).toEqual([
        { name: 'wait_seconds_count', labels: { kind }, value: observed.length },
      ]);
      expect(of('wait_seconds_sum')[0]?.value).toBeCloseTo(
        observed.reduce((sum, one) => sum + one, 0),
        6,
      );
    });
  });
});

describe('the format is chosen by Accept', () => {
  test.each<[string | null, PrometheusFormat]>([
    [null, 'text'],
    ['', 'text'],
    ['*/*', 'text'],
    ['text/html,application/xhtml+xml,*/*;q=0.8', 'text'],
    // What Prometheus 2.42, 2.53 and 3.4 send.
    [
      'application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1',
      'openmetrics',
    ],
    [
      'application/openmetrics-text;version=1.0.0;q=0.5,application/openmetrics-text;version=0.0.1;q=0.4,text/plain;version=0.0.4;q=0.3,*/*;q=0.2',
      'openmetrics',
    ],
    [
      'application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.5,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,text/plain;version=0.0.4;q=0.2,*/*;q=0.1',
      'openmetrics',
    ],
    ['application/openmetrics-text', 'openmetrics'],
    ['Application/OpenMetrics-Text; Version=1.0.0', 'openmetrics'],
    ['application/openmetrics-text, text/plain', 'openmetrics'],
    ['application/openmetrics-text;q=0.4, text/plain;q=0.5', 'text'],
    ['application/openmetrics-text;q=0', 'text'],
    ['application/openmetrics-text;q=0, */*', 'text'],
    ['application/openmetrics-text;version=2.0.0', 'text'],
    ['application/openmetrics-text;q=1.5', 'text'],
    ['application/openmetrics-text;q=', 'text'],
    ['application/*, text/*;q=0.5', 'openmetrics'],
    ['text/plain;version=0.0.4', 'text'],
    [',,;;q=1,=', 'text'],
  ])('%p is %s', (accept, format) => {
    expect(chooseFormat(accept)).toBe(format);
  });
});
