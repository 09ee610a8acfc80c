import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { createMetrics } from '../../../lib/base/metrics.ts';
import type { Statement } from '../../../lib/db/database.ts';
import { CLOCKS_APART_MS, leaseHeld, takeLease } from '../../../lib/db/leases.ts';
import { createStore, type OwnedStore } from '../../../lib/db/store.ts';
import {
  claimDueDeliveries,
  DELIVERIES,
  queueDeliveries,
  recordAttempt,
  resendDelivery,
  selectDeliveries,
  selectWebhookState,
  startWebhooks,
  toDelivery,
  toWebhookState,
} from '../../../lib/webhooks/store.ts';
import { testClock } from '../../support/clock.ts';
import { engines, type TestDatabase } from '../../support/databases.ts';

const DAY = 86_400_000;

describe.each(engines())('deliveries on $name', ({ open }) => {
  let database: TestDatabase;
  let db: OwnedStore;
  beforeEach(async () => {
    database = await open();
    db = createStore({ database, clock: testClock(), metrics: createMetrics(), maxConnections: 4 });
    await db.write(startWebhooks());
  });
  afterEach(() => database.close());

  const tell = (at: number, channel = 'audit') =>
    db.write({
      sql: `INSERT INTO events (app, channel, type, at, data) VALUES ('default', :channel, 'token.revoked', :at, '{}')`,
      args: { channel, at },
    });
  const copy = (limit = 10) => db.write(...queueDeliveries(100, 100 + DAY, limit));
  const state = async (now = 100) => toWebhookState((await db.read(selectWebhookState(now)))[0] ?? {});
  const all = async () => (await db.read(selectDeliveries(null, 1_000, 100))).map(toDelivery);
  /** The ids of the deliveries that a process with the lease claims for ten milliseconds. */
  const claim = async (now: number, limit = 10, owner = 'one') => {
    const held = leaseHeld({ name: 'webhooks', owner, now });
    const [claimed] = await db.write(claimDueDeliveries(now, now + 10, limit, held));
    return (claimed?.rows ?? []).map((row) => toDelivery(row).event.id).toSorted((a, b) => a - b);
  };
  const changed = async (statement: Statement) => (await db.write(statement))[0]?.rowsAffected;

  test('are copied once whoever asks, but those that tell of deliveries', async () => {
    for (const channel of ['audit', 'webhooks', 'sessions', 'webhooks']) await tell(1, channel);
    expect(await state()).toEqual({ newest: 4, copied: 0, open: 0, due: 0, oldestAt: null });
    await Promise.all([copy(), copy(), copy()]);
    expect(await state()).toEqual({ newest: 4, copied: 4, open: 2, due: 2, oldestAt: 100 });
    expect((await all()).map(({ event }) => event.id)).toEqual([3, 1]);
  });

  test('are copied a bounded number at a time, none left out', async () => {
    for (let i = 0; i < 5; i++) await tell(1);
    for (const copied of [2, 4, 5, 5]) {
      await copy(2);
      expect((await state()).copied).toBe(copied);
    }
    expect(await all()).toHaveLength(5);
  });

  test('begin with the events that come after the first start, also where those before are gone', async () => {
    await db.write({ sql: 'DELETE FROM webhook_cursor', args: {} });
    for (const at of [1, 2, 3]) await tell(at);
    await db.write({ sql: 'DELETE FROM events WHERE id > 1', args: {} });
    await db.write(startWebhooks());
    await tell(4);
    await db.write(startWebhooks());
    await copy();
    expect((await all()).map(({ event }) => event.at)).toEqual([4]);
  });

  test('have caught up when events that were never copied are gone', async () => {
    await tell(1);
    await copy();
    await tell(2);
    await db.write({ sql: 'DELETE FROM events', args: {} });
    const { newest, copied } = await state();
    expect(newest).toBeLessThanOrEqual(copied ?? 0);
    await copy();
    await tell(3);
    await copy();
    expect((await all()).map(({ event }) => event.at)).toEqual([3, 1]);
  });

  test('are claimed by one process at a time, the longest due first, and again once the claim is over', async () => {
    await db.write(takeLease({ name: 'webhooks', owner: 'one', now: 100, until: 1_000 }));
    for (let i = 0; i < 5; i++) await tell(1);
    await copy();
    await db.write({ sql: 'UPDATE webhook_deliveries SET next_attempt_at = 90 WHERE event_id = 5', args: {} });
    expect(await claim(100, 2)).toEqual([1, 5]);
    expect(await claim(100, 10, 'two')).toEqual([]);
    const together = await Promise.all([claim(105, 2), claim(105, 2), claim(105, 2)]);
    expect(together.flat().toSorted((a, b) => a - b)).toEqual([2, 3, 4]);
    expect((await state(109)).due).toBe(0);
    expect(await claim(110)).toEqual([1, 5]);
    expect(await claim(1_000)).toEqual([]);
  });

  test('a failure is noted once; that it was taken, whoever noted something else meanwhile', async () => {
    await tell(1);
    await copy();
    const [first] = await all();
    if (!first) throw new Error('nothing is due');
    const failed = { is: 'queued', status: 500, error: 'status', at: 200 } as const;
    expect(await changed(recordAttempt(first, failed, 150))).toBe(1);
    expect(await changed(recordAttempt(first, failed, 150))).toBe(0);
    expect((await state(199)).due).toBe(0);
    expect(await changed(recordAttempt(first, { is: 'delivered', status: 200 }, 160))).toBe(1);
    expect(await changed(recordAttempt(first, { is: 'dead', status: 500, error: 'status' }, 170))).toBe(0);
    expect((await all())[0]).toMatchObject({
      status: 'delivered',
      nextAttemptAt: null,
      lastStatus: 200,
      lastError: null,
    });
    expect(await state(300)).toMatchObject({ open: 0, due: 0, oldestAt: null });
  });

  test('only a dead one is queued again, as if it were new', async () => {
    await tell(1);
    await copy();
    const [one] = await all();
    if (!one) throw new Error('nothing is queued');
    expect(await changed(resendDelivery(1, 500, 600))).toBe(0);
    await db.write(recordAttempt(one, { is: 'dead', status: null, error: 'timeout' }, 200));
    expect(await changed(resendDelivery(1, 500, 600))).toBe(1);
    expect((await all())[0]).toMatchObject({ status: 'queued', attempts: 0, nextAttemptAt: 500, giveUpAt: 600 });
  });

  test.each<[attempts: number, lastError: string | null, pause: number]>([
    // It may be claimed by a process whose clock is ahead as far as clocks may be.
    [0, null, 24_000],
    // It was dead, and is resent.
    [0, 'status', 24_000],
    [0, 'retry_after', 24_000],
    [1, 'status', 24_000],
    [2, 'timeout', 24_000],
    [3, 'timeout', 49_500],
    [7, 'status', 4_009_500],
    [8, 'status', 7_920_000],
    [25, 'unreachable', 7_920_000],
    // The receiver asked for it.
    [1, 'retry_after', 7_200_000],
    [3, 'retry_after', 7_200_000],
  ])(
    'after %i attempts, of which the last one failed by %p, are recalled when they wait for more than %i ms and a minute',
    async (attempts, lastError, pause) => {
      await tell(1);
      await copy();
      const now = 1_000_000;
      const putOff = async (next: number) => {
        await db.write({
          sql: 'UPDATE webhook_deliveries SET attempts = :attempts, last_error = :last_error, next_attempt_at = :next',
          args: { attempts, last_error: lastError, next },
        });
        return changed(DELIVERIES.recallLate(now));
      };
      const latest = now + CLOCKS_APART_MS + pause;
      expect(await putOff(latest)).toBe(0);
      expect(await putOff(latest + 1)).toBe(1);
      expect((await all())[0]).toMatchObject({ nextAttemptAt: now, attempts, giveUpAt: 100 + DAY });
    },
  );
});
