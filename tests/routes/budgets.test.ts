import { afterEach, expect, test } from 'bun:test';
import { DAY_MS, HOUR_MS } from '../../lib/base/clock.ts';
import { SLOT_MS } from '../../lib/limits/budget-store.ts';
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

const mail = (n: number | string) => ({ identifier: `user${n}@example.com`, channel: 'email' });
const sms = (identifier: string) => ({ identifier, channel: 'sms' });
/** The n-th /64 of a /48. */
const client = (n: number, site = 1) => `2001:db8:${site}:${n.toString(16)}::1`;

type Sent = Awaited<ReturnType<TestVault['call']>>;
const countOf = (replies: readonly Sent[]) => replies.filter(({ status }) => status === 200).length;
const limitsOf = (replies: readonly Sent[]) => [...new Set(replies.flatMap(({ body }) => body.limit ?? []))];

/** As many sends at once; `who` and `from` say of the n-th whom it is to, and who asks. */
const flood = (
  t: TestVault,
  times: number,
  { who, from }: { who: (n: number) => Record<string, string>; from: (n: number) => string },
) => Promise.all(Array.from({ length: times }, (_, n) => t.from(from(n)).call('POST /api/verify/send', who(n))));

test('1,500 sends to strangers from 750 /64 of one /48: 768 leave, and others are sent theirs (M4)', async () => {
  const t = await open();
  const replies = await flood(t, 1_500, { who: mail, from: (n) => client(n % 750) });
  expect(countOf(replies)).toBe(768);
  expect(limitsOf(replies)).toEqual(['strangers-per-network']);
  const elsewhere = await t.from(client(1, 2)).call('POST /api/verify/send', mail('a'));
  const ipv4 = await t.from('203.0.113.7').call('POST /api/verify/send', mail('b'));
  expect([elsewhere.status, ipv4.status]).toEqual([200, 200]);
  await t.clock.advance(DAY_MS + SLOT_MS);
  expect((await t.from(client(1)).call('POST /api/verify/send', mail('c'))).status).toBe(200);
});

test('a /48 that is full of sends to strangers still sends to who verified, and to who holds a pass', async () => {
  const t = await open({ MAX_VERIFY_SENDS_PER_IP: '1' });
  await t.call('POST /api/verify/send', mail('known'));
  const code = t.codeFor(mail('known').identifier);
  expect((await t.call('POST /api/verify/check', { ...mail('known'), code })).body.verified).toBe(true);
  expect((await t.from(client(999)).call('POST /api/verify/send', mail('holder'))).status).toBe(200);
  const replies = await flood(t, 300, { who: mail, from: client });
  expect(countOf(replies)).toBe(255);
  expect((await t.from(client(1000)).call('POST /api/verify/send', mail('known'))).status).toBe(200);
  const pass = t.passFor(mail('holder').identifier);
  const passed = await t.from(client(1001)).call('POST /api/verify/send', { ...mail('holder'), pass });
  expect(passed.status).toBe(200);
  expect((await t.from(client(1002)).call('POST /api/verify/send', mail('new'))).body.limit).toBe(
    'strangers-per-network',
  );
});

test('500 SMS to one number from 167 /64 of one /48: 3 leave in an hour, 6 in a day; 2 and 4 are the owner’s by the pass (M3, S3)', async () => {
  const t = await open();
  const number = '+14155550100';
  const hour = () => flood(t, 167, { who: () => sms(number), from: client });
  const first = await hour();
  expect([countOf(first), limitsOf(first)]).toEqual([3, ['sends-per-number']]);
  expect(first.find(({ status }) => status === 429)?.body.retry_after).toBe(3_600);
  const pass = t.passFor(number);
  const passed = () => t.from('203.0.113.7').call('POST /api/verify/send', { ...sms(number), pass });
  for (let n = 0; n < 2; n++) expect((await passed()).status).toBe(200);
  expect((await passed()).body).toMatchObject({ error: 'rate_limited', limit: 'sends-per-number' });
  await t.clock.advance(HOUR_MS - 1);
  expect(countOf(await hour())).toBe(0);
  await t.clock.advance(1);
  expect(countOf(await hour())).toBe(3);
  await t.clock.advance(HOUR_MS);
  const third = await hour();
  expect([countOf(third), limitsOf(third)]).toEqual([0, ['sends-per-number-day']]);
  expect(third[0]?.body.retry_after).toBe(22 * 3_600);
  expect((await t.from('203.0.113.7').call('POST /api/verify/send', sms('+14155550101'))).status).toBe(200);
});

