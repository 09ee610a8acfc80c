import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { MESSAGES } from '../../../lib/delivery/preview.ts';
import { OPERATOR } from '../../support/events.ts';
import { startVault, type TestVault } from '../../support/vault.ts';

const FILES: Readonly<Record<string, unknown>> = {
  '/etc/brands.json': { tea: { name: 'Tea House', support: 'help@tea.example', color: ['#0a6b48', '#57d9a3'] } },
  '/etc/words/ar/mail.json': { 'code.enter': 'أدخله خلال {lifetime}.' },
};
const operatorFiles = {
  read: (path: string) =>
    FILES[path] === undefined ? undefined : new TextEncoder().encode(JSON.stringify(FILES[path])),
  list: () => ['ar'],
};

describe('GET /v1/console/messages', () => {
  let t: TestVault;
  beforeAll(async () => {
    t = await startVault({ APPS: 'tea', BRANDS: '/etc/brands.json', WORDS_DIR: '/etc/words' }, { operatorFiles });
  });
  afterAll(() => t.stop());
  const ask = async (query = {}) => (await t.call('GET /v1/console/messages', query, OPERATOR)).body;

  test('shows the mail of a code and its text message, and what there is to choose', async () => {
    const shown = await ask();
    expect(shown).toMatchObject({
      messages: [...MESSAGES],
      languages: ['en', 'de', 'fr', 'es', 'ar'],
      apps: ['default', 'tea'],
      ...{ message: 'code.registration', lang: 'en', app: 'default' },
    });
    expect(shown.mail.subject).toStartWith('Your code for localhost');
    expect(shown.mail.text).toContain('042137');
    expect(shown.mail.html).toContain('>042137</p>');
    expect(shown.sms).toMatchObject({ alphabet: 'GSM', segments: 1, units: shown.sms.text.length });
    expect(shown.sms.text).toStartWith('042137 is your code to sign up at localhost');
  });

  test('in the language and the brand of an app', async () => {
    const { mail, sms, lang } = await ask({ app: 'tea', lang: 'de_AT' });
    expect([lang, mail.subject]).toEqual(['de', 'Ihr Code für Tea House: 90 Sekunden gültig']);
    expect(mail.text).toContain('help@tea.example');
    expect(mail.text).toMatch(/\/pass\?app=tea&lang=de#sample/);
    expect(mail.html).toContain('#0a6b48');
    expect(sms.text).toContain('Tea House');
    const arabic = await ask({ lang: 'ar' });
    expect(arabic.mail.html).toContain('<html lang="ar" dir="rtl">');
  });

  test.each([...MESSAGES])('%s: whole, with made-up values', async (message) => {
    const { mail, sms } = await ask({ message, lang: 'fr' });
    expect(mail.subject + mail.text + mail.html).not.toMatch(/\{\w+\}|undefined|null/);
    const isMailAlone = message.startsWith('recovery_') || message === 'passkey_new';
    expect(sms === null).toBe(isMailAlone);
    expect(sms?.segments ?? 1).toBe(1);
    if (isMailAlone) expect(mail.text).toContain('0x52908400098527886e0f7030069857d2e4169ee7');
  });

  test('each message has a subject of its own, and its pass lets nobody send', async () => {
    const subjects = await Promise.all(MESSAGES.map(async (message) => (await ask({ message })).mail.subject));
    expect(new Set(subjects).size).toBe(MESSAGES.length);
    const [, pass] = /#(sample\S+)/.exec((await ask({ message: 'pass' })).mail.text) ?? [];
    const who = { identifier: 'ada@example.com', channel: 'email', pass };
    expect((await t.call('POST /api/verify/send', who)).body.error).toBe('pass_invalid');
    const { headers } = await t.post('/pass', new URLSearchParams({ pass: pass ?? '' }));
    expect(headers.get('location')).toBe('/pass/ended');
  });

  test('what cannot be shown is 400, and without the secret it is 401', async () => {
    expect((await ask({ message: 'invoice' })).error).toStartWith(
      'Invalid message. Must be of code.registration, code.recovery,',
    );
    expect((await ask({ lang: 'german language' })).error).toBe('Invalid lang');
    expect((await t.call('GET /v1/console/messages')).status).toBe(401);
  });
});

test('GET /v1/console/messages: a provider that keeps the codes writes its own text message', async () => {
  const twilio = { TWILIO_ACCOUNT_SID: 'AC1', TWILIO_AUTH_TOKEN: 'x', TWILIO_VERIFY_SERVICE_SID: 'VA1' };
  const t = await startVault({ SMS_PROVIDER: 'twilio', SMS_COUNTRIES: '*', ...twilio });
  expect((await t.call('GET /v1/console/messages', {}, OPERATOR)).body.sms).toBeNull();
  await t.stop();
});
