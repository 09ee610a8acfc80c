import type { Spread } from './rounds.ts';

/** A cell: a number, a median with its ends, words, or nothing. */
export type Cell = number | Spread | string | null;

/** A table of a report. Numbers have the digits of their column. */
export interface Table {
  readonly title: string;
  readonly columns: readonly { readonly title: string; readonly digits?: number }[];
  readonly rows: readonly { readonly name: string; readonly cells: readonly Cell[] }[];
  /** Sentences below the table. */
  readonly notes?: readonly string[];
}

/** One number that the vault is judged by. */
export interface Figure {
  readonly label: string;
  readonly value: number | Spread;
  readonly digits?: number;
  readonly unit?: string;
  /** What must be held, and what is aimed at: at least, or `atMost`. */
  readonly floor?: number;
  readonly goal?: number;
  readonly atMost?: boolean;
  /** Whether the README shows it. */
  readonly headline?: boolean;
}

/** A cell with the digits of its column: `12.3 (11.9–13.0)` for a spread. */
export function cellText(cell: Cell, digits = 0): string {
  if (cell === null) return '–';
  if (typeof cell === 'string') return cell;
  if (typeof cell === 'number') return numberText(cell, digits);
  const ends = [cell.low, cell.high].map((end) => numberText(end, digits));
  const [low = '', high = ''] = ends;
  return low === high ? low : `${numberText(cell.median, digits)} (${low}–${high})`;
}

/** A figure in a line: its value, what it must be, and whether it is. */
export function figureText(figure: Figure): string {
  const { label, value, digits, unit = '', floor, goal } = figure;
  const bound = (number: number | undefined, word: string) =>
    number === undefined ? [] : [`${word} ${boundText(figure, number)}`];
  const parts = [`${cellText(value, digits)}${unit}`, ...bound(floor, 'floor'), ...bound(goal, 'goal')];
  return `${label}: ${parts.join(', ')}${isHeld(figure, floor) === false ? ' – NOT HELD' : ''}`;
}

/** What a figure is held against, such as `≤ 0.9`. */
export function boundText({ atMost, digits, unit = '' }: Figure, bound: number): string {
  return `${atMost ? '≤' : '≥'} ${numberText(bound, Math.min(digits ?? 0, Number.isInteger(bound) ? 0 : 2))}${unit}`;
}

/** Whether the median holds a bound; undefined without one. */
export function isHeld({ value, atMost }: Figure, bound: number | undefined): boolean | undefined {
  if (bound === undefined) return undefined;
  const median = typeof value === 'number' ? value : value.median;
  return atMost ? median <= bound : median >= bound;
}

function numberText(value: number, digits: number): string {
  return Number.isFinite(value)
    ? value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits })
    : '–';
}

/** The table as text for a terminal. */
export function textOf({ title, columns, rows, notes = [] }: Table): string {
  const head = [title, ...columns.map((column) => column.title)];
  const body = rows.map(({ name, cells }) => [name, ...cells.map((cell, i) => cellText(cell, columns[i]?.digits))]);
  const widths = head.map((_, i) => Math.max(...[head, ...body].map((row) => row[i]?.length ?? 0)));
  const line = (row: readonly string[]) =>
    row.map((text, i) => (i === 0 ? text.padEnd(widths[i] ?? 0) : text.padStart(widths[i] ?? 0))).join('  ');
  return [line(head), ...body.map(line), ...notes].join('\n');
}
