import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { startVault, type TestVault } from '../support/vault.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const alice = { identifier: 'alice', channel: 'handle', did: 'did:key:z6Mkalice' };

let t: TestVault;
beforeEach(async () => {
  t = await startVault();
});
afterEach(() => t.stop());

describe('POST /api/sessions', () => {
  test('§4 sessions: the session is answered with ok, identifier, channel and did', async () => {
    const reply = await t.call('POST /api/sessions', alice);
    expect(reply.status).toBe(200);
    expect(reply.body).toEqual({ ok: true, ...alice });
  });

  test.each([
    ['§2 session request identifier', 'identifier', 'alice'],
    ['§2 session request channel', 'channel', 'handle'],
    ['§2 session request did', 'did', alice.did],
  ])('%s: a string, required, and answered', async (_, name, value) => {
    expect((await t.call('POST /api/sessions', { ...alice, [name]: undefined })).status).toBe(400);
    expect((await t.call('POST /api/sessions', { ...alice, [name]: [value] })).status).toBe(400);
    expect((await t.call('POST /api/sessions', alice)).body[name]).toBe(value);
  });

  test('§2 session request identifier: the alias handle is accepted, and channel inferred as handle', async () => {
    const reply = await t.call('POST /api/sessions', { handle: 'Alice', did: alice.did });
    expect(reply.body).toEqual({ ok: true, ...alice });
    const named = await t.call('POST /api/sessions', { name: 'bob', did: alice.did });
    expect(named.body).toEqual({ ok: true, identifier: 'bob', channel: 'handle', did: alice.did });
  });

  test('identifiers are answered and kept in normal form', async () => {
    const email = await t.call('POST /api/sessions', { ...alice, channel: 'email', identifier: ' Al@EXÄMPLE.com ' });
    expect(email.body.identifier).toBe('al@xn--exmple-cua.com');
    const again = await t.call('POST /api/sessions', { ...alice, channel: 'email', identifier: 'al@exämple.COM' });
    expect(again.body).toMatchObject({ error: 'identifier_taken' });
    const phone = await t.call('POST /api/sessions', { ...alice, channel: 'sms', identifier: '+1 (415) 555-0100' });
    expect(phone.body.identifier).toBe('+14155550100');
  });

  test.each([
    ['identifier', { channel: 'handle', did: alice.did }, 'Missing or empty: identifier.'],
    ['channel', { identifier: 'alice', did: alice.did }, 'Missing or empty: channel.'],
    ['did', { identifier: 'alice', channel: 'handle' }, 'Missing or empty: did.'],
    ['null did', { ...alice, did: null }, 'Missing or empty: did.'],
    ['empty identifier', { ...alice, identifier: '' }, 'Missing or empty: identifier.'],
    ['everything', {}, undefined],
  ])('§7 sessions 400 Missing required fields: identifier, channel, did — %s', async (_, body, hint) => {
    const reply = await t.call('POST /api/sessions', body);
    expect(reply.status).toBe(400);
    expect(reply.body).toEqual({ error: 'Missing required fields: identifier, channel, did', ...(hint && { hint }) });
  });

  test.each([
    ['Invalid did', { ...alice, did: 'not a did' }],
    ['Invalid did', { ...alice, did: 7 }],
    ['Invalid did', { ...alice, did: `did:key:${'a'.repeat(2048)}` }],
    ['Invalid identifier', { ...alice, identifier: '-alice' }],
    ['Invalid identifier', { ...alice, identifier: ['alice'] }],
    ['Invalid identifier', { ...alice, channel: 'email' }],
    ['Invalid channel. Must be "sms", "email" or "handle"', { ...alice, channel: 'fax' }],
  ])('400 %s names the field', async (error, body) => {
    const reply = await t.call('POST /api/sessions', body);
    expect([reply.status, reply.body.error]).toEqual([400, error]);
  });

  test('§7 sessions 409 identifier_reserved', async () => {
    const reply = await t.call('POST /api/sessions', { ...alice, identifier: 'Admin' });
    expect([reply.status, reply.body]).toEqual([409, { error: 'identifier_reserved' }]);
  });

  test('§7 sessions 409 identifier_taken', async () => {
    await t.call('POST /api/sessions', alice);
    const same = await t.call('POST /api/sessions', alice);
    expect([same.status, same.body]).toMatchObject([409, { error: 'identifier_taken', reason: 'same_did' }]);
    const other = await t.from('203.0.113.9').call('POST /api/sessions', { ...alice, did: 'did:key:z6Mkbob' });
    expect([other.status, other.body]).toEqual([409, { error: 'identifier_taken' }]);
  });

  test('§7 sessions 429 ip_limit_reached', async () => {
    for (const identifier of ['a1', 'a2', 'a3']) await t.call('POST /api/sessions', { ...alice, identifier });
    await t.clock.advance(HOUR);
    const reply = await t.call('POST /api/sessions', { ...alice, identifier: 'a4' });
    expect([reply.status, reply.body]).toEqual([
      429,
      { error: 'ip_limit_reached', limit: 'registrations-per-ip', retry_after: 82_800 },
    ]);
    expect(reply.headers.get('retry-after')).toBe(String(23 * 3600));
    expect(reply.headers.get('ratelimit')).toBe('"registrations-per-ip";r=0;t=82800');
    expect(reply.headers.get('ratelimit-policy')).toBe('"registrations-per-ip";q=3;w=2592000');
    const taken = await t.call('POST /api/sessions', { ...alice, identifier: 'a1' });
    expect(taken.body).toMatchObject({ error: 'identifier_taken' });
  });

  test('§8 MAX_REGISTRATIONS_PER_IP: 3 per IP, and another IP has its own', async () => {
    for (const identifier of ['a1', 'a2', 'a3']) {
      expect((await t.from('203.0.113.7').call('POST /api/sessions', { ...alice, identifier })).status).toBe(200);
    }
    expect((await t.from('203.0.113.7').call('POST /api/sessions', { ...alice, identifier: 'a4' })).status).toBe(429);
    expect((await t.from('203.0.113.8').call('POST /api/sessions', { ...alice, identifier: 'a4' })).status).toBe(200);
  });

  test('REGISTRATIONS_PER_IP_WINDOW_SECONDS: a session counts for 30 days, at the exact edge; it holds for good', async () => {
    for (const identifier of ['a1', 'a2', 'a3']) await t.call('POST /api/sessions', { ...alice, identifier });
    await t.rows('UPDATE sessions SET linked = 1');
    await t.clock.advance(30 * DAY - 1_000);
    const full = await t.call('POST /api/sessions', { ...alice, identifier: 'a4' });
    expect([full.status, full.headers.get('retry-after')]).toEqual([429, '1']);
    await t.clock.advance(999);
    expect((await t.call('POST /api/sessions', { ...alice, identifier: 'a4' })).status).toBe(429);
    await t.clock.advance(1);
    expect((await t.call('GET /api/sessions/status')).body).toMatchObject({
      ip_registrations: 0,
      total_registrations: 3,
    });
    expect((await t.call('POST /api/sessions', { ...alice, identifier: 'a4' })).status).toBe(200);
    expect((await t.call('POST /api/sessions', { ...alice, identifier: 'a1' })).body.error).toBe('identifier_taken');
  });

  test('REGISTRATIONS_PER_IP_WINDOW_SECONDS=0: a session with a DID counts for good', async () => {
    const own = await startVault({ REGISTRATIONS_PER_IP_WINDOW_SECONDS: '0', MAX_REGISTRATIONS_PER_IP: '1' });
    await own.call('POST /api/sessions', alice);
    const lapses = await own.call('POST /api/sessions', { ...alice, identifier: 'a2' });
    expect([lapses.status, lapses.headers.get('retry-after')]).toEqual([429, '86400']);
    await own.rows('UPDATE sessions SET linked = 1');
    await own.clock.advance(1_000 * DAY);
    const stays = await own.call('POST /api/sessions', { ...alice, identifier: 'a2' });
    expect([stays.status, stays.headers.get('retry-after')]).toEqual([429, null]);
    await own.stop();
  });

  test('an unlinked session lapses after a day, at the exact edge, and frees identifier and IP slot', async () => {
    for (const identifier of ['a1', 'a2', 'a3']) await t.call('POST /api/sessions', { ...alice, identifier });
    await t.clock.advance(DAY - 1);
    expect((await t.call('POST /api/sessions', { ...alice, identifier: 'a1' })).body.error).toBe('identifier_taken');
    expect((await t.call('POST /api/sessions', { ...alice, identifier: 'a4' })).body.error).toBe('ip_limit_reached');
    await t.clock.advance(1);
    expect((await t.call('POST /api/sessions', { ...alice, identifier: 'a1' })).status).toBe(200);
    expect((await t.call('POST /api/sessions', { ...alice, identifier: 'a4' })).status).toBe(200);
  });
});

