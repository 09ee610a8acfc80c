import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { LIMITS_PAGE_MAX } from '../../../lib/limits/report.ts';
import { dataOf, OPERATOR } from '../../support/events.ts';
import { startVault, type TestVault } from '../../support/vault.ts';

let t: TestVault;
beforeEach(async () => {
  t = await startVault({ APPS: 'shop' });
});
afterEach(() => t.stop());

const ask = (line: string, fields: Readonly<Record<string, unknown>> = {}) => t.call(line, fields, OPERATOR);

describe('limits', () => {
  const email = { identifier: 'alice@example.com', channel: 'email' };
  const send = (ip = '203.0.113.7', who = email) => t.from(ip).call('POST /api/verify/send', who);
  const limitsOf = async (query: Readonly<Record<string, string>>) =>
    (await ask('GET /v1/console/limits', query)).body.limits;

  test('are shown as full as they are', async () => {
    expect((await ask('GET /v1/console/limits')).body).toEqual({
      kinds: [
        'sends-per-ip',
        'sends-per-identifier',
        'pass-sends-per-ip',
        'pass-sends-per-identifier',
        'keep-sends-per-identifier',
        'sends-per-number',
        'sends-per-number-day',
        'strangers-per-network',
        'emails-per-day',
        'emails-per-network',
        'sms-per-day',
        'sms-per-network',
        'guesses-per-identifier',
        'registrations-per-ip',
        'sessions-per-network',
        'relays-per-day',
        'relays-per-network',
        'recoveries-per-day',
        'recoveries-per-network',
        'sponsorships-per-day',
        'sponsorships-per-network',
        'sponsorships-per-account',
        'sponsor-wei',
        'sponsor-wei-per-network',
        'sponsor-wei-per-account',
        'joins-per-ip',
        'joins-per-hour',
        'joins-per-network',
        'credentials-per-identifier',
        'test-messages',
      ],
      limits: [],
    });
    for (let i = 0; i < 3; i++) await send();
    await t.from('203.0.113.9').call('POST /api/sessions', { handle: 'bob', did: 'did:key:z6Mk' });
    const day = { window_seconds: 86_400, resets_at: '2025-01-02T00:00:00.000Z' };
    expect(await limitsOf({})).toEqual([
      { kind: 'sends-per-ip', key: '203.0.113.7', max: 3, used: 3, reached: true, ...day },
      {
        kind: 'sends-per-identifier',
        key: 'a***@example.com',
        max: 5,
        used: 3,
        reached: false,
        window_seconds: 3_600,
        resets_at: '2025-01-01T01:00:00.000Z',
      },
      {
        ...{ kind: 'emails-per-day', key: '', max: 20_000, used: 3, reached: false },
        ...{ window_seconds: 86_400, resets_at: '2025-01-02T00:10:00.000Z' },
      },
      {
        kind: 'registrations-per-ip',
        key: '203.0.113.9',
        max: 3,
        used: 1,
        reached: false,
        window_seconds: 2_592_000,
        // It lapses unless a DID links it.
        resets_at: day.resets_at,
      },
    ]);
    expect(await limitsOf({ kind: 'sends-per-identifier', key: 'Alice@example.com' })).toMatchObject([
      { key: 'email:alice@example.com', used: 3 },
    ]);
    expect(await limitsOf({ kind: 'sends-per-ip', key: '203.0.113.8' })).toEqual([]);
  });

  test('the fullest of very many clients are found, page by page', async () => {
    const many = 2_005;
    expect(many).toBeGreaterThan(20 * LIMITS_PAGE_MAX);
    await t.call('POST /api/sessions', { handle: 'first', did: 'did:key:z6Mk' });
    // One session each of the clients c1000 to c3004, and one more of every 500th.
    await t.rows(`WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ${many - 1})
      INSERT INTO sessions (identifier, did, ip, created_at, expires_at)
      SELECT 'handle:h' || i || 'x' || again.value, 'did:key:z6Mk', 'c' || (1000 + i), ${t.clock.now()}, ${t.clock.now() + 1_000}
      FROM n, json_each('[0, 1]') AS again WHERE again.value = 0 OR i % 500 = 0`);
    const shown: { key: string; used: number }[] = await limitsOf({ kind: 'registrations-per-ip' });
    expect(shown).toHaveLength(100);
    expect(shown.slice(0, 7).map(({ key, used }) => [key, used])).toEqual([
      ['c1000', 2],
      ['c1500', 2],
      ['c2000', 2],
      ['c2500', 2],
      ['c3000', 2],
      ['127.0.0.1', 1],
      ['c1001', 1],
    ]);
  });

  test.each([
    ['sends-per-ip', '203.0.113.7'],
    ['sends-per-identifier', 'alice@example.com'],
  ])('%s is freed, told of, and full again as before', async (kind, key) => {
    let users = 0;
    const refused = async () => {
      for (let i = 0; ; i++) {
        const ip = kind === 'sends-per-ip' ? '203.0.113.7' : `203.0.113.${i}`;
        const who = kind === 'sends-per-ip' ? { ...email, identifier: `u${++users}@example.com` } : email;
        if ((await send(ip, who)).status === 429) return i;
        await t.clock.advance(1);
      }
    };
    const allowed = kind === 'sends-per-ip' ? 3 : 5;
    expect(await refused()).toBe(allowed);
    const cleared = await ask('POST /v1/console/limits/clear', { kind, key });
    expect(cleared.body).toMatchObject({ ok: true, kind, cleared: allowed });
    if (kind === 'sends-per-identifier')
      await ask('POST /v1/console/limits/clear', { kind: 'sends-per-ip', key: '203.0.113.0' });
    await t.clock.advance(1);
    expect(await refused()).toBe(allowed);
    const masked = kind === 'sends-per-ip' ? '203.0.113.***' : 'a***@example.com';
    expect((await dataOf(t, 'limit.cleared'))[0]).toEqual({ kind, key: masked, cleared: allowed });
  });

  test('a clearing takes no code away: the newest one still counts', async () => {
    await send();
    await ask('POST /v1/console/limits/clear', { kind: 'sends-per-identifier', key: 'alice@example.com' });
    const checked = await t.call('POST /api/verify/check', { ...email, code: t.codeFor('alice@example.com') });
    expect(checked.body.verified).toBe(true);
  });

  test('registrations-per-ip is freed while the sessions stay', async () => {
    const open = (handle: string) => t.from('203.0.113.7').call('POST /api/sessions', { handle, did: 'did:key:z6Mk' });
    for (const handle of ['a1', 'a2', 'a3']) expect((await open(handle)).status).toBe(200);
    expect((await open('a4')).status).toBe(429);
    await ask('POST /v1/console/limits/clear', { kind: 'registrations-per-ip', key: '203.0.113.7' });
    await t.clock.advance(1);
    expect((await open('a4')).status).toBe(200);
    expect((await open('a1')).body).toMatchObject({ error: 'identifier_taken' });
    for (const handle of ['a5', 'a6']) expect((await open(handle)).status).toBe(200);
    const full = await open('a7');
    // The first of those that count lapses a day after it was opened; the cleared ones free nothing.
    expect([full.status, full.headers.get('retry-after')]).toEqual([429, '86400']);
  });

  test('guesses-per-identifier: cleared, codes need no pass', async () => {
    await send();
    await t.rows(`INSERT INTO verifications (identifier, wrong_guesses) VALUES ('email:alice@example.com', 19)`);
    const guess = (code: string) => t.from('203.0.113.7').call('POST /api/verify/check', { ...email, code });
    await guess('x');
    expect((await guess(t.codeFor('alice@example.com'))).body.verified).toBe(false);
    const end = { window_seconds: 86_400, resets_at: '2025-01-02T00:00:00.000Z' };
    const full = { key: 'a***@example.com', max: 20, used: 20, reached: true, ...end };
    expect(await limitsOf({ kind: 'guesses-per-identifier' })).toEqual([{ kind: 'guesses-per-identifier', ...full }]);
    expect(await dataOf(t, 'code.guessing')).toEqual([{ channel: 'email', identifier: 'a***@example.com' }]);
    await ask('POST /v1/console/limits/clear', { kind: 'guesses-per-identifier', key: 'email:alice@example.com' });
    expect((await guess(t.codeFor('alice@example.com'))).body.verified).toBe(true);
  });

  test.each([
    [{ kind: 'sends' }, /^Invalid kind\. Must be of sends-per-ip, /],
    [{ kind: 'sends-per-ip' }, /^Missing key: sends-per-ip needs a key$/],
    [{ kind: 'sends-per-ip', key: 'alice' }, /^Invalid key: expected an IP address$/],
    [{ kind: 'sends-per-identifier', key: 'email:nobody' }, /^Invalid identifier$/],
    [{ kind: 'sms-per-day', key: 'x' }, /^Invalid key: sms-per-day takes no key$/],
    [{}, /^Missing required fields: kind$/],
  ])('clearing %j is 400', async (body, error) => {
    await send();
    const answer = await ask('POST /v1/console/limits/clear', body);
    expect([answer.status, answer.body.error]).toEqual([400, expect.stringMatching(error)]);
    expect(await dataOf(t, 'limit.cleared')).toEqual([]);
  });
});

