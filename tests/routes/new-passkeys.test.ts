// Who has an account hears of a passkey that is new to it, at its first use (completions-3, 6.1).
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { smtpMailer } from '../../commands/mail/smtp.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../lib/base/clock.ts';
import type { OperatorFiles } from '../../lib/base/operator-files.ts';
import { type MailCatcher, startMailCatcher } from '../../scripts/dev-stack/mail.ts';
import { testClock } from '../support/clock.ts';
import { OPERATOR } from '../support/events.ts';
import { createKeyOwners, newDevice, type Owner } from '../support/key-owners.ts';
import { startTestChain } from '../support/onchain.ts';
import { addKey } from '../support/second-account.ts';
import { APPS_HOST, appRequest, BOOKS } from '../support/sign-ups.ts';
import { startVault, type TestVault } from '../support/vault.ts';

const chain = await startTestChain({ startsAt: testClock().now() });
afterAll(chain.stop);
const codeFor = (to: string) => /\b\d{6}\b/.exec(mailsTo(to).at(-1)?.text ?? '')?.[0] ?? '';
const people = await createKeyOwners(chain, () => t, codeFor);

const operatorFiles: OperatorFiles = {
  ...APPS_HOST.operatorFiles,
  read: (path, maxBytes) =>
    path === '/etc/brands.json'
      ? new TextEncoder().encode(JSON.stringify({ books: { name: 'Bookshop' } }))
      : APPS_HOST.operatorFiles.read(path, maxBytes),
};

let isDown: boolean;
let mail: MailCatcher;
let mailer: ReturnType<typeof smtpMailer>;
let t: TestVault;
beforeEach(async () => {
  isDown = false;
  mail = await startMailCatcher({ reject: () => isDown });
  mailer = smtpMailer(mail.url);
  t = await startVault(
    {
      ...people.vars,
      BRANDS: '/etc/brands.json',
      EMAIL_PROVIDER: 'smtp',
      EMAIL_FROM: 'vault@example.net',
      SMTP_URL: mail.url,
    },
    { mail: mailer, operatorFiles },
  );
});
afterEach(async () => {
  await t.stop();
  await mailer.close();
  await mail.stop();
});

const mailsTo = (to: string) => mail.messages.filter((one) => one.to.includes(to));
/** The mails about new passkeys that an address got, once those are sent that are due. */
async function toldTo(to: string) {
  await t.clock.advance(MINUTE_MS);
  await t.work();
  await t.idle();
  return mailsTo(to).filter(({ subject }) => subject.includes('new passkey') || subject.includes('clé d’accès'));
}
const told = async () =>
  (await t.rows("SELECT app, data FROM events WHERE type = 'passkey.first_used' ORDER BY id")).map(({ app, data }) => [
    app,
    JSON.parse(String(data)).by,
  ]);
/** An added key signs in, and what came of it. */
async function signInByAnother(owner: Owner, app?: typeof BOOKS) {
  const device = newDevice();
  await addKey(chain.rpc, owner.account, device.passkey.key);
  expect(await people.signedIn(device, owner.account, device.passkey, appRequest(app))).toMatchObject({
    did: owner.did,
  });
  return device;
}

