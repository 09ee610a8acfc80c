import { expect, test } from 'bun:test';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { scripts } from '../../package.json';
import { DOCUMENTS, marksOf, withResults } from '../../scripts/benchmarks.ts';
import { SCALING } from '../../scripts/scaling.ts';
import { PARTS } from '../bench/frame/parts.ts';
import { type Result, savedResults } from '../bench/frame/results.ts';

const ROOT = join(import.meta.dir, '../..');
const read = (path: string) => Bun.file(join(ROOT, path)).text();

test.each(DOCUMENTS)('%s is what `bun scripts/benchmarks.ts` writes', async (path) => {
  const text = await read(path);
  expect(marksOf(text)).not.toEqual([]);
  expect(text).toBe(withResults(text, await savedResults()));
});

test('every part of the benches has a script and a place in the page, and nothing else has results', async () => {
  const names = PARTS.map(({ name }) => name).sort();
  const summaries = ['figures', 'machines', ...Object.keys(SCALING)];
  const all = (await Promise.all(['docs/benchmarks.md', 'docs/scaling.md'].map(read))).flatMap(marksOf);
  const marked = all.filter((name) => !summaries.includes(name));
  expect(summaries.filter((name) => !all.includes(name))).toEqual([]);
  // A new part has none until it is measured where nothing else runs: the page says so.
  expect([...(await savedResults()).keys()].filter((name) => !names.includes(name))).toEqual([]);
  expect(marked.sort()).toEqual(names);
  expect(PARTS.filter(({ script }) => !existsSync(join(ROOT, script)))).toEqual([]);
  const commands = Object.values(scripts);
  expect(PARTS.filter(({ script }) => !commands.includes(`bun ${script}`))).toEqual([]);
});

test('saved results name no folder, no host and no address', async () => {
  const text = JSON.stringify([...(await savedResults()).values()]);
  expect(text.match(/https?:|"\/(?!api\/)|\/(?:home|root|tmp|work)\b|localhost|\d+\.\d+\.\d+\.\d+/g)).toBeNull();
});

const RESULT: Result = {
  name: 'http',
  date: '2026-01-02',
  commit: 'abc1234',
  machine: { processor: 'P', cores: 2, memoryGiB: 4, system: 'Linux', fileSystem: 'ext4', syncMs: 0.2 },
  placement: 'apart',
  rounds: 3,
  versions: { vault: '1.0.0' },
  tables: [
    {
      title: 'routes',
      columns: [{ title: 'requests/s' }, { title: 'ms', digits: 1 }],
      rows: [{ name: 'status', cells: [{ median: 12_345, low: 11_000, high: 13_000 }, null] }],
      notes: ['A note.'],
    },
  ],
  figures: [
    {
      label: 'rate',
      value: { median: 8, low: 7, high: 9 },
      digits: 1,
      unit: '×',
      floor: 7.5,
      goal: 12,
      headline: true,
    },
    { label: 'only shown', value: 1, headline: true },
    { label: 'time', value: 6, unit: ' ms', floor: 5, atMost: true },
  ],
};

const written = (name: string) =>
  withResults(
    `<!-- Written by \`bun scripts/benchmarks.ts\`: ${name}. -->\nold\n<!-- The end of what is written. -->`,
    new Map([['http', RESULT]]),
  )
    .split('\n')
    .slice(1, -1);

test('a table has its medians with their ends, and a dash for what was not measured', () => {
  expect(written('http')).toEqual([
    '| routes | requests/s | ms |',
    '|---|--:|--:|',
    '| status | 12,345 (11,000–13,000) | – |',
    '',
    'A note.',
  ]);
  expect(written('other')).toEqual(['Not measured yet.']);
});

test('a figure says whether its median holds floor and goal', () => {
  expect(written('figures').slice(2)).toEqual([
    '| rate | 8.0 (7.0–9.0)× | ≥ 7.5× ✓ | ≥ 12× ✗ |',
    '| time | 6 ms | ≤ 5 ms ✗ | – |',
  ]);
  const shown = ['| rate | 8.0 (7.0–9.0)× |', '| only shown | 1 |'];
  expect(written('headlines')).toEqual(['| measured 2026-01-02, 2 cores | |', '|---|---|', ...shown]);
});