describe('a limit’s refusals are told', () => {
  let users = 0;
  const send = (ip: string) =>
    t.from(ip).call('POST /api/verify/send', { identifier: `u${++users}@example.com`, channel: 'email' });

  test('once per bucket and window, however many there are', async () => {
    for (let i = 0; i < 20; i++) await send('203.0.113.7');
    for (let i = 0; i < 20; i++) await send('2001:db8::1');
    const limit = { limit: 'sends-per-ip', max: 3, window_seconds: 86_400 };
    expect(await dataOf(t, 'limit.reached')).toEqual([
      { ...limit, bucket: '203.0.113.***' },
      { ...limit, bucket: '2001:db8:***' },
    ]);
    await t.clock.advance(86_400_000);
    for (let i = 0; i < 5; i++) await send('203.0.113.7');
    expect((await dataOf(t, 'limit.reached')).length).toBe(3);
  });

  test('once over all processes and after a restart', async () => {
    for (let i = 0; i < 5; i++) await send('203.0.113.7');
    const other = await startVault({}, { database: t.database, clock: t.clock });
    for (let i = 0; i < 5; i++)
      await other.from('203.0.113.7').call('POST /api/verify/send', { identifier: 'b@example.com', channel: 'email' });
    await other.stop();
    expect((await dataOf(t, 'limit.reached')).length).toBe(1);
  });

  test('of requests a minute as well, and to the app that was asked for', async () => {
    const small = await startVault({ RATE_LIMIT_READS_PER_IP: '1', APPS: 'shop' });
    for (let i = 0; i < 9; i++) await small.call('GET /api/sessions/status', {}, { 'X-Vault-App': 'shop' });
    await small.vault.close();
    const rows = await small.rows(`SELECT app, data FROM events`);
    expect(rows.map(({ app, data }) => [app, JSON.parse(String(data))])).toEqual([
      ['shop', { limit: 'reads-per-ip', max: 1, window_seconds: 60, bucket: '127.0.0.***' }],
    ]);
    await small.stop();
  });
});
