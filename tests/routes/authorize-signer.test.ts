import { afterAll, afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { prove, startRelayChain } from '../support/candidates.ts';
import { testClock } from '../support/clock.ts';
import { createPasskey } from '../support/passkey.ts';
import { createPeople } from '../support/people.ts';
import {
  APPS_HOST,
  APPS_VARS,
  appRequest,
  authorize,
  exchange,
  newcomer,
  register,
  signFor,
  signIn,
} from '../support/sign-ups.ts';
import { originOf } from '../support/touch.ts';
import { startVault, type TestVault } from '../support/vault.ts';

// A passkey that signs in is looked for by its credential and the keys that its signature shows.

const chain = await startRelayChain({ startsAt: testClock().now() });
afterAll(chain.stop);

let t: TestVault;
const start = () => startVault({ ...chain.vars, ...APPS_VARS }, APPS_HOST);
beforeEach(async () => {
  t = await start();
});
afterEach(() => t.stop());

const people = createPeople(chain, () => t);
type Signs = Parameters<typeof signIn>[1];

/** Lets the vault read the chain until nothing changes any more. */
async function settle(): Promise<void> {
  await chain.mine(70);
  for (let turn = 0; turn < 2; turn++) {
    await t.clock.advance(31_000);
    await t.work();
  }
}

/** Who it was for the app, or the refusal. */
async function signedIn(who: Signs, account?: string, by = who.passkey) {
  const request = appRequest();
  const named = account === undefined ? {} : { smartAccount: account };
  const evidence = { credentialId: who.credentialId, ...named, ...(await signFor(t, who, request, { by })) };
  const { status, body } = await authorize(t, request, evidence);
  return status === 200 ? (await exchange(t, request, body.code)).body : [body.error, body.reason].join(' ').trim();
}

describe('strangers who claimed the credential first', () => {
  const STRANGERS = 21;

  test('do not stand before its owner, however many', async () => {
    const { credentialId } = await newcomer(chain, t);
    // Each proof is made when it is sent: the vault's clock goes on while the relay is waited for.
    const claim = async () => {
      const one = { ...(await newcomer(chain, t)), credentialId };
      const body = { ...one.body, credentialId, proof: prove(chain, one, {}, { origin: originOf(t) }) };
      expect((await register(t, body)).status).toBe(200);
      return one;
    };
    for (let i = 0; i < STRANGERS; i++) await claim();
    const owner = await claim();
    expect(await signedIn(owner)).toMatchObject({ did: owner.did });
    await settle();
    expect(await signedIn(owner)).toMatchObject({ did: owner.did, proofs: { controller: 'passkey' } });
    expect(await signedIn(owner, owner.smartAccount)).toMatchObject({
      did: owner.did,
      proofs: { controller: 'passkey' },
    });
    expect(await signedIn(owner, undefined, createPasskey())).toBe('proof_invalid signature');
  });
});

describe('a registration that was recorded without a proof', () => {
  /** Registered by another vault, and recorded at this one as published clients do it. */
  async function recorded() {
    const owner = await newcomer(chain, t);
    const { body } = await register(t, owner.body);
    await t.stop();
    t = await start();
    const { proof: _, proofExpiresAt: __, pubKeyX: ___, pubKeyY: ____, ...claim } = owner.body;
    expect((await t.call('POST /api/dids', { ...claim, txHash: body.txHash })).status).toBe(200);
    await settle();
    return owner;
  }

  test('signs in by the account whose address follows from the key, and is proven no more than before', async () => {
    const owner = await recorded();
    const found = await signedIn(owner);
    expect(found).toMatchObject({ did: owner.did, status: 'confirmed', final: true });
    expect(found).not.toHaveProperty('email');
    expect(found.proofs).toEqual({ identifier: 'attestation', controller: null, did: 'address' });
    expect(await signedIn(owner, owner.smartAccount)).toMatchObject({ did: owner.did });
  });

  test('signs in by the account that the passkey names, if the account has the key now', async () => {
    const owner = await people.own('email');
    const { txHash } = await people.publish(owner);
    expect((await people.claim(owner, txHash)).status).toBe(200);
    await settle();
    expect(await signedIn(owner)).toBe('not_found');
    expect(await signedIn(owner, owner.account)).toMatchObject({ did: owner.did, proofs: { controller: null } });
    expect(await signedIn(owner, owner.account, createPasskey())).toBe('proof_invalid account');
  });

  test('is nobody’s who claims its credential, its DID or its account', async () => {
    const owner = await recorded();
    const thief = await newcomer(chain, t);
    expect(await signedIn({ ...thief, credentialId: owner.credentialId })).toBe('not_found');
    expect(await signedIn(thief, owner.smartAccount)).toBe('proof_invalid account');
    const { txHash } = (await t.call('GET /api/dids/lookup', { credentialId: owner.credentialId })).body;
    const { identifier, attestation, channel } = thief.body;
    const claim = { identifier, attestation, channel, credentialId: thief.credentialId, did: owner.did, txHash };
    expect((await t.call('POST /api/dids', claim)).status).toBe(200);
    await settle();
    expect(await signedIn(thief)).toBe('not_found');
    expect(await signedIn(owner)).toMatchObject({ did: owner.did });
  });
});

describe('the signature counter', () => {
  const registered = async () => {
    const one = await newcomer(chain, t);
    expect((await register(t, one.body)).status).toBe(200);
    return one;
  };
  const counted = async (who: Signs, signCount: number) => {
    const { status } = await signIn(t, who, appRequest(), { ceremony: { signCount } });
    expect(status).toBe(200);
  };
  /** What the events say: the counter, and the one before it. */
  const wentBack = async () =>
    (await t.rows("SELECT data FROM events WHERE type = 'signin.counter_back' ORDER BY id"))
      .map(({ data }) => JSON.parse(String(data)))
      .map(({ counter, previous }) => [counter, previous]);

  test('that grows is no event, nor is none at all', async () => {
    const [one, other] = [await registered(), await registered()];
    for (const count of [1, 2, 9]) await counted(one, count);
    for (const count of [0, 0]) await counted(other, count);
    expect(await wentBack()).toEqual([]);
    expect(await t.rows('SELECT count FROM known_keys ORDER BY count')).toEqual([{ count: 0 }, { count: 9 }]);
  });

  test('that does not grow is one, for the copy and for the owner alike', async () => {
    const one = await registered();
    for (const count of [5, 5, 4, 6, 0, 0, 3]) await counted(one, count);
    expect(await wentBack()).toEqual([
      [5, 5],
      [4, 5],
      [0, 6],
    ]);
    const [event] = await t.rows("SELECT app, data FROM events WHERE type = 'signin.counter_back'");
    expect(event?.['app']).toBe('tea');
    expect(JSON.parse(String(event?.['data']))).toMatchObject({ did: one.did });
  });

  test('of a signature that is sent again is none', async () => {
    const one = await registered();
    const request = appRequest();
    const signed = await signFor(t, one, request, { ceremony: { signCount: 7 } });
    for (let i = 0; i < 2; i++) {
      const { status } = await authorize(t, request, { credentialId: one.credentialId, ...signed });
      expect(status).toBe(200);
    }
    expect(await wentBack()).toEqual([]);
  });
});