describe('GET /api/sessions/status', () => {
  test.each([
    ['§2 IP counts ip_registrations', 'ip_registrations', [0, 1, 0]],
    ['§2 IP counts ip_limit', 'ip_limit', [3, 3, 3]],
    ['§2 IP counts total_registrations', 'total_registrations', [0, 2, 0]],
  ])('%s: before, after one session here and one elsewhere, and once they lapsed', async (_, name, expected) => {
    const read = async () => (await t.call('GET /api/sessions/status')).body[name];
    const empty = await read();
    await t.call('POST /api/sessions', alice);
    await t.from('203.0.113.9').call('POST /api/sessions', { ...alice, identifier: 'bob' });
    const opened = await read();
    await t.clock.advance(DAY);
    expect([empty, opened, await read()]).toEqual(expected);
  });

  test('A5: an attested registration neither counts nor is limited; ip_registrations is what the limit counts', async () => {
    const attested = async (identifier: string) => {
      const address = { identifier, channel: 'email' };
      await t.from(identifier).call('POST /api/verify/send', address);
      const { attestation } = (await t.call('POST /api/verify/check', { ...address, code: t.codeFor(identifier) }))
        .body;
      const credentialId = Buffer.from(identifier.padEnd(16, '.')).toString('base64url');
      const txHash = `0x${Buffer.from(identifier.slice(0, 1)).toString('hex').repeat(32)}`;
      const did = `did:key:z${identifier.slice(0, 1)}`;
      return (await t.call('POST /api/dids', { ...address, did, attestation, credentialId, txHash })).status;
    };
    const counted = async () => (await t.call('GET /api/sessions/status')).body;
    expect(await attested('x@example.com')).toBe(200);
    for (const identifier of ['a1', 'a2', 'a3']) {
      expect((await t.call('POST /api/sessions', { ...alice, identifier })).status).toBe(200);
    }
    expect(await attested('y@example.com')).toBe(200);
    expect(await counted()).toEqual({ ip_registrations: 3, ip_limit: 3, total_registrations: 5 });
    expect((await t.call('POST /api/sessions', { ...alice, identifier: 'a4' })).status).toBe(429);
    // The session of an address that its owner opened first counts as before: opening it was limited.
    await t.clock.advance(DAY);
    const own = { identifier: 'z@example.com', channel: 'email', did: 'did:key:zz' };
    expect((await t.call('POST /api/sessions', own)).status).toBe(200);
    expect(await attested('z@example.com')).toBe(200);
    expect((await counted()).ip_registrations).toBe(1);
  });

  test('§4 sessions/status: the IP is read from Edge-Connecting-IP, IPv6 counted as its /64', async () => {
    await t.from('2001:db8:1:2::1').call('POST /api/sessions', alice);
    const sameNetwork = await t.from('2001:db8:1:2:ffff::9').call('GET /api/sessions/status');
    expect(sameNetwork.body.ip_registrations).toBe(1);
    const nextNetwork = await t.from('2001:db8:1:3::1').call('GET /api/sessions/status');
    expect(nextNetwork.body.ip_registrations).toBe(0);
    await t.from('::ffff:203.0.113.7').call('POST /api/sessions', { ...alice, identifier: 'bob' });
    const mapped = await t.from('203.0.113.7').call('GET /api/sessions/status');
    expect(mapped.body.ip_registrations).toBe(1);
  });
});

