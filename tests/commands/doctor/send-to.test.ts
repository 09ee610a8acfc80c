import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sendCheck } from '../../../commands/doctor/send.ts';
import { systemClock } from '../../../lib/base/clock.ts';
import { readConfig } from '../../../lib/config/config.ts';
import { runChecks } from '../../../lib/doctor/finding.ts';
import { parseRecipient } from '../../../lib/doctor/send-test.ts';
import { type MailCatcher, startMailCatcher } from '../../../scripts/dev-stack/mail.ts';
import { createAuthority } from '../../support/authority.ts';
import { temporaryFolder } from '../../support/databases.ts';
import { runProgram } from '../../support/run.ts';
import { VAULT_SECRET } from '../../support/vault.ts';

interface Check {
  readonly name: string;
  readonly state: string;
  readonly text: string;
  readonly remedy?: string;
}

let folder: ReturnType<typeof temporaryFolder>;
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(() => folder.remove());

const FROM = { RPC_URL: 'http://127.0.0.1:1', EMAIL_FROM: 'Tea <codes@tea.example>' };

/** What a test message comes to under these settings. */
async function send(to: string, vars: Record<string, string>): Promise<Check> {
  const check = await sendCheck(readConfig({ VAULT_SECRET, ...FROM, ...vars }), parseRecipient(to));
  return (await runChecks(systemClock, [check]))[0] as Check;
}

/** What the program says of mail, the test message first. */
async function runSend(to: string, vars: Record<string, string>) {
  const run = await runProgram(['doctor', '--json', '--send-to', to], { cwd: folder.path, vars: { ...FROM, ...vars } });
  return { ...run, checks: (JSON.parse(run.out) as { checks: Check[] }).checks.filter(({ name }) => name === 'mail') };
}

describe('vault doctor --send-to by a real mail server', () => {
  let server: MailCatcher;
  beforeAll(async () => {
    server = await startMailCatcher({
      auth: { user: 'vault', pass: 'p@ss:w/rd' },
      reject: (recipient) => recipient.startsWith('nobody'),
    });
  });
  afterAll(() => server.stop());
  const url = (pass: string) => server.url.replace('://', `://vault:${encodeURIComponent(pass)}@`);

  test('sends a mail that says that it is a test, and says who took it over', async () => {
    const { checks, out } = await runSend('ada@tea.example', { EMAIL_PROVIDER: 'smtp', SMTP_URL: url('p@ss:w/rd') });
    expect(checks.map(({ state, text }) => `${state} ${text}`)).toEqual([
      expect.stringMatching(/^ok smtp took the test message to a\*\*\*@tea\.example over in \d+\.\d s: look whether/),
      'ok the server accepts the connection and the credentials; nothing was sent',
    ]);
    const mail = await server.waitFor('ada@tea.example');
    expect(mail.subject).toBe('Test: this vault can send mail');
    expect(mail.text).toContain('This is a test that the operator of this service had sent.');
    expect(out).not.toContain('ada@tea');
    expect(out).not.toContain('w/rd');
  });

  test('has the remedy of what went wrong: the password, the recipient, the host, the port', async () => {
    const smtp = { EMAIL_PROVIDER: 'smtp', SMTP_URL: url('p@ss:w/rd') };
    const first = (to: string, vars: Record<string, string>) => send(to, { ...smtp, ...vars });
    expect(await first('ada@tea.example', { SMTP_URL: url('wrong') })).toMatchObject({
      state: 'fail',
      text: expect.stringContaining('was not sent: SMTP: the server refused the credentials'),
      remedy: 'set user and password in SMTP_URL, special characters percent-encoded',
    });
    expect(await first('nobody@tea.example', {})).toMatchObject({
      text: expect.stringContaining('the server refused the sender or the recipient'),
      remedy: expect.stringContaining('the server refuses this recipient'),
    });
    expect(await first('ada@tea.example', { SMTP_URL: 'smtp://127.0.0.1:1' })).toMatchObject({
      remedy: expect.stringContaining('nothing listens there'),
    });
    expect(await first('ada@tea.example', { SMTP_URL: 'smtp://mail.invalid' })).toMatchObject({
      remedy: expect.stringContaining('check the host in SMTP_URL'),
    });
  });

  test('over TLS of a private authority, before and after it is named', async () => {
    if (Bun.which('openssl') === null)
      return console.log('There is no openssl: no mail goes over a private authority.');
    const authority = await createAuthority();
    const day = 86_400_000;
    const tls = await authority.issue({ names: ['localhost'], from: -day, to: day });
    writeFileSync(join(folder.path, 'authority.pem'), authority.cert);
    const safe = await startMailCatcher({ tls });
    const vars = { EMAIL_PROVIDER: 'smtp', SMTP_URL: `smtp://localhost:${safe.port}?tls=required` };
    expect(await send('ada@tea.example', vars)).toMatchObject({
      text: expect.stringContaining('is of an authority that this machine does not know'),
      remedy: expect.stringContaining('NODE_EXTRA_CA_CERTS'),
    });
    const named = { ...vars, NODE_EXTRA_CA_CERTS: join(folder.path, 'authority.pem') };
    expect((await runSend('ada@tea.example', named)).checks.map(({ state }) => state)).toEqual(['ok', 'ok']);
    expect((await safe.waitFor('ada@tea.example')).secure).toBe(true);
    await safe.stop();
  });
});

test('vault doctor --send-to a number asks Twilio for a message; none and log say what they do', async () => {
  const asked: string[] = [];
  const twilio = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      asked.push(`${request.method} ${await request.text()}`);
      return Response.json({ status: 'pending' }, { status: request.method === 'POST' ? 201 : 200 });
    },
  });
  const vars = {
    SMS_PROVIDER: 'twilio',
    TWILIO_ACCOUNT_SID: `AC${'0'.repeat(32)}`,
    TWILIO_AUTH_TOKEN: 'token',
    TWILIO_VERIFY_SERVICE_SID: `VA${'1'.repeat(32)}`,
    TWILIO_API_URL: `http://127.0.0.1:${twilio.port}`,
    SMS_COUNTRIES: '+49',
  };
  expect((await send('+4915123456789', vars)).text).toStartWith('twilio took the test message to +49***89 over in');
  expect(asked.filter((line) => line.startsWith('POST'))).toEqual(['POST To=%2B4915123456789&Channel=sms&Locale=en']);
  await twilio.stop(true);
  expect(await send('+4915123456789', { SMS_PROVIDER: 'none' })).toMatchObject({
    state: 'fail',
    text: 'SMS_PROVIDER is none: nothing is sent',
  });
  expect(await send('ada@tea.example', {})).toMatchObject({
    state: 'warn',
    text: 'EMAIL_PROVIDER is log: the test message was printed',
  });
  const { code, err } = await runProgram(['doctor', '--send-to', 'ada'], { cwd: folder.path });
  expect([code, err]).toEqual([2, expect.stringContaining('--send-to takes an address such as')]);
});
