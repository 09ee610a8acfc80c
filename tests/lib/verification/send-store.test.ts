import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { DAY_MS } from '../../../lib/base/clock.ts';
import { createMetrics } from '../../../lib/base/metrics.ts';
import type { Config } from '../../../lib/config/config.ts';
import { createStore, type OwnedStore } from '../../../lib/db/store.ts';
import { SLOT_MS, sweepBudgets } from '../../../lib/limits/budget-store.ts';
import { useForSend } from '../../../lib/limits/budgets.ts';
import type { BudgetLimit } from '../../../lib/limits/catalogue.ts';
import { clearLimit, showLimits } from '../../../lib/limits/report.ts';
import {
  giveBack,
  insertCodes,
  isSent,
  isToStranger,
  type NewCode,
  sweepCodes,
} from '../../../lib/verification/send-store.ts';
import { testClock } from '../../support/clock.ts';
import { engines, type TestDatabase } from '../../support/databases.ts';
import { SEED } from '../../support/seed.ts';
import { SHARES } from '../../support/shares.ts';

const NOW = Date.UTC(2025, 0, 1);
/** How far the clocks of two processes differ. */
const SKEW_MS = 3;
const MAX = { email: 4, sms: 3 } as const;
const config = { ...SHARES, emailDailyMax: MAX.email, smsDailyMax: MAX.sms, maxVerifySendsPerIp: 3 } as Config;
const limits = { perIp: 3, perIdentifier: 5, perNumber: 5, perNumberFree: 5, perNumberDay: 10, perNumberDayFree: 10 };
type Channel = keyof typeof MAX;