describe('GET /api/sessions/check', () => {
  test('§4 sessions/check: available until linked to a DID, a handle until it has a session', async () => {
    const free = await t.call('GET /api/sessions/check', { identifier: 'alice' });
    expect([free.status, free.body]).toEqual([200, { identifier: 'alice', channel: 'handle', available: true }]);
    await t.call('POST /api/sessions', alice);
    expect((await t.call('GET /api/sessions/check', { identifier: 'alice' })).body.available).toBe(false);
    const email = { identifier: 'alice@example.com', channel: 'email' };
    expect((await t.call('POST /api/sessions', { ...alice, ...email })).status).toBe(200);
    expect((await t.call('GET /api/sessions/check', email)).body.available).toBe(true);
    await t.call('POST /api/dids', {
      ...alice,
      credentialId: 'AAAAAAAAAAAAAAAAAAAAAA',
      txHash: `0x${'11'.repeat(32)}`,
    });
    const taken = await t.call('GET /api/sessions/check', { identifier: 'alice' });
    expect(taken.body).toEqual({
      identifier: 'alice',
      channel: 'handle',
      available: false,
      reason: 'identifier_taken',
    });
  });

  test('§4 sessions/check: rejects reserved values', async () => {
    const reply = await t.call('GET /api/sessions/check', { identifier: 'support' });
    expect(reply.body).toEqual({
      identifier: 'support',
      channel: 'handle',
      available: false,
      reason: 'identifier_reserved',
    });
  });

  test('the channel is inferred from the form; a raw plus sign in the query is restored', async () => {
    expect((await t.call('GET /api/sessions/check', { identifier: 'a@example.com' })).body.channel).toBe('email');
    const raw = await t.call('GET /api/sessions/check?identifier=+14155550100');
    expect(raw.body).toEqual({ identifier: '+14155550100', channel: 'sms', available: true });
  });

  test('400 Missing query parameters: identifier', async () => {
    const reply = await t.call('GET /api/sessions/check');
    expect([reply.status, reply.body]).toEqual([400, { error: 'Missing query parameters: identifier' }]);
  });
});

test('RESERVED_IDENTIFIERS and RESERVED_DOMAINS reserve more', async () => {
  const own = await startVault({ RESERVED_IDENTIFIERS: 'acme, ceo@acme.test', RESERVED_DOMAINS: 'acme.test' });
  const reasonOf = async (identifier: string) =>
    (await own.call('GET /api/sessions/check', { identifier })).body.reason;
  expect(await reasonOf('ACME')).toBe('identifier_reserved');
  expect(await reasonOf('ceo@acme.test')).toBe('identifier_reserved');
  expect(await reasonOf('admin@acme.test')).toBe('identifier_reserved');
  expect(await reasonOf('admin@example.com')).toBeUndefined();
  expect(await reasonOf('bob@acme.test')).toBeUndefined();
  await own.stop();
});
