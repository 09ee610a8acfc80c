import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { createMetrics } from '../../lib/base/metrics.ts';
import { withRow } from '../../lib/db/row-lock.ts';
import { createStore } from '../../lib/db/store.ts';
import { startVault, type TestVault } from '../support/vault.ts';

const DAY = 86_400_000;
const hash = (byte: string) => `0x${byte.repeat(32)}`;
const credential = (letter: string) => letter.repeat(22).replace(/.$/, 'A');
const alice = {
  credentialId: credential('A'),
  identifier: 'alice',
  channel: 'handle',
  did: 'did:key:zAlice',
  txHash: hash('aa'),
};
const bob = {
  credentialId: credential('B'),
  identifier: 'bob',
  channel: 'handle',
  did: 'did:key:zBob',
  txHash: hash('bb'),
};
const mail = { ...alice, identifier: 'alice@example.com', channel: 'email' };

let t: TestVault;
beforeEach(async () => {
  t = await startVault({ MAX_VERIFY_SENDS_PER_IP: '100' });
});
afterEach(() => t.stop());

const register = (body: Record<string, unknown>) => t.call('POST /api/dids', body);

async function attest(identifier: string) {
  await t.call('POST /api/verify/send', { identifier, channel: 'email' });
  const checked = await t.call('POST /api/verify/check', { identifier, channel: 'email', code: t.codeFor(identifier) });
  return checked.body.attestation;
}

async function refusal(body: Record<string, unknown>) {
  const reply = await register(body);
  return [reply.status, reply.body.error];
}

describe('POST /api/dids, recorded', () => {
  test('§4 dids: registers a DID, with the attestation as proof of ownership', async () => {
    const reply = await register({ ...mail, attestation: await attest(mail.identifier) });
    expect(reply.status).toBe(200);
    expect(reply.body).toEqual({ ok: true, identifier: mail.identifier, channel: 'email', txHash: mail.txHash });
    const found = await t.call('GET /api/dids/lookup', { credentialId: mail.credentialId });
    expect(found.body).toMatchObject({ did: mail.did, status: 'submitted', proven: false });
  });

  test.each(['credentialId', 'identifier', 'channel', 'did', 'txHash'])(
    '400 Missing required fields: credentialId, identifier, channel, did, txHash — %s',
    async (name) => {
      const expected = [400, 'Missing required fields: credentialId, identifier, channel, did, txHash'];
      expect(await refusal({ ...alice, [name]: undefined })).toEqual(expected);
    },
  );

  test.each([
    ['Invalid credentialId', { credentialId: 'short' }],
    ['Invalid credentialId', { credentialId: `${'A'.repeat(30)}!` }],
    ['Invalid did', { did: 'did:UPPER:x' }],
    ['Invalid txHash', { txHash: '0x12' }],
    ['Invalid blockNumber', { blockNumber: '12' }],
    ['Invalid blockNumber', { blockNumber: -1 }],
    ['Invalid smartAccount: expected 20-byte address', { smartAccount: '0x12' }],
    ['Invalid proof', { proof: { signature: 'AA' } }],
  ])('400 %s', async (error, change) => {
    expect(await refusal({ ...alice, ...change })).toEqual([400, error]);
  });

  test('a retry of an identical request is answered the same, also when its attestation has expired', async () => {
    const attestation = await attest(mail.identifier);
    const first = await register({ ...mail, attestation });
    await t.clock.advance(DAY);
    const again = await register({ ...mail, attestation });
    expect([again.status, again.body]).toEqual([first.status, first.body]);
    expect(await t.rows('SELECT count(*) AS n FROM registrations')).toEqual([{ n: 1 }]);
  });

  test('padded and standard base64 name the same credential', async () => {
    await register({ ...alice, credentialId: '+/+/+/+/+/+/+/+/+/+/+w==' });
    const found = await t.call('GET /api/dids/lookup', { credentialId: '-_-_-_-_-_-_-_-_-_-_-w' });
    expect(found.body).toMatchObject({ did: alice.did, credentialId: '-_-_-_-_-_-_-_-_-_-_-w' });
  });
});

