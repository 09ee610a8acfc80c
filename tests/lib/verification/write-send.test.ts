import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { createMetrics } from '../../../lib/base/metrics.ts';
import type { Config } from '../../../lib/config/config.ts';
import type { Database } from '../../../lib/db/database.ts';
import { createStore, type OwnedStore } from '../../../lib/db/store.ts';
import { eventOf } from '../../../lib/events/catalogue.ts';
import { useForSend } from '../../../lib/limits/budgets.ts';
import { isToStranger, type NewCode } from '../../../lib/verification/send-store.ts';
import { writeSend } from '../../../lib/verification/write-send.ts';
import { testClock } from '../../support/clock.ts';
import { engines, type TestDatabase } from '../../support/databases.ts';
import { SHARES } from '../../support/shares.ts';

const config = { ...SHARES, emailDailyMax: 100_000, smsDailyMax: 100_000, maxVerifySendsPerIp: 2 } as Config;
const limits = { perIp: 2, perIdentifier: 5, perNumber: 5, perNumberFree: 5, perNumberDay: 10, perNumberDayFree: 10 };

describe.each(engines().map((engine) => [engine.name, engine] as const))('sends of a moment on %s', (_, engine) => {
  const clock = testClock();
  let database: TestDatabase;
  let db: OwnedStore;
  /** The statements of each batch that wrote. */
  let batches: number[];
  /** The arguments of each statement that wrote. */
  let args: string[];
  let trouble: (() => Error | undefined) | undefined;
  let events: number;

  beforeEach(async () => {
    database = await engine.open();
    batches = [];
    args = [];
    events = 0;
    trouble = undefined;
    const batch: Database['batch'] = async (statements, mode) => {
      if (mode === 'write') {
        batches.push(statements.length);
        for (const one of statements) args.push(Object.values(one.args).join(' '));
      }
      const results = await database.batch(statements, mode);
      const error = mode === 'write' ? trouble?.() : undefined;
      if (error) throw error;
      return results;
    };
    db = createStore({
      database: { ...database, batch },
      clock,
      metrics: createMetrics(),
      maxConnections: 10,
      onEvents: (count) => {
        events += count;
      },
    });
    await db.ready();
    batches.length = 0;
  });
  afterEach(async () => {
    await db.idle();
    await database.close();
  });

  const send = (n: number, { ip = `198.51.100.${n}`, id = `send${n}` } = {}) => {
    const now = clock.now();
    const row: NewCode = {
      id,
      identifier: `email:${n}@example.com`,
      channel: 'email',
      purpose: 'registration',
      ip,
      now,
      expiresAt: now + 1,
      digest: null,
      isBound: false,
      pass: null,
      givenPass: null,
      isByHolder: false,
    };
    const budgets = useForSend(config, { ...row, client: ip, isStranger: isToStranger(row) });
    const event = eventOf('code.sent', { app: '', at: now }, { channel: 'email', identifier: 'a***@example.com' });
    return writeSend({ config, clock, db, metrics: createMetrics() }, { row, limits, budgets, event });
  };
  const numbers = Array.from({ length: 40 }, (__, n) => n);
  const written = async () => Number((await db.read({ sql: 'SELECT count(*) AS n FROM codes', args: {} }))[0]?.['n']);

  test('are written once each: neither row nor event is in two statements, nor as JSON in JSON', async () => {
    await Promise.all(numbers.map((n) => send(n)));
    expect(args.filter((one) => one.includes('"198.51.100.7"'))).toHaveLength(1);
    expect(args.filter((one) => one.includes('a***@example.com'))).toHaveLength(1);
    expect(args.join()).not.toContain('\\');
  });

  test('are as many statements as one, and each gets its own row', async () => {
    await send(99);
    const [alone] = batches.splice(0);
    const rows = await Promise.all(numbers.map((n) => send(n)));
    expect(rows.map(({ id }) => id)).toEqual(numbers.map((n) => `send${n}`));
    expect(batches).toEqual([alone as number]);
    expect(events).toBe(41);
  });

  test('see those of their client before them in the same commit', async () => {
    const ip = '203.0.113.7';
    const results = await Promise.allSettled([0, 1, 2, 3].map((n) => send(n, { ip })));
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'rejected']);
    expect(batches).toHaveLength(1);
  });

  test('of which the engine refuses one are written but for that one', async () => {
    await db.write({
      sql: `CREATE TRIGGER picky BEFORE INSERT ON codes WHEN new.id = 'bad' BEGIN SELECT raise(ABORT, 'bad'); END`,
      args: {},
    });
    const results = await Promise.allSettled([send(1), send(2, { id: 'bad' }), send(3)]);
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(await written()).toBe(2);
    expect(events).toBe(2);
  });

  test('that failed before their commit hold up no later ones', async () => {
    const away = Object.assign(new Error('away'), { code: 'NO_ANSWER' });
    const failures = [away];
    db = createStore({
      database,
      clock,
      metrics: createMetrics(),
      maxConnections: 10,
      migrate: async () => {
        const error = failures.pop();
        if (error) throw error;
      },
    });
    const results = await Promise.allSettled([send(1), send(2)]);
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect((await send(3))['id']).toBe('send3');
  });

  test('are not written again where the outcome is unknown', async () => {
    trouble = () => Object.assign(new Error('no answer'), { code: 'NO_ANSWER' });
    const results = await Promise.allSettled(numbers.map((n) => send(n)));
    expect(results.every(({ status }) => status === 'rejected')).toBe(true);
    expect(batches).toHaveLength(1);
    trouble = undefined;
    expect(await written()).toBe(numbers.length);
    await send(99);
    expect(await written()).toBe(numbers.length + 1);
  });
});
