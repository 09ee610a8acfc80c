import { afterEach, beforeEach, expect, test } from 'bun:test';
import { type Inbox, startInbox } from '../../../scripts/dev-stack/inbox.ts';
import { createMailbox, type Message } from '../../../scripts/dev-stack/mailbox.ts';

type Mail = Message & { readonly from: string; readonly html: string };

const MAIL = {
  from: 'vault@example.com',
  to: ['a@example.com'],
  subject: 'Your code',
  text: 'Your code is 012345.',
  html: '<!doctype html><html><head><title>x</title></head><body><b>012345</b></body></html>',
};

let mails: ReturnType<typeof createMailbox<Mail>>;
let texts: ReturnType<typeof createMailbox<Message>>;
let inbox: Inbox;
beforeEach(async () => {
  [mails, texts] = [createMailbox<Mail>(), createMailbox<Message>()];
  inbox = await startInbox({ read: () => [...mails.messages, ...texts.messages] });
});
afterEach(() => inbox.stop());

const messages = async (query = '') => (await fetch(`${inbox.url}/messages${query}`)).json();

test('mails and SMS come in the order in which they arrived, with their codes', async () => {
  const before = Date.now();
  mails.add(MAIL);
  texts.add({ to: ['+14155550100'], subject: 'SMS', text: 'Your verification code is: 678901' });
  mails.add({ ...MAIL, to: ['b@example.com'], subject: 'Moved', text: 'In block 1234567 of 84532.', html: '' });
  const [mail, sms, moved] = await messages();
  expect(mail).toMatchObject({ kind: 'mail', from: 'vault@example.com', to: MAIL.to, code: '012345', hasHtml: true });
  expect(sms).toMatchObject({ kind: 'sms', from: null, to: ['+14155550100'], code: '678901', hasHtml: false });
  expect(moved).toMatchObject({ kind: 'mail', code: null, hasHtml: false });
  expect(Date.parse(mail.at)).toBeGreaterThanOrEqual(before);
  expect(await messages('?to=b@example.com')).toEqual([moved]);
  expect(await messages(`?after=${mail.id}`)).toEqual([sms, moved]);
  expect(await messages('?to=B')).toEqual([]);
});

test('a mail’s page runs nothing, loads nothing, sends nothing, and opens links in a tab', async () => {
  mails.add(MAIL);
  const [{ id }] = await messages();
  const answer = await fetch(`${inbox.url}/messages/${id}.html`);
  expect(answer.headers.get('content-security-policy')?.split('; ')).toEqual([
    "default-src 'none'",
    "style-src 'unsafe-inline'",
    'img-src data:',
    "form-action 'none'",
    "frame-ancestors 'self'",
    'sandbox allow-same-origin allow-popups allow-popups-to-escape-sandbox',
  ]);
  expect(await answer.text()).toStartWith('<!doctype html><html><head><base target="_blank"><title>');
  mails.add({ ...MAIL, html: '<p>$& no head</p>' });
  const bare = await fetch(`${inbox.url}/messages/${(await messages())[1].id}.html`);
  expect(await bare.text()).toBe('<base target="_blank"><p>$& no head</p>');
  for (const none of [0, 999_999_999]) expect((await fetch(`${inbox.url}/messages/${none}.html`)).status).toBe(404);
});

test('the page has nothing of a message in its HTML, and a strict policy', async () => {
  mails.add({ ...MAIL, subject: '<script>alert(1)</script>', to: ['"><img src=x onerror=alert(1)>@example.com'] });
  inbox.lead({ shop: 'http://localhost:8090/?a="b', vault: 'http://localhost:8787' });
  const answer = await fetch(inbox.url);
  const html = await answer.text();
  expect(html).not.toMatch(/alert\(|<script(?![^>]*\bsrc=)|<style|\sstyle=|\son\w+=/);
  expect(html).toContain('href="http://localhost:8090/?a=&quot;b"');
  expect(html).toContain('curl http://localhost:8787/api/verify/send');
  expect(answer.headers.get('content-security-policy')?.split('; ')).toEqual([
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    "frame-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ]);
});

test('codes are given to this machine’s names alone', async () => {
  mails.add(MAIL);
  const foreign = (path: string) => fetch(inbox.url + path, { headers: { host: 'evil.example' } });
  expect((await foreign('/messages')).status).toBe(421);
  expect((await foreign('/')).status).toBe(421);
  expect((await fetch(inbox.url.replace('127.0.0.1', 'localhost'))).status).toBe(200);
  expect((await fetch(`${inbox.url}/nothing`)).status).toBe(404);
});
