import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import type { VaultError } from '../../../lib/base/error.ts';
import type { LogEntry } from '../../../lib/base/log.ts';
import { createMetrics } from '../../../lib/base/metrics.ts';
import { systemRandom } from '../../../lib/base/random.ts';
import { UPSTREAM_TIMEOUT_MS } from '../../../lib/constants.ts';
import { createEmailSender } from '../../../lib/delivery/email.ts';
import type { Mail } from '../../../lib/delivery/mail.ts';
import { MAIL_SEND_TIMEOUT_MS, type Mailer } from '../../../lib/delivery/smtp.ts';
import {
  RESEND_API_KEY,
  RESEND_ERRORS,
  type ResendFault,
  type ResendProvider,
  startResend,
} from '../../../scripts/dev-stack/resend.ts';
import { BRAND, wordsOf } from '../../support/brand.ts';
import { testClock } from '../../support/clock.ts';
import { expectTellsNothing, failureOf } from '../../support/secrecy.ts';
import { tally } from '../../support/tally.ts';

const message = { to: 'alice@example.com', app: 'default', language: 'en', code: '042137', lifetimeSeconds: 90 };

/** A sender with its surroundings; `mail` is the host's mailer. */
function open(
  config: {
    emailProvider: 'log' | 'smtp' | 'resend';
    resendApiKey?: string;
    resendApiUrl?: string;
    emailFrom?: string;
  },
  mail?: Mailer,
) {
  const entries: LogEntry[] = [];
  const clock = testClock();
  const metrics = createMetrics();
  const sender = createEmailSender({
    config: {
      emailFrom: 'Vault <vault@example.net>',
      resendApiKey: RESEND_API_KEY,
      resendApiUrl: resend.url,
      baseUrl: 'https://vault.example.com',
      credentialTtlSeconds: 86_400,
      ...config,
    },
    mail,
    fetch,
    clock,
    random: systemRandom,
    log: (entry) => entries.push(entry),
    metrics,
    brandOf: () => BRAND,
    wordsOf,
  });
  /** The failure of a send, which must be a 502 that tells nothing. */
  const failure = async (meanwhile = async () => {}): Promise<VaultError> => {
    const failed = failureOf(sender.send(message));
    await meanwhile();
    const error = await failed;
    expect(error.code).toBe('email_send_failed');
    expect(error.details.cause).toBeInstanceOf(Error);
    expectTellsNothing(error, message.to, message.code, RESEND_API_KEY, 'vault@example.net');
    return error;
  };
  return { sender, entries, clock, metrics, failure };
}

let resend: ResendProvider;

beforeAll(async () => {
  resend = await startResend();
});

afterAll(() => resend.stop());

beforeEach(() => {
  resend.faults.send = undefined;
  resend.requests.send = 0;
});

describe('the log provider', () => {
  test('prints the code, and nothing else does', async () => {
    const { sender, entries, metrics } = open({ emailProvider: 'log' });
    await sender.send(message);
    expect(entries).toEqual([
      { level: 'info', event: 'code', channel: 'email', to: 'alice@example.com', code: '042137' },
    ]);
    expect(tally(metrics, 'vault_messages_total')).toEqual(['{channel="email",provider="log",outcome="accepted"} 1']);
  });

  test('is the only one that prints', async () => {
    const byMailer = open({ emailProvider: 'smtp' }, { send: async () => {} });
    await byMailer.sender.send(message);
    const byResend = open({ emailProvider: 'resend' });
    await byResend.sender.send(message);
    resend.faults.send = 'garbage';
    await byResend.failure();
    expect([...byMailer.entries, ...byResend.entries]).toEqual([]);
  });
});

describe("the host's mailer", () => {
  test('is given the finished mail', async () => {
    const mails: Mail[] = [];
    const { sender } = open({ emailProvider: 'smtp' }, { send: async (mail) => void mails.push(mail) });
    await sender.send(message);
    expect(mails).toMatchObject([
      {
        from: 'Vault <vault@example.net>',
        to: 'alice@example.com',
        subject: 'Your code for vault.example.com: valid 90 seconds',
      },
    ]);
    expect(mails[0]?.text).toContain('042137');
    expect(mails[0]?.html).toContain('042137');
  });

  test('may quote what it was given: the failure does not', async () => {
    const { failure, metrics } = open(
      { emailProvider: 'smtp' },
      {
        send: async ({ to, text }) => {
          throw new Error(`550 ${to} refused`, { cause: new Error(text) });
        },
      },
    );
    const { details } = await failure();
    expect(String(details.cause)).toBe('Error: 550 … refused');
    expect(tally(metrics, 'vault_messages_total')).toEqual(['{channel="email",provider="smtp",outcome="failed"} 1']);
    expect(tally(metrics, 'vault_message_duration_seconds')).toEqual(['{channel="email"} 1']);
  });

  test('may throw anything', async () => {
    const { failure } = open(
      { emailProvider: 'smtp' },
      {
        send: () => {
          throw message.to;
        },
      },
    );
    await failure();
  });

  test('is not waited for without end', async () => {
    const { failure, clock } = open({ emailProvider: 'smtp' }, { send: () => new Promise(() => {}) });
    const { details } = await failure(() => clock.advance(MAIL_SEND_TIMEOUT_MS));
    expect(String(details.cause)).toContain('did not answer in time');
  });

  test('must be there at the start', () => {
    expect(() => open({ emailProvider: 'smtp' })).toThrow('env.mail');
  });
});

