import { afterEach, describe, expect, spyOn, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SMTP_RETRIES_MAX, type SmtpLimits, smtpMailer } from '../../../commands/mail/smtp.ts';
import { systemClock } from '../../../lib/base/clock.ts';
import { createMetrics } from '../../../lib/base/metrics.ts';
import { systemRandom } from '../../../lib/base/random.ts';
import { createEmailSender } from '../../../lib/delivery/email.ts';
import { reachedNobody } from '../../../lib/delivery/measure.ts';
import type { MailBrand } from '../../../lib/delivery/provider.ts';
import { createCertificate } from '../../../scripts/dev-stack/certificate.ts';
import { type MailCatcherOptions, startMailCatcher } from '../../../scripts/dev-stack/mail.ts';
import { freePort } from '../../../scripts/dev-stack/port.ts';
import { BRAND, wordsOf } from '../../support/brand.ts';
import { expectTellsNothing, failureOf } from '../../support/secrecy.ts';
import { agreeable, scriptedSmtp } from '../../support/smtp.ts';
import { until } from '../../support/until.ts';

const ends: (() => unknown)[] = [];

afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

const auth = { user: 'vault', pass: 'correct horse' };
const login = 'vault:correct%20horse';
/** Far more than a step takes on a busy machine, so that the step that hangs is the one that is given up. */
const STEP_MS = 1_000;
const mail = {
  from: 'Vault <vault@example.net>',
  to: 'alice@example.com',
  subject: 'Your code',
  text: '042137 is your code.',
  html: '<p>042137 is your code.',
};

async function catcher(options: MailCatcherOptions = {}) {
  const box = await startMailCatcher(options);
  ends.push(box.stop);
  return box;
}

function scripted(answer: Parameters<typeof scriptedSmtp>[0]) {
  const server = scriptedSmtp(answer);
  ends.push(server.stop);
  return server;
}

function open(url: string, limits: Partial<SmtpLimits> = {}) {
  const mailer = smtpMailer(url, limits);
  ends.push(mailer.close);
  return mailer;
}

/** What a send throws; it must tell neither address, code nor password. */
async function failure(mailer: ReturnType<typeof smtpMailer>, message = mail): Promise<string> {
  const error = await failureOf(mailer.send(message));
  expectTellsNothing(error, mail.to, 'alice', '042137', auth.pass, 'correct%20horse', btoa(auth.pass));
  return error.message;
}

/** Whether a line is the step `at`, of which `''` is the greeting. */
function isAt(at: string, line: string): boolean {
  return at === '' ? line === '' : line.startsWith(at);
}

function senderTo(url: string, brandOf: (app: string) => MailBrand = () => BRAND) {
  return createEmailSender({
    config: {
      emailProvider: 'smtp',
      emailFrom: 'Vault <vault@example.net>',
      resendApiKey: undefined,
      resendApiUrl: '',
      baseUrl: 'https://vault.example.com',
      credentialTtlSeconds: 86_400,
    },
    mail: open(url),
    fetch,
    clock: systemClock,
    random: systemRandom,
    log: () => {},
    metrics: createMetrics(),
    brandOf,
    wordsOf,
  });
}

