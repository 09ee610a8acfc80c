import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../lib/base/clock.ts';
import { CLOCK_LOOK_MS } from '../../../lib/db/clocks.ts';
import { WEBHOOK_TIMEOUT_MS } from '../../../lib/webhooks/post.ts';
import { WEBHOOK_SLOTS } from '../../../lib/webhooks/slots.ts';
import { type SettableClock, settableClock } from '../../support/clock.ts';
import { temporaryFolder } from '../../support/databases.ts';
import { type Receiver, startReceiver, WEBHOOK_SECRET } from '../../support/receiver.ts';
import { startVault, type TestVault } from '../../support/vault.ts';

/** How long a host gives a turn of background work. */
const TURN_MS = 1_000;

let receiver: Receiver;
let clock: SettableClock;
const ends: (() => unknown)[] = [];
beforeEach(() => {
  receiver = startReceiver();
  clock = settableClock();
  ends.push(() => receiver.stop());
});
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

/** A vault with a clock that can be set; the caller stops it. */
async function open(dir?: string): Promise<TestVault> {
  const vars = {
    RPC_URL: 'http://127.0.0.1:1',
    WEBHOOK_URL: receiver.url,
    WEBHOOK_SECRET,
    WEBHOOK_ALLOW_PRIVATE: 'true',
  };
  const t = await startVault(vars, dir === undefined ? { clock } : { clock, dir });
  await t.work();
  return t;
}

async function start(dir?: string): Promise<TestVault> {
  const t = await open(dir);
  ends.push(() => t.stop());
  return t;
}

/** Sets the clock; no node says which is right, so that work goes on. */
async function jump(ms: number): Promise<void> {
  clock.set(ms);
  await clock.advance(CLOCK_LOOK_MS);
}

async function tell(t: TestVault, count = 1): Promise<void> {
  await t.database.execute({
    sql: `INSERT INTO events (app, channel, type, at, data) WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < :count)
      SELECT 'default', 'audit', 'token.revoked', :at, '{}' FROM n`,
    args: { at: BigInt(clock.now()), count: BigInt(count) },
  });
}

/** A minute passes, so that the clean-up runs; then what it made due is sent. */
async function sweep(t: TestVault): Promise<void> {
  await clock.advance(MINUTE_MS);
  await t.work();
  await t.work();
}

const statuses = async (t: TestVault) =>
  (await t.rows('SELECT status, attempts FROM webhook_deliveries ORDER BY event_id')).map(({ status, attempts }) => [
    status,
    Number(attempts),
  ]);
const refuse = () => new Response(null, { status: 500 });
const take = () => new Response(null, { status: 204 });

describe('a clock three hours ahead', () => {
  test('that is set right puts off none of 600 events that were queued by it: all arrive after one sweep', async () => {
    const t = await start();
    await tell(t, 600);
    await jump(3 * HOUR_MS);
    // Nothing is answered: each turn queues what it may, and tries few.
    receiver.answer = () => new Promise(() => {});
    for (const turn of [1, 2]) {
      const working = t.vault.work(clock.now() + TURN_MS);
      await t.idle();
      expect(receiver.received).toHaveLength(turn * WEBHOOK_SLOTS);
      await clock.advance(WEBHOOK_TIMEOUT_MS);
      await working;
    }
    const rows = async (attempts: number) =>
      (await statuses(t)).filter(([status, tried]) => status === 'queued' && tried === attempts).length;
    expect([await rows(0), await rows(1)]).toEqual([600 - 2 * WEBHOOK_SLOTS, 2 * WEBHOOK_SLOTS]);
    await jump(-3 * HOUR_MS);
    receiver.answer = take;
    await sweep(t);
    expect((await statuses(t)).filter(([status]) => status === 'delivered')).toHaveLength(600);
    expect(new Set(receiver.received.map(({ id }) => id)).size).toBe(600);
  });
});

test('what is tried by a clock 20 minutes ahead is recalled, also after a 503 with a short Retry-After', async () => {
  const t = await start();
  receiver.answer = () => new Response(null, { status: 503, headers: { 'retry-after': '1' } });
  await tell(t);
  await jump(20 * MINUTE_MS);
  await t.work();
  await jump(-20 * MINUTE_MS);
  receiver.answer = take;
  await sweep(t);
  expect(await statuses(t)).toEqual([['delivered', 2]]);
});

test('a receiver that asks for two hours with 429 is left alone, also by the clean-up', async () => {
  const t = await start();
  receiver.answer = () => new Response(null, { status: 429, headers: { 'retry-after': '7200' } });
  await tell(t);
  await t.work();
  for (let minutes = 0; minutes < 110; minutes += 10) {
    await clock.advance(10 * MINUTE_MS);
    await t.work();
  }
  expect(await statuses(t)).toEqual([['queued', 1]]);
  receiver.answer = take;
  await clock.advance(10 * MINUTE_MS);
  await sweep(t);
  expect(await statuses(t)).toEqual([['delivered', 2]]);
});

describe('no webhook is dead of a clock that is', () => {
  test.each([26, -26])('%i hours off for one attempt', async (hours) => {
    const t = await start();
    receiver.answer = refuse;
    await tell(t);
    await t.work();
    await jump(hours * HOUR_MS);
    await sweep(t);
    expect(receiver.received.length).toBeGreaterThanOrEqual(2);
    await jump(-hours * HOUR_MS);
    await sweep(t);
    expect((await statuses(t)).map(([status]) => status)).toEqual(['queued']);
    receiver.answer = take;
    await sweep(t);
    expect((await statuses(t)).map(([status]) => status)).toEqual(['delivered']);
  });

  test('26 hours behind while the event is queued', async () => {
    const t = await start();
    receiver.answer = refuse;
    await jump(-26 * HOUR_MS);
    await tell(t);
    await t.work();
    await jump(26 * HOUR_MS);
    await sweep(t);
    expect((await statuses(t)).map(([status]) => status)).toEqual(['queued']);
    receiver.answer = take;
    await sweep(t);
    expect((await statuses(t)).map(([status]) => status)).toEqual(['delivered']);
  });
});

test('what a vault that was down for 25 hours has queued is tried more than once', async () => {
  const folder = temporaryFolder();
  ends.push(folder.remove);
  const first = await open(folder.path);
  receiver.answer = refuse;
  await tell(first);
  await first.work();
  await first.stop();
  await clock.advance(25 * HOUR_MS);
  const t = await start(folder.path);
  await t.work();
  expect(await statuses(t)).toEqual([['queued', 2]]);
  receiver.answer = take;
  await sweep(t);
  expect(await statuses(t)).toEqual([['delivered', 3]]);
});

test('a webhook whose end was set by a clock a year ahead is not tried forever', async () => {
  const t = await start();
  receiver.answer = refuse;
  await jump(365 * DAY_MS);
  await tell(t);
  await t.work();
  await jump(-365 * DAY_MS);
  for (let hour = 0; hour < 72; hour++) {
    await clock.advance(HOUR_MS);
    await t.work();
  }
  expect((await statuses(t)).map(([status]) => status)).toEqual(['dead']);
  expect(receiver.received.length).toBeWithin(10, 40);
});