describe('§5.1 the attestation at POST /api/dids', () => {
  test('absent, misshapen or forged is 403 attestation_invalid', async () => {
    const attestation = await attest(mail.identifier);
    const forged = [
      undefined,
      null,
      '',
      'x',
      {},
      { ...attestation, signature: hash('00') },
      { ...attestation, identifier: 7 },
    ];
    for (const value of forged)
      expect(await refusal({ ...mail, attestation: value })).toEqual([403, 'attestation_invalid']);
    const longer = { ...attestation, expires_at: '2099-01-01T00:00:00.000Z' };
    expect(await refusal({ ...mail, attestation: longer })).toEqual([403, 'attestation_invalid']);
  });

  test("another registrar's is 403 attestation_invalid even under the same key", async () => {
    const other = await startVault({ REGISTRAR_DID: 'did:web:elsewhere.example' });
    await other.call('POST /api/verify/send', { identifier: mail.identifier, channel: 'email' });
    const code = other.codeFor(mail.identifier);
    const { body } = await other.call('POST /api/verify/check', {
      identifier: mail.identifier,
      channel: 'email',
      code,
    });
    await other.stop();
    expect(await refusal({ ...mail, attestation: body.attestation })).toEqual([403, 'attestation_invalid']);
  });

  test("another identifier's is 403 attestation_mismatch", async () => {
    const attestation = await attest('eve@example.com');
    expect(await refusal({ ...mail, attestation })).toEqual([403, 'attestation_mismatch']);
  });

  test('§8 ATTESTATION_TTL_SECONDS: 300 seconds, at the exact edge, then 403 attestation_expired', async () => {
    const attestation = await attest(mail.identifier);
    const late = await attest('late@example.com');
    await t.clock.advance(299_999);
    expect((await register({ ...mail, attestation })).status).toBe(200);
    await t.clock.advance(1);
    const claim = { ...bob, channel: 'email', identifier: 'late@example.com', attestation: late };
    expect(await refusal(claim)).toEqual([403, 'attestation_expired']);
  });

  test('a second registration with one attestation is 403 attestation_used; a failed one does not burn it', async () => {
    await register(bob);
    const attestation = await attest(mail.identifier);
    const { credentialId } = bob;
    expect(await refusal({ ...mail, credentialId, attestation })).toEqual([409, 'credential_already_registered']);
    expect((await register({ ...mail, attestation })).status).toBe(200);
    const second = { ...mail, credentialId: credential('C'), did: 'did:key:zOther', txHash: hash('cc'), attestation };
    expect(await refusal(second)).toEqual([403, 'attestation_used']);
  });
});

