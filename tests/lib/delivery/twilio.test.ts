import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { ERRORS, type VaultError } from '../../../lib/base/error.ts';
import { createMetrics } from '../../../lib/base/metrics.ts';
import { createTwilio } from '../../../lib/delivery/twilio.ts';
import {
  SMS_ACCOUNT,
  SMS_ERRORS,
  type SmsFault,
  type SmsProvider,
  startSmsProvider,
} from '../../../scripts/dev-stack/sms.ts';
import { testClock } from '../../support/clock.ts';
import { otherCode } from '../../support/digits.ts';
import { expectTellsNothing, failureOf } from '../../support/secrecy.ts';
import { tally } from '../../support/tally.ts';

let world: SmsProvider;
let phones = 0;

beforeAll(async () => {
  world = await startSmsProvider();
});

afterAll(() => world.stop());

beforeEach(() => {
  world.faults.send = undefined;
  world.faults.check = undefined;
  world.requests.send = 0;
  world.requests.check = 0;
});

/** Every fault that no status of its own is given for, with the cause the log shows. */
function unmapped(...mapped: readonly number[]): readonly (readonly [SmsFault, cause: string])[] {
  const errors = Object.entries(SMS_ERRORS).filter(([code]) => !mapped.includes(Number(code)));
  return [
    ['garbage', 'malformed'],
    ['empty', 'malformed'],
    ['endless', 'oversize'],
    ['redirect', 'redirect'],
    ['error-page', 'refused (502)'],
    ...errors.map(([code, [status]]) => [Number(code) as SmsFault, `refused (${status}, ${code})`] as const),
  ];
}

/** A phone that no other test used. */
function newPhone(): string {
  return `+1500555${String(++phones).padStart(4, '0')}`;
}

function wrongCode(to: string): string {
  return otherCode(world.codeFor(to));
}

function open(account: Partial<typeof SMS_ACCOUNT & { apiUrl: string }> = {}) {
  const clock = testClock();
  const metrics = createMetrics();
  const twilio = createTwilio({ fetch, clock, metrics }, { apiUrl: world.url, ...SMS_ACCOUNT, ...account });
  return { clock, metrics, twilio };
}

/** The failure of a call, which must tell neither number, code nor key. */
async function failure(call: Promise<unknown>): Promise<VaultError> {
  const error = await failureOf(call);
  const { authToken, services } = SMS_ACCOUNT;
  expectTellsNothing(error, authToken, services.registration, '5005550', '0421379');
  return error;
}

describe('a send', () => {
  test('sets a code going', async () => {
    const { twilio, metrics } = open();
    const to = newPhone();
    await twilio.send(to, 'en', 'registration');
    expect(world.codeFor(to)).toMatch(/^\d{6}$/);
    expect(tally(metrics, 'vault_messages_total')).toEqual(['{channel="sms",provider="twilio",outcome="accepted"} 1']);
    expect(tally(metrics, 'vault_message_duration_seconds')).toEqual(['{channel="sms"} 1']);
    expect(tally(metrics, 'vault_upstream_requests_total')).toEqual(['{upstream="twilio",outcome="ok"} 1']);
  });

  test.each([
    ['de', 'de'],
    ['pt-BR', 'pt-BR'],
    ['de-AT', 'de'],
    // Twilio has no such templates, and would refuse the send.
    ['eo', null],
  ])('in %s asks for the locale %p', async (language, locale) => {
    const forms: string[] = [];
    const listening: typeof fetch = Object.assign(
      (url: Parameters<typeof fetch>[0], init?: RequestInit) => {
        forms.push(String(init?.body));
        return fetch(url, init);
      },
      { preconnect: fetch.preconnect },
    );
    const outside = { fetch: listening, clock: testClock(), metrics: createMetrics() };
    await createTwilio(outside, { apiUrl: world.url, ...SMS_ACCOUNT }).send(newPhone(), language, 'registration');
    expect(forms.map((form) => new URLSearchParams(form).get('Locale'))).toEqual([locale]);
  });

  test.each([60202, 60203] as const)('refused with %i is rate limited', async (fault) => {
    world.faults.send = fault;
    const { twilio, metrics } = open();
    expect((await failure(twilio.send(newPhone(), 'en', 'registration'))).code).toBe('rate_limited');
    expect(tally(metrics, 'vault_messages_total')).toEqual(['{channel="sms",provider="twilio",outcome="failed"} 1']);
  });

  test("is rate limited after the provider's five", async () => {
    const { twilio } = open();
    const to = newPhone();
    for (let i = 0; i < 5; i++) await twilio.send(to, 'en', 'registration');
    expect((await failure(twilio.send(to, 'en', 'registration'))).code).toBe('rate_limited');
  });

  test('refused with 60200 names the identifier', async () => {
    world.faults.send = 60200;
    const { code, message } = await failure(open().twilio.send(newPhone(), 'en', 'registration'));
    expect([ERRORS[code].status, message]).toEqual([400, 'Invalid identifier']);
  });

  test.each(unmapped(60200, 60202, 60203))('that meets %p has failed, and is made once', async (fault, cause) => {
    world.faults.send = fault;
    const { code, message, details } = await failure(open().twilio.send(newPhone(), 'en', 'registration'));
    expect([code, message]).toEqual(['sms_send_failed', 'sms_send_failed']);
    expect(String(details.cause)).toBe(`UpstreamError: ${cause}`);
    expect(world.requests.send).toBe(1);
  });

  test('that is never answered has failed after ten seconds', async () => {
    world.faults.send = 'silence';
    const { twilio, clock } = open();
    const failed = failure(twilio.send(newPhone(), 'en', 'registration'));
    await clock.advance(10_000);
    const { code, details } = await failed;
    expect([code, String(details.cause)]).toEqual(['sms_send_failed', 'UpstreamError: timeout']);
  });
});

