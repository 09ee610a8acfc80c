import { expect, test } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ASSETS = join(import.meta.dir, '../../../assets');
const textOf = (folder: string) =>
  readdirSync(join(ASSETS, folder))
    .filter((name) => name.endsWith('.css'))
    .map((name) => readFileSync(join(ASSETS, folder, name), 'utf8'))
    .join('\n');
const CSS = textOf('console');
const TOKENS = textOf('design');
const THEMES = ['light', 'dark'] as const;
const colors = new Map(
  Array.from(TOKENS.matchAll(/--([a-z-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)/g), ([, name, light, dark]) => [
    name,
    { light, dark },
  ]),
);

/** WCAG 2.2, relative luminance. */
function luminance(hex: string): number {
  const parts = [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16) / 255);
  const [r = 0, g = 0, b = 0] = parts.map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrast(one: string, other: string): number {
  const [light = 0, dark = 0] = [luminance(one), luminance(other)].toSorted((a, b) => b - a);
  return (light + 0.05) / (dark + 0.05);
}

test.each(THEMES)('every colour of text is read on every ground: 4.5 to 1 at least (WCAG 1.4.3), %s', (theme) => {
  for (const text of ['text', 'quiet', 'accent', 'good', 'bad', 'warn']) {
    for (const ground of ['ground', 'surface']) {
      const [front = '', back = ''] = [colors.get(text)?.[theme], colors.get(ground)?.[theme]];
      expect({ text, ground, isRead: contrast(front, back) >= 4.5 }).toEqual({ text, ground, isRead: true });
    }
  }
});

test('every colour and size that is used is a token of the design, and the console has no colour of its own', () => {
  const named = new Set(Array.from(`${TOKENS}${CSS}`.matchAll(/--([a-z-]+):/g), ([, name]) => name));
  const used = new Set(Array.from(CSS.matchAll(/var\(--([a-z-]+)\)/g), ([, name]) => name));
  expect([...used].filter((name) => !named.has(name))).toEqual([]);
  expect(used.size).toBeGreaterThan(8);
  expect(CSS.match(/#[0-9a-f]{3,8}\b(?=\s*[;,)])/g)).toBeNull();
});

test('who asked for less motion gets none', () => {
  expect(TOKENS).toContain('prefers-reduced-motion: reduce');
  expect(CSS).not.toMatch(/\b(?:transition|animation)\b/);
});
