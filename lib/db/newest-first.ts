import type { Condition, Row, Statement, Store, Value } from './database.ts';

/**
 * A table that grows, listed newest first: by a time, which `index` serves, and within a millisecond by the column
 * `tie`, which is never below `lowest`.
 */
export interface NewestFirst {
  readonly table: string;
  readonly index: string;
  readonly at: string;
  readonly tie: string;
  readonly lowest: string | number;
}

/** A row's place in the list. */
export interface RowPlace {
  readonly at: number;
  readonly tie: string | number;
}

/** A part of a list: the rows from `from` on (included), before the place `before`, for which the condition is true. */
export interface Span {
  readonly from: RowPlace;
  readonly before: RowPlace;
  readonly condition?: Condition | undefined;
}

/** Rows of a list, and the place behind which the next ones are; null where the list ends. */
export interface Page {
  readonly rows: readonly Row[];
  readonly next: RowPlace | null;
}

/** How many rows are in a list: so many, or at least so many. */
export interface Total {
  readonly count: number;
  readonly exact: boolean;
}

/** The rows that one page looks at where a condition chooses among them. Matches further back are behind `next`. */
export const EXAMINED_ROWS_MAX = 10_000;
/** The rows that are counted where no condition chooses among them: the count reads the index alone. */
export const COUNTED_ROWS_MAX = 100_000;
/** Rows of one place that the end of a page does not part. */
const TIES_MAX = 8;

type Reader = Pick<Store, 'read'>;

/** A condition on columns: each has the value, undefined is any. No condition where all are undefined. */
export function columnsAre(values: Readonly<Record<string, Value | undefined>>): Condition | undefined {
  const asked = Object.entries(values).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as const],
  );
  if (asked.length === 0) return undefined;
  return { sql: asked.map(([name]) => `${name} = :${name}`).join(' AND '), args: Object.fromEntries(asked) };
}

/** The span between two times in milliseconds, the first included. */
export function spanOf(
  { lowest: tie }: NewestFirst,
  { from = 0, to = Number.MAX_SAFE_INTEGER }: { readonly from?: number | undefined; readonly to?: number | undefined },
  condition?: Condition,
): Span {
  return { from: { at: from, tie }, before: { at: to, tie }, condition };
}

/**
 * The first `limit` rows of a span, a few more where the last has the place of others. Where a condition chooses, it
 * looks at about `examined` rows, so a page may have few rows and still a `next`.
 */
export async function readPage(
  db: Reader,
  list: NewestFirst,
  span: Span,
  limit: number,
  examined: number = EXAMINED_ROWS_MAX,
): Promise<Page> {
  const end = span.condition ? await findPlace(db, list, span, examined) : null;
  const most = limit + TIES_MAX;
  const rows = await db.read(selectSpan(list, { ...span, from: end ?? span.from }, most));
  const last = placeOf(list, rows[limit - 1]);
  const isSame = (row: Row) => {
    const { at, tie } = placeOf(list, row);
    return at === last.at && tie === last.tie;
  };
  const shown = rows.filter((row, i) => i < limit || isSame(row));
  const isFull = shown.length < rows.length || rows.length === most;
  return { rows: shown, next: isFull ? placeOf(list, shown.at(-1)) : end };
}

/**
 * The place behind the first `count` rows of a span and all others of the last one's millisecond; null if the span has
 * fewer. Reads the index alone.
 */
export async function findPlace(
  db: Reader,
  list: NewestFirst,
  { from, before }: Span,
  count: number,
): Promise<RowPlace | null> {
  const { at, lowest } = list;
  const [row] = await db.read({
    sql: `SELECT ${at} FROM ${tableOf(list)} WHERE ${at} >= :from_at AND ${at} <= :before_at ORDER BY ${at} DESC
      LIMIT 1 OFFSET :passed`,
    // A span that ends with a millisecond has none of its rows, and one that ends within it has some.
    args: { from_at: from.at, before_at: before.tie === lowest ? before.at - 1 : before.at, passed: count - 1 },
  });
  return row ? { at: Number(row[at]), tie: lowest } : null;
}

/** How many rows a span of `spanOf` has, as far as they are counted. */
export async function countSpan(db: Reader, list: NewestFirst, { from, before, condition }: Span): Promise<Total> {
  const { at } = list;
  const most = condition ? EXAMINED_ROWS_MAX : COUNTED_ROWS_MAX;
  const [row] = await db.read({
    sql: `SELECT count(*) AS examined, count(CASE WHEN ${condition?.sql ?? 'true'} THEN 1 END) AS found
      FROM (SELECT ${condition ? '*' : '1'} FROM ${tableOf(list)} WHERE ${at} >= :from_at AND ${at} < :before_at
        ORDER BY ${at} DESC LIMIT :most)`,
    args: { ...condition?.args, from_at: from.at, before_at: before.at, most: most + 1 },
  });
  const found = Math.min(Number(row?.['found'] ?? 0), most);
  return { count: found, exact: Number(row?.['examined'] ?? 0) <= most };
}

function selectSpan(list: NewestFirst, { from, before, condition }: Span, most: number): Statement {
  const { at, tie } = list;
  return {
    sql: `SELECT * FROM ${tableOf(list)} WHERE (${at}, ${tie}) >= (:from_at, :from_tie)
      AND (${at}, ${tie}) < (:before_at, :before_tie) AND ${condition?.sql ?? 'true'}
      ORDER BY ${at} DESC, ${tie} DESC LIMIT :most`,
    args: {
      ...condition?.args,
      from_at: from.at,
      from_tie: from.tie,
      before_at: before.at,
      before_tie: before.tie,
      most,
    },
  };
}

/** Without the index named, a condition could make the engine read by another one, and sort all that it finds. */
function tableOf({ table, index }: NewestFirst): string {
  return `${table} INDEXED BY ${index}`;
}

function placeOf({ at, tie, lowest }: NewestFirst, row: Row | undefined): RowPlace {
  return { at: Number(row?.[at]), tie: typeof lowest === 'number' ? Number(row?.[tie]) : String(row?.[tie]) };
}
