import { afterAll, afterEach, beforeEach, expect, test } from 'bun:test';
import type { Mail } from '../../lib/delivery/mail.ts';
import { createPasskey } from '../../scripts/dev-stack/passkey.ts';
import { whileTimePasses } from '../support/clock.ts';
import {
  attest,
  contactBody,
  createOwner,
  DELAY,
  recoveryBody,
  startRecoveryChain,
  startRecoveryVault,
} from '../support/recovery.ts';
import type { TestVault } from '../support/vault.ts';

const FILES: Readonly<Record<string, unknown>> = { '/etc/brands.json': { tea: { name: 'Tea House' } } };
const operatorFiles = {
  read: (path: string) =>
    FILES[path] === undefined ? undefined : new TextEncoder().encode(JSON.stringify(FILES[path])),
  list: () => [],
};
const VARS = { EMAIL_PROVIDER: 'smtp', EMAIL_FROM: 'codes@example.net', SMTP_URL: 'smtp://127.0.0.1:1' };

const chain = await startRecoveryChain();
afterAll(chain.stop);

let t: TestVault;
let mails: Mail[];
beforeEach(async () => {
  mails = [];
  const mail = { send: async (one: Mail) => void mails.push(one) };
  t = await startRecoveryVault(chain, { ...VARS, APPS: 'tea', BRANDS: '/etc/brands.json' }, { mail, operatorFiles });
});
afterEach(() => t.stop());

/** A client of a person: with a language and an app. */
const from = (language: string, app?: string) => ({
  clock: t.clock,
  call: (line: string, fields = {}) =>
    t.call(line, fields, { 'Accept-Language': language, ...(app === undefined ? {} : { 'X-Vault-App': app }) }),
});
const later = async (seconds: number) => {
  await t.clock.advance(seconds * 1000);
  await chain.wait(seconds, 2);
  for (let i = 0; i < 4; i++) await t.work();
};
const subjects = (email: string) => mails.filter(({ to }) => to === email).map(({ subject }) => subject);

test('mails about a recovery are in the language and the brand in which it was set up, not in those of who asks', async () => {
  const owner = await createOwner(chain, from('fr', 'tea'), 'fleur@example.com');
  const thief = from('es');
  await whileTimePasses(t.clock, thief.call('POST /api/recoveries', recoveryBody(t, owner, createPasskey())));
  await t.work();
  expect(subjects(owner.email)).toEqual(['Quelqu’un demande la récupération de votre compte chez Tea House']);
  const [link = ''] = /\S+\/account\S+/.exec(mails[0]?.text ?? '') ?? [];
  const url = new URL(link);
  expect([url.search, url.hash]).toEqual(['?lang=fr&app=tea', `#stop=${owner.account.toLowerCase()}`]);
});

test('who reads the mailbox does not change the language of its warnings', async () => {
  const owner = await createOwner(chain, from('fr'), 'odile@example.com');
  // The vault has seen that the account names it.
  await later(11 * 60);
  const [row] = await t.rows(`SELECT is_used FROM recovery_addresses WHERE account = :account`, {
    account: owner.account.toLowerCase(),
  });
  expect(row).toEqual({ is_used: 1 });
  const thief = from('es', 'tea');
  const again = { attestation: attest(t, owner.email), smartAccount: owner.account };
  expect((await thief.call('POST /api/recoveries/commitments', again)).status).toBe(200);
  await whileTimePasses(t.clock, thief.call('POST /api/recoveries', recoveryBody(t, owner, createPasskey())));
  await t.work();
  expect(subjects(owner.email)).toEqual([
    expect.stringMatching(/^Quelqu’un demande la récupération de votre compte chez localhost/),
  ]);
});

test('the second address has the language in which it was named; `lang` says it over the header', async () => {
  const owner = await createOwner(chain, from('en'), 'gwen@example.com');
  const named = { ...(await contactBody(t, owner.account, owner.passkey, 'friend@example.com')), lang: 'de_AT' };
  expect((await whileTimePasses(t.clock, from('fr').call('POST /api/recoveries/contacts', named))).status).toBe(200);
  await whileTimePasses(t.clock, from('en').call('POST /api/recoveries', recoveryBody(t, owner, createPasskey())));
  await t.work();
  expect(subjects(owner.email)).toEqual([expect.stringMatching(/^Somebody is recovering your account/)]);
  expect(subjects('friend@example.com')).toEqual([expect.stringMatching(/^Jemand stellt Ihr Konto/)]);
  mails = [];
  // Who is no longer written to hears it in the same language.
  await whileTimePasses(
    t.clock,
    t.call('POST /api/recoveries/contacts', await contactBody(t, owner.account, owner.passkey)),
  );
  expect(subjects('friend@example.com')).toEqual([expect.stringMatching(/^Keine weiteren/)]);
});

test('where no language is known it is DEFAULT_LANGUAGE', async () => {
  const owner = await createOwner(chain, from('fr'), 'old@example.com');
  // As a vault of before left it.
  await t.rows(`UPDATE recovery_addresses SET language = NULL, app = NULL`);
  await whileTimePasses(t.clock, from('es').call('POST /api/recoveries', recoveryBody(t, owner, createPasskey())));
  await t.work();
  expect(subjects(owner.email)).toEqual([expect.stringMatching(/^Somebody is recovering your account/)]);
  await later(DELAY + 60);
});
