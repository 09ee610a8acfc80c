import { isoTime } from '../base/clock.ts';
import { badRequest } from '../base/error.ts';
import type { Condition, Row, Store } from './database.ts';
import {
  countSpan,
  findPlace,
  type NewestFirst,
  type RowPlace,
  readPage,
  type Span,
  spanOf,
  type Total,
} from './newest-first.ts';

/** Rows of one answer that asks for no number. */
const PAGE_ROWS = 50;
/** Rows that one export looks at; those behind them are in the next one. */
export const EXPORT_ROWS_MAX = 100_000;
/** An export reads in steps, so that requests are served in between: rows of a step, and rows it looks at. */
const EXPORT_STEP_ROWS = 250;
const EXPORT_STEP_EXAMINED = 1_000;

/** A part of a list: times in milliseconds, `to` excluded; `cursor` is the `next` of an answer. */
export interface BrowseQuery {
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  readonly cursor?: string | undefined;
  readonly limit?: number | undefined;
}

/** The place of an answer in its list. */
export interface Browsed {
  /** The cursor of the next rows; null at the end. */
  readonly next: string | null;
  /** How far back the rows were looked through; null at the end. */
  readonly searchedTo: string | null;
  /** How many rows there are; null with a cursor, since the first answer had it. */
  readonly total: Total | null;
}

type Reader = Pick<Store, 'read'>;

/** A page of a list. Throws 400 for a cursor that is not of this list. */
export async function browse(
  db: Reader,
  list: NewestFirst,
  query: BrowseQuery,
  condition: Condition | undefined,
): Promise<{ readonly rows: readonly Row[]; readonly page: Browsed }> {
  const span = spanFrom(list, query, condition);
  const [{ rows, next }, total] = await Promise.all([
    readPage(db, list, span, query.limit ?? PAGE_ROWS),
    query.cursor === undefined ? countSpan(db, list, span) : null,
  ]);
  const page = { next: next && cursorOf(next), searchedTo: next && isoTime(next.at), total };
  return { rows, page };
}

/**
 * The rows of a list step by step, up to `EXPORT_ROWS_MAX`, and the cursor of the export that has the next ones.
 * Throws 400 for a cursor that is not of this list.
 */
export async function exportRows(
  db: Reader,
  list: NewestFirst,
  query: BrowseQuery,
  condition: Condition | undefined,
): Promise<{ readonly steps: AsyncGenerator<readonly Row[]>; readonly next: string | null }> {
  const span = spanFrom(list, query, condition);
  const end = await findPlace(db, list, span, EXPORT_ROWS_MAX);
  const isEnd = end === null || !(await hasRows(db, list, { ...span, before: end }));
  return { steps: stepsOf(db, list, { ...span, from: end ?? span.from }), next: isEnd ? null : cursorOf(end) };
}

async function hasRows(db: Reader, list: NewestFirst, span: Span): Promise<boolean> {
  return (await findPlace(db, list, span, 1)) !== null;
}

async function* stepsOf(db: Reader, list: NewestFirst, span: Span): AsyncGenerator<readonly Row[]> {
  for (let before: RowPlace | null = span.before; before !== null; ) {
    const { rows, next } = await readPage(db, list, { ...span, before }, EXPORT_STEP_ROWS, EXPORT_STEP_EXAMINED);
    yield rows;
    before = next;
  }
}

function spanFrom(list: NewestFirst, { cursor, ...times }: BrowseQuery, condition: Condition | undefined): Span {
  const span = spanOf(list, times, condition);
  if (cursor === undefined) return span;
  const before = placeFrom(list, cursor);
  return before.at < span.before.at ? { ...span, before } : span;
}

function cursorOf({ at, tie }: RowPlace): string {
  return `${at}.${tie}`;
}

function placeFrom({ lowest }: NewestFirst, cursor: string): RowPlace {
  const [, at, tie = ''] = /^(\d{1,15})\.(\w{0,66})$/.exec(cursor) ?? [];
  const isNumber = typeof lowest === 'number';
  if (at === undefined || (isNumber && !/^\d{1,15}$/.test(tie))) throw badRequest('Invalid cursor');
  return { at: Number(at), tie: isNumber ? Number(tie) : tie };
}