describe('a mail over SMTP', () => {
  test('carries the code as text and as HTML', async () => {
    const box = await catcher();
    const sender = senderTo(box.url);
    await sender.send({ to: 'alice@example.com', app: 'default', language: 'en', code: '042137', lifetimeSeconds: 90 });
    const got = await box.waitFor('alice@example.com');
    expect(got).toMatchObject({
      from: 'vault@example.net',
      subject: 'Your code for vault.example.com: valid 90 seconds',
      secure: false,
    });
    for (const part of [got.text, got.html]) {
      expect(part).toContain('042137');
      expect(part).toContain('Enter it within 90 seconds, where you asked for it.');
    }
    expect(got.text.trimEnd()).toEndWith('@vault.example.com #042137');
    expect(got.html).toContain('user-select:all">042137</p>');
  });

  test('names the brand of its app: as subject, sender, and where replies go', async () => {
    const box = await catcher();
    const tea = { ...BRAND, name: 'Tea & Häuser, Ltd.', support: 'help@tea.example', isOwn: true };
    const sender = senderTo(box.url, (app) => (app === 'tea' ? tea : { ...BRAND, support: 'help@example.net' }));
    const code = { to: 'alice@example.com', language: 'en', code: '042137', lifetimeSeconds: 90 };
    await sender.send({ ...code, app: 'tea' });
    await sender.send({ ...code, app: 'other', to: 'bob@example.com' });
    const [own, other] = [await box.waitFor('alice@example.com'), await box.waitFor('bob@example.com')];
    expect([own.subject, own.headers.get('reply-to')]).toEqual([
      'Your code for Tea & Häuser, Ltd.: valid 90 seconds',
      'help@tea.example',
    ]);
    expect(own.from).toBe('vault@example.net');
    expect(own.raw).toMatch(/^From: =\?UTF-8\?Q\?Tea_=26_H=C3=A4user=2C_Ltd=2E\?= <vault@example\.net>\r$/m);
    expect(own.html).toContain('>Tea &#38; Häuser, Ltd.</p>');
    expect(own.text).toContain('Questions? Write to help@tea.example.');
    // The line that binds the code names the host, whatever the brand is called.
    expect(own.text.trimEnd()).toEndWith('@vault.example.com #042137');
    expect([other.headers.get('from'), other.headers.get('reply-to')]).toEqual([
      'Vault <vault@example.net>',
      'help@example.net',
    ]);
  });

  test('says who it is from, that a machine wrote it, and under which id', async () => {
    const box = await catcher();
    await open(box.url).send(mail);
    const { headers } = await box.waitFor('alice@example.com');
    expect(headers.get('from')).toBe('Vault <vault@example.net>');
    expect(headers.get('to')).toBe('alice@example.com');
    expect(headers.get('auto-submitted')).toBe('auto-generated');
    expect(headers.get('x-auto-response-suppress')).toBe('All');
    expect(headers.get('message-id')).toMatch(/^<[^<>@\s]+@example\.net>$/);
    expect(headers.has('x-mailer')).toBe(false);
  });

  test.each([
    ['vault@example.net', 'vault@example.net'],
    ['<vault@example.net>', 'vault@example.net'],
    ['"Vault" <vault@example.net>', 'Vault <vault@example.net>'],
    ['The "Vault" <vault@example.net>', '"The \\"Vault\\"" <vault@example.net>'],
    ['Vault, Inc. (EU) <vault@example.net>', '"Vault, Inc. (EU)" <vault@example.net>'],
    ['Tresor für alle <vault@example.net>', '=?UTF-8?Q?Tresor_f=C3=BCr_alle?= <vault@example.net>'],
  ])('from %s is one sender', async (from, header) => {
    const box = await catcher();
    await open(box.url).send({ ...mail, from });
    const { raw, from: envelope } = await box.waitFor(mail.to);
    expect(envelope).toBe('vault@example.net');
    expect(raw).toContain(`From: ${header}\r\n`);
  });

  test.each([
    { ...mail, to: 'alice@example.com\r\nBcc: mallory@example.com' },
    { ...mail, to: 'alice@example.com, mallory@example.com' },
    { ...mail, to: 'Alice <alice@example.com>' },
    { ...mail, to: 'list: alice@example.com;' },
    { ...mail, to: 'alice@example.com> SIZE=1' },
    { ...mail, to: 'alice' },
    { ...mail, to: '' },
    { ...mail, subject: 'Your code\r\nBcc: mallory@example.com' },
    { ...mail, from: 'vault@example.net\nBcc: mallory@example.com' },
    { ...mail, from: 'Vault\r\nBcc: mallory@example.com <vault@example.net>' },
    { ...mail, from: 'Vault <vault@example.net>, Mallory <mallory@example.com>' },
    { ...mail, from: 'vault@example.net, mallory@example.com' },
  ])('cannot be given more headers or recipients: %j', async (message) => {
    const server = scripted(agreeable);
    expect(await failure(open(`smtp://127.0.0.1:${server.port}`), message)).toMatch(/control character|malformed/);
    expect(server.connections.total).toBe(0);
  });
});

