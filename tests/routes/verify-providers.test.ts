import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { fromHex } from '../../lib/base/bytes.ts';
import { UPSTREAM_TIMEOUT_MS } from '../../lib/constants.ts';
import { MAIL_SEND_TIMEOUT_MS } from '../../lib/delivery/smtp.ts';
import { createKeys } from '../../lib/identity/keys.ts';
import { LIMITS } from '../../lib/limits/catalogue.ts';
import { openAttestation } from '../../lib/verification/attestation.ts';
import { FAULTS } from '../../scripts/dev-stack/fault.ts';
import {
  RESEND_API_KEY,
  RESEND_ERRORS,
  type ResendFault,
  type ResendProvider,
  startResend,
} from '../../scripts/dev-stack/resend.ts';
import {
  SMS_ACCOUNT,
  SMS_ERRORS,
  type SmsFault,
  type SmsProvider,
  smsVars,
  startSmsProvider,
} from '../../scripts/dev-stack/sms.ts';
import { type TestClock, testClock } from '../support/clock.ts';
import { createHolder, keyProof } from '../support/credentials.ts';
import { otherCode } from '../support/digits.ts';
import { expectHoldsNone } from '../support/secrecy.ts';
import { type Reply, startVault, type TestVault, VAULT_SECRET } from '../support/vault.ts';

const CODE_LIFE = 600_000;

let clock: TestClock;
let twilio: SmsProvider;
let resend: ResendProvider;
let t: TestVault;
let replies: Reply[];

beforeAll(async () => {
  resend = await startResend();
});
afterAll(() => resend.stop());

beforeEach(async () => {
  clock = testClock();
  twilio = await startSmsProvider({ clock });
  resend.faults.send = undefined;
  replies = [];
  t = await start();
});

/**
 * Whatever a test did: neither a log entry nor an answer tells a code or a key, and neither a log entry nor a failure
 * whom it was for.
 */
afterEach(async () => {
  const codes = [...twilio.messages, ...resend.messages].map(({ text }) => /\b\d{6}\b/.exec(text)?.[0] ?? '');
  const keys = [
    SMS_ACCOUNT.authToken,
    SMS_ACCOUNT.accountSid,
    ...Object.values(SMS_ACCOUNT.services),
    RESEND_API_KEY,
    VAULT_SECRET,
  ];
  const people = ['5005550', 'example.com', 'vault@example.net', new URL(twilio.url).host, new URL(resend.url).host];
  const failures = replies.filter(({ status }) => status !== 200);
  expectHoldsNone([t.entries, replies.map(({ text }) => text)], ...codes, ...keys);
  expectHoldsNone([t.entries, failures.map(({ text }) => text)], ...people);
  await t.stop();
  await twilio.stop();
});

function start(vars: Readonly<Record<string, string>> = {}, host: Parameters<typeof startVault>[1] = {}) {
  const providers = {
    EMAIL_PROVIDER: 'resend',
    EMAIL_FROM: 'Vault <vault@example.net>',
    RESEND_API_KEY,
    RESEND_API_URL: resend.url,
    ...smsVars(twilio.url),
    MAX_VERIFY_SENDS_PER_IP: '1000',
    RATE_LIMIT_CODES_PER_NUMBER: '1000',
  };
  return startVault({ ...providers, ...vars }, { clock, ...host });
}

/** Puts another vault in the place of the one every test starts with. */
async function restart(...options: Parameters<typeof start>): Promise<void> {
  await t.stop();
  t = await start(...options);
}

async function ask(line: string, fields: Readonly<Record<string, unknown>>, ip = '203.0.113.7'): Promise<Reply> {
  const reply = await t.from(ip).call(line, fields);
  replies.push(reply);
  return reply;
}

const phone = (n = 1) => ({ identifier: `+1500555${String(n).padStart(4, '0')}`, channel: 'sms' });
const mailbox = (name = 'alice') => ({ identifier: `${name}@example.com`, channel: 'email' });

