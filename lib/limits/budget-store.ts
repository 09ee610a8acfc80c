import { DAY_MS, MINUTE_MS } from '../base/clock.ts';
import { SWEEP_ROWS_MAX } from '../constants.ts';
import type { Condition, Row, Statement, Value } from '../db/database.ts';
import { BUDGETS, type BudgetLimit, type LimitName, limitOf } from './catalogue.ts';
import { RELAY_COUNTS } from './limit.ts';
import { clearedAt } from './store.ts';

/** Uses of a bucket are counted by ten minutes: a day's use is the sum of at most 145 rows. */
export const SLOT_MS = 10 * MINUTE_MS;

/**
 * The slot that a use is counted in, by the time at which it ends: the use leaves the day with the whole slot, up to
 * ten minutes late and never early.
 */
export function slotOf(now: number): number {
  return (Math.floor(now / SLOT_MS) + 1) * SLOT_MS;
}

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
  return builtOnce(`room ${kind} ${earlier}`, () => `(${usedOfDay(kind)} + ${earlier} < :${maxName(kind)})`);
}

/** The arguments of `hasRoom`, for all budgets of the use. */
export function roomArgs({ kinds, maxOf, network, now }: Spending): Record<string, Value> {
  const args: Record<string, Value> = { day_ago: now - DAY_MS };
  for (const kind of kinds) args[maxName(kind)] = maxOf(kind);
  if (network !== undefined) args['network'] = network;
  return args;
}

/**
 * Counts `uses` of one budget if the statement before it in the batch changed a row, and if the condition holds. It
 * leaves `changes()` at 1 for the next where there is no condition.
 */
export function spendBudgetIfChanged(
  kind: BudgetLimit,
  { network, now }: Spending,
  { when, uses = '1' }: { readonly when?: Condition | undefined; readonly uses?: '1' | 'changes()' } = {},
): Statement {
  return {
    sql: builtOnce(
      `spend ${kind} ${uses} ${when?.sql ?? ''}`,
      () => `INSERT INTO budget_uses (kind, bucket, slot, used)
      SELECT '${kind}', ${bucketOf(kind)}, :slot, ${uses} WHERE changes() > 0${when ? ` AND ${when.sql}` : ''}
      ON CONFLICT (kind, bucket, slot) DO UPDATE SET used = used + excluded.used`,
    ),
    args: { ...networkArg(kind, network), slot: slotOf(now), ...when?.args },
  };
}

/**
 * Takes a use of one budget back from the slot in which it was counted, if the condition holds. A use that the operator
 * has cleared since is not taken back again: it would make room twice.
 */
export function refundBudget(kind: BudgetLimit, { network, now }: Spending, when: Condition): Statement {
  return {
    sql: `UPDATE budget_uses SET used = used - 1 WHERE kind = '${kind}' AND bucket = ${bucketOf(kind)} AND slot = :slot
      AND used > 0 AND :now > ${clearedAt(kind, bucketOf(kind))} AND ${when.sql}`,
    args: { ...networkArg(kind, network), now, slot: slotOf(now), ...when.args },
  };
}

/** Deletes the uses of a bucket. */
export function clearUses(kind: BudgetLimit, bucket: string): Statement {
  return { sql: `DELETE FROM budget_uses WHERE kind = '${kind}' AND bucket = :bucket`, args: { bucket } };
}

/**
 * One row with columns for each budget of the use: whether it is full, and the slot after which the next use is
 * allowed once it has left the day. With `ifUnchanged` no row if the statement before it in the batch changed one.
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
    // With a maximum that was lowered several slots must leave.
    const left = `SELECT slot, sum(used) OVER (ORDER BY slot DESC) - used AS used ${windowOf(kind)}`;
    return `NOT ${hasRoom(kind)} AS ${columnName(kind)}_full,
      (SELECT min(slot) FROM (${left}) WHERE used < ${max}) AS ${columnName(kind)}`;
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
  const columns = BUDGETS.map((kind) => `${usedOf(kind)} AS ${columnName(kind)}`);
  return { sql: `SELECT ${columns.join(', ')}`, args: { day_ago: now - DAY_MS } };
}

const RELAYS_USED = `(SELECT count(*) FROM relays
  WHERE created_at > max(:day_ago, ${clearedAt('relays-per-day')}) AND ${RELAY_COUNTS})`;

const GWEI_USED = `coalesce((SELECT sum(gwei) FROM sponsorships
  WHERE sponsored_at > max(:day_ago, ${clearedAt('sponsor-wei')})), 0)`;

function usedOf(kind: (typeof BUDGETS)[number]): string {
  if (kind === 'relays-per-day') return RELAYS_USED;
  return kind === 'sponsor-wei' ? GWEI_USED : usedOfDay(kind);
}

/** A budget's part of the row of `selectBudgetsUsed`. */
export function readUsed(row: Row, kind: (typeof BUDGETS)[number]): number {
  return Number(row[columnName(kind)]);
}

/** Removes the slots that have left the day. */
export function sweepBudgets(now: number): Statement {
  return {
    sql: `DELETE FROM budget_uses WHERE (kind, bucket, slot) IN
      (SELECT kind, bucket, slot FROM budget_uses WHERE slot <= :day_ago LIMIT ${SWEEP_ROWS_MAX})`,
    args: { day_ago: now - DAY_MS },
  };
}

function usedOfDay(kind: BudgetLimit): string {
  return `coalesce((SELECT sum(used) ${windowOf(kind)}), 0)`;
}

function windowOf(kind: BudgetLimit): string {
  return `FROM budget_uses WHERE kind = '${kind}' AND bucket = ${bucketOf(kind)} AND slot > :day_ago`;
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
