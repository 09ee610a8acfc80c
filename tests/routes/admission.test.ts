import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { operatorFiles } from '../../commands/setup/operator-files.ts';
import { DAY_MS, MINUTE_MS } from '../../lib/base/clock.ts';
import { testClock } from '../support/clock.ts';
import { temporaryFolder } from '../support/databases.ts';
import { expectHoldsNone } from '../support/secrecy.ts';
import { untilHolds } from '../support/until.ts';
import { type Reply, startVault, type TestVault, VAULT_SECRET } from '../support/vault.ts';

const OPERATOR = { authorization: `Bearer ${VAULT_SECRET.replace('00', 'ff')}` };
/** The vaults of a test have ports of their own, and one name. */
const ROOM = {
  REGISTRAR_DID: 'did:web:vault.example.com',
  MAX_REGISTRATIONS_PER_IP: '100',
  MAX_VERIFY_SENDS_PER_IP: '100',
  APPS: 'shop',
};

let folder: ReturnType<typeof temporaryFolder>;
let t: TestVault;
let started = 0;
const clock = testClock();
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(async () => {
  await t.stop();
  folder.remove();
});

/** A vault on the folder's database, in the place of the one before. */
async function restart(vars: Readonly<Record<string, string>>): Promise<void> {
  if (started++ > 0) await t.stop().catch(() => undefined);
  t = await startVault({ ...ROOM, ...vars }, { dir: folder.path, clock, operatorFiles });
}

const mailbox = (name: string) => ({ identifier: `${name}@example.com`, channel: 'email' });
const handle = (name: string) => ({ identifier: name, channel: 'handle', did: `did:key:z${name}` });
const send = (who: object, more: object = {}) => t.call('POST /api/verify/send', { ...who, ...more });
const open = (who: object, more: object = {}) => t.call('POST /api/sessions', { ...who, ...more });
const verdict = ({ status, body }: Reply) => [status, body.error ?? 'ok'];

async function attestationOf(name: string, more: object = {}): Promise<unknown> {
  await send(mailbox(name), more);
  const code = t.codeFor(`${name}@example.com`);
  return (await t.call('POST /api/verify/check', { ...mailbox(name), code })).body.attestation;
}

/** Records a registration; an address by an attestation. */
function register(name: string, attestation?: unknown, more: object = {}): Promise<Reply> {
  const who = attestation === undefined ? handle(name) : { ...mailbox(name), did: `did:key:z${name}`, attestation };
  const credentialId = Buffer.from(name.padEnd(16, '.')).toString('base64url');
  const txHash = `0x${Buffer.from(name.padEnd(32, '.')).toString('hex')}`;
  return t.call('POST /api/dids', { ...who, credentialId, txHash, ...more });
}

async function invite(fields: object = {}): Promise<{ token: string; id: number }> {
  const { body } = await t.call('POST /v1/console/invites', { ...fields }, OPERATOR);
  return { token: body.token, id: body.invite.id };
}

const uses = async () => (await t.rows('SELECT count(*) AS uses FROM invite_uses'))[0]?.['uses'];