const send = (who = phone(), ip?: string) => ask('POST /api/verify/send', who, ip);
const check = (code: string, who = phone()) => ask('POST /api/verify/check', { ...who, code });
const rightCode = (who = phone()) => twilio.codeFor(who.identifier) ?? '';
const wrongCode = (who = phone()) => otherCode(rightCode(who));

/** What a call answers whose upstream is silent: time moves on once the upstream has been asked. */
async function afterTimeout(call: Promise<Reply>, isAsked: () => boolean, timeoutMs: number): Promise<Reply> {
  let isAnswered = false;
  call.then(() => {
    isAnswered = true;
  });
  await clock.advance(timeoutMs - 1);
  expect([isAsked(), isAnswered]).toEqual([true, false]);
  await clock.advance(1);
  return call;
}

/** What any HTTP service may do wrong besides silence, and the errors of its own that stand for nothing else. */
function faults(errors: object, ...mapped: readonly number[]): readonly (string | number)[] {
  const own = Object.keys(errors).map((name) => (/^\d+$/.test(name) ? Number(name) : name));
  return [
    ...FAULTS.filter((fault) => fault !== 'silence'),
    ...own.filter((name) => !mapped.some((one) => one === name)),
  ];
}

describe('SMS codes are sent by the provider', () => {
  test('a send starts a verification there, and no code is kept here', async () => {
    const reply = await send();
    expect([reply.status, reply.body]).toMatchObject([
      200,
      { ok: true, channel: 'sms', expires_in: 600, retry_after: 0 },
    ]);
    expect(twilio.messages.map(({ to }) => to)).toEqual([[phone().identifier]]);
    expect(await t.rows('SELECT digest FROM codes')).toEqual([{ digest: null }]);
  });

  test.each(['recovery', 'credential'] as const)(
    '§1.1 a code for %s is of a service of its own: the one to sign up does not do for it, nor the reverse',
    async (purpose) => {
      const holder = await createHolder();
      let challenge = '';
      const sentCodes = async (who: ReturnType<typeof phone>): Promise<[string, string]> => {
        expect((await send(who)).status).toBe(200);
        const { status, body } = await ask('POST /api/verify/send', { ...who, purpose });
        expect(status).toBe(200);
        challenge = body.challenge;
        return [rightCode(who), twilio.codeFor(who.identifier, purpose) ?? ''];
      };
      let n = 1;
      let [code, own] = await sentCodes(phone());
      while (code === own) [code, own] = await sentCodes(phone(++n));
      const checkFor = async (given: string, asked: string) => {
        const own = asked === 'credential' ? { challenge, holder: await keyProof(t, holder, challenge) } : {};
        return (await ask('POST /api/verify/check', { ...phone(n), code: given, purpose: asked, ...own })).body;
      };
      expect((await checkFor(code, purpose)).message).toBe('Incorrect code');
      expect((await checkFor(own, 'registration')).message).toBe('Incorrect code');
      const { verified, attestation: signed, credential } = await checkFor(own, purpose);
      expect([verified, credential !== undefined]).toEqual([true, purpose === 'credential']);
      const { attestation } = createKeys(fromHex(VAULT_SECRET) as Uint8Array);
      if (purpose === 'recovery') expect(openAttestation(attestation, signed, purpose)).toEqual(signed);
      expect(openAttestation(attestation, signed)).toBeUndefined();
      expect((await check(code, phone(n))).body.verified).toBe(true);
    },
  );

  test.each(['recovery', 'credential'])(
    'without a service for it a code for %s is not sent: the number would get the code to sign up',
    async (purpose) => {
      await restart({ TWILIO_VERIFY_SERVICE_SID_RECOVERY: '', TWILIO_VERIFY_SERVICE_SID_CREDENTIAL: '' });
      await send();
      const code = rightCode();
      const { status, body } = await ask('POST /api/verify/send', { ...phone(), purpose });
      expect([status, body]).toMatchObject([
        503,
        { error: 'sms_not_configured', hint: `This vault sends no codes for ${purpose} to numbers.` },
      ]);
      expect(twilio.requests.send).toBe(1);
      // Nor does the code to sign up do for it: the provider is not asked.
      const challenge = 'of-no-send';
      const proof = { challenge, holder: await keyProof(t, await createHolder(), challenge) };
      const own = purpose === 'credential' ? proof : {};
      const other = await ask('POST /api/verify/check', { ...phone(), code, purpose, ...own });
      expect([other.body.message, twilio.requests.check]).toEqual(['Incorrect code', 0]);
      expect((await check(code)).body.verified).toBe(true);
    },
  );

  test.each([60203, 60202] as const)('%i is 429 rate_limited until the verification there has ended', async (fault) => {
    twilio.faults.send = fault;
    const reply = await send();
    expect([reply.status, reply.body]).toEqual([
      429,
      { error: 'rate_limited', limit: 'sms-provider', retry_after: 600 },
    ]);
    expect(Object.keys(LIMITS)).toContain(reply.body.limit);
    expect(reply.headers.get('retry-after')).toBe('600');
  });

  test("the provider's own five sends end in 429 too, and its wait is true", async () => {
    for (let i = 0; i < 5; i++) expect((await send()).status).toBe(200);
    const refused = await send();
    expect(refused.status).toBe(429);
    await clock.advance(1000 * Number(refused.headers.get('retry-after')));
    expect((await send()).status).toBe(200);
  });

  test('60200 is 400 Invalid identifier', async () => {
    twilio.faults.send = 60200;
    const reply = await send();
    expect([reply.status, reply.body]).toEqual([400, { error: 'Invalid identifier' }]);
  });

  test.each(faults(SMS_ERRORS, 60200, 60202, 60203) as SmsFault[])('%s is 502 sms_send_failed', async (fault) => {
    twilio.faults.send = fault;
    const reply = await send();
    expect([reply.status, reply.body]).toEqual([502, { error: 'sms_send_failed' }]);
    expect(twilio.requests.send).toBe(1);
  });

  test('silence is 502 sms_send_failed after ten seconds', async () => {
    twilio.faults.send = 'silence';
    const reply = await afterTimeout(send(), () => twilio.requests.send === 1, UPSTREAM_TIMEOUT_MS);
    expect([reply.status, reply.body]).toEqual([502, { error: 'sms_send_failed' }]);
  });

  test.each<[string, SmsFault | undefined]>([
    ['refuses the credentials', 20003],
    ['is asked too often by the account', 20429],
    ['cannot be reached', undefined],
  ])('a send costs nothing when the provider %s', async (_, fault) => {
    await restart({ MAX_VERIFY_SENDS_PER_IP: '3' });
    twilio.faults.send = fault;
    if (fault === undefined) await twilio.stop();
    for (let i = 0; i < 7; i++) expect((await send()).status).toBe(502);
    expect((await send(mailbox())).status).toBe(200);
  });

  test('a send that the provider refused for its number stays spent', async () => {
    await restart({ MAX_VERIFY_SENDS_PER_IP: '3' });
    for (const fault of [20500, 60200, 60203] as const) {
      twilio.faults.send = fault;
      expect((await send()).status).not.toBe(200);
    }
    twilio.faults.send = undefined;
    const reply = await send();
    expect([reply.status, reply.headers.get('retry-after')]).toEqual([429, '86400']);
    expect(twilio.requests.send).toBe(3);
  });
});

