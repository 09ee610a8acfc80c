import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { fromBase64 } from '../../../lib/base/bytes.ts';
import { createMetrics } from '../../../lib/base/metrics.ts';
import { systemRandom } from '../../../lib/base/random.ts';
import { UPSTREAM_TIMEOUT_MS } from '../../../lib/constants.ts';
import { createEmailSender } from '../../../lib/delivery/email.ts';
import { emailHook } from '../../../lib/delivery/hook.ts';
import { reachedNobody } from '../../../lib/delivery/measure.ts';
import type { CodeMail } from '../../../lib/delivery/provider.ts';
import { createSmsProvider } from '../../../lib/delivery/sms.ts';
import { answerFault, type Fault } from '../../../scripts/dev-stack/fault.ts';
import { BRAND, wordsOf } from '../../support/brand.ts';
import { testClock } from '../../support/clock.ts';
import { isSigned, type Receiver, startReceiver, WEBHOOK_SECRET } from '../../support/receiver.ts';
import { expectTellsNothing, failureOf } from '../../support/secrecy.ts';
import { tally } from '../../support/tally.ts';

const PASS = 'https://vault.example.com/pass#a-b';
const CODE = { to: 'alice@example.com', app: 'shop', language: 'en', code: '042137', pass: PASS, lifetimeSeconds: 90 };
const SMS_CODE = { ...CODE, to: '+15005550006' };
const KEY = fromBase64(WEBHOOK_SECRET.slice('whsec_'.length)) as Uint8Array;

let receiver: Receiver;
beforeEach(() => {
  receiver = startReceiver();
});
afterEach(() => receiver.stop());

function open(more: { emailFrom?: string; url?: string; support?: string; secrets?: readonly Uint8Array[] } = {}) {
  const clock = testClock();
  const metrics = createMetrics();
  const { url = `${receiver.url}/codes`, secrets = [KEY], emailFrom, support } = more;
  const hooks = { emailHookUrl: url, emailHookSecret: secrets, smsHookUrl: url, smsHookSecret: secrets };
  const outside = {
    config: {
      ...{ emailProvider: 'hook', smsProvider: 'hook', baseUrl: 'https://vault.example.com', emailFrom, ...hooks },
      credentialTtlSeconds: 86_400,
      ...{ resendApiUrl: '', twilioApiUrl: '' },
    },
    mail: undefined,
    ...{ fetch, clock, metrics, wordsOf, random: systemRandom, log: () => {} },
    brandOf: (app: string) => ({ ...BRAND, name: app === 'shop' ? 'Tea House' : BRAND.name, support }),
  };
  const email = createEmailSender(outside);
  const sms = createSmsProvider(outside);
  if (sms.kind !== 'own') throw new Error('the vault keeps the codes of a hook');
  return { clock, metrics, email, sms };
}