describe.each(engines().map((engine) => [engine.name, engine] as const))('sends on %s', (_, engine) => {
  let database: TestDatabase;
  let db: OwnedStore;
  let sends = 0;
  beforeEach(async () => {
    database = await engine.open();
    db = createStore({ database, clock: testClock(), metrics: createMetrics(), maxConnections: 10 });
  });
  afterEach(async () => {
    await db.idle();
    await database.close();
  });

  /** A send of a new client to a new identifier; whether it was written, and what takes it back. */
  async function send(channel: Channel, now: number, settings = config, more: Partial<NewCode> = {}) {
    const id = `${sends++}`;
    const code: NewCode = {
      id,
      identifier: `${channel}:${id}`,
      channel,
      purpose: 'registration',
      ip: `10.${sends >> 16}.${(sends >> 8) & 255}.${sends & 255}`,
      now,
      expiresAt: now + 1,
      digest: 'd',
      isBound: false,
      pass: null,
      givenPass: null,
      isByHolder: false,
      ...more,
    };
    const budgets = useForSend(settings, { channel, client: code.ip, now, isStranger: isToStranger(code) });
    const [written] = await db.write(insertCodes([code], limits, budgets.room), ...budgets.spend);
    const full = budgets.full((await db.read(budgets.state))[0]);
    return {
      isWritten: written?.rowsAffected === 1,
      full,
      giveBack: () => db.write(...budgets.refund(isSent(code)), giveBack(code)),
    };
  }
  const usedOf = async (kind: BudgetLimit, now: number, settings = config) => {
    const ctx = { config: settings, clock: { ...testClock(), now: () => now }, db };
    return (await showLimits(ctx, { kind })).map(({ used, resets_at }) => [used, resets_at]);
  };

  test('of a pass have used no share of strangers, so none is given back', async () => {
    const code = { id: 'passed', identifier: 'email:passed' };
    await send('email', NOW, config, code);
    const hasUsed = async () => {
      const { sql, args } = isToStranger({ ...code, givenPass: null }).after;
      return (await db.read({ sql: `SELECT 1 AS used WHERE ${sql}`, args })).length === 1;
    };
    expect(await hasUsed()).toBe(true);
    await db.write({ sql: `UPDATE codes SET by_pass = seq WHERE id = 'passed'`, args: {} });
    expect(await hasUsed()).toBe(false);
  });

  test('of a day are as many as a plain list says, under refusals, refunds, sweeps and clocks that disagree', async () => {
    const step = fc.record({
      ms: fc.constantFrom(0, 0, 1, 1_000, SLOT_MS - 1, DAY_MS / 4, DAY_MS / 2),
      back: fc.constantFrom(0, 0, 0, SKEW_MS),
      channel: fc.constantFrom<Channel[]>('email', 'email', 'sms'),
      act: fc.constantFrom('send', 'send', 'send', 'send', 'give back', 'sweep'),
      which: fc.nat(20),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        await db.write({ sql: 'DELETE FROM codes', args: {} }, { sql: 'DELETE FROM budget_uses', args: {} });
        let now = NOW;
        const sent: { channel: Channel; at: number; giveBack: () => Promise<unknown> }[] = [];
        for (const { ms, back, channel, act, which } of steps) {
          now += ms;
          if (act === 'sweep') await db.write(sweepCodes(now), sweepBudgets(now));
          else if (act === 'give back') {
            const [one] = sent.splice(which % Math.max(1, sent.length), 1);
            await one?.giveBack();
          } else {
            const at = now - back;
            const inDay = (edge: number) =>
              sent.filter((one) => one.channel === channel && one.at > at - DAY_MS + edge);
            const { isWritten, giveBack } = await send(channel, at);
            if (inDay(SKEW_MS).length >= MAX[channel]) expect(isWritten).toBe(false);
            // A slot leaves as a whole.
            if (inDay(-SLOT_MS).length < MAX[channel]) expect(isWritten).toBe(true);
            if (isWritten) sent.push({ channel, at, giveBack });
          }
        }
      }),
      { numRuns: 60, seed: SEED },
    );
  });

  test('that reached nobody are given back once, and leave no row', async () => {
    for (let i = 0; i < 3; i++) await send('email', NOW);
    const last = await send('email', NOW + 1);
    for (let i = 0; i < 2; i++) await last.giveBack();
    expect(await usedOf('emails-per-day', NOW + 2)).toEqual([[3, '2025-01-02T00:10:00.000Z']]);
    expect(await db.read({ sql: 'SELECT count(*) AS n FROM codes', args: {} })).toEqual([{ n: 3 }]);
    expect((await send('email', NOW + 2)).isWritten).toBe(true);
  });

  test('by a pass count as none to strangers, and give no such use back', async () => {
    const ip = '2001:db8:1:2::/64';
    const one = { identifier: 'email:one', ip };
    expect((await send('email', NOW, config, { ...one, pass: 'pass' })).isWritten).toBe(true);
    const byPass = await send('email', NOW + 1, config, { ...one, givenPass: 'pass' });
    expect(byPass.isWritten).toBe(true);
    const ofStrangers = [[1, '2025-01-02T00:10:00.000Z']];
    expect(await usedOf('strangers-per-network', NOW + 2)).toEqual(ofStrangers);
    await byPass.giveBack();
    expect(await usedOf('strangers-per-network', NOW + 2)).toEqual(ofStrangers);
    expect(await usedOf('emails-per-day', NOW + 2)).toEqual(ofStrangers);
  });

  test('leave the day with their ten minutes, and the wait says so', async () => {
    for (const at of [0, 0, SLOT_MS - 1, SLOT_MS]) expect((await send('email', NOW + at)).isWritten).toBe(true);
    expect((await send('sms', NOW + 950)).isWritten).toBe(true);
    const waits = async (at: number) => {
      const { isWritten, full } = await send('email', NOW + at);
      return isWritten ? 'sent' : full.map(({ name, retryAfterSeconds }) => [name, retryAfterSeconds]);
    };
    const edge = DAY_MS + SLOT_MS;
    expect(await waits(SLOT_MS + 1_000)).toEqual([['emails-per-day', 86_399]]);
    expect(await waits(edge - 1)).toEqual([['emails-per-day', 1]]);
    expect([await waits(edge), await waits(edge), await waits(edge)]).toEqual(['sent', 'sent', 'sent']);
    expect(await waits(edge)).toEqual([['emails-per-day', 600]]);
    expect(await waits(edge + SLOT_MS)).toBe('sent');
  });

  test('count no more once the operator cleared them, also in the same millisecond', async () => {
    for (let i = 0; i < 4; i++) await send('email', NOW);
    await send('sms', NOW);
    expect((await send('email', NOW)).isWritten).toBe(false);
    const ctx = { config, clock: { ...testClock(), now: () => NOW }, db };
    expect(await clearLimit(ctx, { kind: 'emails-per-day' })).toMatchObject({ cleared: 4 });
    for (let i = 1; i <= 4; i++) expect((await send('email', NOW + i)).isWritten).toBe(true);
    expect((await send('email', NOW + 5)).isWritten).toBe(false);
    expect(await usedOf('emails-per-day', NOW + 5)).toEqual([[4, '2025-01-02T00:10:00.000Z']]);
    expect(await usedOf('sms-per-day', NOW + 5)).toEqual([[1, '2025-01-02T00:10:00.000Z']]);
  });

  test('100 at the same time are exactly as many as there is room', async () => {
    const asked = await Promise.all(Array.from({ length: 100 }, () => send('email', NOW)));
    expect(asked.filter(({ isWritten }) => isWritten)).toHaveLength(MAX.email);
  });
});
