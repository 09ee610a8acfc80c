import { afterAll, afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { startTestChain } from '../../support/onchain.ts';
import { createPeople, type Person } from '../../support/people.ts';
import { startVault, type TestVault } from '../../support/vault.ts';

const NOWHERE = `0x${'00'.repeat(31)}01`;

const chain = await startTestChain();
afterAll(chain.stop);

let t: TestVault;
beforeEach(async () => {
  t = await startVault({ ...chain.vars, MAX_VERIFY_SENDS_PER_IP: '1000', MAX_REGISTRATIONS_PER_IP: '1000' });
});
afterEach(() => t.stop());

const people = createPeople(chain, () => t);
const { create: person, publish, lookup } = people;
const claim: typeof people.claim = (...given) => people.claim(...given);

const isTaken = async ({ identifier, channel }: Person) =>
  (await t.call('GET /api/sessions/check', { identifier, channel })).body.reason === 'identifier_taken';

describe('H1: a passkey that names another’s credential', () => {
  test.each([
    ['email', 'an attested address without proof'],
    ['handle', 'a handle that the registry leads to its DID'],
  ] as const)('takes nothing of the claim by %s, %s', async (channel) => {
    const [owner, thief] = [await person(channel), await person('handle')];
    const { txHash } = await publish(owner);
    expect((await claim(owner, txHash)).status).toBe(200);
    await t.work();
    const { txHash: own } = await chain.register({ did: thief.did }, { holder: thief.account });
    const reply = await claim(thief, own, { proof: true, credentialId: owner.credentialId });
    expect(reply.status).toBe(200);
    await t.work();
    expect(await lookup(owner)).toMatchObject({ did: owner.did, status: 'confirmed', proven: false });
    expect(await isTaken(owner)).toBe(true);
    expect((await claim(owner, txHash)).status).toBe(200);
  });

  test('does not keep out the owner who comes later with attestation and passkey', async () => {
    const [owner, thief] = [await person('email'), await person('handle')];
    const { txHash: own } = await chain.register({ did: thief.did }, { holder: thief.account });
    expect((await claim(thief, own, { proof: true, credentialId: owner.credentialId })).status).toBe(200);
    await t.work();
    const { txHash } = await publish(owner);
    expect((await claim(owner, txHash, { proof: true })).status).toBe(200);
    await t.work();
    const { x, y } = owner.passkey.key;
    const key = { pubKeyX: `0x${Buffer.from(x).toString('hex')}`, pubKeyY: `0x${Buffer.from(y).toString('hex')}` };
    const found = await t.call('GET /api/dids/lookup', { credentialId: owner.credentialId, ...key });
    expect(found.body).toMatchObject({ did: owner.did, proven: true, smartAccount: owner.account.toLowerCase() });
  });
});

describe('H2: a handle that the registry leads to its owner', () => {
  test('is not taken by the proof of another DID', async () => {
    const [owner, thief] = [await person('handle'), await person('handle')];
    const { txHash } = await publish(owner);
    expect((await claim(owner, txHash)).status).toBe(200);
    await t.work();
    const { txHash: own } = await chain.register({ did: thief.did }, { holder: thief.account });
    const reply = await claim(thief, own, { proof: true, identifier: owner.identifier });
    expect([reply.status, reply.body.error]).toEqual([409, 'identifier_taken']);
    await t.work();
    expect(await lookup(owner)).toMatchObject({ did: owner.did, status: 'confirmed' });
  });

  test('is not taken before its owner has recorded it, and the owner gets it', async () => {
    const [owner, thief] = [await person('handle'), await person('handle')];
    const { txHash } = await publish(owner);
    const { txHash: own } = await chain.register({ did: thief.did }, { holder: thief.account });
    const reply = await claim(thief, own, { identifier: owner.identifier });
    expect([reply.status, reply.body.error]).toEqual([409, 'identifier_taken']);
    expect((await claim(owner, txHash)).status).toBe(200);
  });
});

describe('H3: a look-up shows', () => {
  test('the controller of the event as smartAccount, and null before', async () => {
    const owner = await person('handle');
    const { txHash } = await publish(owner);
    const account = `0x${'ee'.repeat(20)}`;
    await claim(owner, txHash, { smartAccount: account });
    expect((await lookup(owner)).smartAccount).toBeNull();
    await t.work();
    expect((await lookup(owner)).smartAccount).toBe(owner.account.toLowerCase());
  });

  test('a copy of a public transaction under the copier’s credential as not proven', async () => {
    const [owner, copier] = [await person('handle'), await person('handle')];
    const { txHash } = await publish(owner);
    const copy = { did: owner.did, identifier: owner.identifier };
    expect((await claim(copier, txHash, copy)).status).toBe(200);
    await t.work();
    expect(await lookup(copier)).toMatchObject({ did: owner.did, proven: false, proofs: { controller: null } });
    expect((await claim(owner, txHash)).status).toBe(200);
  });
});

describe('M1: a claim of a public DID under a throw-away handle', () => {
  test.each([
    ['with its public transaction', false],
    ['with an invented transaction', true],
  ])('does not keep out the attested owner: %s', async (_, isInvented) => {
    const [owner, thief] = [await person('email'), await person('handle')];
    const { txHash } = await publish(owner);
    const claimed = await claim(thief, isInvented ? NOWHERE : txHash, { did: owner.did });
    expect(claimed.status).toBe(200);
    expect((await claim(owner, txHash)).status).toBe(200);
    await t.work();
    expect(await lookup(owner)).toMatchObject({ did: owner.did, status: 'confirmed' });
  });
});
