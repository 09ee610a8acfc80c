import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { codeDigest } from '../../lib/verification/code.ts';
import { otherCode } from '../support/digits.ts';
import { expectHoldsNone } from '../support/secrecy.ts';
import { startVault, type TestVault } from '../support/vault.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const alice = { identifier: 'alice@example.com', channel: 'email' };

let t: TestVault;
beforeEach(async () => {
  t = await startVault({ MAX_VERIFY_SENDS_PER_IP: '1000' });
});
afterEach(() => t.stop());

const check = (code: string, who = alice) => t.call('POST /api/verify/check', { ...who, code });

async function send(who = alice): Promise<string> {
  const reply = await t.call('POST /api/verify/send', who);
  expect(reply.status).toBe(200);
  return t.codeFor(who.identifier);
}

describe('POST /api/verify/send', () => {
  test('§4 verify/send: sends an OTP to an email address and says how long it lives', async () => {
    const reply = await t.call('POST /api/verify/send', alice);
    const challenge = expect.stringMatching(/^[0-9a-f]{32}$/);
    expect([reply.status, reply.body]).toEqual([
      200,
      { ok: true, channel: 'email', expires_in: 90, retry_after: 0, challenge },
    ]);
    expect(t.codeFor(alice.identifier)).toMatch(/^\d{6}$/);
  });

  test('§4 verify/send: sends an OTP to a phone number', async () => {
    const reply = await t.call('POST /api/verify/send', { identifier: '+1 415 555 0100', channel: 'sms' });
    expect(reply.body).toMatchObject({ ok: true, channel: 'sms', expires_in: 90, retry_after: 0 });
    const checked = await check(t.codeFor('+14155550100'), { identifier: '+14155550100', channel: 'sms' });
    expect(checked.body.verified).toBe(true);
  });

  test.each([
    ['Missing required fields: identifier, channel', {}],
    ['Missing required fields: identifier, channel', { identifier: 'alice@example.com' }],
    ['Invalid channel. Must be "sms" or "email"', { ...alice, channel: 'handle' }],
    ['Invalid identifier', { ...alice, identifier: 'alice' }],
    ['Invalid identifier', { ...alice, identifier: `${'a'.repeat(250)}@example.com` }],
  ])('400 %s', async (error, body) => {
    const reply = await t.call('POST /api/verify/send', body);
    expect([reply.status, reply.body.error]).toEqual([400, error]);
  });

  test('§8 RATE_LIMIT_CODES_PER_IDENTIFIER: 5 per identifier and rolling hour, at the exact edge', async () => {
    for (let i = 0; i < 5; i++) {
      const { body } = await t.call('POST /api/verify/send', alice);
      expect(body.retry_after).toBe(i === 4 ? 3600 - 4 * 60 : 0);
      await t.clock.advance(60_000);
    }
    const refused = await t.call('POST /api/verify/send', alice);
    expect([refused.status, refused.body]).toEqual([
      429,
      { error: 'rate_limited', limit: 'sends-per-identifier', retry_after: 3300 },
    ]);
    expect(refused.headers.get('retry-after')).toBe('3300');
    expect(refused.headers.get('ratelimit-policy')).toBe('"sends-per-identifier";q=5;w=3600');
    expect((await t.call('POST /api/verify/send', { ...alice, identifier: 'bob@example.com' })).status).toBe(200);
    await t.clock.advance(3_300_000 - 1);
    expect((await t.call('POST /api/verify/send', alice)).status).toBe(429);
    await t.clock.advance(1);
    expect((await t.call('POST /api/verify/send', alice)).status).toBe(200);
    expect((await t.call('POST /api/verify/send', alice)).status).toBe(429);
  });

  test('§8 MAX_VERIFY_SENDS_PER_IP: 3 per IP and rolling day over both channels, at the exact edge', async () => {
    const own = await startVault();
    const from = own.from('203.0.113.7');
    const to = (n: number) => ({ identifier: `user${n}@example.com`, channel: 'email' });
    await from.call('POST /api/verify/send', to(1));
    await own.clock.advance(1000);
    await from.call('POST /api/verify/send', { identifier: '+14155550100', channel: 'sms' });
    const third = await from.call('POST /api/verify/send', to(3));
    expect(third.body.retry_after).toBe(DAY / 1000 - 1);
    const refused = await from.call('POST /api/verify/send', to(4));
    expect([refused.status, refused.body]).toEqual([
      429,
      { error: 'rate_limited', limit: 'sends-per-ip', retry_after: DAY / 1000 - 1 },
    ]);
    expect(refused.headers.get('retry-after')).toBe(String(DAY / 1000 - 1));
    expect((await own.from('203.0.113.8').call('POST /api/verify/send', to(4))).status).toBe(200);
    await own.clock.advance(DAY - 1001);
    expect((await from.call('POST /api/verify/send', to(4))).status).toBe(429);
    await own.clock.advance(1);
    expect((await from.call('POST /api/verify/send', to(4))).status).toBe(200);
    expect((await from.call('POST /api/verify/send', to(5))).status).toBe(429);
    await own.stop();
  });

  test('limits are unchanged after a restart', async () => {
    const own = await startVault();
    for (let i = 0; i < 3; i++) await own.call('POST /api/verify/send', { ...alice, identifier: `u${i}@example.com` });
    const again = await startVault({}, { database: own.database, clock: own.clock });
    expect((await again.call('POST /api/verify/send', alice)).status).toBe(429);
    await again.stop();
    await own.stop();
  });

  test('SMS_DAILY_MAX bounds the whole service, SMS_COUNTRIES the prefixes', async () => {
    const own = await startVault({ SMS_DAILY_MAX: '2', SMS_COUNTRIES: '+1,+49' });
    const sms = (identifier: string, ip: string) =>
      own.from(ip).call('POST /api/verify/send', { identifier, channel: 'sms' });
    expect((await sms('+33155550100', '203.0.113.1')).status).toBe(429);
    expect((await sms('+14155550100', '203.0.113.1')).status).toBe(200);
    expect((await sms('+4930123456', '203.0.113.2')).status).toBe(200);
    const refused = await sms('+14155550102', '203.0.113.3');
    expect([refused.status, refused.body]).toEqual([
      429,
      { error: 'rate_limited', limit: 'sms-per-day', retry_after: 87000 },
    ]);
    expect(refused.headers.get('retry-after')).toBe('87000');
    await own.clock.advance(DAY + 600_000);
    expect((await sms('+14155550102', '203.0.113.3')).status).toBe(200);
    await own.stop();
  });

  test('no row holds a code, only its digest', async () => {
    const code = await send();
    const [row] = await t.rows('SELECT * FROM codes');
    // Its digits may be those of a time by chance.
    const { sent_at: _, expires_at: __, ...others } = row ?? {};
    expectHoldsNone(others, code);
    expect(String(row?.['digest'])).toMatch(/^[0-9a-f]{64}$/);
    const guess = codeDigest(new Uint8Array(32), `email:${alice.identifier}`, String(row?.['id']), code);
    expect(row?.['digest']).not.toBe(guess);
  });

  test('the answer does not tell whether the identifier is known, taken or reserved', async () => {
    const unknown = await t.call('POST /api/verify/send', alice);
    await check(t.codeFor(alice.identifier));
    await t.call('POST /api/sessions', { ...alice, did: 'did:key:z6Mk' });
    const known = await t.call('POST /api/verify/send', alice);
    const challenge = expect.stringMatching(/^[0-9a-f]{32}$/);
    expect([known.status, known.body]).toEqual([unknown.status, { ...unknown.body, challenge }]);
  });
});

