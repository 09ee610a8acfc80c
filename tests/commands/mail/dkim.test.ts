import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { smtpMailer } from '../../../commands/mail/smtp.ts';
import { openMailer } from '../../../commands/serve/mailer.ts';
import { readVars } from '../../../commands/setup/vars.ts';
import { readConfig } from '../../../lib/config/config.ts';
import { findContradictions } from '../../../lib/config/contradictions.ts';
import { type MailCatcher, startMailCatcher } from '../../../scripts/dev-stack/mail.ts';
import { checkDkim } from '../../support/dkim.ts';
import { startVault, VAULT_SECRET } from '../../support/vault.ts';

const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
const PEM = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
const publicKey = createPublicKey(privateKey);
const SIGNED = { DKIM_SELECTOR: 'vault2026', DKIM_PRIVATE_KEY: PEM.replaceAll('\n', ' ') };
const MAIL = { EMAIL_PROVIDER: 'smtp', EMAIL_FROM: 'Vault <codes@Mail.example.net>' };

let box: MailCatcher;
beforeAll(async () => {
  box = await startMailCatcher();
});
afterAll(() => box.stop());

const configOf = (vars: Readonly<Record<string, string | undefined>>) =>
  readConfig({ VAULT_SECRET, SMTP_URL: box.url, ...MAIL, ...vars });

describe('a mail with the settings of DKIM', () => {
  test('is signed for the domain, from a vault to the server, and changes are found', async () => {
    const mail = await openMailer(configOf(SIGNED));
    if (!mail) throw new Error('there is no mailer');
    const t = await startVault(
      { ...MAIL, ...SIGNED, SMTP_URL: box.url, BRAND_NAME: 'Teehaus Ümläut', SUPPORT_ADDRESS: 'help@example.net' },
      { mail },
    );
    const body = { identifier: 'alice@example.com', channel: 'email', lang: 'de' };
    expect((await t.call('POST /api/verify/send', body)).status).toBe(200);
    const { raw } = await box.waitFor('alice@example.com');
    const good = checkDkim(raw, publicKey);
    expect(good).toMatchObject({
      domain: 'mail.example.net',
      selector: 'vault2026',
      isBodyIntact: true,
      isSignatureGood: true,
    });
    for (const field of ['from', 'to', 'subject', 'date', 'reply-to', 'message-id'])
      expect(good?.fields).toContain(field);
    const to = raw.replace('To: alice@example.com', 'To: mallory@example.com');
    expect(checkDkim(to, publicKey)).toMatchObject({ isSignatureGood: false });
    expect(checkDkim(`${raw}more\r\n`, publicKey)).toMatchObject({ isBodyIntact: false });
    const other = createPublicKey(generateKeyPairSync('rsa', { modulusLength: 2_048 }).privateKey);
    expect(checkDkim(raw, other)).toMatchObject({ isSignatureGood: false });
    await t.stop();
    await mail.close();
  });

  test('is not signed without them', async () => {
    const mailer = smtpMailer(box.url);
    const to = 'bob@example.com';
    await mailer.send({ from: MAIL.EMAIL_FROM, to, subject: 'Your code', text: 'a', html: '<p>a' });
    expect(checkDkim((await box.waitFor(to)).raw, publicKey)).toBeUndefined();
    await mailer.close();
  });
});

describe('the settings of DKIM', () => {
  test('take a key on one line, with \\n, or from a file', () => {
    expect(configOf(SIGNED).dkimPrivateKey).toBe(PEM);
    expect(configOf({ ...SIGNED, DKIM_PRIVATE_KEY: PEM.trim().replaceAll('\n', '\\n') }).dkimPrivateKey).toBe(PEM);
    const folder = mkdtempSync(join(tmpdir(), 'vault-dkim-'));
    writeFileSync(join(folder, 'key.pem'), PEM);
    chmodSync(join(folder, 'key.pem'), 0o600);
    const { vars } = readVars({}, { DKIM_PRIVATE_KEY_FILE: join(folder, 'key.pem') });
    rmSync(folder, { recursive: true });
    expect(configOf({ ...SIGNED, ...vars }).dkimPrivateKey).toBe(PEM);
  });

  test.each([
    [{ DKIM_PRIVATE_KEY: 'key' }, 'DKIM_PRIVATE_KEY must be a private key in PEM'],
    [{ DKIM_SELECTOR: 'a;b' }, 'DKIM_SELECTOR must be a DKIM selector such as vault2026'],
  ])('with %j are refused', (change, problem) => {
    expect(() => configOf({ ...SIGNED, ...change })).toThrow(problem);
  });

  test('need nothing but a key, and the key a server that mails are sent to', () => {
    const isSet = (vars: object) => (name: string) => name in vars;
    const key = { DKIM_PRIVATE_KEY: SIGNED.DKIM_PRIVATE_KEY };
    expect(configOf(key).dkimSelector).toBe('vault');
    expect(findContradictions(configOf(key), isSet(key))).toEqual([]);
    const unused = { EMAIL_PROVIDER: 'log', ...key };
    expect(findContradictions(configOf(unused), isSet(unused)).map(({ name }) => name)).toEqual(['DKIM_PRIVATE_KEY']);
  });

  test.each([
    ['a short key', generateKeyPairSync('rsa', { modulusLength: 1_024 }).privateKey],
    ['a key of another kind', generateKeyPairSync('ed25519').privateKey],
  ])('with %s end the start: a mail would go out unsigned', (_, key) => {
    const pem = key.export({ type: 'pkcs8', format: 'pem' }) as string;
    expect(() => smtpMailer(box.url, {}, { domain: 'example.net', selector: 's', privateKey: pem })).toThrow(
      'DKIM_PRIVATE_KEY must be an RSA key of at least 2048 bits',
    );
  });
});