describe('credentials', () => {
  test('are given to a server on loopback that asks for them', async () => {
    const box = await catcher({ auth });
    const mailer = open(`smtp://${login}@127.0.0.1:${box.port}`);
    await mailer.verify();
    await mailer.send(mail);
    expect((await box.waitFor(mail.to)).user).toBe('vault');
  });

  test('that are wrong are a failure that does not tell them', async () => {
    const box = await catcher({ auth: { ...auth, pass: 'another' } });
    const mailer = open(`smtp://${login}@127.0.0.1:${box.port}`);
    expect(await failure(mailer)).toMatch(/^SMTP: the server refused the credentials \(EAUTH, AUTH [A-Z0-9-]+, 535\)$/);
    expectTellsNothing(await failureOf(mailer.verify()), auth.pass, btoa(auth.pass));
    expect(box.messages).toEqual([]);
  });
});

describe('a server that fails', () => {
  test('by refusing the recipient is told by its code', async () => {
    const box = await catcher({ reject: () => true });
    expect(await failure(open(box.url))).toBe(
      'SMTP: the server refused the sender or the recipient (EENVELOPE, RCPT TO, 550)',
    );
  });

  test.each([
    ['', '554 5.7.1 go away alice 042137', 'EPROTOCOL'],
    ['MAIL FROM', '451 4.3.0 <alice@example.com> 042137', 'MAIL FROM, 451, 4.3.0'],
    ['RCPT TO', '550-5.1.1 <alice@example.com> 042137\r\n550 5.1.1 is not here', 'RCPT TO, 550, 5.1.1'],
    ['DATA', '421 4.7.0 alice 042137', '421, 4.7.0'],
    ['.', '552 5.3.4.alice@example.com', '552'],
  ])('at "%s" by "%s" is not quoted', async (at, reply, words) => {
    const server = scripted((line) => (isAt(at, line) ? reply : agreeable(line)));
    expect(await failure(open(`smtp://127.0.0.1:${server.port}`))).toContain(words);
  });

  test.each([
    ['greeting', ''],
    ['answering EHLO', 'EHLO'],
    ['answering a recipient', 'RCPT TO'],
    ['taking the mail', '.'],
  ])('by never %s is given up', async (_what, at) => {
    const server = scripted((line) => (isAt(at, line) ? undefined : agreeable(line)));
    const mailer = open(`smtp://127.0.0.1:${server.port}`, { stepTimeoutMs: STEP_MS });
    expect(await failure(mailer)).toContain('SMTP: the server did not answer in time (ETIMEDOUT, ');
  });

  const unsent = async (url: string, limits = {}) => reachedNobody(await failureOf(open(url, limits).send(mail)));

  test.each([
    ['its greeting', '', '554 5.7.1 go away', true],
    ['the sender', 'MAIL FROM', '451 4.3.0 later', true],
    ['the data', 'DATA', '421 4.7.0 later', true],
    ['the mail', '.', '552 5.3.4 too big', true],
    ['the recipient, whom the caller named', 'RCPT TO', '550 5.1.1 no such user', false],
  ])('by refusing at %s has no mail, and whether the send then costs nothing', async (_, at, reply, isUnsent) => {
    const server = scripted((line) => (isAt(at, line) ? reply : agreeable(line)));
    expect(await unsent(`smtp://127.0.0.1:${server.port}`)).toBe(isUnsent);
  });

  test.each([
    ['greeting', '', undefined, true],
    ['answering the mail', '.', undefined, false],
    ['staying after the mail', '.', null, false],
  ])('by never %s: whether it surely has no mail', async (_, at, answer, isUnsent) => {
    const server = scripted((line) => (isAt(at, line) ? answer : agreeable(line)));
    expect(await unsent(`smtp://127.0.0.1:${server.port}`, { stepTimeoutMs: STEP_MS })).toBe(isUnsent);
  });

  test('by not being there, or by not knowing the login, surely has no mail', async () => {
    expect(await unsent(`smtp://127.0.0.1:${freePort()}`)).toBe(true);
    const other = await catcher({ auth: { ...auth, pass: 'another' } });
    expect(await unsent(`smtp://${login}@127.0.0.1:${other.port}`)).toBe(true);
  });

  test('by taking long in all is given up although no step times out', async () => {
    const server = scripted(async (line) => {
      if (!line.startsWith('EHLO')) return agreeable(line);
      await Bun.sleep(1_000);
      return agreeable(line);
    });
    const mailer = open(`smtp://127.0.0.1:${server.port}`, { stepTimeoutMs: 5_000, sendTimeoutMs: 200 });
    expect(await failure(mailer)).toBe('SMTP: the server did not finish in time (EABORT)');
    expect((await failureOf(mailer.verify())).message).toBe('SMTP: the server did not finish in time (EABORT)');
  });

  test('by hanging up before its greeting is tried a few times only', async () => {
    const server = scripted(() => null);
    expect(await failure(open(`smtp://127.0.0.1:${server.port}`))).toBe(
      'SMTP: the server closed the connection (ECONNECTION)',
    );
    expect(server.connections.total).toBe(1 + SMTP_RETRIES_MAX);
  });

  test('by hanging up in the middle is not sent the mail twice', async () => {
    const server = scripted((line) => (line === '.' ? null : agreeable(line)));
    expect(await failure(open(`smtp://127.0.0.1:${server.port}`))).toContain('ECONNECTION');
    expect(server.heard.filter((line) => line === 'DATA')).toHaveLength(1);
  });

  test('by saying that it is closing is not tried again', async () => {
    const server = scripted((line) => (line === '' ? '421 4.3.2 closing' : agreeable(line)));
    expect(await failure(open(`smtp://127.0.0.1:${server.port}`))).toContain('421, 4.3.2');
    expect(server.connections.total).toBe(1);
  });

  test('by not being there is told at once', async () => {
    const mailer = open(`smtp://127.0.0.1:${freePort()}`);
    expect(await failure(mailer)).toBe('SMTP: the connection failed (ESOCKET, ECONNREFUSED, CONN)');
    expect((await failureOf(mailer.verify())).message).toContain('ECONNREFUSED');
  });

  test('by dropping an idle connection gets the next mail over another', async () => {
    const box = await catcher({ port: freePort() });
    const mailer = open(box.url);
    await mailer.send(mail);
    await box.stop();
    const again = await catcher({ port: box.port });
    await mailer.send(mail);
    expect(again.messages).toHaveLength(1);
  });
});

