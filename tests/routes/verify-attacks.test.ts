// Each test is an attack on codes as it was made against the running program, over HTTP.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { smtpMailer } from '../../commands/mail/smtp.ts';
import { type Engine, engines } from '../support/databases.ts';
import { otherCode } from '../support/digits.ts';
import { type Reply, startVault, type TestVault } from '../support/vault.ts';

const HOUR = 3_600_000;
const OWNER = '203.0.113.7';
const alice = { identifier: 'alice@example.com', channel: 'email' };

let t: TestVault;
beforeEach(async () => {
  t = await startVault({ RATE_LIMIT_READS_PER_IP: '100000' });
});
afterEach(() => t.stop());

/** The addresses of strangers, each used once. */
let strangers = 0;
const stranger = () => `198.51.${100 + (++strangers >> 8)}.${strangers & 255}`;

const send = (ip: string, more = {}) => t.from(ip).call('POST /api/verify/send', { ...alice, ...more });
const check = (ip: string, code: string, more = {}) =>
  t.from(ip).call('POST /api/verify/check', { ...alice, code, ...more });
/** Asks for a code and gives the one in the mail. */
async function ask(ip: string, more = {}): Promise<string> {
  expect((await send(ip, more)).status).toBe(200);
  return t.codeFor(alice.identifier);
}
const press = (ip: string, pass: string): Promise<Reply> => t.from(ip).post('/pass', new URLSearchParams({ pass }));
/** Wrong guesses of strangers at codes they ask for themselves, as many as they are let; the replies. */
async function guess(times: number): Promise<Reply[]> {
  const replies: Reply[] = [];
  while (replies.length < times) {
    const ip = stranger();
    if ((await send(ip)).status !== 200) await t.clock.advance(HOUR);
    else for (let i = 0; i < 5 && replies.length < times; i++) replies.push(await check(ip, 'x'));
  }
  return replies;
}

describe('H4: a stranger and the code of somebody else', () => {
  test('one address that polls spends none of the checks that the asking client needs', async () => {
    const poller = stranger();
    for (let i = 0; i < 50; i++) await check(poller, '000000');
    const code = await ask(OWNER);
    for (let i = 0; i < 50; i++) await check(poller, otherCode(code));
    for (let i = 0; i < 50; i++) await check(stranger(), otherCode(code));
    expect((await check(OWNER, otherCode(code))).body).toMatchObject({
      message: 'Incorrect code',
      attempts_remaining: 2,
    });
    expect((await check(OWNER, otherCode(code))).body).toMatchObject({
      message: 'Incorrect code',
      attempts_remaining: 1,
    });
    expect((await check(OWNER, code)).body.verified).toBe(true);
  });

  test('a stranger’s send neither replaces nor spends the code in the owner’s hand', async () => {
    const code = await ask(OWNER);
    const other = stranger();
    await send(other);
    for (let i = 0; i < 5; i++) await check(other, otherCode(t.codeFor(alice.identifier)));
    expect((await check(other, code)).body).toMatchObject({ message: 'Too many attempts' });
    expect((await check(OWNER, code)).body.verified).toBe(true);
  });

  test('five sends of strangers block no mail: the pass in any of them lets the owner’s client send', async () => {
    for (let i = 0; i < 5; i++) expect((await send(stranger())).status).toBe(200);
    expect((await send(OWNER)).status).toBe(429);
    expect((await press(OWNER, t.passFor(alice.identifier))).status).toBe(303);
    const code = await ask(OWNER);
    for (let i = 0; i < 20; i++) await check(stranger(), otherCode(code));
    expect((await check(OWNER, code)).body.verified).toBe(true);
  });

  test('a stranger who uses the owner’s Idempotency-Key first or after gets no challenge, and sends for nobody', async () => {
    const keyed = async (ip: string) =>
      (await t.from(ip).call('POST /api/verify/send', alice, { 'Idempotency-Key': 'send-alice' })).body.challenge;
    const theirs = await keyed(stranger());
    const owners = await keyed(OWNER);
    const code = t.codeFor(alice.identifier);
    const other = await keyed(stranger());
    expect(new Set([theirs, owners, other]).size).toBe(3);
    expect(await keyed(OWNER)).toBe(owners);
    for (let i = 0; i < 5; i++) await check(stranger(), 'x', { challenge: theirs });
    expect((await check(OWNER, code)).body.verified).toBe(true);
  });

  test('a stranger who sends five codes an hour for a day never keeps the owner out', async () => {
    for (let hour = 0; hour < 24; hour++) {
      for (let i = 0; i < 5; i++) await send(stranger());
      expect((await send(OWNER)).status).toBe(429);
      await press(OWNER, t.passFor(alice.identifier));
      expect((await check(OWNER, await ask(OWNER))).body.verified).toBe(true);
      await t.clock.advance(HOUR);
    }
  });

  test('a database that takes no writes is no oracle: strangers have their two checks of a code, and no third', async () => {
    const [engine] = engines();
    const own = await (engine as Engine).open();
    let isAway = false;
    const batch: typeof own.batch = (statements, mode) =>
      isAway && mode === 'write' ? Promise.reject(new Error('the disk is full')) : own.batch(statements, mode);
    const away = await startVault({}, { database: { ...own, batch } });
    await away.from(OWNER).call('POST /api/verify/send', alice);
    const code = away.codeFor(alice.identifier);
    isAway = true;
    const tried = async (guess: string) => {
      const { status, body } = await away.from(stranger()).call('POST /api/verify/check', { ...alice, code: guess });
      return [status, body.message ?? body.error];
    };
    for (let i = 0; i < 2; i++) expect(await tried(otherCode(code))).toEqual([200, 'Incorrect code']);
    expect(await tried(code)).toEqual([200, 'Incorrect code']);
    isAway = false;
    await away.stop();
    await own.close();
  });

  test('the messages are no oracle: none, live, expired, used and spent read the same to who did not ask', async () => {
    const poller = stranger();
    const seen = async () => (await check(poller, '000000')).text;
    const incorrect = JSON.stringify({ ok: true, verified: false, message: 'Incorrect code' });
    expect(await seen()).toBe(incorrect);
    let code = await ask(OWNER);
    for (let i = 0; i < 4; i++) expect(await seen()).toBe(incorrect);
    expect((await check(poller, code)).text).toBe(incorrect);
    for (let i = 0; i < 5; i++) await check(OWNER, otherCode(code));
    expect(await seen()).toBe(incorrect);
    await t.clock.advance(90_000);
    expect(await seen()).toBe(incorrect);
    code = await ask(OWNER);
    expect((await check(OWNER, code)).body.verified).toBe(true);
    expect(await seen()).toBe(incorrect);
    expect((await check(OWNER, code)).body.message).toBe('No code was sent');
  });
});