describe('a mail', () => {
  test('is posted once, signed, with all that a provider needs', async () => {
    const { email, clock, metrics } = open({ emailFrom: 'codes@example.net', support: 'help@example.com' });
    await email.send(CODE);
    const [posted, ...more] = receiver.received;
    if (!posted) throw new Error('nothing was posted');
    expect(more).toEqual([]);
    expect(isSigned(posted, WEBHOOK_SECRET)).toBe(true);
    expect(posted.timestamp).toBe(Math.floor(clock.now() / 1000));
    expect(posted.id).toMatch(/^msg_[0-9a-f]{32}$/);
    const { subject, text, html, ...data } = posted.body.data;
    expect([posted.body.type, posted.body.timestamp]).toEqual(['message.send', new Date(clock.now()).toISOString()]);
    expect(data).toEqual({
      id: posted.id,
      channel: 'email',
      to: 'alice@example.com',
      kind: 'code.registration',
      code: '042137',
      link: PASS,
      language: 'en',
      app: 'shop',
      brand: 'Tea House',
      expires_at: new Date(clock.now() + 90_000).toISOString(),
      from: '"Tea House" <codes@example.net>',
      reply_to: 'help@example.com',
      headers: { 'Auto-Submitted': 'auto-generated', 'X-Auto-Response-Suppress': 'All' },
    });
    expect(subject).toBe('Your code for Tea House: valid 90 seconds');
    expect([text, html].map((one) => one.includes('042137') && one.includes(PASS))).toEqual([true, true]);
    expect(tally(metrics, 'vault_messages_total')).toEqual(['{channel="email",provider="hook",outcome="accepted"} 1']);
    expect(tally(metrics, 'vault_upstream_requests_total')).toEqual(['{upstream="email_hook",outcome="ok"} 1']);
  });

  test('needs no EMAIL_FROM: the receiver has a sender of its own', async () => {
    await open().email.send(CODE);
    expect(receiver.received[0]?.body.data).toMatchObject({ from: null, reply_to: null });
  });

  const recovery = { account: '0x5f', readyAt: null, link: 'https://vault.example.com/account' };
  const kinds: readonly (readonly [string, Partial<CodeMail>])[] = [
    ['pass', { pass: PASS }],
    ['taken_over', { notice: 'taken_over' }],
    ['recovery_started', { recovery: { ...recovery, kind: 'started', status: 'proposed' } }],
    ['recovery_vetoed', { recovery: { ...recovery, kind: 'ended', status: 'vetoed' } }],
  ];
  test.each(kinds)('of kind %s says so, and has no code', async (kind, more) => {
    const { code: _, pass: __, ...who } = CODE;
    await open().email.send({ ...who, ...more, lifetimeSeconds: 0 });
    expect(receiver.received[0]?.body.data).toMatchObject({ kind, code: null, expires_at: null });
  });

  test('that is sent again keeps its id, and another one has its own', async () => {
    const { email } = open();
    for (const messageId of ['recovery-1-abc', 'recovery-1-abc', undefined, undefined])
      await email.send({ ...CODE, ...(messageId === undefined ? {} : { messageId }) });
    const [first, second, third, fourth] = receiver.received.map(({ id, body }) => [id, body.data.id]);
    expect(second).toEqual(first);
    expect(first).toEqual(['msg_recovery-1-abc', 'msg_recovery-1-abc']);
    expect(third).not.toEqual(fourth);
  });

  test('is signed with each secret', async () => {
    const other = `whsec_${Buffer.from('another secret, 32 bytes as well').toString('base64')}`;
    await open({ secrets: [fromBase64(other.slice(6)) as Uint8Array, KEY] }).email.send(CODE);
    const [posted] = receiver.received;
    expect(posted && [isSigned(posted, other), isSigned(posted, WEBHOOK_SECRET)]).toEqual([true, true]);
  });
});

test.each(['registration', 'recovery', 'credential'] as const)('the kind of a code for %s says so', async (purpose) => {
  const { email, sms } = open();
  await email.send({ ...CODE, purpose });
  await sms.send({ ...SMS_CODE, purpose });
  expect(receiver.received.map(({ body }) => body.data.kind)).toEqual([`code.${purpose}`, `code.${purpose}`]);
});

test('a text message is posted with its text of one segment', async () => {
  const { sms, metrics } = open();
  await sms.send({ ...SMS_CODE, pass: undefined });
  const [posted] = receiver.received;
  expect(posted?.body.data).toMatchObject({
    channel: 'sms',
    to: '+15005550006',
    kind: 'code.registration',
    code: '042137',
    link: null,
  });
  expect(posted?.body.data.text).toEndWith('\n\n@vault.example.com #042137');
  expect(Object.keys(posted?.body.data)).not.toContain('html');
  expect(tally(metrics, 'vault_messages_total')).toEqual(['{channel="sms",provider="hook",outcome="accepted"} 1']);
});