describe('SMS codes are checked by the provider', () => {
  test('approved: verified, with an attestation of channel sms, and the status says so', async () => {
    await send();
    const reply = await check(rightCode());
    expect(reply.body).toMatchObject({ ok: true, verified: true, attestation: phone() });
    const { attestation } = createKeys(fromHex(VAULT_SECRET) as Uint8Array);
    expect(openAttestation(attestation, reply.body.attestation)).toEqual(reply.body.attestation);
    const verifiedAt = reply.body.attestation.verified_at;
    expect((await ask('GET /api/verify/status', phone())).body).toEqual({ ...phone(), verified: true, verifiedAt });
  });

  test('pending: not verified, Incorrect code, and how many checks are left', async () => {
    await send();
    for (let left = 2; left >= 0; left--) {
      const { status, body } = await check(wrongCode());
      expect([status, body]).toEqual([
        200,
        { ok: true, verified: false, message: 'Incorrect code', attempts_remaining: left },
      ]);
    }
    expect((await ask('GET /api/verify/status', phone())).body).toMatchObject({ verified: false, verifiedAt: null });
  });

  test.each<[SmsFault, string]>([
    [20404, 'Code expired'],
    [60202, 'Too many attempts'],
  ])('%i: not verified, %s', async (fault, message) => {
    await send();
    twilio.faults.check = fault;
    const { status, body } = await check(rightCode());
    expect([status, body]).toEqual([200, { ok: true, verified: false, message }]);
  });

  test('60200: 400 Invalid identifier', async () => {
    await send();
    twilio.faults.check = 60200;
    const { status, body } = await check(rightCode());
    expect([status, body]).toEqual([400, { error: 'Invalid identifier' }]);
  });

  test('§7 verify/check 502 body with ok: false', async () => {
    const all = faults(SMS_ERRORS, 20404, 60200, 60202) as SmsFault[];
    for (const [n, fault] of all.entries()) {
      await send(phone(n));
      twilio.faults.check = fault;
      const { status, body } = await check(rightCode(phone(n)), phone(n));
      expect([fault, status, body]).toEqual([fault, 502, { ok: false, error: 'sms_provider_error' }]);
    }
    expect(twilio.requests.check).toBe(all.length);
  });

  test('silence: the same 502 after ten seconds; nothing is verified, and the code may be tried again', async () => {
    await send();
    twilio.faults.check = 'silence';
    const reply = await afterTimeout(check(rightCode()), () => twilio.requests.check === 1, UPSTREAM_TIMEOUT_MS);
    expect([reply.status, reply.body]).toEqual([502, { ok: false, error: 'sms_provider_error' }]);
    expect((await ask('GET /api/verify/status', phone())).body.verified).toBe(false);
    twilio.faults.check = undefined;
    expect((await check(rightCode())).body.verified).toBe(true);
  });

  test('a provider that cannot be reached: the same 502', async () => {
    await send();
    const code = rightCode();
    await twilio.stop();
    const reply = await check(code);
    expect([reply.status, reply.body]).toEqual([502, { ok: false, error: 'sms_provider_error' }]);
  });

  test('without a live send of ours it is never asked: none at all, expired, spent, or ended by its approval', async () => {
    const expectUnasked = async (code: string, message: string) => {
      const before = twilio.requests.check;
      expect((await check(code)).body).toMatchObject({ ok: true, verified: false, message });
      expect(twilio.requests.check).toBe(before);
    };
    await expectUnasked('123456', 'Incorrect code');
    await send();
    const late = rightCode();
    await clock.advance(CODE_LIFE);
    await expectUnasked(late, 'Code expired');
    await send();
    for (let i = 0; i < 3; i++) await check(wrongCode());
    await expectUnasked(rightCode(), 'Too many attempts');
    await clock.advance(CODE_LIFE);
    await send();
    const code = rightCode();
    expect((await check(code)).body.verified).toBe(true);
    await expectUnasked(code, 'No code was sent');
    expect((await check('123456', phone(2))).body.message).toBe('Incorrect code');
    expect(twilio.requests.check).toBe(4);
  });

  test('what cannot be a code is wrong and spends a check without asking', async () => {
    await send();
    for (const code of ['abcdef', '12345678901', '１２３４５６'])
      expect((await check(code)).body.message).toBe('Incorrect code');
    expect((await check(rightCode())).body.message).toBe('Too many attempts');
    expect(twilio.requests.check).toBe(0);
  });

  test('of 50 concurrent wrong codes of one client three are checked, and then not even its right one', async () => {
    await send();
    const all = await Promise.all(Array.from({ length: 50 }, () => check(wrongCode())));
    const messages = all.map(({ body }) => body.message as string).sort();
    expect(messages).toEqual([...Array(3).fill('Incorrect code'), ...Array(47).fill('Too many attempts')]);
    expect((await check(rightCode())).body).toMatchObject({ verified: false, message: 'Too many attempts' });
    expect(twilio.requests.check).toBe(3);
  });

  test('of 50 concurrent right codes one verifies, even when the provider approves them all', async () => {
    let approved = 0;
    const generous = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      fetch(request) {
        const isCheck = request.url.endsWith('/VerificationCheck');
        if (isCheck) approved++;
        return Response.json({ status: isCheck ? 'approved' : 'pending' });
      },
    });
    await restart({ TWILIO_API_URL: `http://127.0.0.1:${generous.port}` });
    await send();
    const all = await Promise.all(Array.from({ length: 50 }, () => check('123456')));
    expect(all.filter(({ body }) => body.verified === true)).toHaveLength(1);
    expect(approved).toBeLessThanOrEqual(5);
    await generous.stop(true);
  });

  test('wrong guesses block nobody: the alarm is raised at 20 in a row, and the right code still verifies', async () => {
    for (let guess = 0; guess < 60; guess++) {
      if (guess % 3 === 0) {
        await clock.advance(CODE_LIFE);
        await send();
      }
      expect((await check(wrongCode())).body.message).toBe('Incorrect code');
    }
    expect(await t.rows(`SELECT count(*) AS n FROM events WHERE type = 'code.guessing'`)).toEqual([{ n: 1 }]);
    await clock.advance(CODE_LIFE);
    await send();
    expect((await check(rightCode())).body.verified).toBe(true);
  });

  describe('of the five checks of one code (S3)', () => {
    const from = async (ip: string, code = wrongCode()) =>
      (await ask('POST /api/verify/check', { ...phone(), code }, ip)).body;
    const [stranger, another, third] = ['203.0.113.8', '203.0.113.9', '203.0.113.10'] as const;

    test('the first two askers keep two each, whoever asks later; all others share one', async () => {
      await send();
      await send(phone(), stranger);
      await send(phone(), another);
      for (const ip of [another, third, stranger, stranger, stranger, third, another])
        expect((await from(ip)).verified).toBe(false);
      expect(twilio.requests.check).toBe(3);
      expect((await check(wrongCode())).body).toMatchObject({ message: 'Incorrect code', attempts_remaining: 1 });
      expect((await check(rightCode())).body.verified).toBe(true);
    });

    test('a stranger who asks after the owner, and two wrong checks of a third, leave the right code right', async () => {
      const { challenge } = (await send()).body;
      await send(phone(), stranger);
      for (let n = 0; n < 2; n++) await from(third);
      const bound = await ask('POST /api/verify/check', { ...phone(), challenge, code: rightCode() }, another);
      expect(bound.body.verified).toBe(true);
    });

    test('a challenge that the vault has not given is judged by no code, not even by the provider’s', async () => {
      await send();
      const challenge = 'A'.repeat(22);
      const guessed = await ask('POST /api/verify/check', { ...phone(), challenge, code: rightCode() }, stranger);
      expect([guessed.body.verified, twilio.requests.check]).toEqual([false, 0]);
      expect((await check(rightCode())).body.verified).toBe(true);
    });

    test('two addresses that ask first keep out the owner of neither hour: the shared one is theirs too', async () => {
      await send(phone(), stranger);
      await send();
      for (let n = 0; n < 6; n++) await from(stranger);
      expect(twilio.requests.check).toBe(3);
      expect((await check(rightCode())).body.verified).toBe(true);
      // The code is used up for all who asked for it, so that the next one has all its checks.
      await clock.advance(CODE_LIFE);
      await send();
      expect((await check(rightCode())).body.verified).toBe(true);
    });
  });

  test("a provider's failure is no wrong guess", async () => {
    await send();
    for (const fault of [20500, 20404, 60202, 'garbage'] as const) {
      twilio.faults.check = fault;
      await check(wrongCode());
    }
    expect(await t.rows('SELECT * FROM verifications')).toEqual([]);
  });
});

