import { afterEach, expect, test } from 'bun:test';
import { createTransport } from 'nodemailer';
import { createCertificate } from '../../../scripts/dev-stack/certificate.ts';
import { type MailCatcherOptions, startMailCatcher } from '../../../scripts/dev-stack/mail.ts';
import { settled } from '../../support/settled.ts';

const stops: (() => unknown)[] = [];

afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

async function catcher(options: MailCatcherOptions = {}) {
  const mail = await startMailCatcher(options);
  stops.push(mail.stop);
  return mail;
}

async function send(port: number, options: object = {}, to = 'alice@example.com') {
  const transport = createTransport({ host: '127.0.0.1', port, ...options });
  stops.push(() => transport.close());
  return transport.sendMail({
    from: 'vault@example.com',
    to,
    subject: 'Grüße',
    text: 'Your code is 012345.',
    html: '<b>012345</b>',
  });
}

const auth = { user: 'vault', pass: 'correct horse' };

test('a mail is caught with its envelope, headers and both bodies', async () => {
  const mail = await catcher();
  await send(mail.port);
  const caught = await mail.waitFor('alice@example.com');
  expect(caught).toMatchObject({
    from: 'vault@example.com',
    to: ['alice@example.com'],
    subject: 'Grüße',
    secure: false,
  });
  expect(caught.text).toContain('012345');
  expect(caught.html).toContain('<b>012345</b>');
  expect(caught.headers.get('mime-version')).toBe('1.0');
});

test('two waits get two mails, whichever side comes first', async () => {
  const mail = await catcher();
  const first = mail.waitFor(({ subject }) => subject === 'Grüße');
  await send(mail.port, {}, 'a@example.com');
  await send(mail.port, {}, 'b@example.com');
  expect((await first).to).toEqual(['a@example.com']);
  expect((await mail.waitFor(() => true)).to).toEqual(['b@example.com']);
  expect(await settled(mail.waitFor(() => true, 1))).toThrow('No message came in 1 ms; 2 are kept.');
});

test('a catcher with credentials takes no mail without them', async () => {
  const mail = await catcher({ auth });
  expect(await settled(send(mail.port))).toThrow('530');
  expect(await settled(send(mail.port, { auth: { ...auth, pass: 'wrong' } }))).toThrow('535');
  await send(mail.port, { auth });
  expect(mail.messages.map(({ user }) => user)).toEqual(['vault']);
});

test('STARTTLS and TLS from the first byte both work, with a certificate a client can check', async () => {
  const tls = await createCertificate();
  const upgraded = await catcher({ tls, auth });
  await send(upgraded.port, { requireTLS: true, auth, tls: { ca: tls.cert } });
  expect(upgraded.messages[0]?.secure).toBe(true);
  const implicit = await catcher({ tls: { ...tls, implicit: true } });
  expect(implicit.url).toBe(`smtps://127.0.0.1:${implicit.port}`);
  await send(implicit.port, { secure: true, tls: { ca: tls.cert } });
  expect(implicit.messages[0]?.secure).toBe(true);
  expect(await settled(send(implicit.port, { secure: true }))).toThrow();
});

test('a refused recipient is answered with 550', async () => {
  const mail = await catcher({ reject: (to) => to === 'nobody@example.com' });
  expect(await settled(send(mail.port, {}, 'nobody@example.com'))).toThrow('550');
  await send(mail.port);
  expect(mail.messages).toHaveLength(1);
});

test('a catcher that never answers still ends at once', async () => {
  const mail = await startMailCatcher({ answerAfterMs: Number.POSITIVE_INFINITY });
  const sending = send(mail.port).catch(() => 'gone');
  await mail.waitFor('alice@example.com');
  await mail.stop();
  expect(await sending).toBe('gone');
});
