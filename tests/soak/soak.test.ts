import { afterAll, expect, test } from 'bun:test';
import { temporaryFolder } from '../support/databases.ts';
import { SEED } from '../support/seed.ts';
import { plot } from './plot.ts';
import { judge, type Sample } from './samples.ts';
import { soak } from './soak.ts';

const folder = temporaryFolder();
afterAll(() => folder.remove());

test('a short soak asks for everything, keeps its connections open and is answered 200', async () => {
  const seen: Sample[] = [];
  const found = await soak({
    folder: folder.path,
    minutes: 0.06,
    streams: 20,
    idle: 40,
    perSecond: 60,
    seed: SEED,
    samples: 3,
    say: (sample) => void seen.push(sample),
  });
  expect(found.errors).toEqual([]);
  expect(Object.keys(found.answers).filter((name) => !name.endsWith(' 200'))).toEqual([]);
  const asked = Object.keys(found.answers).map((name) => name.replace(/ 200$/, ''));
  for (const route of ['send', 'check'].map((word) => `POST /api/verify/${word}`)) expect(asked).toContain(route);
  expect(asked).toContain('GET /api/dids/lookup');
  expect(asked).toContain('POST /api/dids');
  expect(found.samples).toEqual(seen);
  expect(seen).toHaveLength(3);
  // One of each may be on its way back.
  for (const { streams, idle, descriptors } of seen) {
    expect(streams).toBeGreaterThanOrEqual(18);
    expect(idle).toBeGreaterThanOrEqual(38);
    expect(descriptors).toBeGreaterThan(50);
  }
  expect(found.events).toBeGreaterThan(0);
  expect(found.reopened.streams).toBeGreaterThan(0);
  expect(found.reopened.idle).toBeGreaterThan(0);
  expect(found.exitCode).toBe(0);
});

const SAMPLE: Sample = {
  minute: 0,
  residentMb: 100,
  descriptors: 50,
  processor: 0.1,
  perSecond: 100,
  p50Ms: 1,
  p99Ms: 5,
  ownStallMs: 0,
  streams: 20,
  idle: 20,
};
const run = (change: (i: number) => Partial<Sample>) =>
  Array.from({ length: 30 }, (_, i): Sample => ({ ...SAMPLE, minute: i, ...change(i) }));
const notFlat = (samples: readonly Sample[]) =>
  judge(samples)
    .filter(({ isFlat }) => !isFlat)
    .map(({ name }) => name);

test('a curve that fills caches at first and one that falls are flat, one that goes on rising is not', () => {
  expect(notFlat(run(() => ({})))).toEqual([]);
  expect(notFlat(run((i) => ({ residentMb: Math.min(150, 60 + i * 10), p99Ms: 40 - i })))).toEqual([]);
  expect(notFlat(run((i) => ({ residentMb: 100 + i })))).toEqual(['memory, MB']);
  expect(notFlat(run((i) => ({ descriptors: 50 + Math.floor(i / 5) })))).toEqual(['descriptors']);
  expect(notFlat(run((i) => ({ p99Ms: 5 + i / 2 })))).toEqual(['p99, ms']);
  expect(() => judge([SAMPLE])).toThrow('three samples');
});

test('the plot has a point of each curve for each sample, higher where there is more', () => {
  const svg = plot(
    'a <title>',
    run((i) => ({ residentMb: i * 10 })),
  );
  const curves = Array.from(svg.matchAll(/points="([^"]+)"/g), ([, points = '']) => points.split(' '));
  expect(curves.map(({ length }) => length)).toEqual([30, 30, 30]);
  const heights = (curves[0] ?? []).map((point) => Number(point.split(',')[1]));
  expect(heights).toEqual(heights.toSorted((a, b) => b - a));
  expect(svg).toContain('<title>a  title></title>');
  expect(svg).not.toContain('a <');
  for (const name of ['memory, MB', 'descriptors', 'p99, ms']) expect(svg).toContain(`>${name}</text>`);
});
