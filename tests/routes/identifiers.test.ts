import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { operatorFiles } from '../../commands/setup/operator-files.ts';
import { startVault, type TestVault } from '../support/vault.ts';

let t: TestVault;
beforeEach(async () => {
  t = await startVault({ MAX_REGISTRATIONS_PER_IP: '100' });
  // The tables are made at first use.
  await t.call('GET /readyz');
});
afterEach(() => t.stop());

const send = (channel: string, identifier: string, to = t) => to.call('POST /api/verify/send', { channel, identifier });
/** A query as a browser's address bar sends it: nothing of it is encoded. */
const raw = async (path: string) => (await fetch(t.url + path)).json();

describe('an address that no mail server takes', () => {
  test.each(['.dots..@ex.co', 'dot.@ex.co', 'a..b@ex.co', '.@ex.co', `${'a'.repeat(65)}@ex.co`])(
    '%p is 400 before a code is counted (A7)',
    async (identifier) => {
      const reply = await send('email', identifier);
      expect([reply.status, reply.body]).toEqual([400, { error: 'Invalid identifier', hint: expect.any(String) }]);
      expect(await t.rows('SELECT * FROM codes')).toEqual([]);
    },
  );

  test.each(['a@localhost', 'root@internal', 'a@127.0.0.1'])(
    '%p is 400: no code goes to the mail server’s own mailboxes (L3)',
    async (identifier) => {
      expect((await send('email', identifier)).status).toBe(400);
      expect((await t.call('POST /api/sessions', { channel: 'email', identifier, did: 'did:a:b' })).status).toBe(400);
    },
  );

  test('but EMAIL_LOCAL_DOMAINS names exceptions', async () => {
    const own = await startVault({ EMAIL_LOCAL_DOMAINS: 'localhost, INTRA' });
    expect((await send('email', 'a@localhost', own)).status).toBe(200);
    const at = { channel: 'email', identifier: 'A@intra' };
    const session = await own.call('POST /api/sessions', { ...at, did: 'did:a:b' }, { 'Idempotency-Key': 'one' });
    expect([session.status, session.body.identifier]).toEqual([200, 'a@intra']);
    expect((await own.call('GET /api/sessions/check', at)).body.identifier).toBe('a@intra');
    expect((await own.call('GET /api/verify/status', at)).status).toBe(200);
    expect((await send('email', 'a@internal', own)).status).toBe(400);
    await own.stop();
  });
});

describe('a phone number as phones and Word paste it', () => {
  test.each([
    '+1\u00a0415\u00a0555\u00a00100',
    '+1\u2011415\u2011555\u20110100',
    '+1 [415] 555\u20130100',
    '\u202a+1 415 555 0100\u202c',
  ])('%p is taken (A7)', async (identifier) => {
    const reply = await t.call('GET /api/sessions/check', { channel: 'sms', identifier });
    expect([reply.status, reply.body.identifier]).toEqual([200, '+14155550100']);
  });

  test('with the 0 that is dialled at home it is one identity, not two (L4)', async () => {
    const first = await t.call('POST /api/sessions', {
      channel: 'sms',
      identifier: '+49 (0)151 23456789',
      did: 'did:a:a',
    });
    expect([first.status, first.body.identifier]).toEqual([200, '+4915123456789']);
    for (const identifier of ['+4915123456789', '+49015123456789', '+49 0151 234 567-89']) {
      const second = await t.call('POST /api/sessions', { channel: 'sms', identifier, did: 'did:a:b' });
      expect([identifier, second.status]).toEqual([identifier, 409]);
    }
    expect(await t.rows('SELECT identifier FROM sessions')).toEqual([{ identifier: 'sms:+4915123456789' }]);
  });
});

describe('a + of a query that nobody encoded is one again (A7)', () => {
  test('in addresses as in phone numbers', async () => {
    const session = { channel: 'email', identifier: 'a+b@x.co', did: 'did:a:b' };
    await t.call('POST /api/sessions', session);
    expect(await raw('/api/sessions/check?identifier=a+b@x.co')).toMatchObject({ identifier: 'a+b@x.co' });
    expect(await raw('/api/verify/status?channel=email&identifier=a+b++c@x.co')).toMatchObject({
      identifier: 'a+b++c@x.co',
    });
    expect(await raw('/api/sessions/check?identifier=+14155550100')).toMatchObject({ identifier: '+14155550100' });
  });

  test('but a blank in a body stays one, and is refused', async () => {
    expect((await send('email', 'a b@x.co')).status).toBe(400);
  });
});

describe('a handle that passes for a reserved one (L5)', () => {
  test.each(['vauit', 'vaultt', 'rnoderator', 'vvallet', 'suppport', 'teahouse', 'tea', 'book-shop'])(
    '%p too: letters that look alike, and what the service and its apps are called (S24)',
    async (identifier) => {
      const folder = mkdtempSync(join(tmpdir(), 'vault-names-'));
      const path = join(folder, 'brands.json');
      await Bun.write(path, JSON.stringify({ books: { name: 'Book Shop' } }));
      const own = await startVault({ BRAND_NAME: 'Tea House', APPS: 'tea,books', BRANDS: path }, { operatorFiles });
      const reply = await own.call('POST /api/sessions', { channel: 'handle', identifier, did: 'did:a:b' });
      expect([reply.status, reply.body.error]).toEqual([409, 'identifier_reserved']);
      await own.stop();
      rmSync(folder, { recursive: true });
    },
  );

  test.each(['adm1n', 'a.dmin', 'vault-support', 'vaultsupport', 'V_A_U_L_T', 'supp0rt', 'he1p', '4dm1n.7eam'])(
    '%p is 409 identifier_reserved',
    async (identifier) => {
      const reply = await t.call('POST /api/sessions', { channel: 'handle', identifier, did: 'did:a:b' });
      expect([reply.status, reply.body.error]).toEqual([409, 'identifier_reserved']);
      const check = await t.call('GET /api/sessions/check', { channel: 'handle', identifier });
      expect(check.body).toMatchObject({ available: false, reason: 'identifier_reserved' });
    },
  );
});
