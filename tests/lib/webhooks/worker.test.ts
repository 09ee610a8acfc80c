import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../lib/base/clock.ts';
import { createMetrics } from '../../../lib/base/metrics.ts';
import { createStore } from '../../../lib/db/store.ts';
import type { Env } from '../../../lib/env.ts';
import { listDeliveries, resendDead } from '../../../lib/webhooks/deliveries.ts';
import { WEBHOOK_TIMEOUT_MS } from '../../../lib/webhooks/post.ts';
import {
  longestPause,
  RETRY_GROWTH,
  RETRY_JITTER,
  retryPause,
  WEBHOOK_RETRY_MAX_MS,
  WEBHOOK_RETRY_MIN_MS,
} from '../../../lib/webhooks/retries.ts';
import { WEBHOOK_SLOTS } from '../../../lib/webhooks/slots.ts';
import { WEBHOOK_DELIVERED_KEEP_MS, WEBHOOK_LEASE_MS } from '../../../lib/webhooks/store.ts';
import { temporaryFolder } from '../../support/databases.ts';
import { always } from '../../support/property.ts';
import { isSigned, type Receiver, startReceiver, WEBHOOK_SECRET } from '../../support/receiver.ts';
import { expectHoldsNone, failureOf } from '../../support/secrecy.ts';
import { startVault, type TestVault } from '../../support/vault.ts';

const OTHER_SECRET = `whsec_${Buffer.from('another secret, 32 bytes as well').toString('base64')}`;

/** How long a host gives a turn of background work. */
const TURN_MS = 1_000;

let receiver: Receiver;
const ends: (() => unknown)[] = [];
beforeEach(() => {
  receiver = startReceiver();
  ends.push(() => receiver.stop());
});
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

/** A vault whose webhooks go to the receiver; its address is private to whom asks, so private ones are allowed. */
async function start(
  vars: Readonly<Record<string, string>> = {},
  env: Parameters<typeof startVault>[1] = {},
): Promise<TestVault> {
  const t = await startVault(
    {
      WEBHOOK_URL: `${receiver.url}/hooks/s3cr3t-path?key=s3cr3t-query`,
      WEBHOOK_SECRET,
      WEBHOOK_ALLOW_PRIVATE: 'true',
      ...vars,
    },
    env,
  );
  ends.push(() => t.stop());
  await t.work();
  return t;
}

async function tell(
  t: TestVault,
  channel = 'audit',
  type = 'token.revoked',
  data: object = { cid: 'bafy' },
): Promise<void> {
  await t.database.execute({
    sql: `INSERT INTO events (app, channel, type, at, data) VALUES ('default', :channel, :type, :at, :data)`,
    args: { channel, type, at: BigInt(t.clock.now()), data: JSON.stringify(data) },
  });
}

const serviceOf = ({ database, clock }: TestVault) => ({
  clock,
  db: createStore({ database: database as Env['database'], clock, metrics: createMetrics(), maxConnections: 2 }),
});
const statuses = async (t: TestVault) =>
  (await t.rows('SELECT status, attempts FROM webhook_deliveries ORDER BY event_id')).map(({ status, attempts }) => [
    status,
    Number(attempts),
  ]);
const told = async (t: TestVault) =>
  (await t.rows(`SELECT type FROM events WHERE channel = 'webhooks' ORDER BY id`)).map(({ type }) => type);
const textOf = async (t: TestVault) => (await t.call('GET /metrics')).text.split('\n');