describe('a mail about a passkey that is new to the account', () => {
  test('is none at the first registration and sign-ins by its passkey', async () => {
    const owner = await people.newOwner();
    for (let i = 0; i < 2; i++) expect(await people.signedIn(owner)).toMatchObject({ did: owner.did });
    expect(await toldTo(owner.email)).toEqual([]);
    expect(await told()).toEqual([]);
  });

  test('goes out at the first sign-in by an added one, once, in the brand of the app', async () => {
    const owner = await people.newOwner();
    await people.signedIn(owner);
    const phone = await signInByAnother(owner, BOOKS);
    const [one, ...more] = await toldTo(owner.email);
    expect(more).toEqual([]);
    expect(one?.subject).toBe('A new passkey of your account on Bookshop');
    const text = one?.text.replace(/\s+/g, ' ') ?? '';
    expect(text).toContain(`a passkey that is new to your account ${owner.account.toLowerCase()} signed in to`);
    expect(text).toMatch(/http:\/\/localhost:\d+\/account\?lang=en&app=books/);
    await people.signedIn(phone, owner.account);
    expect(await toldTo(owner.email)).toHaveLength(1);
    expect(await told()).toEqual([['books', 'signin']]);
  });

  test('goes out when another passkey registers one more address, to the others alone', async () => {
    const owner = await people.newOwner();
    const thief = newDevice();
    await addKey(chain.rpc, owner.account, thief.passkey.key);
    await people.claim(thief, owner, 'thief@example.com');
    await people.look();
    expect((await toldTo(owner.email)).map(({ text }) => text.replace(/\s+/g, ' '))).toEqual([
      expect.stringContaining('registered another address or name'),
    ]);
    expect(await toldTo('thief@example.com')).toEqual([]);
    expect(await told()).toEqual([['default', 'registration']]);
    // It is known now.
    await people.signedIn(thief);
    expect(await toldTo(owner.email)).toHaveLength(1);
  });

  test('goes to each proven address of the DID and to the contact, not to what a stranger claims for it', async () => {
    const owner = await people.newOwner();
    await people.claim(owner, owner, `second.${owner.email}`);
    const stranger = { identifier: 'stranger@example.com', channel: 'email' };
    await t.call('POST /api/verify/send', stranger);
    const checked = await t.call('POST /api/verify/check', { ...stranger, code: codeFor(stranger.identifier) });
    const { credentialId } = newDevice();
    const claim = { ...stranger, did: owner.did, credentialId, txHash: owner.txHash };
    expect((await t.call('POST /api/dids', { ...claim, attestation: checked.body.attestation })).status).toBe(200);
    await people.look();
    await t.rows(
      `INSERT INTO recovery_contacts (chain_id, account, identifier, set_until, app, language)
        VALUES (84532, :account, 'email:contact@example.com', 0, NULL, 'fr')`,
      { account: owner.account.toLowerCase() },
    );
    await signInByAnother(owner);
    for (const to of [owner.email, `second.${owner.email}`]) expect(await toldTo(to)).toHaveLength(1);
    expect((await toldTo('contact@example.com'))[0]?.subject).toStartWith('Une nouvelle clé d’accès');
    expect(await toldTo(stranger.identifier)).toEqual([]);
  });

  test('is one of three a day for an address, and the events go on', async () => {
    const owner = await people.newOwner();
    for (let i = 0; i < 5; i++) await signInByAnother(owner);
    expect(await toldTo(owner.email)).toHaveLength(3);
    expect(await told()).toHaveLength(5);
    await t.clock.advance(DAY_MS);
    await signInByAnother(owner);
    expect(await toldTo(owner.email)).toHaveLength(4);
  });

  test('is sent again after an outage of the mail server, and once', async () => {
    const owner = await people.newOwner();
    isDown = true;
    await signInByAnother(owner);
    expect(await toldTo(owner.email)).toEqual([]);
    isDown = false;
    await t.clock.advance(HOUR_MS);
    expect(await toldTo(owner.email)).toHaveLength(1);
    await t.clock.advance(HOUR_MS);
    expect(await toldTo(owner.email)).toHaveLength(1);
  });

  test('leaves nothing behind after an erasure', async () => {
    const owner = await people.newOwner();
    await signInByAnother(owner);
    const erased = await t.call('POST /v1/console/person/erase', { identifier: owner.email }, OPERATOR);
    expect(erased.status).toBe(200);
    for (const table of ['passkey_notices', 'known_keys']) expect(await t.rows(`SELECT * FROM ${table}`)).toEqual([]);
    expect(await told()).toEqual([]);
    expect(await toldTo(owner.email)).toEqual([]);
  });
});