describe('a check', () => {
  test('of the right code is approved, once', async () => {
    const { twilio } = open();
    const to = newPhone();
    await twilio.send(to, 'en', 'registration');
    const code = world.codeFor(to) ?? '';
    expect(await twilio.check(to, code, 'registration')).toBe('approved');
    expect(await twilio.check(to, code, 'registration')).toBe('expired');
  });

  test('of a wrong code is pending, and exhausted after five', async () => {
    const { twilio } = open();
    const to = newPhone();
    await twilio.send(to, 'en', 'registration');
    const verdicts = [];
    for (let i = 0; i < 6; i++) verdicts.push(await twilio.check(to, wrongCode(to), 'registration'));
    expect(verdicts).toEqual(['pending', 'pending', 'pending', 'pending', 'pending', 'exhausted']);
  });

  test('without a code on the way is expired', async () => {
    expect(await open().twilio.check(newPhone(), '042137', 'registration')).toBe('expired');
  });

  test.each(['', '123', '12345678901', 'abcdef', '１２３４５６', '123 456'])(
    'of "%s", which cannot be a code, is pending without a call',
    async (code) => {
      expect(await open().twilio.check(newPhone(), code, 'registration')).toBe('pending');
      expect(world.requests.check).toBe(0);
    },
  );

  test('refused with 60200 names the identifier', async () => {
    world.faults.check = 60200;
    const { message } = await failure(open().twilio.check(newPhone(), '0421379', 'registration'));
    expect(message).toBe('Invalid identifier');
  });

  test.each(unmapped(20404, 60200, 60202))(
    'that meets %p is a provider error, and is made once',
    async (fault, cause) => {
      world.faults.check = fault;
      const { code, details } = await failure(open().twilio.check(newPhone(), '0421379', 'registration'));
      expect(code).toBe('sms_provider_error');
      expect(details.extra).toEqual({ ok: false });
      expect(String(details.cause)).toBe(`UpstreamError: ${cause}`);
      expect(world.requests.check).toBe(1);
    },
  );

  test('that is never answered is a provider error after ten seconds', async () => {
    world.faults.check = 'silence';
    const { twilio, clock } = open();
    const failed = failure(twilio.check(newPhone(), '0421379', 'registration'));
    await clock.advance(10_000);
    const { code, details } = await failed;
    expect([code, String(details.cause)]).toEqual(['sms_provider_error', 'UpstreamError: timeout']);
  });
});

describe('answers that only look like the mapped ones', () => {
  const answers: readonly (readonly [status: number, body: unknown])[] = [
    [200, { status: 'canceled' }],
    [200, { status: 'max_attempts_reached' }],
    [200, { status: 'expired' }],
    [200, { status: 'APPROVED', valid: true }],
    [200, { valid: true }],
    [200, ['approved']],
    [200, 'approved'],
    [200, null],
    [201, { status: 'approved' }],
    [400, { status: 'approved' }],
    [404, { code: 20405 }],
    [404, { code: '20404' }],
    [404, {}],
    [400, { code: 20404 }],
    [429, { code: 20429 }],
    [429, {}],
    [403, { code: 60202 }],
    [503, { code: 60200 }],
    [400, { code: '+15005550006 has the code 0421379' }],
  ];

  test.each(answers)('%i %j is a provider error', async (status, body) => {
    const server = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => Response.json(body, { status }) });
    try {
      const { twilio } = open({ apiUrl: `http://127.0.0.1:${server.port}` });
      const { code } = await failure(twilio.check('+15005550006', '0421379', 'registration'));
      expect(code).toBe('sms_provider_error');
    } finally {
      await server.stop(true);
    }
  });
});

test('a refused account is told by its status alone', async () => {
  const { twilio } = open({ authToken: 'wrong-token-ü' });
  const error = await failure(twilio.send(newPhone(), 'en', 'registration'));
  expectTellsNothing(error, 'wrong-token', SMS_ACCOUNT.accountSid);
  expect(String(error.details.cause)).toBe('UpstreamError: refused (401, 20003)');
});