describe('encryption', () => {
  test('is demanded of a server elsewhere before credentials or a mail are sent', async () => {
    const server = scripted((line) =>
      line.startsWith('EHLO')
        ? '250-here\r\n250 AUTH PLAIN LOGIN'
        : line === 'STARTTLS'
          ? '502 5.5.1 no'
          : agreeable(line),
    );
    // The short form of 127.0.0.1 leads here, and is no loopback address that the URL's reader knows.
    expect(await failure(open(`smtp://${login}@127.1:${server.port}`))).toBe(
      'SMTP: the connection could not be encrypted (ETLS, STARTTLS, 502, 5.5.1)',
    );
    expect(server.heard.map((line) => line.split(' ')[0])).toEqual(['EHLO', 'STARTTLS']);
  });

  test('is not given up when EHLO fails', async () => {
    const server = scripted((line) => (line.startsWith('EHLO') ? '502 5.5.1 what?' : agreeable(line)));
    expect(await failure(open(`smtp://${login}@127.0.0.1:${server.port}?tls=required`))).toContain('EHLO, 502, 5.5.1');
    expect(server.heard.map((line) => line.split(' ')[0])).toEqual(['EHLO']);
  });

  /** Sends from a process that trusts the authority or does not. */
  async function sendFromProcess(url: string, trusted?: string): Promise<string> {
    const child = Bun.spawn([process.execPath, join(import.meta.dir, '../../support/send-mail.ts')], {
      env: { SMTP_URL: url, ...(trusted === undefined ? {} : { NODE_EXTRA_CA_CERTS: trusted }) },
      stderr: 'inherit',
    });
    return (await new Response(child.stdout).text()).trim();
  }

  for (const implicit of [false, true]) {
    const [name, scheme, query] = implicit
      ? ['TLS from the first byte', 'smtps', '']
      : ['STARTTLS', 'smtp', '?tls=required'];

    test(`${name} carries a mail to a server whose certificate holds, and to no other`, async () => {
      const tls = await createCertificate();
      const folder = mkdtempSync(join(tmpdir(), 'vault-test-'));
      ends.push(() => rmSync(folder, { recursive: true }));
      const authority = join(folder, 'authority.pem');
      await Bun.write(authority, tls.cert);
      const box = await catcher({ auth, tls: { ...tls, implicit } });
      const url = (host: string) => `${scheme}://${login}@${host}:${box.port}${query}`;

      expect(await sendFromProcess(url('localhost'))).toContain('SELF_SIGNED');
      expect(await sendFromProcess(url('127.1'), authority)).toContain('ALTNAME');
      expect(box.messages).toEqual([]);

      expect(await sendFromProcess(url('localhost'), authority)).toBe('sent');
      expect(await box.waitFor(mail.to)).toMatchObject({ secure: true, user: 'vault' });
    });

    test(`${name} to a server on loopback takes any certificate when told`, async () => {
      const tls = await createCertificate();
      const box = await catcher({ auth, tls: { ...tls, implicit } });
      expect(await failure(open(`${scheme}://${login}@127.0.0.1:${box.port}`))).toContain('SELF_SIGNED');
      await open(`${scheme}://${login}@127.0.0.1:${box.port}?verify=off`).send(mail);
      expect(await box.waitFor(mail.to)).toMatchObject({ secure: true, user: 'vault' });
    });
  }
});

