import { afterEach, expect, test } from 'bun:test';

import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../lib/base/clock.ts';
import { SLOT_MS } from '../../lib/limits/budget-store.ts';
import { OPERATOR } from '../support/events.ts';
import { startVault, type TestVault } from '../support/vault.ts';

const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});
async function open(...given: Parameters<typeof startVault>): Promise<TestVault> {
  const t = await startVault(...given);
  stops.push(t.stop);
  return t;
}

type Reply = Awaited<ReturnType<TestVault['call']>>;
const limitsOf = (replies: readonly Reply[]) => [...new Set(replies.flatMap(({ body }) => body.limit ?? []))];
const countOf = (replies: readonly Reply[], status: number) => replies.filter((one) => one.status === status).length;

/** The n-th /64 of a /48. */
const client = (n: number, site = 1) => `2001:db8:${site}:${n.toString(16)}::1`;
const IPV4 = '203.0.113.7';
const SITE = '2001:db8:1::/48';
/** What the n-th of many does, a hundred at a time. */
async function many(times: number, one: (n: number) => Promise<Reply>): Promise<Reply[]> {
  const replies: Reply[] = [];
  for (let n = 0; n < times; n += 100) {
    replies.push(...(await Promise.all(Array.from({ length: Math.min(100, times - n) }, (_, i) => one(n + i)))));
  }
  return replies;
}

const mailbox = (t: TestVault, from: string, n: number) =>
  t.from(from).call('POST /api/accounts/joins', {
    id: n.toString(16).padStart(32, '0'),
    smartAccount: `0x${'5a'.repeat(20)}`,
  });
const session = (t: TestVault, from: string, n: number) =>
  t
    .from(from)
    .call('POST /api/sessions', { identifier: `handle${n}`, channel: 'handle', did: `did:web:h${n}.example` });
const send = (t: TestVault, from: string, n: number) =>
  t.from(from).call('POST /api/verify/send', { identifier: `user${n}@example.com`, channel: 'email' });
const limitsShown = async (t: TestVault, kind?: string): Promise<{ kind: string; key: string; used: number }[]> =>
  (await t.call('GET /v1/console/limits', kind ? { kind } : {}, OPERATOR)).body.limits;
const read = (t: TestVault, from: string) => t.from(from).call('GET /api/aliases/check', { alias: 'alice' });

test('1,500 mailboxes from 336 /64 of one /48: 500 open, and another network still opens one (S7)', async () => {
  const t = await open();
  const replies = await many(1_500, (n) => mailbox(t, client(n % 336), n));
  expect([countOf(replies, 201), limitsOf(replies)]).toEqual([500, ['joins-per-network']]);
  expect(replies.at(-1)?.body.retry_after).toBe(3_600);
  const elsewhere = [await mailbox(t, client(1, 2), 20_000), await mailbox(t, IPV4, 20_001)];
  expect(elsewhere.map(({ status }) => status)).toEqual([201, 201]);
  await t.clock.advance(HOUR_MS);
  expect((await mailbox(t, client(1), 20_002)).status).toBe(201);
});

test('1,000 handles from 400 /64 of one /48: 768 are held, and another network holds one (S9)', async () => {
  const t = await open();
  const replies = await many(1_000, (n) => session(t, client(n % 400), n));
  expect([countOf(replies, 200), limitsOf(replies)]).toEqual([768, ['sessions-per-network']]);
  const last = replies.at(-1);
  expect([last?.status, last?.body.error, last?.body.retry_after]).toEqual([429, 'ip_limit_reached', 87_000]);
  const elsewhere = [await session(t, client(1, 2), 5_000), await session(t, IPV4, 5_001)];
  expect(elsewhere.map(({ status }) => status)).toEqual([200, 200]);
  expect((await limitsShown(t, 'sessions-per-network')).map(({ key, used }) => [key, used])).toEqual([
    [SITE, 768],
    ['2001:db8:2::/48', 1],
  ]);
  await t.clock.advance(DAY_MS + SLOT_MS);
  expect((await session(t, client(1), 6_000)).status).toBe(200);
});

