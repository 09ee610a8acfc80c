import { describe, expect, test } from 'bun:test';
import {
  formatCount,
  formatCounts,
  formatDate,
  formatDuration,
  formatMoment,
  formatTime,
  formatValue,
  nounOf,
} from '../../../assets/console/format.ts';

test.each([
  [0, '0'],
  [9_999, '9,999'],
  [12_345, '12.3K'],
  [4_200_000, '4.2M'],
])('%p counts as %p', (count, text) => {
  expect(formatCount(count)).toBe(text);
});

test('one is one, and everything else is many', () => {
  expect([0, 1, 2].map((count) => nounOf(count, 'check'))).toEqual(['checks', 'check', 'checks']);
  expect([1, 2].map((count) => nounOf(count, 'code was sent', 'codes were sent'))).toEqual([
    'code was sent',
    'codes were sent',
  ]);
});

test.each([
  [0, '0 ms'],
  [0.42, '0.4 ms'],
  [12.6, '13 ms'],
  [1_500, '1.5 s'],
  [61_000, '1 min'],
  [7_200_000, '2 h'],
  [8 * 86_400_000, '8 d'],
])('%p milliseconds are %p', (ms, text) => {
  expect(formatDuration(ms)).toBe(text);
});

test('counts by word, the largest first, empty ones left out', () => {
  expect(formatCounts({ refused: 1, ok: 20_000, none: 0, no_answer: 2 })).toBe('20K ok · 2 no answer · 1 refused');
  expect(formatCounts({})).toBe('');
});

test('a time is one of day; what is none is shown as it came', () => {
  expect(formatTime('2025-01-01T12:34:56.000Z')).toMatch(/^\d\d:\d\d:56$/);
  expect(formatTime('soon')).toBe('soon');
  expect(formatDate('2025-01-15T12:34:56.000Z')).toMatch(/^1\d Jan,? \d\d:\d4$/);
  expect(formatDate('soon')).toBe('soon');
});

describe('a value', () => {
  test('is a short text', () => {
    expect(formatValue(null)).toBe('–');
    expect(formatValue(7)).toBe('7');
    expect(formatValue({ a: 1 })).toBe('{"a":1}');
    expect(formatValue('x'.repeat(1_000))).toHaveLength(301);
  });

  test('shows what would hide or turn the text around by its number', () => {
    expect(formatValue('a\u202egpj.exe\u0000\u200b\n')).toBe('a\\u{202e}gpj.exe\\u{0}\\u{200b}\\u{a}');
    expect(formatValue('Ä 🙂 <b>')).toBe('Ä 🙂 <b>');
  });
});

test('a moment of another day has its day, and of another year that too', () => {
  const now = new Date(2026, 0, 15, 9, 30);
  const at = (year: number, month: number, day: number) => new Date(year, month, day, 8, 5, 1).toISOString();
  expect(formatMoment(at(2026, 0, 15), now)).toBe('08:05:01');
  expect(formatMoment(at(2026, 0, 14), now)).toBe('14 Jan, 08:05:01');
  expect(formatMoment(at(2025, 11, 31), now)).toBe('31 Dec 2025, 08:05:01');
  expect(formatMoment('soon', now)).toBe('soon');
});
