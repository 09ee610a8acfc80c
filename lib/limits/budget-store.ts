import { DAY_MS } from '../base/clock.ts';
import { SWEEP_ROWS_MAX } from '../constants.ts';
import type { Condition, Row, Statement, Value } from '../db/database.ts';
import { BUDGETS, type BudgetLimit, type LimitName, limitOf } from './catalogue.ts';
import { type CountedRows, RELAY_COUNTS } from './limit.ts';
import { clearedAt } from './store.ts';

// A bucket has one row for each time at which it was used: `used` at that time, and `total` of all times up to it. What
// is used of a day is the difference between two of its rows: two look-ups, however many rows there are. The sends of
// the whole vault have no rows here: each row of `codes` holds their totals up to it. Another table's rows would cost a
// send a tenth of its time.

/** A use of some budgets; `network` is undefined where none of them counts by it. Times are milliseconds. */
export interface Spending {
  readonly kinds: readonly BudgetLimit[];
  readonly maxOf: (kind: BudgetLimit) => number;
  readonly network: string | undefined;
  readonly now: number;
}

/** The engine finds a statement by its text: built once, it is neither built nor hashed at each use. */
const texts = new Map<string, string>();

function builtOnce(name: string, build: () => string): string {
  const known = texts.get(name);
  if (known !== undefined) return known;
  const text = build();
  texts.set(name, text);
  return text;
}

/**
 * SQL that is true while a budget has room, also after as many uses of the same statement as `earlier` says. Needs
 * `:day_ago`, `:<kind>_max`, and `:network` where it counts by it.
 */
export function hasRoom(kind: BudgetLimit, earlier = '0'): string {
  return builtOnce(`room ${kind} ${earlier}`, () => `(${ledgerOf(kind).usedOfDay} + ${earlier} < :${maxName(kind)})`);
}

/** The arguments of `hasRoom`, for all budgets of the use. */
export function roomArgs({ kinds, maxOf, network, now }: Spending): Record<string, Value> {
  const args: Record<string, Value> = { day_ago: now - DAY_MS };
  for (const kind of kinds) args[maxName(kind)] = maxOf(kind);
  if (network !== undefined) args['network'] = network;
  return args;
}

/**
 * Counts a use of one budget of `budget_uses` if the statement before it in the batch changed a row, and if the
 * condition holds. It leaves `changes()` at 1 for the next where there is no condition.
 */
export function spendBudgetIfChanged(kind: BudgetLimit, { network, now }: Spending, when?: Condition): Statement {
  return {
    sql: builtOnce(
      `spend ${kind} ${when?.sql ?? ''}`,
      () => `INSERT INTO budget_uses (kind, bucket, at, used, total)
      SELECT '${kind}', ${bucketOf(kind)}, max(:now, coalesce((SELECT at ${ledgerOf(kind).newest}), 0)), 1,
        coalesce((SELECT total ${ledgerOf(kind).newest}), 0) + 1
      WHERE changes() > 0${when ? ` AND ${when.sql}` : ''}
      ON CONFLICT (kind, bucket, at) DO UPDATE SET used = used + 1, total = total + 1`,
    ),
    args: { ...networkArg(kind, network), now, ...when?.args },
  };
}

/**
 * Takes a use of one budget of `budget_uses` back, as of the time at which it was counted, if the condition holds. It
 * rewrites the bucket's later rows: only sends are given back, those of one network within the seconds that a provider
 * takes to refuse. The sends of the whole vault have no rows here.
 */
export function refundBudget(kind: BudgetLimit, { network, now }: Spending, when: Condition): Statement {
  const counted = `(SELECT min(at) ${rowsOf(kind)} AND at >= :now AND used > 0)`;
  return {
    sql: `UPDATE budget_uses SET total = total - 1, used = used - (at = ${counted})
      WHERE kind = '${kind}' AND bucket = ${bucketOf(kind)} AND at >= ${counted} AND ${when.sql}`,
    args: { ...networkArg(kind, network), now, ...when.args },
  };
}

/**
 * One row with columns for each budget of the use: whether it is full, and the time of a use after which the next is
 * allowed once it has left the window. With `ifUnchanged` no row if the statement before it in the batch changed one.
 */
