import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { buildBinary } from '../support/binary.ts';
import { FILES, LINES } from '../support/mistakes/lines.ts';
import { type Made, make, startSurroundings } from '../support/mistakes/make.ts';
import type { Mistake } from '../support/mistakes/mistake.ts';
import { OUTSIDE } from '../support/mistakes/outside.ts';
import { REFUSED, WARNED } from '../support/mistakes/settings.ts';

/** Mistakes of operators, by subject. Each is made with the built program. */
const MISTAKES: Readonly<Record<string, readonly Mistake[]>> = {
  'Settings that cannot be used': REFUSED,
  'Settings that nothing reads': WARNED,
  'Files of settings and secrets': FILES,
  'Command lines': LINES,
  'Ports, folders, the chain, the mail server': OUTSIDE,
};

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
});
afterAll(() => surroundings?.stop());

test('the settings are wrong in more than fifty ways, each said once', () => {
  const said = [...REFUSED, ...WARNED].flatMap(({ says }) => [...new Set(says)]);
  expect(said.length).toBeGreaterThanOrEqual(50);
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
