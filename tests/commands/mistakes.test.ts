import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { MISTAKES } from '../../scripts/mistakes/table.ts';
import { buildBinary } from '../support/binary.ts';
import { type Made, make, startSurroundings } from '../support/mistakes.ts';

/** So many are made at the same time. */
const AT_ONCE = 4;

/** Secrets of the table: no output may repeat one. */
const SECRET = /changeme|(?:0123456789abcdef){2}|user:key@/;

const all = Object.values(MISTAKES).flat();
const made = new Map<(typeof all)[number], Made & { readonly says: readonly string[] }>();
let surroundings: ReturnType<typeof startSurroundings>;

beforeAll(async () => {
  const binary = await buildBinary();
  surroundings = startSurroundings();
  const left = [...all];
  const worker = async () => {
    for (let one = left.shift(); one; one = left.shift())
      made.set(one, await make(one, { ...surroundings, binary: binary.path }));
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  binary.remove();
}, 600_000);
afterAll(() => surroundings?.stop());

test('there are at least 68 of them, each once', () => {
  expect(all.length).toBeGreaterThanOrEqual(68);
  const keys = all.map(({ done, args, vars, files }) => JSON.stringify([done, args, vars, files]));
  expect(new Set(keys).size).toBe(all.length);
});

describe.each(Object.entries(MISTAKES))('%s:', (_, mistakes) => {
  const rows = mistakes.map(
    (one) => [[one.done, one.args, JSON.stringify(one.vars)].filter(Boolean).join(' '), one] as const,
  );
  test.each(rows)('%s', (_, mistake) => {
    const { printed, exit, says } = made.get(mistake) ?? { printed: 'was not made', exit: Number.NaN, says: [''] };
    for (const words of says) expect(printed).toContain(words);
    expect([exit, printed]).toEqual([mistake.exit, printed]);
    expect(printed).not.toMatch(SECRET);
    expect(printed).not.toMatch(/\$bunfs|"stack"/);
  });
});