export function selectBudgets(use: Spending, { ifUnchanged = false } = {}): Statement {
  const name = `budgets ${use.kinds.join()} ${ifUnchanged}`;
  return { sql: builtOnce(name, () => budgetsText(use.kinds, ifUnchanged)), args: roomArgs(use) };
}

function budgetsText(kinds: readonly BudgetLimit[], ifUnchanged: boolean): string {
  return `SELECT ${budgetColumns(kinds)} ${ifUnchanged ? 'WHERE changes() = 0' : ''}`;
}

/** The columns that `readReset` reads, with the arguments of `hasRoom`. */
export function budgetColumns(kinds: readonly BudgetLimit[]): string {
  const columns = kinds.map((kind) => {
    const max = `:${maxName(kind)}`;
    const { at, used, counts, newest, window, usedOfDay } = ledgerOf(kind);
    // With a maximum that was lowered several must leave: then the newest, which is late but never early.
    const leaves = `CASE WHEN ${usedOfDay} - ${used} < ${max} THEN ${at} ELSE (SELECT ${at} ${newest}) END`;
    return `NOT ${hasRoom(kind)} AS ${columnName(kind)}_full,
      (SELECT ${leaves} ${window} AND ${counts} AND ${max} > 0 ORDER BY ${at} LIMIT 1) AS ${columnName(kind)}`;
  });
  return columns.join(', ');
}

/** A budget's part of the row of `selectBudgets`. */
export function readReset(row: Row, kind: BudgetLimit): { readonly isFull: boolean; readonly at: number | null } {
  const at = row[columnName(kind)];
  return { isFull: Number(row[`${columnName(kind)}_full`]) === 1, at: at === null ? null : Number(at) };
}

/** How much of the last day's budgets of the whole vault is used: one row with a column for each. */
export function selectBudgetsUsed(now: number): Statement {
  const columns = BUDGETS.map((kind) => `${usedOfDay(kind)} AS ${columnName(kind)}`);
  return { sql: `SELECT ${columns.join(', ')}`, args: { day_ago: now - DAY_MS } };
}

const RELAYS_USED = `(SELECT count(*) FROM relays
  WHERE created_at > max(:day_ago, ${clearedAt('relays-per-day')}) AND ${RELAY_COUNTS})`;

const GWEI_USED = `coalesce((SELECT sum(gwei) FROM sponsorships
  WHERE sponsored_at > max(:day_ago, ${clearedAt('sponsor-wei')})), 0)`;

function usedOfDay(kind: (typeof BUDGETS)[number]): string {
  if (kind === 'relays-per-day') return RELAYS_USED;
  return kind === 'sponsor-wei' ? GWEI_USED : ledgerOf(kind).usedOfDay;
}

/** A budget's part of the row of `selectBudgetsUsed`. */
export function readUsed(row: Row, kind: (typeof BUDGETS)[number]): number {
  return Number(row[columnName(kind)]);
}

/** How much of a budget is used whose uses `codes` counts, and the oldest time that counts; no row if nothing is. */
export function selectSendsUse(kind: BudgetLimit, now: number): Statement {
  const { usedOfDay, at, window, counts } = ledgerOf(kind);
  return {
    sql: `SELECT '' AS key, used, oldest, NULL AS ends_at FROM (SELECT ${usedOfDay} AS used,
      (SELECT ${at} ${window} AND ${counts} ORDER BY ${at} LIMIT 1) AS oldest) WHERE used > 0`,
    args: { day_ago: now - DAY_MS },
  };
}

/** Removes what no window reaches back to. */
export function sweepBudgets(now: number): Statement {
  return {
    sql: `DELETE FROM budget_uses WHERE (kind, bucket, at) IN
      (SELECT kind, bucket, at FROM budget_uses WHERE at <= :day_ago LIMIT ${SWEEP_ROWS_MAX})`,
    args: { day_ago: now - DAY_MS },
  };
}

/** Whether each row of `codes` counts the uses of a budget up to it: it has no rows of its own. */
export function isCountedInCodes(kind: LimitName): boolean {
  return (limitOf(kind).stored as CountedRows).soFar !== undefined;
}