test('the day’s SMS: one /48 takes 25 of 500, the others the rest, and then it is full (M3)', async () => {
  const t = await open({ RATE_LIMIT_WRITES_PER_IP: '100000' });
  const number = (n: number) => sms(`+1415${5_550_000 + n}`);
  const one = await flood(t, 100, { who: number, from: client });
  expect([countOf(one), limitsOf(one)]).toEqual([25, ['sms-per-network']]);
  const many = await flood(t, 500, { who: (n) => number(1000 + n), from: (n) => client(1, 2 + n) });
  expect([countOf(many), limitsOf(many)]).toEqual([475, ['sms-per-day']]);
  expect((await t.from('203.0.113.7').call('POST /api/verify/send', mail(1))).status).toBe(200);
});

test('EMAIL_DAILY_MAX: all codes mailed in a rolling day, of which one IPv4 address or /48 takes at most 5 %', async () => {
  const t = await open({ EMAIL_DAILY_MAX: '100', MAX_VERIFY_SENDS_PER_IP: '50' });
  const ipv4 = await flood(t, 20, { who: mail, from: () => '203.0.113.7' });
  expect([countOf(ipv4), limitsOf(ipv4)]).toEqual([5, ['emails-per-network']]);
  const ipv6 = await flood(t, 20, { who: (n) => mail(`six${n}`), from: client });
  expect([countOf(ipv6), limitsOf(ipv6)]).toEqual([5, ['emails-per-network']]);
  const rest = await flood(t, 100, { who: (n) => mail(`rest${n}`), from: (n) => `198.51.100.${n}` });
  expect([countOf(rest), limitsOf(rest)]).toEqual([90, ['emails-per-day']]);
  expect(rest.find(({ status }) => status === 429)?.headers.get('retry-after')).toBe('87000');
  await t.clock.advance(DAY_MS + SLOT_MS - 1);
  expect((await t.from('198.51.100.200').call('POST /api/verify/send', mail('x'))).body.retry_after).toBe(1);
  await t.clock.advance(1);
  expect((await t.from('198.51.100.200').call('POST /api/verify/send', mail('x'))).status).toBe(200);
});

test('what reached nobody uses up no budget: neither the day’s, nor the share, nor that of strangers (A1)', async () => {
  const down = Object.assign(new Error('connect ECONNREFUSED'), { reachedNobody: true });
  let isDown = true;
  const send = async () => {
    if (isDown) throw down;
  };
  const settings = { EMAIL_PROVIDER: 'smtp', SMTP_URL: 'smtp://127.0.0.1:1', EMAIL_FROM: 'v@example.com' };
  const t = await open({ ...settings, EMAIL_DAILY_MAX: '4', MAX_VERIFY_SENDS_PER_IP: '3' }, { mail: { send } });
  const failed = await flood(t, 12, { who: mail, from: (n) => (n % 2 === 0 ? client(n) : `203.0.113.${n}`) });
  expect(new Set(failed.map(({ status }) => status))).toContain(502);
  expect(await t.rows('SELECT kind FROM budget_uses WHERE used <> 0')).toEqual([]);
  isDown = false;
  const replies = await flood(t, 12, { who: mail, from: (n) => (n < 6 ? client(n) : `203.0.113.${n}`) });
  expect([countOf(replies), limitsOf(replies)]).toEqual([4, expect.arrayContaining(['emails-per-day'])]);
});

test.each([
  ['email', mail, 'EMAIL_DAILY_MAX', 'emails-per-network'],
  ['sms', (n: number | string) => sms(`+1415555010${n}`), 'SMS_DAILY_MAX', 'sms-per-network'],
] as const)('passes of one’s own %s are no way past the 5 %% of one IPv4 address', async (_, who, budget, share) => {
  const t = await open({ [budget]: '100' });
  const own = [0, 1, 2].map(who);
  const asked = await flood(t, 3, { who: (n) => own[n] as Record<string, string>, from: () => '203.0.113.7' });
  expect(countOf(asked)).toBe(3);
  const passed = (n: number) => ({ ...own[n % 3], pass: t.passFor(own[n % 3]?.identifier ?? '') });
  const replies = await flood(t, 12, { who: passed, from: () => '203.0.113.7' });
  expect([countOf(replies), limitsOf(replies)]).toEqual([2, [share]]);
});