describe('Resend', () => {
  test('is handed the text and the HTML', async () => {
    const { sender, metrics } = open({ emailProvider: 'resend' });
    const to = 'bob@example.com';
    await sender.send({ ...message, to });
    const mail = await resend.waitFor(to);
    expect(mail).toMatchObject({
      from: 'Vault <vault@example.net>',
      to: [to],
      subject: 'Your code for vault.example.com: valid 90 seconds',
    });
    expect(mail.text).toContain(
      '042137\n\nThis code is to sign up at vault.example.com.\n\nEnter it within 90 seconds',
    );
    expect(mail.html).toContain('042137');
    expect(tally(metrics, 'vault_messages_total')).toEqual([
      '{channel="email",provider="resend",outcome="accepted"} 1',
    ]);
    expect(tally(metrics, 'vault_upstream_requests_total')).toEqual(['{upstream="resend",outcome="ok"} 1']);
  });

  test('learns that a machine wrote the mail, and its id if it may be sent again', async () => {
    const { sender } = open({ emailProvider: 'resend' });
    const to = 'machine@example.com';
    await sender.send({ ...message, to });
    const machine = { 'Auto-Submitted': 'auto-generated', 'X-Auto-Response-Suppress': 'All' };
    expect((await resend.waitFor(to)).headers).toEqual(machine);
    const again = 'again@example.com';
    await sender.send({ ...message, to: again, messageId: 'recovery-1-abc' });
    expect((await resend.waitFor(again)).headers).toEqual({
      ...machine,
      'Message-ID': '<recovery-1-abc@vault.example.com>',
    });
  });

  test('names the brand as the sender where EMAIL_FROM has no name', async () => {
    const { sender } = open({ emailProvider: 'resend', emailFrom: 'codes@example.net' });
    await sender.send({ ...message, to: 'named@example.com' });
    expect((await resend.waitFor('named@example.com')).from).toBe('"vault.example.com" <codes@example.net>');
  });

  test('gets every mail under an idempotency key of its own', async () => {
    const { sender } = open({ emailProvider: 'resend' });
    const to = 'carol@example.com';
    await sender.send({ ...message, to });
    await sender.send({ ...message, to });
    expect(resend.messages.filter((mail) => mail.to.includes(to))).toHaveLength(2);
  });

  const faults: readonly (readonly [ResendFault, cause: string])[] = [
    ['garbage', 'malformed'],
    ['empty', 'malformed'],
    ['endless', 'oversize'],
    ['redirect', 'redirect'],
    ['error-page', 'refused (502)'],
    ...Object.entries(RESEND_ERRORS).map(([name, [status]]) => [name as ResendFault, `refused (${status})`] as const),
  ];

  test.each(faults)('that answers with %s has not sent, and is asked once', async (fault, cause) => {
    resend.faults.send = fault;
    const { failure, metrics } = open({ emailProvider: 'resend' });
    const { details } = await failure();
    expect(String(details.cause)).toBe(`UpstreamError: ${cause}`);
    expect(resend.requests.send).toBe(1);
    expect(tally(metrics, 'vault_messages_total')).toEqual(['{channel="email",provider="resend",outcome="failed"} 1']);
  });

  test('that never answers has not sent after its timeout', async () => {
    resend.faults.send = 'silence';
    const { failure, clock } = open({ emailProvider: 'resend' });
    const { details } = await failure(() => clock.advance(UPSTREAM_TIMEOUT_MS));
    expect(String(details.cause)).toBe('UpstreamError: timeout');
  });

  test('that refuses the key has not sent, and the key is not told', async () => {
    const { failure } = open({ emailProvider: 'resend', resendApiKey: 're_wrong_key' });
    const error = await failure();
    expectTellsNothing(error, 're_wrong_key');
    expect(String(error.details.cause)).toBe('UpstreamError: refused (403)');
  });

  test('that nobody listens for has not sent', async () => {
    const gone = await startResend();
    await gone.stop();
    const { details } = await open({ emailProvider: 'resend', resendApiUrl: gone.url }).failure();
    expect(String(details.cause)).toContain('unreachable');
  });
});