describe('POST /api/verify/check', () => {
  test('§4 verify/check: identifier, channel and code; 200 with ok, verified and the attestation', async () => {
    const reply = await check(await send());
    expect(reply.status).toBe(200);
    expect(Object.keys(reply.body)).toEqual(['ok', 'verified', 'attestation']);
    expect([reply.body.ok, reply.body.verified]).toEqual([true, true]);
  });

  test.each([
    ['§2 attestation identifier', 'identifier', () => alice.identifier],
    ['§2 attestation channel', 'channel', () => 'email'],
    ['§2 attestation verified_at', 'verified_at', () => new Date(t.clock.now()).toISOString()],
    ['§2 attestation expires_at', 'expires_at', () => new Date(t.clock.now() + 300_000).toISOString()],
    ['§2 attestation registrar', 'registrar', () => `did:web:localhost%3A${new URL(t.url).port}`],
    ['§2 attestation signature', 'signature', () => expect.stringMatching(/^0x[0-9a-f]{64}$/)],
  ])('%s', async (_, name, expected) => {
    const { attestation } = (await check(await send())).body;
    expect(attestation[name]).toEqual(expected());
    expect(Object.keys(attestation)).toHaveLength(6);
  });

  test.each([
    ['§4 verify/check identifier', { channel: 'email', code: '123456' }],
    ['§4 verify/check channel', { identifier: alice.identifier, code: '123456' }],
    ['§4 verify/check code', alice],
  ])('§7 verify/check 400 Missing required fields: identifier, channel, code: %s is required', async (_, body) => {
    const reply = await t.call('POST /api/verify/check', body);
    const missing = expect.stringMatching(/^Missing or empty: (?:identifier|channel|code)\.$/);
    const refusal = { error: 'Missing required fields: identifier, channel, code', hint: missing };
    expect([reply.status, reply.body]).toEqual([400, refusal]);
  });

  test('§7 verify/check 400 Invalid channel. Must be "sms" or "email"', async () => {
    const reply = await t.call('POST /api/verify/check', { ...alice, channel: 'fax', code: '123456' });
    expect([reply.status, reply.body]).toEqual([400, { error: 'Invalid channel. Must be "sms" or "email"' }]);
  });

  test('§7 verify/check: a wrong code is 200 with verified false and a message', async () => {
    const reply = await check(otherCode(await send()));
    expect(reply.status).toBe(200);
    expect(reply.body).toEqual({ ok: true, verified: false, message: 'Incorrect code', attempts_remaining: 4 });
  });

  test('§7 verify/check: an expired code is 200 with verified false and a message', async () => {
    const code = await send();
    await t.clock.advance(90_000);
    const reply = await check(code);
    expect([reply.status, reply.body]).toEqual([200, { ok: true, verified: false, message: 'Code expired' }]);
  });

  test('§8 EMAIL_CODE_EXPIRY_SECONDS: a code lives 90 seconds, at the exact edge', async () => {
    const code = await send();
    await t.clock.advance(89_999);
    expect((await check(code)).body.verified).toBe(true);
    const late = await send();
    await t.clock.advance(90_000);
    expect((await check(late)).body.message).toBe('Code expired');
  });

  test('§8 MAX_VERIFY_ATTEMPTS: 5 checks per code, then not even the right one', async () => {
    const code = await send();
    for (let left = 4; left >= 0; left--) {
      expect((await check(otherCode(code))).body).toMatchObject({
        message: 'Incorrect code',
        attempts_remaining: left,
      });
    }
    expect((await check(code)).body).toMatchObject({ verified: false, message: 'Too many attempts' });
    expect((await check(await send())).body.verified).toBe(true);
  });

  test('blanks and dashes in a code are no wrong guess; other letters are', async () => {
    for (const between of ['-', ' ', '\u2013', '\u00a0']) {
      const code = await send();
      const typed = ` ${code.slice(0, 3)}${between}${code.slice(3)} `;
      expect([typed, (await check(typed)).body.verified]).toEqual([typed, true]);
    }
    const code = await send();
    expect((await check(`${code}x`)).body).toMatchObject({ message: 'Incorrect code', attempts_remaining: 4 });
    const empty = await check('---');
    expect([empty.status, empty.body.error]).toEqual([400, 'Invalid code']);
  });

  test('a code verifies once, a client’s new code replaces its old one, and without a code there is nothing to check', async () => {
    expect((await check('123456')).body.message).toBe('Incorrect code');
    const first = await send();
    const second = await send();
    if (first !== second) expect((await check(first)).body.message).toBe('Incorrect code');
    expect((await check(second)).body.verified).toBe(true);
    expect((await check(second)).body.message).toBe('No code was sent');
  });

  test('20 wrong guesses in a row against live codes make sends pass-only; a success resets, other checks do not count', async () => {
    for (let i = 0; i < 40; i++) expect((await check('000000')).body.message).toBe('Incorrect code');
    const wrongly = async (times: number) => {
      for (let i = 0; i < times; i++) {
        if (i % 5 === 0) await t.clock.advance(HOUR / 5);
        if (i % 5 === 0) await send();
        expect((await check(otherCode(t.codeFor(alice.identifier)))).body.message).toBe('Incorrect code');
      }
    };
    await wrongly(19);
    await t.clock.advance(HOUR);
    expect((await check(await send())).body.verified).toBe(true);
    await wrongly(20);
    await t.clock.advance(HOUR);
    expect((await t.call('POST /api/verify/send', alice)).status).toBe(200);
    expect(t.mailsTo(alice.identifier).at(-1)?.code).toBeUndefined();
  });

  test('20 wrong guesses are forgotten after 24 hours without one (S16)', async () => {
    const stranger = (i: number) => t.from(`203.0.113.${i}`);
    const guess = async (i: number) => {
      await stranger(i).call('POST /api/verify/send', alice);
      const code = otherCode(t.codeFor(alice.identifier));
      for (let n = 0; n < 5; n++) await stranger(i).call('POST /api/verify/check', { ...alice, code });
    };
    for (const i of [1, 2, 3, 4]) await guess(i);
    const isMailed = async () => {
      await t.clock.advance(HOUR);
      await t.work();
      await t.call('POST /api/verify/send', alice);
      return t.mailsTo(alice.identifier).at(-1)?.code !== undefined;
    };
    expect(await isMailed()).toBe(false);
    await t.clock.advance(21 * HOUR);
    expect(await isMailed()).toBe(false);
    expect(await isMailed()).toBe(true);
    expect(await t.rows('SELECT 1 FROM verifications')).toEqual([]);
  });

  test('an address is one identity whatever its case', async () => {
    const code = await send();
    expect((await check(code, { ...alice, identifier: 'ALICE@Example.COM' })).body.verified).toBe(true);
  });
});