describe('M5: guessing', () => {
  test('ends after 20 wrong guesses in a row; what is sent then is the pass alone, with the same answer', async () => {
    const before = await send(stranger());
    await guess(20);
    await t.clock.advance(HOUR);
    const ip = stranger();
    const after = await send(ip);
    const shape = ({ status, body }: Reply) => [status, { ...body, challenge: body.challenge.length }];
    expect(shape(after)).toEqual(shape(before));
    expect(t.mailsTo(alice.identifier).at(-1)).toEqual({
      code: undefined,
      pass: expect.stringMatching(/^[0-9a-z]{8}-[0-9a-f]{32}$/),
    });
    for (const left of [4, 3, 2, 1, 0]) {
      expect((await check(ip, '123456')).body).toMatchObject({ message: 'Incorrect code', attempts_remaining: left });
    }
  });

  test('a code sent before the 20th wrong guess is dead after it', async () => {
    await guess(19);
    await t.clock.advance(HOUR);
    const code = await ask(OWNER);
    await check(stranger(), otherCode(code));
    expect((await check(OWNER, code)).body.verified).toBe(false);
  });

  test('blocks nobody: the owner presses the pass and is in, which ends it', async () => {
    await guess(25);
    await send(OWNER);
    expect((await press(OWNER, t.passFor(alice.identifier))).status).toBe(303);
    expect((await check(OWNER, await ask(OWNER))).body.verified).toBe(true);
    await t.clock.advance(HOUR);
    const other = stranger();
    expect((await check(other, await ask(other))).body.verified).toBe(true);
  });

  test('a day of one address a guess costs 20 guesses, not 600', async () => {
    const codes: string[] = [];
    const day = t.clock.now() + 24 * HOUR;
    while (t.clock.now() < day) {
      const ip = stranger();
      if ((await send(ip)).status !== 200) await t.clock.advance(HOUR);
      else for (let i = 0; i < 5; i++) await check(ip, 'x');
    }
    for (const { code } of t.mailsTo(alice.identifier)) if (code !== undefined) codes.push(code);
    // Four codes took the 20 guesses; of all others the vault sent no code that a guess could have hit.
    expect(codes).toHaveLength(4);
  });
});

describe('NAT: a neighbour who shares the owner’s address', () => {
  test('spends no check of a code that is bound to its challenge, and replaces it by no send', async () => {
    const { challenge } = (await send(OWNER, { bind: true })).body;
    const code = t.codeFor(alice.identifier);
    await send(OWNER);
    for (let i = 0; i < 10; i++) await check(OWNER, otherCode(code));
    expect((await check(OWNER, code)).body.verified).toBe(false);
    expect((await check(OWNER, code, { challenge })).body.verified).toBe(true);
  });

  test('replaces no code that is not bound by one that is', async () => {
    await send(OWNER);
    const code = t.codeFor(alice.identifier);
    await send(OWNER, { bind: true });
    expect((await check(OWNER, code)).body.verified).toBe(true);
  });
});

describe('A1: what never left costs nothing', () => {
  test('with the port of the mail server closed no client is locked out', async () => {
    const closed = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } });
    const url = `smtp://127.0.0.1:${closed.port}`;
    closed.stop(true);
    const mail = smtpMailer(url);
    const vars = { EMAIL_PROVIDER: 'smtp', EMAIL_FROM: 'vault@example.net', SMTP_URL: url };
    const own = await startVault(vars, { mail });
    for (let i = 0; i < 7; i++) {
      const { status, body } = await own.call('POST /api/verify/send', alice);
      expect([status, body.error]).toEqual([502, 'email_send_failed']);
    }
    expect(await own.rows('SELECT * FROM codes')).toEqual([]);
    await own.stop();
    await mail.close();
  });

  test('SMS_PROVIDER=none is 503 before anything is counted', async () => {
    const own = await startVault({ SMS_PROVIDER: 'none' });
    for (let i = 0; i < 7; i++) {
      const { status, body } = await own.call('POST /api/verify/send', { identifier: '+14155550100', channel: 'sms' });
      expect([status, body.error]).toEqual([503, 'sms_not_configured']);
    }
    expect((await own.call('POST /api/verify/send', alice)).status).toBe(200);
    await own.stop();
  });

  test('EMAIL_PROVIDER=none is 503 before anything is counted', async () => {
    const own = await startVault({ EMAIL_PROVIDER: 'none' });
    for (let i = 0; i < 7; i++) {
      const { status, body } = await own.call('POST /api/verify/send', alice);
      expect([status, body.error]).toEqual([503, 'email_not_configured']);
    }
    expect((await own.call('POST /api/verify/send', { identifier: '+14155550100', channel: 'sms' })).status).toBe(200);
    await own.stop();
  });
});