describe('many mails at once', () => {
  test('share a few connections, and all arrive', async () => {
    const server = scripted(async (line) => {
      if (line === '.') await Bun.sleep(5);
      return agreeable(line);
    });
    const mailer = open(`smtp://127.0.0.1:${server.port}`, { connectionsMax: 3 });
    const recipients = Array.from({ length: 30 }, (_, i) => `user${i}@example.com`);
    await Promise.all(recipients.map((to) => mailer.send({ ...mail, to })));
    const heard = server.heard
      .filter((line) => line.startsWith('RCPT'))
      .map((line) => line.slice('RCPT TO:<'.length, -1));
    expect(heard.toSorted()).toEqual(recipients.toSorted());
    expect(server.connections.peak).toBeLessThanOrEqual(3);
  });

  test('past the bound are refused at once, and the bound frees itself', async () => {
    const held = Promise.withResolvers<void>();
    const server = scripted(async (line) => {
      if (line === '.') await held.promise;
      return agreeable(line);
    });
    const mailer = open(`smtp://127.0.0.1:${server.port}`, { connectionsMax: 1, queueMax: 2 });
    const first = [mailer.send(mail), mailer.send(mail)];
    expect(await failure(mailer)).toBe('SMTP: too many mails are waiting');
    held.resolve();
    await Promise.all(first);
    await mailer.send(mail);
    expect(server.heard.filter((line) => line === 'DATA')).toHaveLength(3);
  });

  test('wait for a connection no longer than a send may take', async () => {
    const server = scripted((line) => (line === '.' ? undefined : agreeable(line)));
    // The time of each send is over when the test says.
    const over = new AbortController();
    const timeout = spyOn(AbortSignal, 'timeout').mockReturnValue(over.signal);
    const mailer = open(`smtp://127.0.0.1:${server.port}`, { connectionsMax: 1, sendTimeoutMs: 7_000 });
    const sent = [failure(mailer), failure(mailer), failure(mailer)];
    await until('one of them has the connection', () => server.heard.includes('.'));
    expect(timeout.mock.calls).toEqual([[7_000], [7_000], [7_000]]);
    over.abort();
    timeout.mockRestore();
    const failures = await Promise.all(sent);
    expect(new Set(failures)).toEqual(new Set(['SMTP: the server did not finish in time (EABORT)']));
    expect(server.heard.filter((line) => line === 'DATA')).toHaveLength(1);
  });

  test('on their way when the mailer closes fail', async () => {
    const server = scripted((line) => (line === '.' ? undefined : agreeable(line)));
    const mailer = open(`smtp://127.0.0.1:${server.port}`);
    const failed = failure(mailer);
    await until('the mail is heard', () => server.heard.includes('.'));
    await mailer.close();
    expect(await failed).toStartWith('SMTP: ');
    expect(await failure(mailer)).toStartWith('SMTP: ');
  });
});