describe('GET /api/verify/status', () => {
  test.each([
    ['§2 verification state identifier', 'identifier', alice.identifier, alice.identifier],
    ['§2 verification state channel', 'channel', 'email', 'email'],
    ['§2 verification state verified', 'verified', false, true],
    ['§2 verification state verifiedAt', 'verifiedAt', null, '2025-01-01T00:00:00.000Z'],
  ])('%s: before and after the proof', async (_, name, before, after) => {
    expect((await t.call('GET /api/verify/status', alice)).body[name]).toEqual(before);
    await check(await send());
    expect((await t.call('GET /api/verify/status', alice)).body[name]).toEqual(after);
  });

  test('§3 verified = false: never verified, verifiedAt is null', async () => {
    const reply = await t.call('GET /api/verify/status', alice);
    expect([reply.status, reply.body]).toEqual([200, { ...alice, verified: false, verifiedAt: null }]);
  });

  test('§3 verified = true: verifiedAt holds the time of the check, and it stays', async () => {
    await check(await send());
    const at = new Date(t.clock.now()).toISOString();
    await t.clock.advance(30 * DAY);
    expect((await t.call('GET /api/verify/status', alice)).body).toEqual({ ...alice, verified: true, verifiedAt: at });
  });

  test.each([
    ['§4 verify/status identifier', 'Missing query parameters: identifier, channel', { channel: 'email' }],
    ['§4 verify/status channel', 'Missing query parameters: identifier, channel', { identifier: alice.identifier }],
    [
      '§4 verify/status channel: email or sms',
      'Invalid channel. Must be "sms" or "email"',
      { ...alice, channel: 'handle' },
    ],
    ['§4 verify/status identifier: address or number', 'Invalid identifier', { ...alice, identifier: 'x' }],
  ])('%s: 400 %s', async (_, error, query) => {
    const reply = await t.call('GET /api/verify/status', query);
    expect([reply.status, reply.body.error]).toEqual([400, error]);
  });
});
