import { DAY_MS } from '../base/clock.ts';
import type { LimitState, VaultError } from '../base/error.ts';
import { networkKey } from '../base/ip.ts';
import type { Condition, Row, Statement } from '../db/database.ts';
import type { Platform } from '../platform.ts';
import {
  hasRoom,
  readReset,
  refundBudget,
  roomArgs,
  type Spending,
  selectBudgets,
  spendBudgetIfChanged,
} from './budget-store.ts';
import { type BudgetLimit, boundsOf, limitOf } from './catalogue.ts';
import { limitReached, limitState } from './limits.ts';

type Config = Platform['config'];

/** One use that counts against daily budgets. The write that it belongs to enforces them. */
export interface BudgetUse {
  /** True while every budget has room: part of the condition of the write. */
  readonly room: Condition;
  /** Counts the use if the statement before these in the batch changed a row. */
  readonly spend: readonly Statement[];
  /** Behind `spend` in the batch: the state of the budgets, no row unless the write was refused. */
  readonly resets: Statement;
  /** The same at any time, to be read alone. */
  readonly state: Statement;
  /** The full budgets, from the row of `resets` or `state`. */
  full(row: Row | undefined): readonly LimitState[];
  /** Takes the use back if the condition holds: it has cost nothing. */
  refund(when: Condition): readonly Statement[];
}

/** The budgets of a user operation that was sponsored. */
export function useForSponsorship(config: Config, client: string, now: number): BudgetUse {
  const network = networkKey(client);
  return createUse(config, ['sponsorships-per-day', 'sponsorships-per-network'], { network, now });
}

/** The 429 of the full budget that frees last. Call it with at least one. */
export function budgetReached(ctx: Pick<Platform, 'metrics'>, full: readonly LimitState[]): VaultError {
  const waitOf = ({ retryAfterSeconds = Number.POSITIVE_INFINITY }: LimitState) => retryAfterSeconds;
  const [last] = full.toSorted((a, b) => waitOf(b) - waitOf(a));
  if (!last) throw new Error('no budget is full');
  return limitReached(ctx, last);
}

interface Whose {
  readonly network?: string;
  readonly now: number;
}

function createUse(config: Config, kinds: readonly BudgetLimit[], { network, now }: Whose): BudgetUse {
  const use: Spending = { kinds, maxOf: (kind) => boundsOf(config, kind).max, network, now };
  return {
    room: {
      sql: kinds.map(hasRoom).join(' AND '),
      args: roomArgs(use),
    },
    spend: kinds.map((kind) => spendBudgetIfChanged(kind, use)),
    resets: selectBudgets(use, { ifUnchanged: true }),
    state: selectBudgets(use),
    full: (row) => (row ? kinds.flatMap((kind) => fullOf(config, use, kind, row)) : []),
    refund: (when) => kinds.map((kind) => refundBudget(kind, use, when)),
  };
}

function fullOf(config: Config, { network = '', now }: Spending, kind: BudgetLimit, row: Row): LimitState[] {
  const { isFull, at } = readReset(row, kind);
  if (!isFull) return [];
  const bucket = limitOf(kind).bucket === 'vault' ? '' : network;
  return [limitState(config, kind, { bucket, freesAt: at === null ? null : at + DAY_MS, now })];
}
