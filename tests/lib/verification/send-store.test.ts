import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { DAY_MS } from '../../../lib/base/clock.ts';
import { createMetrics } from '../../../lib/base/metrics.ts';
import type { Config } from '../../../lib/config/config.ts';
import { createStore, type OwnedStore } from '../../../lib/db/store.ts';
import { useForSend } from '../../../lib/limits/budgets.ts';
import { clearLimit, showLimits } from '../../../lib/limits/report.ts';
import {
  giveBack,
  insertCodes,
  isToStranger,
  sweepCodes,
  sweepGivenBack,
} from '../../../lib/verification/send-store.ts';
import { testClock } from '../../support/clock.ts';
import { engines, type TestDatabase } from '../../support/databases.ts';
import { SHARES } from '../../support/shares.ts';

const NOW = Date.UTC(2025, 0, 1);
/** How far the clocks of two processes differ. */
const SKEW_MS = 3;
const MAX = { email: 4, sms: 3 } as const;
const config = { ...SHARES, emailDailyMax: MAX.email, smsDailyMax: MAX.sms, maxVerifySendsPerIp: 3 } as Config;
const limits = { perIp: 3, perIdentifier: 5, perNumber: 5, perNumberDay: 10 };
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
  async function send(channel: Channel, now: number, settings = config) {
    const id = `${sends++}`;
    const ip = `10.${sends >> 16}.${(sends >> 8) & 255}.${sends & 255}`;
    const row = { id, identifier: `${channel}:${id}`, channel, ip, now, expiresAt: now + 1, digest: 'd' };
    const code = { ...row, isBound: false, pass: null, givenPass: null };
    const budgets = useForSend(settings, { channel, client: ip, now, isStranger: isToStranger(code) });
    const [written] = await db.write(insertCodes([code], limits, budgets.room));
    const full = budgets.full((await db.read(budgets.state))[0]);
    return { isWritten: written?.rowsAffected === 1, full, giveBack: () => db.write(...giveBack(code)) };
  }
  const usedOf = async (kind: 'emails-per-day' | 'sms-per-day', now: number, settings = config) => {
    const ctx = { config: settings, clock: { ...testClock(), now: () => now }, db };
    return (await showLimits(ctx, { kind })).map(({ used, resets_at }) => [used, resets_at]);
  };

  test('of a day are as many as a plain list says, under refusals, refunds, sweeps and clocks that disagree', async () => {
    const step = fc.record({
      ms: fc.constantFrom(0, 0, 1, 1_000, DAY_MS / 4, DAY_MS / 2),
      back: fc.constantFrom(0, 0, 0, SKEW_MS),
      channel: fc.constantFrom<Channel[]>('email', 'email', 'sms'),
      act: fc.constantFrom('send', 'send', 'send', 'send', 'give back', 'sweep'),
      which: fc.nat(20),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        await db.write({ sql: 'DELETE FROM codes', args: {} });
        let now = NOW;
        const sent: { channel: Channel; at: number; back: number; giveBack: () => Promise<unknown> }[] = [];
        for (const { ms, back, channel, act, which } of steps) {
          now += ms;
          if (act === 'sweep') await db.write(sweepCodes(now));
          else if (act === 'give back') {
            const [one] = sent.splice(which % Math.max(1, sent.length), 1);
            await one?.giveBack();
          } else {
            const at = now - back;
            const inDay = (edge: number) =>
              sent.filter((one) => one.channel === channel && one.at > at - DAY_MS + edge);
            const { isWritten, giveBack } = await send(channel, at);
            if (inDay(SKEW_MS).length >= MAX[channel]) expect(isWritten).toBe(false);
            // One that was overtaken by a process whose clock is ahead may count longer.
            const overtaken = sent.filter((one) => one.channel === channel && one.back > 0 && !inDay(0).includes(one));
            if (inDay(0).length + overtaken.length < MAX[channel]) expect(isWritten).toBe(true);
            if (isWritten) sent.push({ channel, at, back, giveBack });
          }
        }
      }),
      { numRuns: 60 },
    );
  });

  /** E-mails in rows 1 to `rows`, one each millisecond. */
  const fill = (rows: number) =>
    db.write({
      sql: `INSERT INTO codes (seq, id, identifier, channel, ip, sent_at, expires_at, emails_so_far)
        WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < :rows)
        SELECT n, 'f' || n, 'email:f' || n, 'email', 'ip' || n, ${NOW} + n, 0, n FROM numbers`,
      args: { rows },
    });
  const filled = (n: number) => giveBack({ id: `f${n}`, identifier: `email:f${n}`, channel: 'email' });

  test.each([10, 1_000])('that are given back write few rows, with %i later ones', async (rows) => {
    await fill(rows);
    const written = await db.write(...filled(1));
    expect(written.reduce((sum, { rowsAffected }) => sum + rowsAffected, 0)).toBeLessThan(5);
    expect((await usedOf('emails-per-day', NOW + rows))[0]?.[0]).toBe(rows - 1);
  });

  test('make room again wherever the day begins, also over many of them', async () => {
    // More rows than a block of the counts has.
    const rows = 700;
    const wide = { ...config, emailDailyMax: rows };
    await fill(rows);
    expect((await send('email', NOW + rows, wide)).isWritten).toBe(false);
    const all = Array.from({ length: rows }, (_, i) => i + 1);
    const isBack = (n: number) => n % 3 === 1 || (n > 250 && n < 530) || n === rows;
    const back = all.filter(isBack).reverse();
    await Promise.all([...back, ...back.slice(0, 5)].map((n) => db.write(...filled(n))));
    const kept = all.filter((n) => !isBack(n));
    for (const ms of [0, 1, 250, 256, 511, 512, 529, rows - 2]) {
      const left = kept.filter((n) => n > ms).length;
      const [used = [0]] = await usedOf('emails-per-day', NOW + DAY_MS + ms, wide);
      expect([ms, used[0]]).toEqual([ms, left]);
    }
    const room = { ...config, emailDailyMax: kept.length + 2 };
    const sent = [];
    for (let i = 0; i < 3; i++) sent.push((await send('email', NOW + rows, room)).isWritten);
    expect(sent).toEqual([true, true, false]);
  });

  test('that are given back are forgotten with their rows', async () => {
    await fill(300);
    for (const n of [1, 150, 299]) await db.write(...filled(n));
    const levels = async () => {
      await db.write(sweepCodes(NOW + 2 * DAY_MS), sweepGivenBack());
      const found = await db.read({ sql: 'SELECT level, block, sends FROM sends_given_back', args: {} });
      return found.map((row) => [row['level'], row['block'], row['sends']]);
    };
    await send('email', NOW + 2 * DAY_MS);
    // 100 rows go at a time.
    expect(await levels()).toHaveLength(5);
    expect(await levels()).toEqual([
      [0, 299, 1],
      [1, 0, 2],
      [1, 1, 1],
      [2, 0, 3],
    ]);
    expect(await levels()).toEqual([
      [1, 1, 1],
      [2, 0, 3],
    ]);
    expect((await usedOf('emails-per-day', NOW + 2 * DAY_MS))[0]?.[0]).toBe(1);
  });

  test('leave the day one by one at the exact edge, and the wait says so', async () => {
    for (const at of [0, 0, 700, 900]) expect((await send('email', NOW + at)).isWritten).toBe(true);
    expect((await send('sms', NOW + 950)).isWritten).toBe(true);
    const waits = async (at: number) => {
      const { isWritten, full } = await send('email', NOW + at);
      return isWritten ? 'sent' : full.map(({ name, retryAfterSeconds }) => [name, retryAfterSeconds]);
    };
    expect(await waits(1_000)).toEqual([['emails-per-day', 86_399]]);
    expect(await waits(DAY_MS - 1)).toEqual([['emails-per-day', 1]]);
    expect([await waits(DAY_MS), await waits(DAY_MS)]).toEqual(['sent', 'sent']);
    expect(await waits(DAY_MS)).toEqual([['emails-per-day', 1]]);
    expect([await waits(DAY_MS + 700), await waits(DAY_MS + 701)]).toEqual(['sent', [['emails-per-day', 1]]]);
  });

  test('count no more once the operator cleared them, also in the same millisecond', async () => {
    for (let i = 0; i < 4; i++) await send('email', NOW);
    await send('sms', NOW);
    expect((await send('email', NOW)).isWritten).toBe(false);
    const ctx = { config, clock: { ...testClock(), now: () => NOW }, db };
    expect(await clearLimit(ctx, { kind: 'emails-per-day' })).toMatchObject({ cleared: 4 });
    for (let i = 1; i <= 4; i++) expect((await send('email', NOW + i)).isWritten).toBe(true);
    expect((await send('email', NOW + 5)).isWritten).toBe(false);
    expect(await usedOf('emails-per-day', NOW + 5)).toEqual([[4, '2025-01-02T00:00:00.001Z']]);
    expect(await usedOf('sms-per-day', NOW + 5)).toEqual([[1, '2025-01-02T00:00:00.000Z']]);
  });

  test('100 at the same time are exactly as many as there is room', async () => {
    const asked = await Promise.all(Array.from({ length: 100 }, () => send('email', NOW)));
    expect(asked.filter(({ isWritten }) => isWritten)).toHaveLength(MAX.email);
  });
});
