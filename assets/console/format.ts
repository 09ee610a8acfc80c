import { TEXT_SHOWN_CHARS_MAX } from './limits.ts';

const COMPACT = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });
const PLAIN = new Intl.NumberFormat('en', { maximumFractionDigits: 4 });

/** A count: exact up to 9,999, then for example `12.3K`. */
export function formatCount(count: number): string {
  return Math.abs(count) < 10_000 ? PLAIN.format(count) : COMPACT.format(count);
}

/** The word for so many: `1 check`, `2 checks`. */
export function nounOf(count: number, one: string, many = `${one}s`): string {
  return count === 1 ? one : many;
}

/** A duration in three digits at most: `0.4 ms`, `12 ms`, `1.5 s`, `3 min`, `2 h`, `4 d`. */
export function formatDuration(ms: number): string {
  const [unit = 'ms', size = 1] = UNITS.find(([, from]) => Math.abs(ms) >= from) ?? [];
  const amount = ms / size;
  return `${Math.abs(amount) < 10 ? Math.round(amount * 10) / 10 : Math.round(amount)} ${unit}`;
}

const UNITS: readonly (readonly [string, number])[] = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
];

/** The local time of day with seconds. A text that is not a time is shown unchanged. */
export function formatTime(iso: string): string {
  const at = new Date(iso);
  return Number.isNaN(at.getTime()) ? cut(iso) : at.toLocaleTimeString('en-GB');
}

/** The local time of day with seconds, and the day before it unless it is today. */
export function formatMoment(iso: string, now: Date = new Date()): string {
  const at = new Date(iso);
  if (Number.isNaN(at.getTime()) || at.toDateString() === now.toDateString()) return formatTime(iso);
  const year = at.getFullYear() === now.getFullYear() ? {} : { year: 'numeric' as const };
  return `${at.toLocaleDateString('en-GB', { day: 'numeric', month: 'short', ...year })}, ${formatTime(iso)}`;
}

/** The local day and time. */
export function formatDate(iso: string): string {
  const at = new Date(iso);
  if (Number.isNaN(at.getTime())) return cut(iso);
  return at.toLocaleString('en-GB', { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' });
}

/** Counts by word in one line, the largest first, without zeros. */
export function formatCounts(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .filter(([, count]) => count > 0)
    .toSorted(([, a], [, b]) => b - a)
    .map(([word, count]) => `${formatCount(count)} ${word.replaceAll('_', ' ')}`)
    .join(' · ');
}

/** Any JSON value as a short text. Invisible characters and those that turn the text around are shown by number. */
export function formatValue(value: unknown): string {
  if (value === null || value === undefined) return '–';
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
  return cut(text.replace(UNSEEN, (char) => `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`));
}

/** Control and format characters, among them those that change the direction of the text after them. */
const UNSEEN = /[\p{Cc}\p{Cf}\u2028\u2029]/gu;

function cut(text: string): string {
  return text.length > TEXT_SHOWN_CHARS_MAX ? `${text.slice(0, TEXT_SHOWN_CHARS_MAX)}…` : text;
}
