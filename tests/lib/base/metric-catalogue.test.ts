import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { METRICS, type Metric } from '../../../lib/base/metric-catalogue.ts';

const FAMILIES = Object.entries<Metric>(METRICS);

test("docs/operating.md's table names every family with its labels, and no other", async () => {
  const text = await Bun.file(join(import.meta.dir, '../../../docs/operating.md')).text();
  const table = /\| subject \| families \|\n(.*?)\n\n/s.exec(text)?.[1] ?? '';
  const named = Array.from(table.matchAll(/`((?:vault|process)_\w+(?:\{[a-z_,]+\})?)`/g), ([, family]) => family);
  const expected = FAMILIES.map(([name, { labels }]) => (labels.length === 0 ? name : `${name}{${labels.join(',')}}`));
  expect(named.toSorted()).toEqual(expected.toSorted());
});

test('names and help are in the form that Prometheus asks for', () => {
  const ends = { counter: /_total$/, gauge: /(?<!_total)$/, histogram: /_seconds$/ };
  expect(FAMILIES.filter(([name, { type, help }]) => !ends[type].test(name) || !/^[A-Z].*\.$/.test(help))).toEqual([]);
});