/** SQL of the rows that count a budget's uses. */
interface Ledger {
  /** Over a row: its time, its uses, and whether it counts this budget at all. */
  readonly at: string;
  readonly used: string;
  readonly counts: string;
  /** The newest row, and those of the window. */
  readonly newest: string;
  readonly window: string;
  /** What is used of the day. */
  readonly usedOfDay: string;
}

function ledgerOf(kind: BudgetLimit): Ledger {
  const since = `max(:day_ago, ${clearedAt(kind, bucketOf(kind))})`;
  const stored = limitOf(kind).stored as CountedRows;
  return stored.soFar === undefined ? ledgerOfUses(rowsOf(kind), since) : ledgerOfSends(stored, since);
}

function ledgerOfUses(rows: string, since: string): Ledger {
  const newest = `${rows} ORDER BY at DESC LIMIT 1`;
  const window = `${rows} AND at > ${since}`;
  const usedOfDay = `coalesce((SELECT total ${newest}) - (SELECT total - used ${window} ORDER BY at LIMIT 1), 0)`;
  return { at: 'at', used: 'used', counts: 'true', newest, window, usedOfDay };
}

/**
 * Rows of `codes` are in the order of commits, their times nearly so: clocks of processes differ, and one send
 * overtakes another. What came before the window is read off the newest row before it, else off the first row of all.
 * So no send of the window is missed, but one that was overtaken may count for longer than a day.
 */
function ledgerOfSends({ soFar = '', where = '', givenBack = '' }: CountedRows, since: string): Ledger {
  const [first, last] = ['min', 'max'].map((end) => `FROM codes WHERE seq = (SELECT ${end}(seq) FROM codes)`);
  const before = (column: string) =>
    `(SELECT ${column} FROM codes WHERE sent_at <= ${since} ORDER BY sent_at DESC LIMIT 1)`;
  const start = `coalesce(${before('seq')}, (SELECT min(seq) FROM codes))`;
  const usedOfDay = `coalesce((SELECT ${soFar} ${last})
    - coalesce(${before(soFar)}, (SELECT ${soFar} - (${where}) ${first}))
    - ${givenBackAfter(start, givenBack)}, 0)`;
  const window = `FROM codes WHERE sent_at > ${since}`;
  return { at: 'sent_at', used: `(${where})`, counts: where, newest: last ?? '', window, usedOfDay };
}

/** The levels of the tree of `sends_given_back`; a block of one has 2^8 of the level below. */
export const GIVEN_BACK_LEVELS = [0, 1, 2] as const;
export const GIVEN_BACK_BITS = 8;

/** SQL of how many sends of rows after `start` were given back: of single rows, then of blocks, then of larger ones. */
function givenBackAfter(start: string, channel: string): string {
  const of = `FROM sends_given_back WHERE channel = '${channel}'`;
  const levels = GIVEN_BACK_LEVELS.map((level) => {
    const after = `block > start >> ${level * GIVEN_BACK_BITS}`;
    const upper = (level + 1) * GIVEN_BACK_BITS;
    const isTop = level === GIVEN_BACK_LEVELS.at(-1);
    const inBlock = isTop ? '' : `AND block < ((start >> ${upper}) + 1) << ${GIVEN_BACK_BITS}`;
    return `coalesce((SELECT sum(sends) ${of} AND level = ${level} AND ${after} ${inBlock}), 0)`;
  });
  return `CASE WHEN EXISTS (SELECT 1 ${of}) THEN (SELECT ${levels.join(' + ')} FROM (SELECT ${start} AS start)) ELSE 0 END`;
}

function rowsOf(kind: BudgetLimit): string {
  return `FROM budget_uses WHERE kind = '${kind}' AND bucket = ${bucketOf(kind)}`;
}

function bucketOf(kind: BudgetLimit): string {
  return limitOf(kind).bucket === 'vault' ? `''` : ':network';
}

function networkArg(kind: BudgetLimit, network: string | undefined): Record<string, Value> {
  return limitOf(kind).bucket === 'vault' ? {} : { network: network ?? '' };
}

function maxName(kind: BudgetLimit): string {
  return builtOnce(`max ${kind}`, () => `${columnName(kind)}_max`);
}

function columnName(kind: LimitName): string {
  return builtOnce(kind, () => kind.replaceAll('-', '_'));
}
