import { afterAll, afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { startRelayChain } from '../support/candidates.ts';
import { testClock } from '../support/clock.ts';
import { createPeople } from '../support/people.ts';
import {
  APPS_HOST,
  APPS_VARS,
  appRequest,
  askRelay,
  authorize,
  BOOKS,
  exchange,
  newcomer,
  register,
  registerNewcomer,
  signFor,
  signIn,
} from '../support/sign-ups.ts';
import { startVault, type TestVault } from '../support/vault.ts';

const chain = await startRelayChain({ startsAt: testClock().now() });
afterAll(chain.stop);

let t: TestVault;
beforeEach(async () => {
  t = await startVault({ ...chain.vars, ...APPS_VARS }, APPS_HOST);
});
afterEach(() => t.stop());

const registered = () => registerNewcomer(chain, t);

describe('GET /authorize/config', () => {
  test('says what the page needs', async () => {
    const { status, body } = await t.call('GET /authorize/config');
    expect(status).toBe(200);
    expect(body).toEqual({
      issuer: t.url.replace('127.0.0.1', 'localhost'),
      rpId: 'localhost',
      registrar: 'did:web:registrar.example',
      channels: ['email', 'sms'],
      moveHours: 72,
      recovers: false,
      tokenNonce: null,
      full: null,
    });
  });

  test('says who could not be registered now, and until when', async () => {
    await t.stop();
    t = await startVault({ ...chain.vars, ...APPS_VARS, MAX_REGISTRATIONS_PER_IP: '1' }, APPS_HOST);
    await registered();
    const { body } = await t.call('GET /authorize/config');
    expect(body.full).toEqual({ error: 'ip_limit_reached', retry_after: expect.any(Number) });
    expect(body.full.retry_after).toBeGreaterThan(29 * 86_400);
    // What is said is what a registration would meet.
    const late = await newcomer(chain, t);
    expect((await register(t, late.body)).body).toMatchObject({ error: 'ip_limit_reached' });
    const elsewhere = await t.from('203.0.113.9').call('GET /authorize/config');
    expect(elsewhere.body.full).toBeNull();
    await t.stop();
    t = await startVault({ ...chain.vars, ...APPS_VARS, RELAY_DAILY_MAX: '1' }, APPS_HOST);
    await registered();
    expect((await t.call('GET /authorize/config')).body.full).toMatchObject({ error: 'relay_limit_reached' });
  });
});

describe('a code, and what it is exchanged for', () => {
  test('who has just registered gets one by the attestation that their own proof names', async () => {
    const one = await registered();
    const request = appRequest();
    const { credentialId, attestation } = one.body;
    const given = await authorize(t, request, { credentialId, attestation });
    expect([given.status, given.body.error]).toEqual([200, undefined]);
    expect(given.body.code).toMatch(/^[A-Za-z0-9_-]{43}$/);
    const { status, body } = await exchange(t, request, given.body.code);
    expect(status).toBe(200);
    const verified = Date.parse((attestation as { verified_at: string }).verified_at) / 1000;
    expect(body).toMatchObject({
      did: one.did,
      account: one.smartAccount,
      email: one.body['identifier'],
      email_verified: true,
      status: 'confirmed',
      final: true,
      proofs: { identifier: 'attestation', controller: 'passkey', did: 'address' },
      auth_time: Math.floor(verified),
    });
  });

  test('409 registration_pending: while the chain has not answered, there is no code', async () => {
    await chain.rpc('evm_setAutomine', [false]);
    const one = await newcomer(chain, t);
    expect((await askRelay(t, one.body)).body).toMatchObject({ status: 'submitted' });
    const { credentialId, attestation } = one.body;
    const { status, body, headers } = await authorize(t, appRequest(), { credentialId, attestation });
    expect([status, body.error, headers.get('retry-after')]).toEqual([409, 'registration_pending', '3']);
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
    expect(body).toMatchObject({ did: one.did, account: one.smartAccount, status: 'confirmed' });
    expect([body.email, body.auth_time]).toEqual([one.body['identifier'], Math.floor(t.clock.now() / 1000)]);
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
    expect(body).toMatchObject({ did: who.did, account: who.account.toLowerCase() });
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

  test('codes and proofs are stored as digests, and gone with their access token', async () => {
    const one = await registered();
    const request = appRequest();
    const { body: given } = await signIn(t, one, request);
    const stored = await t.rows('SELECT * FROM authorization_codes');
    expect(stored).toHaveLength(1);
    expect(JSON.stringify(stored)).not.toContain(given.code);
    expect(t.entries.filter((entry) => JSON.stringify(entry).includes(given.code))).toEqual([]);
    await exchange(t, request, given.code);
    await t.clock.advance(3_599_000);
    await t.work();
    expect(await t.rows('SELECT * FROM authorization_codes')).toHaveLength(1);
    await t.clock.advance(62_000);
    await t.work();
    expect(await t.rows('SELECT * FROM authorization_codes')).toEqual([]);
  });
});

describe('what identifiers say', () => {
  test('only those of the scopes that the request asked for', async () => {
    const people = createPeople(chain, () => t);
    const who = await people.own('email');
    const { txHash } = await people.publish(who);
    await people.claim(who, txHash, { proof: true });
    const number = { ...who, channel: 'sms', identifier: '+14155550199' } as const;
    expect((await people.claim(number, txHash, { proof: true })).status).toBe(200);
    await t.work();
    const given = async (scope: string) => {
      const request = { ...appRequest(), scope };
      const { body } = await exchange(t, request, (await signIn(t, who, request)).body.code);
      return [body.email, body.phone_number, body.did];
    };
    expect(await given('openid email phone did')).toEqual([who.identifier, number.identifier, who.did]);
    expect(await given('openid email')).toEqual([who.identifier, undefined, undefined]);
    expect(await given('openid phone')).toEqual([undefined, number.identifier, undefined]);
    expect(await given('openid')).toEqual([undefined, undefined, undefined]);
  });

  test('of several addresses the person picks one, and the oldest is first', async () => {
    const people = createPeople(chain, () => t);
    const who = await people.own('email');
    const { txHash } = await people.publish(who);
    await people.claim(who, txHash, { proof: true });
    const second = { ...who, identifier: 'second@example.com' };
    expect((await people.claim(second, txHash, { proof: true })).status).toBe(200);
    const give = async (identifiers?: Readonly<Record<string, string | null>>) => {
      const request = { ...appRequest(), scope: 'openid email' };
      const evidence = { credentialId: who.credentialId, ...(await signFor(t, who, request)), identifiers };
      const { status, body, headers } = await authorize(t, request, evidence);
      return body.code ? (await exchange(t, request, body.code)).body.email : [status, body, headers];
    };
    await t.work();
    const [status, { addresses }] = await give();
    expect([status, addresses]).toEqual([
      200,
      [who, second].map(({ identifier }) => ({ identifier, channel: 'email', moves_at: null })),
    ]);
    expect(await give({ email: second.identifier })).toBe(second.identifier);
    expect(await give({})).toBe(who.identifier);
    expect(await give({ email: null })).toBeUndefined();
    // One that the chain has not confirmed yet is waited for.
    const third = { ...who, identifier: 'third@example.com' };
    expect((await people.claim(third, txHash, { proof: true })).status).toBe(200);
    const [later, { error }] = await give({ email: third.identifier });
    expect([later, error]).toEqual([409, 'registration_pending']);
  });

  test('an address that another passkey of the account registered is the person’s too, whichever signs in', async () => {
    const people = createPeople(chain, () => t);
    const who = await people.own('email');
    const { txHash } = await people.publish(who);
    await people.claim(who, txHash, { proof: true });
    const credentialId = Buffer.from(crypto.getRandomValues(new Uint8Array(16))).toString('base64url');
    const number = { ...who, credentialId, channel: 'sms', identifier: '+14155550177' } as const;
    expect((await people.claim(number, txHash, { proof: true })).status).toBe(200);
    await t.work();
    for (const one of [who, number]) {
      const request = { ...appRequest(), scope: 'openid email phone' };
      const { body } = await exchange(t, request, (await signIn(t, one, request)).body.code);
      expect([body.email, body.phone_number]).toEqual([who.identifier, number.identifier]);
    }
  });

  test('an address that another DID took since is not this one’s any more', async () => {
    await t.stop();
    t = await startVault({ ...chain.vars, ...APPS_VARS, ADDRESS_MOVE_HOURS: '0' }, APPS_HOST);
    const one = await registered();
    // The same address, attested again for somebody with another passkey.
    const people = createPeople(chain, () => t);
    const taker = { ...(await people.own('email')), identifier: String(one.body['identifier']) };
    const { txHash } = await people.publish(taker);
    expect((await people.claim(taker, txHash, { proof: true })).status).toBe(200);
    const before = appRequest();
    const held = await exchange(t, before, (await signIn(t, one, before)).body.code);
    expect(held.body.email).toBe(one.body['identifier']);
    for (let turn = 0; turn < 3; turn++) {
      await chain.mine(1);
      await t.clock.advance(31_000);
      await t.work();
    }
    const [mine, theirs] = [appRequest(), appRequest()];
    const lost = await exchange(t, mine, (await signIn(t, one, mine)).body.code);
    expect(lost.body).toMatchObject({ did: one.did, proofs: { identifier: null } });
    expect(lost.body).not.toHaveProperty('email');
    const taken = await exchange(t, theirs, (await signIn(t, taker, theirs)).body.code);
    expect(taken.body.email).toBe(one.body['identifier']);
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
    expect(body.email).toBe(who.identifier);
    const { body: asked } = await authorize(t, request, {
      ...{ identifiers: { email: 'stranger@example.com' }, credentialId: who.credentialId },
      ...(await signFor(t, who, request)),
    });
    expect(asked.addresses).toEqual([{ identifier: who.identifier, channel: 'email', moves_at: null }]);
  });

  test('a handle is there while its alias leads to the DID', async () => {
    const people = createPeople(chain, () => t);
    const who = await people.own('handle');
    const { txHash } = await people.publish(who);
    expect((await people.claim(who, txHash, { proof: true })).status).toBe(200);
    await t.work();
    const request = appRequest();
    const { body } = await exchange(t, request, (await signIn(t, who, request)).body.code);
    expect(body.preferred_username).toBe(who.identifier);
  });
});

describe('limits', () => {
  test('429 rate_limited: requests for codes count with the other writes of a client', async () => {
    await t.stop();
    t = await startVault({ ...chain.vars, ...APPS_VARS, RATE_LIMIT_WRITES_PER_IP: '2' }, APPS_HOST);
    const ask = () => authorize(t, appRequest(), { credentialId: 'AAAAAAAAAAAAAAAAAAAAAA', attestation: {} });
    expect([(await ask()).status, (await ask()).status]).toEqual([403, 403]);
    const { status, body } = await ask();
    expect([status, body.error, body.limit]).toEqual([429, 'rate_limited', 'writes-per-ip']);
  });
});
