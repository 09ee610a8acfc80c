import { afterEach, expect, test } from 'bun:test';
import { DAY_MS } from '../../../lib/base/clock.ts';
import { SLOT_MS } from '../../../lib/limits/budget-store.ts';
import { BUDGET_LOOK_MS } from '../../../lib/limits/budget-watch.ts';
import { BUDGETS, STORED_LIMITS } from '../../../lib/limits/catalogue.ts';
import { startVault, type TestVault } from '../../support/vault.ts';

const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

let sent = 0;
async function send(t: TestVault, times: number): Promise<void> {
  for (let i = 0; i < times; i++) {
    const who = { identifier: `user${sent++}@example.com`, channel: 'email' };
    await t.from(`203.0.${sent >> 8}.${sent & 255}`).call('POST /api/verify/send', who);
  }
}
const told = async (t: TestVault) => {
  await t.clock.advance(BUDGET_LOOK_MS);
  await t.work();
  const rows = await t.rows(`SELECT data FROM events WHERE type = 'budget.reached' ORDER BY id`);
  return rows.map(({ data }) => {
    const { budget, percent, used, max } = JSON.parse(String(data));
    return `${budget} ${percent} % ${used} of ${max}`;
  });
};
const metric = async (t: TestVault, name: string) => {
  const { text } = await t.call('GET /metrics');
  return text.split('\n').filter((line) => line.startsWith(`${name}{`));
};

test('50, 80 and 100 percent of a day’s budget are an event once a day, and its use is a metric', async () => {
  const t = await startVault({ EMAIL_DAILY_MAX: '10' });
  stops.push(t.stop);
  await send(t, 4);
  expect(await told(t)).toEqual([]);
  await send(t, 1);
  expect(await told(t)).toEqual(['emails-per-day 50 % 5 of 10']);
  await send(t, 3);
  const eight = ['emails-per-day 50 % 5 of 10', 'emails-per-day 80 % 8 of 10'];
  expect(await told(t)).toEqual(eight);
  expect(await told(t)).toEqual(eight);
  await send(t, 5);
  expect(await told(t)).toEqual([...eight, 'emails-per-day 100 % 10 of 10']);
  expect(await metric(t, 'vault_budget_used')).toContain('vault_budget_used{budget="emails-per-day"} 10');
  expect(await metric(t, 'vault_budget_max')).toContain('vault_budget_max{budget="emails-per-day"} 10');
  await t.clock.advance(DAY_MS);
  expect((await told(t)).length).toBe(3);
  await t.clock.advance(SLOT_MS);
  expect((await told(t)).length).toBe(3);
  expect(await metric(t, 'vault_budget_used')).toContain('vault_budget_used{budget="emails-per-day"} 0');
  await send(t, 5);
  expect((await told(t)).slice(3)).toEqual(['emails-per-day 50 % 5 of 10']);
});

test('of several processes one tells, and each measures', async () => {
  const t = await startVault({ EMAIL_DAILY_MAX: '2' });
  const other = await startVault({ EMAIL_DAILY_MAX: '2' }, { database: t.database, clock: t.clock });
  stops.push(other.stop, t.stop);
  await send(t, 2);
  await Promise.all([t.work(), other.work()]);
  expect((await told(t)).length).toBe(3);
  expect(await metric(other, 'vault_budget_used')).toContain('vault_budget_used{budget="emails-per-day"} 2');
});

test('every budget of the whole vault is watched, and has a share for one network', () => {
  const perDay = STORED_LIMITS.filter((name) => name.endsWith('-per-day'));
  expect([...perDay, 'sponsor-wei'] as string[]).toEqual([...BUDGETS]);
  const shares = perDay.map((name) => name.replace('-per-day', '-per-network'));
  expect(STORED_LIMITS as string[]).toEqual(expect.arrayContaining(shares));
});