describe('a failure', () => {
  /** The failures of a mail and of a text message, which hold nothing of them. */
  async function failures({ email, sms, clock }: ReturnType<typeof open>, afterMs = 0) {
    const calls = [failureOf(email.send(CODE)), failureOf(sms.send(SMS_CODE))];
    await clock.advance(afterMs);
    const errors = await Promise.all(calls);
    for (const error of errors) {
      const secrets = [WEBHOOK_SECRET.slice(6), CODE.to, SMS_CODE.to, CODE.code, PASS, new URL(receiver.url).host];
      expectTellsNothing(error, ...secrets);
    }
    expect(errors.map(({ code }) => code)).toEqual(['email_send_failed', 'sms_send_failed']);
    return errors;
  }
  const causes = (errors: readonly Error[]) => errors.map(({ cause }) => String(cause));

  test.each([
    [400, false],
    [401, true],
    [404, false],
    [410, true],
    [422, false],
    [429, true],
    [500, false],
    [502, false],
    [503, true],
  ])('with status %i is asked once; that it surely reached nobody: %p', async (status, isFree) => {
    receiver.answer = () => new Response('who knows', { status });
    const errors = await failures(open());
    expect(causes(errors)).toEqual(Array(2).fill(`UpstreamError: refused (${status})`));
    expect(errors.map(reachedNobody)).toEqual([isFree, isFree]);
    expect(receiver.received).toHaveLength(2);
  });

  test('of a redirect is not followed', async () => {
    receiver.answer = (_, request) => answerFault('redirect', request);
    expect(causes(await failures(open()))).toEqual(Array(2).fill('UpstreamError: redirect'));
    expect(receiver.received).toHaveLength(2);
  });

  test('by silence ends in time, and may have reached somebody', async () => {
    receiver.answer = (_, request) => answerFault('silence', request);
    const errors = await failures(open(), UPSTREAM_TIMEOUT_MS);
    expect(causes(errors)).toEqual(Array(2).fill('UpstreamError: timeout'));
    expect(errors.map(reachedNobody)).toEqual([false, false]);
  });

  test('of a server that is away reached nobody', async () => {
    await receiver.stop();
    const errors = await failures(open());
    expect(causes(errors).every((cause) => cause.includes('unreachable'))).toBe(true);
    expect(errors.map(reachedNobody)).toEqual([true, true]);
  });
});

test.each(['garbage', 'empty', 'endless'] satisfies Fault[])('a body is not read: %s', async (fault) => {
  receiver.answer = (_, request) => answerFault(fault, request);
  const { email, sms } = open();
  await email.send(CODE);
  await sms.send(SMS_CODE);
});

describe('the doctor', () => {
  const check = () =>
    emailHook.check({
      config: { emailHookUrl: receiver.url, emailHookSecret: [KEY] },
      ...{ fetch, clock: testClock(), connect: async () => Promise.reject(new Error('unused')) },
    });
  const judge: Receiver['answer'] = (webhook) =>
    new Response(null, { status: isSigned(webhook, WEBHOOK_SECRET) ? 204 : 401 });

  test('posts a signed ping and a forged one, and nothing that could be sent', async () => {
    receiver.answer = judge;
    expect(await check()).toMatchObject([{ state: 'ok' }]);
    expect(receiver.received.map(({ body }) => [body.type, body.data])).toEqual(Array(2).fill(['ping', {}]));
  });

  test.each([
    [() => new Response(null, { status: 204 }), 'warn', 'accepts a ping that EMAIL_HOOK_SECRET did not sign'],
    [() => new Response(null, { status: 401 }), 'fail', 'refuses the signature (401)'],
    [() => new Response(null, { status: 500 }), 'fail', 'answers a signed ping with 500'],
  ] as const)('says what is wrong with a receiver', async (answer, state, text) => {
    receiver.answer = answer;
    const [found, ...more] = await check();
    expect([found?.state, more]).toEqual([state, []]);
    expect(found?.text).toContain(text);
    expect(found?.remedy).toBeDefined();
  });
});
