import { afterAll, afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { startRelayChain } from '../support/candidates.ts';
import { testClock } from '../support/clock.ts';
import { createPeople } from '../support/people.ts';
import {
  APPS_VARS,
  appRequest,
  askRelay,
  authorize,
  BOOKS,
  exchange,
  newcomer,
  register,
  registerNewcomer,
  signIn,
  TEA,
} from '../support/sign-ups.ts';
import { startVault, type TestVault } from '../support/vault.ts';

const chain = await startRelayChain({ startsAt: testClock().now() });
afterAll(chain.stop);

let t: TestVault;
beforeEach(async () => {
  t = await startVault({ ...chain.vars, ...APPS_VARS });
});
afterEach(() => t.stop());

const registered = () => registerNewcomer(chain, t);

describe('GET /register/config', () => {
  test('says what the page needs for an app and its URI', async () => {
    const { status, body } = await t.call('GET /register/config', { client_id: TEA.app, redirect_uri: TEA.uri });
    expect(status).toBe(200);
    expect(body).toEqual({
      issuer: t.url.replace('127.0.0.1', 'localhost'),
      rpId: 'localhost',
      registrar: 'did:web:registrar.example',
      channels: ['email', 'sms'],
      moveHours: 72,
      recovers: false,
      full: null,
    });
  });

  test('says who could not be registered now, and until when', async () => {
    const asked = { client_id: TEA.app, redirect_uri: TEA.uri };
    await t.stop();
    t = await startVault({ ...chain.vars, ...APPS_VARS, MAX_REGISTRATIONS_PER_IP: '1' });
    await registered();
    const { body } = await t.call('GET /register/config', asked);
    expect(body.full).toEqual({ error: 'ip_limit_reached', retry_after: expect.any(Number) });
    expect(body.full.retry_after).toBeGreaterThan(29 * 86_400);
    // What is said is what a registration would meet.
    const late = await newcomer(chain, t);
    expect((await register(t, late.body)).body).toMatchObject({ error: 'ip_limit_reached' });
    const elsewhere = await t.from('203.0.113.9').call('GET /register/config', asked);
    expect(elsewhere.body.full).toBeNull();
    await t.stop();
    t = await startVault({ ...chain.vars, ...APPS_VARS, RELAY_DAILY_MAX: '1' });
    await registered();
    expect((await t.call('GET /register/config', asked)).body.full).toMatchObject({ error: 'relay_limit_reached' });
  });

  test('403 redirect_not_allowed: the same for an unknown app and an unknown URI', async () => {
    const asked = [
      { client_id: 'other', redirect_uri: TEA.uri },
      { client_id: TEA.app, redirect_uri: 'https://evil.example/back' },
    ];
    const replies = await Promise.all(asked.map((query) => t.call('GET /register/config', query)));
    for (const { status, body } of replies) expect([status, body.error]).toEqual([403, 'redirect_not_allowed']);
    expect(replies[0]?.text).toBe(replies[1]?.text ?? '');
  });
});

describe('a code, and what it is exchanged for', () => {
  test('who has just registered gets one by the attestation that their own proof names', async () => {
    const one = await registered();
    const request = appRequest();
    const { credentialId, attestation } = one.body;
    const given = await authorize(t, request, { credentialId, attestation });
    expect([given.status, Object.keys(given.body)]).toEqual([200, ['code', 'iss', 'expires_in']]);
    expect(given.body).toMatchObject({ iss: t.url.replace('127.0.0.1', 'localhost'), expires_in: 60 });
    expect(given.body.code).toMatch(/^[A-Za-z0-9_-]{43}$/);
    const { status, body } = await exchange(t, request, given.body.code);
    expect(status).toBe(200);
    expect(body).toEqual({
      did: one.did,
      smartAccount: one.smartAccount,
      identifiers: [
        {
          identifier: one.body['identifier'],
          channel: 'email',
          proof: 'attestation',
          registeredAt: expect.stringMatching(/^2025-/),
        },
      ],
      status: 'confirmed',
      final: true,
      proven: true,
      proofs: { identifier: 'attestation', controller: 'passkey', did: 'address' },
      verified_at: (attestation as { verified_at: string }).verified_at,
    });
  });

  test('while the chain has not answered, status is submitted and nothing more is said to be proven', async () => {
    await chain.rpc('evm_setAutomine', [false]);
    const one = await newcomer(chain, t);
    expect((await askRelay(t, one.body)).body).toMatchObject({ status: 'submitted' });
    const request = appRequest();
    const { credentialId, attestation } = one.body;
    const { code } = (await authorize(t, request, { credentialId, attestation })).body;
    const { body } = await exchange(t, request, code);
    expect(body).toMatchObject({ did: one.did, status: 'submitted', final: false, proven: false });
    expect(body.proofs).toEqual({ identifier: 'attestation', controller: null, did: null });
    expect([body.smartAccount, body.identifiers.length]).toEqual([one.smartAccount, 1]);
    await chain.rpc('evm_setAutomine', [true]);
    await chain.mine();
  });

  test('a returning person gets one by a signature of the passkey, for any app', async () => {
    const one = await registered();
    await t.clock.advance(86_400_000);
    const request = appRequest(BOOKS);
    const { status, body: given } = await signIn(t, one, request);
    expect([status, given.error]).toEqual([200, undefined]);
    const { body } = await exchange(t, request, given.code);
    expect(body).toMatchObject({ did: one.did, smartAccount: one.smartAccount, status: 'confirmed', proven: true });
    expect(body.identifiers).toMatchObject([{ identifier: one.body['identifier'] }]);
    expect(body.verified_at).toBe(new Date(t.clock.now()).toISOString());
  });

  test('a person whose registration the client sent on-chain gets one too, once its proof is verified', async () => {
    const people = createPeople(chain, () => t);
    const who = await people.own('email');
    const { txHash } = await people.publish(who);
    expect((await people.claim(who, txHash, { proof: true })).status).toBe(200);
    const request = appRequest();
    // Its proof was made at another page than the vault's own, and is not read yet.
    expect((await signIn(t, who, request)).body.error).toBe('not_found');
    await t.work();
    const { body: given } = await signIn(t, who, request);
    const { body } = await exchange(t, request, given.code);
    expect(body).toMatchObject({ did: who.did, proven: true, smartAccount: who.account.toLowerCase() });
    expect(body.proofs).toEqual({ identifier: 'attestation', controller: 'passkey', did: 'address' });
  });

  test('an answer that was lost is asked for again: the new code replaces the one before', async () => {
    const one = await registered();
    const request = appRequest();
    const { credentialId, attestation } = one.body;
    const [first, second] = [
      (await authorize(t, request, { credentialId, attestation })).body.code,
      (await authorize(t, request, { credentialId, attestation })).body.code,
    ];
    expect(await exchange(t, request, first)).toMatchObject({ status: 400, body: { reason: 'code' } });
    expect((await exchange(t, request, second)).status).toBe(200);
  });

  test('codes and proofs are stored as digests, and gone ten minutes after their end', async () => {
    const one = await registered();
    const request = appRequest();
    const { body: given } = await signIn(t, one, request);
    const stored = await t.rows('SELECT * FROM authorization_codes');
    expect(stored).toHaveLength(1);
    expect(JSON.stringify(stored)).not.toContain(given.code);
    expect(t.entries.filter((entry) => JSON.stringify(entry).includes(given.code))).toEqual([]);
    await exchange(t, request, given.code);
    await t.clock.advance(660_000);
    await t.work();
    expect(await t.rows('SELECT * FROM authorization_codes')).toEqual([]);
  });
});

describe('what identifiers say', () => {
  test('only those of the channel that the link asked for', async () => {
    const people = createPeople(chain, () => t);
    const who = await people.own('email');
    const { txHash } = await people.publish(who);
    await people.claim(who, txHash, { proof: true });
    const number = { ...who, channel: 'sms', identifier: '+14155550199' } as const;
    expect((await people.claim(number, txHash, { proof: true })).status).toBe(200);
    await t.work();
    const given = async (channel?: string) => {
      const request = { ...appRequest(), ...(channel ? { channel } : {}) };
      const { body } = await exchange(t, request, (await signIn(t, who, request)).body.code);
      return body.identifiers.map(({ identifier }: { identifier: string }) => identifier);
    };
    expect(await given()).toEqual([who.identifier, number.identifier]);
    expect(await given('email')).toEqual([who.identifier]);
    expect(await given('sms')).toEqual([number.identifier]);
  });

  test('an address that another DID took since is not this one’s any more', async () => {
    await t.stop();
    t = await startVault({ ...chain.vars, ...APPS_VARS, ADDRESS_MOVE_HOURS: '0' });
    const one = await registered();
    // The same address, attested again for somebody with another passkey.
    const people = createPeople(chain, () => t);
    const taker = { ...(await people.own('email')), identifier: String(one.body['identifier']) };
    const { txHash } = await people.publish(taker);
    expect((await people.claim(taker, txHash, { proof: true })).status).toBe(200);
    const before = appRequest();
    const held = await exchange(t, before, (await signIn(t, one, before)).body.code);
    expect(held.body.identifiers).toHaveLength(1);
    for (let turn = 0; turn < 3; turn++) {
      await chain.mine(1);
      await t.clock.advance(31_000);
      await t.work();
    }
    const [mine, theirs] = [appRequest(), appRequest()];
    const lost = await exchange(t, mine, (await signIn(t, one, mine)).body.code);
    expect(lost.body).toMatchObject({ did: one.did, identifiers: [], proofs: { identifier: null } });
    const taken = await exchange(t, theirs, (await signIn(t, taker, theirs)).body.code);
    expect(taken.body.identifiers).toMatchObject([{ identifier: one.body['identifier'] }]);
  });

  test('a stranger’s claim of the same DID adds no address to it', async () => {
    const people = createPeople(chain, () => t);
    const who = await people.own('email');
    const { txHash } = await people.publish(who);
    await people.claim(who, txHash, { proof: true });
    // The stranger copies DID, credential and transaction, and attests an address of their own.
    const copied = await people.claim({ ...who, identifier: 'stranger@example.com' }, txHash);
    expect(copied.status).toBe(200);
    await t.work();
    const request = appRequest();
    const { body } = await exchange(t, request, (await signIn(t, who, request)).body.code);
    expect(body.identifiers.map(({ identifier }: { identifier: string }) => identifier)).toEqual([who.identifier]);
  });

  test('a handle is there while its alias leads to the DID', async () => {
    const people = createPeople(chain, () => t);
    const who = await people.own('handle');
    const { txHash } = await people.publish(who);
    expect((await people.claim(who, txHash, { proof: true })).status).toBe(200);
    await t.work();
    const request = appRequest();
    const { body } = await exchange(t, request, (await signIn(t, who, request)).body.code);
    expect(body.identifiers).toMatchObject([{ identifier: who.identifier, channel: 'handle', proof: 'alias' }]);
  });
});

describe('limits', () => {
  test('429 rate_limited: requests for codes count with the other writes of a client', async () => {
    await t.stop();
    t = await startVault({ ...chain.vars, ...APPS_VARS, RATE_LIMIT_WRITES_PER_IP: '2' });
    const ask = () => authorize(t, appRequest(), { credentialId: 'AAAAAAAAAAAAAAAAAAAAAA', attestation: {} });
    expect([(await ask()).status, (await ask()).status]).toEqual([403, 403]);
    const { status, body } = await ask();
    expect([status, body.error, body.limit]).toEqual([429, 'rate_limited', 'writes-per-ip']);
  });

  test('429 rate_limited: exchanges count with look-ups', async () => {
    await t.stop();
    t = await startVault({ ...chain.vars, ...APPS_VARS, RATE_LIMIT_READS_PER_IP: '1' });
    const ask = () => exchange(t, appRequest(), 'x'.repeat(43));
    expect((await ask()).status).toBe(400);
    expect((await ask()).body).toMatchObject({ error: 'rate_limited', limit: 'reads-per-ip' });
  });
});
