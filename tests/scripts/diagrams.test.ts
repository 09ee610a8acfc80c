import { expect, test } from 'bun:test';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { DIAGRAMS } from '../../scripts/diagrams/all.ts';
import { drawSequence, type Row } from '../../scripts/diagrams/sequence.ts';

const IMAGES = join(import.meta.dir, '../../docs/images');
const PARTIES = [
  { name: 'A', icon: 'person' },
  { name: 'B', icon: 'vault' },
] as const;
const draw = (row: Row, parties = PARTIES) => drawSequence({ title: 'T', about: 'A', parties, rows: [row] });

test.each(Object.entries(DIAGRAMS))('docs/images/%s is what `bun scripts/diagrams.ts` draws', async (name, diagram) => {
  expect(await Bun.file(join(IMAGES, name)).text()).toBe(drawSequence(diagram));
});

test('every drawing of the documents but the plot of the soak is one of them', () => {
  const drawn = readdirSync(IMAGES).filter((name) => name.endsWith('.svg') && name !== 'soak.svg');
  expect(drawn.sort()).toEqual(Object.keys(DIAGRAMS).sort());
});

test('a drawing says what it shows, has both themes, and loads nothing', () => {
  const svg = draw({ from: 0, to: 1, says: 'a < b & c' });
  expect(svg).toContain('a &#60; b &#38; c');
  expect(svg).toMatch(/role="img" aria-labelledby="title about">\n<title id="title">T<\/title>\n<desc id="about">A</);
  expect(svg).toContain('@media (prefers-color-scheme:dark)');
  expect(svg).not.toMatch(/url\(|href|<script|@import/);
});

test('a text that has no room is refused, not drawn over others', () => {
  expect(() => draw({ from: 0, to: 1, says: 'x'.repeat(60) })).toThrow('no room for xxx');
  expect(() => draw({ at: 0, does: 'x'.repeat(120) })).toThrow('no room for xxx');
  expect(() => draw({ part: 'p' }, [{ name: 'x'.repeat(100), icon: 'key' }] as never)).toThrow('no room for xxx');
});