describe('an event', () => {
  test('is posted once, signed, with its id and the time of sending', async () => {
    const t = await start();
    await tell(t, 'sessions', 'session.created', {
      identifier: 'a***@example.com',
      channel: 'email',
      did: 'did:key:zAlice',
    });
    const at = new Date(t.clock.now()).toISOString();
    await t.clock.advance(1_500);
    await t.work();
    await t.work();
    expect(receiver.received).toHaveLength(1);
    const [webhook] = receiver.received;
    if (!webhook) throw new Error('nothing came');
    expect(webhook.body).toEqual({
      type: 'session.created',
      timestamp: at,
      id: 1,
      app: 'default',
      channel: 'sessions',
      data: { identifier: 'a***@example.com', channel: 'email', did: 'did:key:zAlice' },
    });
    expect(webhook.id).toBe(`evt_1_${Date.parse(at)}`);
    expect(webhook.timestamp).toBe(Math.floor(t.clock.now() / 1000));
    expect(webhook.headers.get('content-type')).toBe('application/json');
    expect([isSigned(webhook, WEBHOOK_SECRET), isSigned(webhook, OTHER_SECRET)]).toEqual([true, false]);
    expect(await statuses(t)).toEqual([['delivered', 1]]);
    expect(await textOf(t)).toContain('vault_webhook_deliveries_total{outcome="delivered"} 1');
  });

  test('that the vault tells itself arrives, masked', async () => {
    const t = await start();
    await t.call('POST /api/sessions', { identifier: 'alice', channel: 'handle', did: 'did:key:zAlice' });
    await t.work();
    expect(receiver.received.map(({ body }) => [body.type, body.data.identifier])).toContainEqual([
      'session.created',
      'a***',
    ]);
  });

  test('of the channel webhooks is told and not posted: there is no loop', async () => {
    const t = await start();
    await tell(t);
    for (let i = 0; i < 5; i++) await t.work();
    expect(await told(t)).toEqual(['webhook.delivered']);
    expect(receiver.received).toHaveLength(1);
  });

  test('from before webhooks were set up is not posted; what came while the vault was down is', async () => {
    const folder = temporaryFolder();
    ends.push(folder.remove);
    const before = await startVault({}, { dir: folder.path });
    await before.call('GET /readyz');
    await tell(before);
    await before.stop();
    await before.clock.advance(1_000);
    const first = await startVault(
      { WEBHOOK_URL: receiver.url, WEBHOOK_SECRET, WEBHOOK_ALLOW_PRIVATE: 'true' },
      { dir: folder.path, clock: before.clock },
    );
    await first.call('GET /readyz');
    await tell(first, 'audit', 'key.rotated', { key: 'attestation' });
    await first.work();
    await tell(first, 'audit', 'token.revoked', { cid: 'while down' });
    await first.stop();
    await first.clock.advance(HOUR_MS);
    const t = await start({}, { dir: folder.path, clock: before.clock });
    await t.work();
    expect(receiver.received.map(({ body }) => body.data)).toEqual([{ key: 'attestation' }, { cid: 'while down' }]);
  });

  test('is signed under every secret while they are being changed', async () => {
    const t = await start({ WEBHOOK_SECRET: `${OTHER_SECRET}, ${WEBHOOK_SECRET}` });
    await tell(t);
    await t.work();
    const [webhook] = receiver.received;
    if (!webhook) throw new Error('nothing came');
    expect(webhook.signatures).toHaveLength(2);
    expect([isSigned(webhook, WEBHOOK_SECRET), isSigned(webhook, OTHER_SECRET)]).toEqual([true, true]);
  });

  test('is one of many: a thousand are delivered, each once', async () => {
    const t = await start();
    await t.database.execute({
      sql: `INSERT INTO events (app, channel, type, at, data) WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
        SELECT 'default', 'audit', 'token.revoked', :at, '{}' FROM n`,
      args: { at: BigInt(t.clock.now()) },
    });
    for (let i = 0; i < 4; i++) await t.work();
    expect(receiver.received).toHaveLength(1000);
    expect(new Set(receiver.received.map(({ id }) => id)).size).toBe(1000);
  });
});

