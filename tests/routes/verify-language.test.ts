import { afterAll, beforeAll, expect, test } from 'bun:test';
import { smtpMailer } from '../../commands/mail/smtp.ts';
import { type MailCatcher, startMailCatcher } from '../../scripts/dev-stack/mail.ts';
import { startVault, type TestVault } from '../support/vault.ts';

const operatorFiles = {
  read: (path: string) => {
    const content = FILES[path];
    return content === undefined ? undefined : new TextEncoder().encode(JSON.stringify(content));
  },
  list: (path: string) => (path === '/etc/words' ? ['ar', 'README.md'] : []),
};
const FILES: Readonly<Record<string, unknown>> = {
  '/etc/brands.json': { tea: { name: 'Tea House', support: 'help@tea.example' } },
  '/etc/words/ar/mail.json': { 'code.enter': 'أدخله خلال {lifetime}.' },
};
const VARS = {
  EMAIL_PROVIDER: 'smtp',
  EMAIL_FROM: 'Vault <codes@example.net>',
  APPS: 'tea',
  BRANDS: '/etc/brands.json',
  WORDS_DIR: '/etc/words',
  DEFAULT_LANGUAGE: 'fr',
};

let box: MailCatcher;
let t: TestVault;
let mail: ReturnType<typeof smtpMailer>;
beforeAll(async () => {
  box = await startMailCatcher();
  mail = smtpMailer(box.url);
  t = await startVault({ ...VARS, SMTP_URL: box.url }, { mail, operatorFiles });
});
afterAll(async () => {
  await t.stop();
  await mail.close();
  await box.stop();
});

let count = 0;
async function mailFor(headers: Readonly<Record<string, string>>, more: object = {}) {
  const identifier = `person${++count}@example.com`;
  const from = t.from(`198.51.100.${count}`);
  const { status } = await from.call('POST /api/verify/send', { identifier, channel: 'email', ...more }, headers);
  expect(status).toBe(200);
  return box.waitFor(identifier);
}

test.each([
  ['de-AT,en;q=0.5', {}, 'Ihr Code für', 'de'],
  ['de', { lang: 'es' }, 'Su código para', 'es'],
  ['it', {}, 'Votre code pour', 'fr'],
  ['de', { lang: 'it' }, 'Ihr Code für', 'de'],
  ['en', { lang: 'de_DE' }, 'Ihr Code für', 'de'],
])('verify/send with Accept-Language %p and %j writes %s', async (accept, more, subject, language) => {
  const got = await mailFor({ 'Accept-Language': accept }, more);
  expect(got.subject).toStartWith(subject);
  expect(got.html).toContain(`<html lang="${language}" dir="ltr">`);
});

test('verify/send writes in a language of the operator’s folder, from right to left', async () => {
  const got = await mailFor({}, { lang: 'ar' });
  expect(got.html).toContain('<html lang="ar" dir="rtl">');
  expect(got.text).toContain('أدخله خلال');
  // What the folder lacks is English.
  expect(got.subject).toStartWith('Your code for');
});

test('verify/send writes in the brand of the app', async () => {
  const got = await mailFor({ 'X-Vault-App': 'tea', 'Accept-Language': 'en' });
  expect(got.subject).toBe('Your code for Tea House: valid 90 seconds');
  expect(got.headers.get('from')).toBe('Tea House <codes@example.net>');
  expect(got.headers.get('reply-to')).toBe('help@tea.example');
});

test.each(['', 'german language', 42])('verify/send with lang %p: 400 or none', async (lang) => {
  const { status, body } = await t
    .from('203.0.113.1')
    .call('POST /api/verify/send', { identifier: 'x@example.com', channel: 'email', lang });
  // An empty optional field is absent.
  expect([status, body.error]).toEqual(lang === '' ? [200, undefined] : [400, 'Invalid lang']);
});
