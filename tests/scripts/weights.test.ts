import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { weighPages, withWeights } from '../../scripts/weights.ts';

const DOCUMENT = join(import.meta.dir, '../../docs/pages.md');

/** The table as it stands: of each row its first cell and the numbers in KB of all. */
const rowsOf = (text: string) =>
  Array.from(text.matchAll(/^\| `(\/[\w/]*)` \| (\d+) \|(.*)$/gm), ([, page = '', files, rest = '']) => ({
    page,
    files: Number(files),
    sizes: Array.from(rest.matchAll(/([\d.]+) KB/g), ([, kb]) => Number(kb)),
    later: rest.match(/`[^`]+`/g) ?? [],
  }));

test('the weights in docs/pages.md are those of the build, but for a twentieth or half a KB', async () => {
  const text = await Bun.file(DOCUMENT).text();
  const [written, weighed] = [rowsOf(text), rowsOf(withWeights(text, await weighPages()))];
  const plain = (rows: typeof written) => rows.map(({ sizes: _, ...row }) => row);
  expect(plain(written)).toEqual(plain(weighed));
  expect(written.length).toBe(7);
  const stale = weighed.flatMap(({ page, sizes }, row) =>
    sizes.flatMap((size, i) => {
      const said = written[row]?.sizes[i] ?? 0;
      return Math.abs(said - size) > Math.max(0.5, size / 20) ? [`${page}: ${said} KB, now ${size}`] : [];
    }),
  );
  // `bun scripts/docs.ts` writes them again.
  expect(stale).toEqual([]);
});

test('the landing page is under 20 KB, unpacked', async () => {
  const [landing] = await weighPages();
  expect([landing?.page, landing && landing.bytes < 20_000]).toEqual(['/', true]);
});