describe('a receiver that fails', () => {
  test('is tried again over a day with growing pauses, always under the same id; then the webhook is dead', async () => {
    const t = await start();
    receiver.answer = () => new Response('no', { status: 500 });
    const begun = t.clock.now();
    await tell(t);
    const times: number[] = [];
    // A minute at a time, but for the first ones, which come sooner.
    for (let passed = 0; passed < 25 * HOUR_MS; passed = t.clock.now() - begun) {
      const before = receiver.received.length;
      await t.work();
      if (receiver.received.length > before) times.push(t.clock.now() - begun);
      await t.clock.advance(passed < 10 * MINUTE_MS ? 1_000 : 5 * MINUTE_MS);
    }
    expect(times[0]).toBe(0);
    expect(times.at(-1)).toBeGreaterThan(20 * HOUR_MS);
    expect(times.at(-1)).toBeLessThanOrEqual(DAY_MS);
    expect(times.length).toBeWithin(12, 22);
    expect(new Set(receiver.received.map(({ id }) => id)).size).toBe(1);
    expect(receiver.received.every((webhook) => isSigned(webhook, WEBHOOK_SECRET))).toBe(true);
    expect(await statuses(t)).toEqual([['dead', times.length]]);
    // One event for the first failure and one for the end, not one a try.
    expect(await told(t)).toEqual(['webhook.failed', 'webhook.dead']);
    expect(t.entries.find(({ event }) => event === 'webhook_dead')).toMatchObject({
      level: 'warn',
      status: 500,
      reason: 'status',
    });
  });

  test('is not waited for in vain when the clock was ahead and is set back', async () => {
    const t = await start();
    receiver.answer = () => new Response('no', { status: 500 });
    await tell(t);
    await t.work();
    expect(receiver.received).toHaveLength(1);
    const year = BigInt(t.clock.now() + 365 * DAY_MS);
    await t.database.execute({
      sql: 'UPDATE webhook_deliveries SET next_attempt_at = :year + 5000, give_up_at = :year + 86400000',
      args: { year },
    });
    await t.clock.advance(MINUTE_MS);
    for (let turn = 0; turn < 2; turn++) await t.work();
    expect(receiver.received).toHaveLength(2);
    const [row] = await t.rows('SELECT next_attempt_at FROM webhook_deliveries');
    expect(Number(row?.['next_attempt_at'])).toBeLessThan(t.clock.now() + MINUTE_MS);
  });

  test('and is replaced by another one has what waits posted there', async () => {
    const folder = temporaryFolder();
    ends.push(folder.remove);
    const vars = { WEBHOOK_URL: receiver.url, WEBHOOK_SECRET, WEBHOOK_ALLOW_PRIVATE: 'true' };
    const first = await startVault(vars, { dir: folder.path });
    receiver.answer = () => new Response('no', { status: 500 });
    await first.work();
    await tell(first);
    await first.work();
    await first.stop();
    const other = startReceiver();
    ends.push(() => other.stop());
    await first.clock.advance(MINUTE_MS);
    const t = await start({ WEBHOOK_URL: other.url }, { dir: folder.path, clock: first.clock });
    await t.work();
    expect([receiver.received.length, other.received.length]).toEqual([1, 1]);
    expect(other.received[0]?.id).toBe(receiver.received[0]?.id ?? '');
  });

  test('and recovers gets what it missed', async () => {
    const t = await start();
    receiver.answer = () => new Response(null, { status: 503 });
    await tell(t);
    await t.work();
    receiver.answer = () => new Response(null, { status: 200 });
    await t.clock.advance(2 * WEBHOOK_RETRY_MIN_MS);
    await t.work();
    expect(await statuses(t)).toEqual([['delivered', 2]]);
    expect(await told(t)).toEqual(['webhook.failed', 'webhook.delivered']);
    const [row] = await t.rows(`SELECT data FROM events WHERE type = 'webhook.delivered'`);
    expect(JSON.parse(String(row?.['data']))).toMatchObject({
      event: 1,
      event_type: 'token.revoked',
      attempt: 2,
      status: 200,
    });
  });

  test('with 410 Gone is asked no more', async () => {
    const t = await start();
    receiver.answer = () => new Response(null, { status: 410 });
    await tell(t);
    await t.work();
    expect(await statuses(t)).toEqual([['dead', 1]]);
    expect(await told(t)).toEqual(['webhook.dead']);
  });

  test.each<[string, number]>([
    ['60', 60_000],
    ['1', WEBHOOK_RETRY_MIN_MS * (1 - RETRY_JITTER)],
    ['999999', WEBHOOK_RETRY_MAX_MS],
    ['Wed, 01 Jan 2025 00:10:00 GMT', 10 * MINUTE_MS],
    ['soon', WEBHOOK_RETRY_MIN_MS * (1 - RETRY_JITTER)],
  ])('with Retry-After: %s is left alone for at least %i ms', async (retryAfter, pause) => {
    const t = await start();
    receiver.answer = () => new Response(null, { status: 429, headers: { 'retry-after': retryAfter } });
    await tell(t);
    await t.work();
    const [row] = await t.rows('SELECT next_attempt_at AS at FROM webhook_deliveries');
    const wait = Number(row?.['at']) - t.clock.now();
    expect(wait).toBeGreaterThanOrEqual(pause);
    expect(wait).toBeLessThanOrEqual(Math.max(pause, WEBHOOK_RETRY_MIN_MS * (1 + RETRY_JITTER)));
  });

  test('with a Retry-After that comes late is left alone for so long after the answer, not after the question', async () => {
    const t = await start();
    receiver.answer = async () => {
      await t.clock.advance(9_000);
      return new Response(null, { status: 503, headers: { 'retry-after': '60' } });
    };
    await tell(t);
    await t.work();
    const [row] = await t.rows('SELECT next_attempt_at AS at FROM webhook_deliveries');
    expect(Number(row?.['at']) - t.clock.now()).toBe(60_000);
  });

  test.each([400, 404, 500, 502])('with %i and a Retry-After is tried again as without', async (status) => {
    const t = await start();
    receiver.answer = () => new Response(null, { status, headers: { 'retry-after': '3600' } });
    await tell(t);
    await t.work();
    const [row] = await t.rows('SELECT next_attempt_at AS at FROM webhook_deliveries');
    expect(Number(row?.['at']) - t.clock.now()).toBeLessThanOrEqual(longestPause(1));
  });

  test.each([301, 302, 307, 308])(
    'with a redirect (%i) has failed, and nobody is asked where it leads',
    async (status) => {
      const t = await start();
      const elsewhere = startReceiver();
      ends.push(() => elsewhere.stop());
      receiver.answer = () => new Response(null, { status, headers: { location: elsewhere.url } });
      await tell(t);
      await t.work();
      expect(elsewhere.received).toEqual([]);
      expect(await t.rows('SELECT status, last_error FROM webhook_deliveries')).toEqual([
        { status: 'queued', last_error: 'redirect' },
      ]);
    },
  );

  test('by never answering holds up no other work, and has failed after ten seconds', async () => {
    const t = await start();
    receiver.answer = () => new Promise(() => {});
    await tell(t);
    const begun = t.clock.now();
    const work = t.vault.work(t.clock.now() + TURN_MS);
    await t.clock.advance(TURN_MS);
    await work;
    expect(await statuses(t)).toEqual([['queued', 0]]);
    // The next turn neither waits for it longer than that nor sends it again.
    const again = t.vault.work(t.clock.now() + TURN_MS);
    await t.clock.advance(TURN_MS);
    await again;
    expect(receiver.received).toHaveLength(1);
    await t.clock.advance(WEBHOOK_TIMEOUT_MS);
    const [row] = await t.rows('SELECT status, attempts, last_error, next_attempt_at FROM webhook_deliveries');
    // The pause before the next attempt began with this one, and is over.
    const next = begun + WEBHOOK_TIMEOUT_MS;
    expect(row).toEqual({ status: 'queued', attempts: 1, last_error: 'timeout', next_attempt_at: next });
  });

  test('to end its answer is none: the status is what counts', async () => {
    const t = await start();
    const cancelled = Promise.withResolvers<void>();
    receiver.answer = () =>
      new Response(
        new ReadableStream({
          pull: (controller) => controller.enqueue(new Uint8Array(64 * 1024)),
          cancel: () => cancelled.resolve(),
        }),
      );
    await tell(t);
    await t.work();
    expect(await statuses(t)).toEqual([['delivered', 1]]);
    await cancelled.promise;
  });

  test('leaves the others of its turn alone', async () => {
    const t = await start();
    receiver.answer = ({ body }) => new Response(null, { status: body.data.cid === 'bad' ? 500 : 204 });
    for (const cid of ['good', 'bad', 'good']) await tell(t, 'audit', 'token.revoked', { cid });
    await t.work();
    expect(await statuses(t)).toEqual([
      ['delivered', 1],
      ['queued', 1],
      ['delivered', 1],
    ]);
  });

  test('is told of by the metrics: how many wait, and how long the oldest has', async () => {
    const t = await start();
    receiver.answer = () => new Response(null, { status: 500 });
    await tell(t);
    await tell(t);
    await t.work();
    await t.clock.advance(2_000);
    await t.work();
    const lines = await textOf(t);
    expect(lines).toContain('vault_webhook_queue 2');
    expect(lines).toContain('vault_webhook_oldest_seconds 2');
    expect(lines).toContain('vault_webhook_deliveries_total{outcome="failed"} 2');
    expect(lines).toContain('vault_upstream_requests_total{upstream="webhook",outcome="refused"} 2');
  });
});