test('claims of handles count for a /48 as sessions do, but for who has a session (S9)', async () => {
  const t = await open({ MAX_REGISTRATIONS_PER_IP: '1' });
  const claim = (n: number, from = client(n)) =>
    t.from(from).call('POST /api/dids', {
      ...{ identifier: `handle${n}`, channel: 'handle', did: `did:web:h${n}.example` },
      ...{ credentialId: `${n}`.padStart(21, 'C').concat('A'), txHash: `0x${`${n}`.padStart(64, '0')}` },
    });
  expect((await session(t, client(500), 500)).status).toBe(200);
  const replies = await many(300, claim);
  expect([countOf(replies, 200), limitsOf(replies)]).toEqual([255, ['sessions-per-network']]);
  expect([(await claim(500)).status, (await claim(501, client(1, 2))).status]).toEqual([200, 200]);
});

test('sessions of a /48 count for a day, and clearing the limit makes room at once', async () => {
  const t = await open({ MAX_REGISTRATIONS_PER_IP: '1' });
  expect(countOf(await many(256, (n) => session(t, client(n), n)), 200)).toBe(256);
  const refused = await session(t, client(300), 300);
  expect([refused.body.limit, refused.body.retry_after]).toEqual(['sessions-per-network', 87_000]);
  const body = { kind: 'sessions-per-network', key: SITE };
  expect((await t.call('POST /v1/console/limits/clear', body, OPERATOR)).body).toMatchObject({
    key: SITE,
    cleared: 256,
  });
  expect((await session(t, client(300), 300)).status).toBe(200);
});

test('reads: one /48 asks 16 times as often as a client, and others go on (S18)', async () => {
  const t = await open({ RATE_LIMIT_READS_PER_IP: '10' });
  const replies = await many(400, (n) => read(t, client(n % 40)));
  expect([countOf(replies, 200), limitsOf(replies)]).toEqual([160, ['reads-per-network']]);
  expect((await read(t, client(1, 2))).status).toBe(200);
  expect(countOf(await many(20, () => read(t, IPV4)), 200)).toBe(10);
  // What a client's own limit refuses takes nothing from its network.
  await t.clock.advance(MINUTE_MS);
  expect(countOf(await many(200, () => read(t, client(1))), 200)).toBe(10);
  expect(countOf(await many(200, (n) => read(t, client(2 + (n % 20)))), 200)).toBe(150);
});

test('NETWORK_SHARE_PERCENT is a network’s part, of joins, mails, sponsorships and all that the vault counts', async () => {
  const t = await open({ NETWORK_SHARE_PERCENT: '10', EMAIL_DAILY_MAX: '60', MAX_VERIFY_SENDS_PER_IP: '1000' });
  expect(countOf(await many(1_100, (n) => mailbox(t, client(n % 50), n)), 201)).toBe(1_000);
  const sends = await many(20, (n) => send(t, IPV4, n));
  expect([countOf(sends, 200), limitsOf(sends)]).toEqual([6, ['emails-per-network']]);
});

test.each([
  ['NETWORK_SHARE_PERCENT=100', { NETWORK_SHARE_PERCENT: '100' }],
  ['a network of SHARED_NETWORKS', { SHARED_NETWORKS: '198.51.100.0/24, 2001:db8:1::/48, 203.0.113.0/24' }],
])('%s: one network takes all that there is, and others nothing', async (_, vars) => {
  const t = await open({
    ...vars,
    EMAIL_DAILY_MAX: '50',
    MAX_VERIFY_SENDS_PER_IP: '40',
    RATE_LIMIT_READS_PER_IP: '10',
  });
  const sends = await many(60, (n) => send(t, n < 30 ? IPV4 : client(n), n));
  expect([countOf(sends, 200), limitsOf(sends)]).toEqual([50, ['emails-per-day']]);
  expect(countOf(await many(900, (n) => session(t, client(n), n)), 200)).toBe(900);
  expect(countOf(await many(600, (n) => mailbox(t, client(n % 30), n)), 201)).toBe(600);
  expect(countOf(await many(200, (n) => read(t, client(n % 20))), 200)).toBe(200);
  const shown = (await limitsShown(t)).filter(({ kind }) => kind.endsWith('-per-network'));
  expect(shown).toEqual([]);
});

test('beside SHARED_NETWORKS every other network has its share', async () => {
  const t = await open({ SHARED_NETWORKS: '2001:db8:1::/48', EMAIL_DAILY_MAX: '60', MAX_VERIFY_SENDS_PER_IP: '40' });
  expect(countOf(await many(10, (n) => send(t, client(n), n)), 200)).toBe(10);
  const others = await many(10, (n) => send(t, client(n, 2), 100 + n));
  expect([countOf(others, 200), limitsOf(others)]).toEqual([3, ['emails-per-network']]);
});