describe('mail by Resend', () => {
  const codeFor = (who = mailbox()) =>
    /\b\d{6}\b/.exec(resend.messages.findLast(({ to }) => to.includes(who.identifier))?.text ?? '')?.[0] ?? '';

  test('carries the code that verifies', async () => {
    const reply = await send(mailbox());
    expect(reply.body).toMatchObject({ ok: true, channel: 'email', expires_in: 90, retry_after: 0 });
    expect((await check(codeFor(), mailbox())).body).toMatchObject({ verified: true, attestation: mailbox() });
  });

  test.each(['missing_api_key', 'rate_limit_exceeded', 'daily_quota_exceeded'] as const satisfies ResendFault[])(
    '%s is 502 email_send_failed, and the send costs nothing',
    async (fault) => {
      await restart({ MAX_VERIFY_SENDS_PER_IP: '1' });
      resend.faults.send = fault;
      for (let i = 0; i < 7; i++) expect((await send(mailbox())).status).toBe(502);
      resend.faults.send = undefined;
      expect((await send(mailbox())).status).toBe(200);
    },
  );

  const own = ['missing_api_key', 'rate_limit_exceeded', 'daily_quota_exceeded'];
  test.each(faults(RESEND_ERRORS).filter((fault) => !own.includes(String(fault))) as ResendFault[])(
    '%s is 502 email_send_failed, and the send is spent',
    async (fault) => {
      await restart({ MAX_VERIFY_SENDS_PER_IP: '1' });
      resend.faults.send = fault;
      const reply = await send(mailbox());
      expect([reply.status, reply.body]).toEqual([502, { error: 'email_send_failed' }]);
      resend.faults.send = undefined;
      expect((await send(mailbox())).status).toBe(429);
      expect((await send(mailbox(), '203.0.113.8')).status).toBe(200);
    },
  );

  test('silence is 502 email_send_failed after ten seconds, and the send is spent', async () => {
    await restart({ MAX_VERIFY_SENDS_PER_IP: '1' });
    resend.faults.send = 'silence';
    const before = resend.requests.send;
    const reply = await afterTimeout(send(mailbox()), () => resend.requests.send > before, UPSTREAM_TIMEOUT_MS);
    expect([reply.status, reply.body]).toEqual([502, { error: 'email_send_failed' }]);
    resend.faults.send = undefined;
    expect((await send(mailbox())).status).toBe(429);
  });
});

test('a mailer of the host that never answers is 502 email_send_failed after its bounded time, and the send is spent', async () => {
  let mails = 0;
  const silent = {
    send() {
      mails++;
      return new Promise<void>(() => {});
    },
  };
  await restart(
    { EMAIL_PROVIDER: 'smtp', SMTP_URL: 'smtp://127.0.0.1', MAX_VERIFY_SENDS_PER_IP: '1' },
    { mail: silent },
  );
  const reply = await afterTimeout(send(mailbox()), () => mails === 1, MAIL_SEND_TIMEOUT_MS);
  expect([reply.status, reply.body]).toEqual([502, { error: 'email_send_failed' }]);
  expect((await send(mailbox())).status).toBe(429);
  expect(mails).toBe(1);
});