describe('closed', () => {
  test('refuses somebody new at the code, the session and the registration, and sends nothing', async () => {
    await restart({});
    const attestation = await attestationOf('early');
    const sent = await t.rows('SELECT 1 FROM codes');
    await restart({ REGISTRATION: 'closed' });
    const closed = [403, 'registration_closed'];
    expect(verdict(await send(mailbox('alice')))).toEqual(closed);
    expect(verdict(await send({ identifier: '+4915123456789', channel: 'sms' }))).toEqual(closed);
    expect(verdict(await open(handle('alice')))).toEqual(closed);
    expect(verdict(await open({ ...mailbox('alice'), did: 'did:key:zalice' }))).toEqual(closed);
    expect(verdict(await register('alice'))).toEqual(closed);
    // Proven before it was closed: the write refuses, and the attestation is not spent.
    expect(verdict(await register('early', attestation))).toEqual(closed);
    expect(await t.rows('SELECT 1 FROM attestation_uses')).toEqual([]);
    expect(await t.rows('SELECT 1 FROM codes')).toEqual(sent);
    expect(await t.rows('SELECT 1 FROM sessions UNION SELECT 1 FROM registrations')).toEqual([]);
    expect((await send(mailbox('alice'))).body.hint).toContain('sign in with your passkey');
  });

  test('leaves who is registered as they are: code, registration again, and its repetition', async () => {
    await restart({});
    expect(verdict(await register('alice', await attestationOf('alice')))).toEqual([200, 'ok']);
    await restart({ REGISTRATION: 'closed' });
    const attestation = await attestationOf('alice');
    expect(attestation).toMatchObject({ identifier: 'alice@example.com' });
    expect(verdict(await register('alice', attestation))).toEqual([200, 'ok']);
  });

  test('honours a session of before: who has opened one may end the registration', async () => {
    await restart({});
    expect((await open(handle('alice'))).status).toBe(200);
    await restart({ REGISTRATION: 'closed' });
    expect(verdict(await register('alice'))).toEqual([200, 'ok']);
    expect(verdict(await register('bob'))).toEqual([403, 'registration_closed']);
  });

  test('says no more of who is registered than the check of sessions says to anybody', async () => {
    await restart({});
    await register('alice', await attestationOf('alice'));
    await open({ ...mailbox('waiting'), did: 'did:key:zwaiting' });
    await restart({ REGISTRATION: 'closed' });
    for (const name of ['alice', 'waiting', 'nobody']) {
      const { available } = (await t.call('GET /api/sessions/check', mailbox(name))).body;
      expect([name, (await send(mailbox(name))).status]).toEqual([name, available ? 403 : 200]);
    }
  });

  test('S14: for recovery or a credential it answers everybody the same, and mails those whom it knows alone', async () => {
    await restart({});
    await register('alice', await attestationOf('alice'));
    await t.rows(`INSERT INTO recovery_addresses (chain_id, account, commitment, identifier, created_at, check_at)
      VALUES (84532, '0xa', '0xc', 'email:spare@example.com', 0, 0)`);
    await restart({ REGISTRATION: 'closed' });
    for (const purpose of ['recovery', 'credential']) {
      const answers = new Set<string>();
      for (const name of ['nobody', 'spare', 'alice']) {
        const { status, body } = await send(mailbox(name), { purpose });
        answers.add(JSON.stringify([status, { ...body, challenge: typeof body.challenge }]));
      }
      expect([...answers]).toEqual([
        '[200,{"ok":true,"channel":"email","expires_in":90,"retry_after":0,"challenge":"string"}]',
      ]);
      expect((await send({ identifier: '+4915123456789', channel: 'sms' }, { purpose })).status).toBe(200);
      await untilHolds(async () => {
        const sent = await t.rows('SELECT delivery FROM codes WHERE purpose = :purpose ORDER BY seq', { purpose });
        expect(sent.map(({ delivery }) => delivery)).toEqual(['withheld', 'accepted', 'accepted', 'withheld']);
      });
    }
    expect(t.mailsTo('nobody@example.com')).toEqual([]);
    expect(t.mailsTo('spare@example.com')).toHaveLength(2);
    expect((await send(mailbox('spare'))).status).toBe(403);
  });

  test('S14: neither do ALLOWED_MAIL_DOMAINS send codes elsewhere', async () => {
    await restart({ ALLOWED_MAIL_DOMAINS: 'tea.example' });
    expect((await send(mailbox('nobody'), { purpose: 'recovery' })).status).toBe(200);
    await untilHolds(async () =>
      expect(await t.rows('SELECT delivery FROM codes')).toEqual([{ delivery: 'withheld' }]),
    );
    expect(t.mailsTo('nobody@example.com')).toEqual([]);
  });
});

