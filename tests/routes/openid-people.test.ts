import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { createHmac } from 'node:crypto';
import { HOUR_MS } from '../../lib/base/clock.ts';
import { didHash } from '../../lib/identity/did.ts';
import { startRelayChain } from '../support/candidates.ts';
import { testClock } from '../support/clock.ts';
import { OPERATOR } from '../support/events.ts';
import { answer, bearer, clientsFile, OPENID_VARS, requestOf, tokensFor } from '../support/openid.ts';
import { createPeople, type Person } from '../support/people.ts';
import { settled } from '../support/settled.ts';
import { startVault, type TestVault } from '../support/vault.ts';

// Whom `sub` and the claims are about, whatever becomes of the person's addresses, passkeys and DID.

const chain = await startRelayChain({ startsAt: testClock().now() });
afterAll(chain.stop);

// All the people share this machine's address.
const LIMITS = { RATE_LIMIT_PROXY_PER_IP: '1000', MAX_VERIFY_SENDS_PER_IP: '1000' };
let t: TestVault;
beforeAll(async () => {
  t = await startVault({ ...chain.vars, ...OPENID_VARS, ...LIMITS }, clientsFile());
});
afterAll(() => t.stop());

const people = createPeople(chain, () => t);

/** Lets the chain and the vault settle what was claimed. */
async function settle(): Promise<void> {
  await chain.mine(70);
  for (let turn = 0; turn < 3; turn++) {
    await t.clock.advance(31_000);
    await t.work();
  }
}

/** Registers an address of a person, with a proof of the passkey; answers the second in which it was. */
async function register(who: Person, txHash: string): Promise<number> {
  expect((await people.claim(who, txHash, { proof: true })).status).toBe(200);
  const registeredAt = Math.floor(t.clock.now() / 1000);
  await settle();
  return registeredAt;
}

async function newcomer() {
  const who = await people.own('email');
  const { txHash } = await people.publish(who);
  return { who, txHash, registeredAt: await register(who, txHash) };
}

const claimsOf = async (who: Person, scope = 'openid email') => {
  // The passkey of tests signs the same text in the same way.
  await t.clock.advance(1_000);
  return (await tokensFor(t, who, requestOf('tea', { scope }))).claims;
};

describe('§6 claims', () => {
  test('sub is base64url of HMAC-SHA256 by the stored salt over sector, line break and DID', async () => {
    const { who } = await newcomer();
    const { sub } = await claimsOf(who);
    const [{ salt = '' } = {}] = await t.rows('SELECT salt FROM subject_salt');
    expect(String(salt)).toMatch(/^[0-9a-f]{64}$/);
    const mac = createHmac('sha256', Buffer.from(String(salt), 'hex')).update(`tea\n${who.did}`);
    expect(sub).toBe(mac.digest('base64url'));
  });

  test('email_verified_at is when the address was last registered by a code, by whichever passkey', async () => {
    const { who, txHash, registeredAt } = await newcomer();
    expect(await claimsOf(who)).toMatchObject({ email: who.identifier, email_verified_at: registeredAt });
    await t.clock.advance(HOUR_MS);
    const other = { ...who, credentialId: Buffer.alloc(16, 7).toString('base64url') };
    const byOther = await register(other, txHash);
    for (const one of [who, other]) expect(await claimsOf(one)).toMatchObject({ email_verified_at: byOther });
  });

  test('phone: the number as E.164, verified, and when', async () => {
    const { who, txHash } = await newcomer();
    const number = { ...who, channel: 'sms', identifier: '+14155550144' } as const;
    const registeredAt = await register(number, txHash);
    const claims = await claimsOf(who, 'openid phone');
    expect(Object.entries(claims).filter(([name]) => /phone|email/.test(name))).toEqual([
      ['phone_number', '+14155550144'],
      ['phone_number_verified', true],
      ['phone_number_verified_at', registeredAt],
    ]);
  });
});

describe('§8 revocation', () => {
  test('an erased person: the access token reads nothing any more, and the same passkey has the same sub', async () => {
    const { who } = await newcomer();
    const { access_token, claims } = await tokensFor(t, who);
    const erased = await t.call('POST /v1/console/person/erase', { identifier: who.identifier }, OPERATOR);
    expect(erased.body).toMatchObject({ erased: true });
    const { status, body } = await t.call('GET /userinfo', {}, bearer(access_token));
    expect([status, body.error]).toEqual([401, 'invalid_token']);
    const later = await claimsOf(who);
    expect(later['sub']).toBe(claims['sub'] as string);
    expect(later).not.toHaveProperty('email');
  });

  test('a DID that was given to another account keeps its sub: who has it now signs in, with addresses of their own', async () => {
    const { who: alice, txHash } = await newcomer();
    const { sub } = await claimsOf(alice);
    const { access_token } = await tokensFor(t, alice, requestOf('tea', { scope: 'openid email phone' }));
    const bob = await people.own('email');
    await people.act(alice, 'offerDid', didHash(alice.did), bob.account);
    await people.act(bob, 'acceptDid', didHash(alice.did));
    // The vault has not looked at the former owner's registration again: it still says that she holds her address.
    const heir = { ...bob, did: alice.did };
    await register(heir, txHash);
    await register({ ...heir, channel: 'sms', identifier: '+14155550145' }, txHash);
    expect(await claimsOf(heir)).toMatchObject({ sub, email: bob.identifier });
    expect(await claimsOf(heir, 'openid did')).toMatchObject({ sub, did: alice.did, proofs: { did: 'moved' } });
    const choice = await answer(t, heir, requestOf(), { identifiers: { email: alice.identifier } });
    expect(choice.body.addresses).toEqual([{ identifier: bob.identifier, channel: 'email', moves_at: null }]);
    expect(await settled(claimsOf(alice))).toThrow('proof_invalid');
    // A token from before reads nothing of whom the DID went to.
    const { body } = await t.call('GET /userinfo', {}, bearer(access_token));
    expect(body).not.toHaveProperty('phone_number');
    expect(body.email ?? alice.identifier).toBe(alice.identifier);
  });
});