describe('at least once', () => {
  test('a vault that dies between sending and noting sends again under the same id', async () => {
    const folder = temporaryFolder();
    ends.push(folder.remove);
    const t = await start({}, { dir: folder.path });
    await tell(t);
    // The answer never comes back to the first vault; what it sent was taken.
    receiver.answer = () => new Promise(() => {});
    const dying = t.vault.work(t.clock.now() + TURN_MS);
    await t.idle();
    receiver.answer = () => new Response(null, { status: 204 });
    // The lease of the dead one has to lapse first.
    const clock = t.clock;
    const second = await start({}, { dir: folder.path, clock });
    expect(receiver.received).toHaveLength(1);
    await clock.advance(TURN_MS);
    await dying;
    await clock.advance(WEBHOOK_LEASE_MS);
    await second.work();
    expect(receiver.received.length).toBeGreaterThanOrEqual(2);
    expect(new Set(receiver.received.map(({ id }) => id)).size).toBe(1);
    expect((await statuses(second))[0]?.[0]).toBe('delivered');
  });

  test('two vaults on one database copy and deliver each event once', async () => {
    const folder = temporaryFolder();
    ends.push(folder.remove);
    const one = await start({}, { dir: folder.path });
    const other = await start({}, { dir: folder.path, clock: one.clock });
    for (let round = 0; round < 10; round++) {
      for (let i = 0; i < WEBHOOK_SLOTS; i++) await tell(one);
      await Promise.all([one.work(), other.work()]);
    }
    await Promise.all([one.work(), other.work()]);
    expect(receiver.received).toHaveLength(10 * WEBHOOK_SLOTS);
    expect(new Set(receiver.received.map(({ id }) => id)).size).toBe(10 * WEBHOOK_SLOTS);
  });

  test('a lease outlives an attempt even when half of it is over', () => {
    expect(WEBHOOK_LEASE_MS / 2).toBeGreaterThan(WEBHOOK_TIMEOUT_MS);
  });
});