describe('by invitation', () => {
  beforeEach(() => restart({ REGISTRATION: 'invite' }));

  test('a code, a session and a registration of one address are one use', async () => {
    expect(verdict(await send(mailbox('alice')))).toEqual([403, 'invite_required']);
    const { token } = await invite();
    const more = { invite: token };
    const attestation = await attestationOf('alice', more);
    expect(verdict(await open({ ...mailbox('alice'), did: 'did:key:zalice' }, more))).toEqual([200, 'ok']);
    expect(await uses()).toBe(0);
    expect(verdict(await register('alice', attestation, more))).toEqual([200, 'ok']);
    expect(await uses()).toBe(1);
    for (const refused of [
      await send(mailbox('bob'), more),
      await open(handle('bob'), more),
      await register('bob', undefined, more),
    ])
      expect(verdict(refused)).toEqual([403, 'invite_invalid']);
    // Who is registered needs none.
    expect((await send(mailbox('alice'))).status).toBe(200);
    const { body } = await t.call('GET /v1/console/invites', {}, OPERATOR);
    expect(body).toMatchObject({ registration: 'invite', invites: [{ status: 'used', uses: 1, used: 1 }] });
    expectHoldsNone(
      [body, t.entries, await t.rows('SELECT * FROM invites, invite_uses, events')],
      token,
      token.slice(4),
    );
    expectHoldsNone(await t.rows('SELECT * FROM invites, invite_uses'), 'alice');
  });

  test('what is refused for another reason spends nothing', async () => {
    const { token } = await invite();
    await restart({ REGISTRATION: 'invite', MAX_REGISTRATIONS_PER_IP: '0' });
    expect(verdict(await open(handle('alice'), { invite: token }))).toEqual([429, 'ip_limit_reached']);
    expect(verdict(await register('alice', undefined, { invite: token }))).toEqual([429, 'ip_limit_reached']);
    expect(verdict(await open(handle('admin'), { invite: token }))).toEqual([409, 'identifier_reserved']);
    expect(await uses()).toBe(0);
  });

  test('who is registered spends none, also with one', async () => {
    await restart({});
    await register('alice', await attestationOf('alice'));
    await restart({ REGISTRATION: 'invite' });
    const { token } = await invite();
    // Another time than that of the first, so that it is another attestation.
    await clock.advance(1_000);
    const attestation = await attestationOf('alice', { invite: token });
    const proven = await register('alice', attestation, { invite: token, did: 'did:key:zother' });
    expect(verdict(proven)).toEqual([409, 'credential_already_registered']);
    const credentialId = Buffer.from('another passkey.').toString('base64url');
    expect(verdict(await register('alice', attestation, { invite: token, credentialId }))).toEqual([200, 'ok']);
    expect(await uses()).toBe(0);
  });

  test('one for an address, one of an app, one that is over and one that is revoked', async () => {
    const refused = [403, 'invite_invalid'];
    const own = await invite({ identifier: 'Alice@Example.com' });
    expect(verdict(await send(mailbox('bob'), { invite: own.token }))).toEqual(refused);
    expect((await send(mailbox('alice'), { invite: own.token })).status).toBe(200);
    const shops = await invite({ app: 'shop' });
    expect(verdict(await send(mailbox('carol'), { invite: shops.token }))).toEqual(refused);
    const byShop = await t.call(
      'POST /api/verify/send',
      { ...mailbox('carol'), invite: shops.token },
      { 'x-vault-app': 'shop' },
    );
    expect(byShop.status).toBe(200);
    const short = await invite({ expires_in: 60 });
    expect((await send(mailbox('dave'), { invite: short.token })).status).toBe(200);
    await clock.advance(MINUTE_MS);
    expect(verdict(await send(mailbox('dave'), { invite: short.token }))).toEqual(refused);
    const many = await invite({ uses: 9 });
    expect((await t.call('POST /v1/console/invites/revoke', { id: many.id }, OPERATOR)).body.invite.status).toBe(
      'revoked',
    );
    expect(verdict(await send(mailbox('erin'), { invite: many.token }))).toEqual(refused);
    expect(verdict(await send(mailbox('erin'), { invite: 'inv_none' }))).toEqual(refused);
    expect((await t.call('POST /v1/console/invites/revoke', { id: many.id }, OPERATOR)).status).toBe(404);
    const { invites } = (await t.call('GET /v1/console/invites', {}, OPERATOR)).body;
    expect(invites.map(({ status, identifier, app }: Record<string, unknown>) => [status, identifier, app])).toEqual([
      ['revoked', null, null],
      ['expired', null, null],
      ['live', null, 'shop'],
      ['live', 'a***@example.com', null],
    ]);
  });

  test('as many as its uses, at the exact edge', async () => {
    const { token } = await invite({ uses: 3 });
    const registered = [];
    for (const name of ['a1', 'b2', 'c3', 'd4', 'a1'])
      registered.push((await register(name, undefined, { invite: token })).status);
    expect(registered).toEqual([200, 200, 200, 403, 200]);
    expect(await uses()).toBe(3);
  });

  test('sessions of addresses that nobody has proven take nothing of it, and register nobody (S13)', async () => {
    const { token } = await invite({ uses: 2 });
    for (const name of ['x1', 'x2', 'x3'])
      expect((await open({ ...mailbox(name), did: `did:key:z${name}` }, { invite: token })).status).toBe(200);
    const attestation = await attestationOf('alice', { invite: token });
    expect(verdict(await register('alice', attestation, { invite: token }))).toEqual([200, 'ok']);
    expect(await uses()).toBe(1);
    expect((await open(handle('bob'), { invite: token })).status).toBe(200);
    expect(verdict(await register('bob'))).toEqual([403, 'invite_required']);
  });

  test("are the operator's alone, within bounds, and gone a month after their end", async () => {
    for (const line of ['GET /v1/console/invites', 'POST /v1/console/invites', 'POST /v1/console/invites/revoke'])
      expect((await t.call(line, {})).status).toBe(401);
    for (const wrong of [
      { uses: 0 },
      { uses: 10_001 },
      { uses: 1.5 },
      { expires_in: 366 * 86_400 },
      { app: 'other' },
      { identifier: '@' },
    ])
      expect((await t.call('POST /v1/console/invites', wrong, OPERATOR)).status).toBe(400);
    const { token } = await invite();
    await register('alice', undefined, { invite: token });
    await clock.advance(38 * DAY_MS);
    for (let i = 0; i < 3; i++) await t.work();
    expect(await t.rows('SELECT 1 FROM invites UNION SELECT 1 FROM invite_uses')).toEqual([]);
  });
});

