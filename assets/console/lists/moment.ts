import { make } from '../dom.ts';
import { formatValue } from '../format.ts';

/** A time in a table: date and time of day, with its zone on hover. */
export function moment(iso: string | null): Node {
  return timeOf(iso, SHORT);
}

/** A time in a sentence or a list of facts: with seconds and its zone. */
export function wholeMoment(iso: string | null): Node {
  return timeOf(iso, LONG);
}

const DAY = { day: 'numeric', month: 'short', year: 'numeric' } as const;
const SHORT = new Intl.DateTimeFormat('en-GB', { ...DAY, hour: '2-digit', minute: '2-digit' });
const LONG = new Intl.DateTimeFormat('en-GB', {
  ...DAY,
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  timeZoneName: 'short',
});

function timeOf(iso: string | null, format: Intl.DateTimeFormat): Node {
  const at = new Date(iso ?? '');
  if (iso === null || Number.isNaN(at.getTime())) return document.createTextNode(formatValue(iso));
  return make('time', { datetime: iso, title: LONG.format(at) }, format.format(at));
}

/** The first moment of a day of this browser's zone, `2026-11-23`, or of a day after it. */
export function startOfDay(day: string, daysAfter = 0): string | undefined {
  const [year = 0, month = 0, date = 0] = day.split('-').map(Number);
  const at = new Date(year, month - 1, date + daysAfter);
  return /^\d{4}-\d\d-\d\d$/.test(day) && !Number.isNaN(at.getTime()) ? at.toISOString() : undefined;
}