describe('dead letters', () => {
  test('are listed, newest first, and sent again under their old id', async () => {
    const t = await start();
    receiver.answer = () => new Response(null, { status: 410 });
    await tell(t, 'audit', 'token.revoked', { cid: 'first' });
    await tell(t, 'audit', 'token.revoked', { cid: 'second' });
    await t.work();
    const service = serviceOf(t);
    const dead = await listDeliveries(service, { status: 'dead' });
    expect(
      dead.map(({ id, status, attempts, last_status, data }) => ({ id, status, attempts, last_status, data })),
    ).toEqual([
      { id: 2, status: 'dead', attempts: 1, last_status: 410, data: { cid: 'second' } },
      { id: 1, status: 'dead', attempts: 1, last_status: 410, data: { cid: 'first' } },
    ]);
    receiver.answer = () => new Response(null, { status: 204 });
    expect(await resendDead(service, 1)).toMatchObject({ id: 1, status: 'queued', attempts: 0 });
    await t.work();
    expect(receiver.received.filter(({ id }) => id === receiver.received[0]?.id)).toHaveLength(2);
    expect(await listDeliveries(service, { status: 'dead' })).toHaveLength(1);
    expect(await told(t)).toEqual(['webhook.dead', 'webhook.dead', 'webhook.resent', 'webhook.delivered']);
  });

  test('only they are sent again', async () => {
    const t = await start();
    await tell(t);
    await t.work();
    const service = serviceOf(t);
    for (const id of [1, 99]) expect((await failureOf(resendDead(service, id))).code).toBe('not_found');
    await t.work();
    expect(receiver.received).toHaveLength(1);
    expect(await told(t)).toEqual(['webhook.delivered']);
  });

  test('are kept for two weeks, though their events are not; what was delivered for a day', async () => {
    const t = await start();
    receiver.answer = ({ body }) => new Response(null, { status: body.data.cid === 'dead' ? 410 : 204 });
    await tell(t, 'audit', 'token.revoked', { cid: 'dead' });
    await tell(t, 'audit', 'token.revoked', { cid: 'taken' });
    await t.work();
    await t.clock.advance(WEBHOOK_DELIVERED_KEEP_MS + MINUTE_MS);
    await t.work();
    expect(await statuses(t)).toEqual([['dead', 1]]);
    await t.clock.advance(14 * DAY_MS - WEBHOOK_DELIVERED_KEEP_MS - 2 * MINUTE_MS);
    await t.work();
    expect(await statuses(t)).toEqual([['dead', 1]]);
    expect((await t.rows('SELECT count(*) AS n FROM events'))[0]?.['n']).toBe(0);
    receiver.answer = () => new Response(null, { status: 204 });
    await resendDead(serviceOf(t), 1);
    await t.work();
    expect(receiver.received.at(-1)?.body.data).toEqual({ cid: 'dead' });
  });
});

