import type { Platform } from '../platform.ts';
import { readUsed, selectBudgetsUsed } from './budget-store.ts';
import { BUDGETS, boundsOf } from './catalogue.ts';
import { type Notices, recordBudget } from './limit-events.ts';

/** The pause between two looks at the budgets. */
export const BUDGET_LOOK_MS = 30_000;
/** The parts of a daily budget, in percent, at which its use becomes an event. */
export const BUDGET_LEVELS_PERCENT = [50, 80, 100] as const;

type Ctx = Pick<Platform, 'config' | 'clock' | 'db' | 'metrics' | 'log'> & { readonly notices: Notices };

/** A background task: measures the use of the daily budgets, and reports when much of one is used. */
export function createBudgetWatch(): (ctx: Ctx) => Promise<false> {
  let dueAt = 0;
  return async (ctx) => {
    if (ctx.clock.monotonic() < dueAt) return false;
    await lookAtBudgets(ctx, ctx.clock.now());
    dueAt = ctx.clock.monotonic() + BUDGET_LOOK_MS;
    return false;
  };
}

async function lookAtBudgets(ctx: Ctx, now: number): Promise<void> {
  const { config, metrics, db } = ctx;
  const [row = {}] = await db.read(selectBudgetsUsed(now));
  for (const budget of BUDGETS) {
    const { max } = boundsOf(config, budget);
    const used = readUsed(row, budget);
    metrics.gauge('vault_budget_used').set(used, { budget });
    metrics.gauge('vault_budget_max').set(max, { budget });
    const reached = BUDGET_LEVELS_PERCENT.filter((percent) => max > 0 && used * 100 >= max * percent);
    await Promise.all(reached.map((percent) => recordBudget(ctx, { budget, percent, used, max })));
  }
}