describe('conflicts', () => {
  test('409 credential_already_registered, with the hint to send a proof, then identifier_taken', async () => {
    await register(alice);
    const from = (change: Record<string, unknown>) => refusal({ ...bob, ...change });
    const { credentialId, identifier } = alice;
    const refused = await register({ ...bob, credentialId, identifier });
    expect([refused.status, refused.body.error]).toEqual([409, 'credential_already_registered']);
    expect(refused.body.hint).toContain('passkey proof');
    expect(await from({ credentialId })).toEqual([409, 'credential_already_registered']);
    expect(await from({ identifier })).toEqual([409, 'identifier_taken']);
    expect((await register(bob)).status).toBe(200);
  });

  test('unproven claims of one DID stand side by side, and records of one DID share a credential', async () => {
    await register(alice);
    expect((await register({ ...bob, did: alice.did })).status).toBe(200);
    const { credentialId, did } = alice;
    expect((await register({ ...bob, identifier: 'carol', did, credentialId })).status).toBe(200);
    const found = await t.call('GET /api/dids/lookup', { credentialId: bob.credentialId });
    expect(found.body).toMatchObject({ did, proven: false, proofs: { identifier: null, controller: null, did: null } });
  });

  test('an address is registered once without a proof: 409 identifier_taken', async () => {
    await register({ ...mail, attestation: await attest(mail.identifier) });
    await t.clock.advance(1);
    const later = { ...bob, identifier: mail.identifier, channel: 'email', attestation: await attest(mail.identifier) };
    expect(await refusal(later)).toEqual([409, 'identifier_taken']);
  });

  test('copies of a handle under its own DID are bounded by the IP of the copier: 429 ip_limit_reached', async () => {
    await register(alice);
    const copy = (letter: string) =>
      t.from('203.0.113.66').call('POST /api/dids', { ...alice, credentialId: credential(letter) });
    for (const letter of ['C', 'D', 'E']) expect((await copy(letter)).status).toBe(200);
    const refused = await copy('F');
    expect([refused.status, refused.body.error]).toEqual([429, 'ip_limit_reached']);
    expect(refused.headers.get('retry-after')).toBe('86400');
    expect((await register({ ...alice, credentialId: credential('G') })).status).toBe(200);
    await t.clock.advance(DAY);
    expect((await copy('F')).status).toBe(200);
  });

  test('a handle held by a live session of another DID is 409 identifier_taken; its own session is linked', async () => {
    await t.call('POST /api/sessions', { identifier: 'alice', channel: 'handle', did: 'did:key:zSquatter' });
    expect(await refusal(alice)).toEqual([409, 'identifier_taken']);
    await t.clock.advance(DAY);
    expect((await register(alice)).status).toBe(200);
    await t.clock.advance(2 * DAY);
    const again = await t.call('POST /api/sessions', { identifier: 'alice', channel: 'handle', did: alice.did });
    expect(again.body.error).toBe('identifier_taken');
  });

  test('a handle without a session creates one and spends the IP limit: 429 ip_limit_reached', async () => {
    for (const identifier of ['a1', 'a2'])
      await t.call('POST /api/sessions', { identifier, channel: 'handle', did: alice.did });
    expect((await register(alice)).status).toBe(200);
    expect((await t.call('GET /api/sessions/status')).body.ip_registrations).toBe(3);
    const refused = await register(bob);
    expect([refused.status, refused.body]).toEqual([
      429,
      { error: 'ip_limit_reached', limit: 'registrations-per-ip', retry_after: 86_400 },
    ]);
    expect(refused.headers.get('retry-after')).toBe('86400');
  });

  test('a lapsed session of the same DID counts no more: the registration takes a slot of its own IP', async () => {
    const session = { identifier: 'alice', channel: 'handle', did: alice.did };
    await t.from('203.0.113.66').call('POST /api/sessions', session);
    await t.clock.advance(DAY);
    expect((await register(alice)).status).toBe(200);
    expect((await t.call('GET /api/sessions/status')).body.ip_registrations).toBe(1);
  });

  test('a reserved handle is 409 identifier_reserved', async () => {
    expect(await refusal({ ...alice, identifier: 'admin' })).toEqual([409, 'identifier_reserved']);
  });

  test("an unproven session never locks out the address's owner, who takes it over", async () => {
    const squat = { identifier: mail.identifier, channel: 'email', did: 'did:key:zSquatter' };
    await t.from('203.0.113.66').call('POST /api/sessions', squat);
    const attestation = await attest(mail.identifier);
    expect((await register({ ...mail, attestation })).status).toBe(200);
    const squatter = await t.from('203.0.113.66').call('GET /api/sessions/status');
    expect(squatter.body).toMatchObject({ ip_registrations: 0, total_registrations: 1 });
  });

  test('503 identifier_busy with Retry-After while the row is held', async () => {
    const other = await startVault({}, { database: t.database, clock: t.clock });
    const { promise: held, resolve: release } = Promise.withResolvers<void>();
    const db = createStore({ database: t.database, clock: t.clock, metrics: createMetrics(), maxConnections: 1 });
    const holder = withRow({ db, clock: t.clock }, 'handle:alice', () => held);
    await t.clock.advance(10);
    const waiting = other.call('POST /api/dids', alice);
    await t.clock.advance(3_000);
    const reply = await waiting;
    expect([reply.status, reply.body]).toEqual([503, { error: 'identifier_busy', hint: expect.any(String) }]);
    expect(reply.headers.get('retry-after')).toBe('2');
    release();
    await holder;
    expect((await register(alice)).status).toBe(200);
    await other.stop();
  });
});

describe('GET /api/dids/lookup', () => {
  test('§4 dids/lookup: resolves a credential ID to its DID, and never tells the identifier', async () => {
    await register({ ...alice, blockNumber: 7, smartAccount: `0x${'Ab'.repeat(20)}` });
    const reply = await t.call('GET /api/dids/lookup', { credentialId: alice.credentialId });
    expect(reply.status).toBe(200);
    expect(reply.body).toEqual({
      credentialId: alice.credentialId,
      did: alice.did,
      channel: 'handle',
      status: 'submitted',
      final: false,
      proven: false,
      proofs: { identifier: null, controller: null, did: null },
      txHash: alice.txHash,
      blockNumber: 7,
      smartAccount: null,
      pubKeyX: null,
      pubKeyY: null,
      registeredAt: new Date(t.clock.now()).toISOString(),
      checkedAt: null,
    });
    expect(reply.text).not.toContain('"alice"');
  });

  test.each([
    [404, 'not_found', { credentialId: credential('Z') }],
    [400, 'Missing query parameters: credentialId', {}],
    [400, 'Invalid credentialId', { credentialId: 'x' }],
    [
      400,
      'Invalid pubKeyX or pubKeyY: expected uint256 hex string',
      { credentialId: credential('Z'), pubKeyX: 'x', pubKeyY: '1' },
    ],
    [400, 'Expected both or none of: pubKeyX, pubKeyY', { credentialId: credential('Z'), pubKeyX: '1' }],
  ])('%d %s', async (status, error, query) => {
    const reply = await t.call('GET /api/dids/lookup', query);
    expect([reply.status, reply.body]).toEqual([status, { error }]);
  });
});