test('pauses grow threefold from five seconds to two hours, a tenth up or down, and never less than was asked for within two hours', () => {
  const cases = fc.record({
    attempts: fc.integer({ min: 1, max: 40 }),
    chance: fc.integer({ min: 0, max: 255 }),
    asked: fc.integer({ min: 0, max: DAY_MS }),
  });
  always(cases, ({ attempts, chance, asked }) => {
    const pause = retryPause(attempts, () => Uint8Array.of(chance), asked);
    const grown = Math.min(WEBHOOK_RETRY_MIN_MS * RETRY_GROWTH ** (attempts - 1), WEBHOOK_RETRY_MAX_MS);
    const least = Math.max(grown * (1 - RETRY_JITTER), Math.min(asked, WEBHOOK_RETRY_MAX_MS));
    expect(pause).toBeGreaterThanOrEqual(Math.floor(least));
    expect(pause).toBeLessThanOrEqual(
      Math.ceil(Math.max(grown * (1 + RETRY_JITTER), Math.min(asked, WEBHOOK_RETRY_MAX_MS))),
    );
    // What is put off for longer counts as put off by a clock that was off.
    expect(retryPause(attempts, () => Uint8Array.of(chance))).toBeLessThanOrEqual(longestPause(attempts));
    expect(pause).toBeLessThanOrEqual(longestPause(40));
  });
});

test('neither log, metrics, events nor deliveries hold the secret, or what may be one in the URL', async () => {
  const t = await start();
  receiver.answer = ({ body }) => new Response('s3cr3t-answer', { status: body.data.cid === 'dead' ? 410 : 500 });
  await tell(t);
  await tell(t, 'audit', 'token.revoked', { cid: 'dead' });
  await t.work();
  await receiver.stop();
  await t.clock.advance(MINUTE_MS);
  await t.work();
  const stored = [...(await t.rows('SELECT * FROM events')), ...(await t.rows('SELECT * FROM webhook_deliveries'))];
  expect(String(stored.map((row) => row['last_error']))).toContain('unreachable');
  expectHoldsNone(
    [t.entries, stored, await textOf(t)],
    's3cr3t',
    WEBHOOK_SECRET,
    WEBHOOK_SECRET.slice(6),
    new URL(receiver.url).host,
  );
});