describe('mail domains', () => {
  const refused = [403, 'mail_domain_refused'];
  const at = (domain: string) => ({ identifier: `alice@${domain}`, channel: 'email' });

  test('those of ALLOWED_MAIL_DOMAINS alone; numbers and handles have none', async () => {
    await restart({ ALLOWED_MAIL_DOMAINS: 'example.com, *.example.org' });
    for (const domain of ['example.com', 'a.example.org', 'b.a.example.org'])
      expect((await send(at(domain))).status).toBe(200);
    for (const domain of ['a.example.com', 'example.org', 'notexample.com', 'example.com.net', 'aexample.org'])
      expect(verdict(await send(at(domain)))).toEqual(refused);
    expect(verdict(await open({ ...at('example.net'), did: 'did:key:za' }))).toEqual(refused);
    expect((await send({ identifier: '+4915123456789', channel: 'sms' })).status).toBe(200);
    expect((await open(handle('alice'))).status).toBe(200);
  });

  test('not those of REFUSED_MAIL_DOMAINS_FILE, which is read again within a minute', async () => {
    const file = join(folder.path, 'refused.txt');
    writeFileSync(file, '\uFEFF# thrown away\r\nTrash.example # in any case\r\n\n  münchen.example.\n');
    await restart({ REFUSED_MAIL_DOMAINS_FILE: file });
    for (const domain of ['trash.example', 'a.b.trash.example', 'xn--mnchen-3ya.example', 'MÜNCHEN.example'])
      expect(verdict(await send(at(domain)))).toEqual(refused);
    for (const domain of ['nottrash.example', 'example', 'example.com'])
      expect((await send(at(domain))).body.error).not.toBe('mail_domain_refused');
    await t.work();
    writeFileSync(file, 'other.example\n');
    await clock.advance(MINUTE_MS);
    await t.work();
    expect(verdict(await send(at('other.example')))).toEqual(refused);
    expect((await send(at('trash.example'))).status).toBe(200);
    // What cannot be used changes nothing, and the log says why.
    writeFileSync(file, 'fine.example\nno domain\n');
    await clock.advance(MINUTE_MS);
    await t.work();
    expect((await send(at('fine.example'))).status).toBe(200);
    expect(t.entries.find(({ event }) => event === 'refused_domains_unread')).toMatchObject({
      message: 'REFUSED_MAIL_DOMAINS_FILE names a file that has no domain in line 2',
    });
  });

  test('an invite does not open a refused domain, and cannot be made for one', async () => {
    await restart({ REGISTRATION: 'invite', ALLOWED_MAIL_DOMAINS: 'example.com' });
    const { token } = await invite();
    expect(verdict(await send(at('example.net'), { invite: token }))).toEqual(refused);
    const made = await t.call('POST /v1/console/invites', { identifier: 'a@example.net' }, OPERATOR);
    expect([made.status, made.body.error]).toEqual([400, 'Invalid identifier']);
  });
});
