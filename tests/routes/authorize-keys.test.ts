import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { KEYS_STALE_MS } from '../../lib/registration/look-notes.ts';
import { testClock } from '../support/clock.ts';
import { type Forwarder, startForwarder, type Trouble } from '../support/forwarder.ts';
import { createKeyOwners, type Device, newDevice } from '../support/key-owners.ts';
import { startTestChain, type TestChain } from '../support/onchain.ts';
import { createPasskey } from '../support/passkey.ts';
import { answerWith } from '../support/relay-world.ts';
import { addKey, createSecond, removeKey } from '../support/second-account.ts';
import { APPS_HOST } from '../support/sign-ups.ts';
import { startVault, type TestVault } from '../support/vault.ts';

// Accounts whose keys come and go, and the apps that their people sign in to.

let chain: TestChain;
let people: Awaited<ReturnType<typeof createKeyOwners>>;
let node: Forwarder;
let witness: Forwarder;
let t: TestVault;
beforeAll(async () => {
  chain = await startTestChain({ startsAt: testClock().now() });
  people = await createKeyOwners(chain, () => t);
});
afterAll(() => chain.stop());
beforeEach(async () => {
  node = startForwarder(chain.url);
  witness = startForwarder(chain.url);
  t = await start();
});
afterEach(async () => {
  await t.stop();
  await node.stop();
  await witness.stop();
});

const start = (vars: Record<string, string> = {}) =>
  startVault({ ...people.vars, RPC_URL: node.url, ...vars }, APPS_HOST);
const newOwner = () => people.newOwner();
const look = () => people.look();
const signedIn: typeof people.signedIn = (...given) => people.signedIn(...given);

/** The vault looks at the keys of an account that somebody looked up, if it did so long ago. */
async function lookAtKeys({ credentialId }: Device): Promise<void> {
  await t.clock.advance(KEYS_STALE_MS);
  await t.call('GET /api/dids/lookup', { credentialId });
  for (let i = 0; i < 3; i++) await look();
}

describe('a key that the account got later', () => {
  test('signs in to the same DID by the account that its passkey names, with its addresses', async () => {
    const owner = await newOwner();
    const phone = newDevice();
    await addKey(chain.rpc, owner.account, phone.passkey.key);
    expect(await signedIn(phone)).toBe('not_found');
    expect(await signedIn(phone, owner.account)).toMatchObject({
      did: owner.did,
      account: owner.account.toLowerCase(),
      email: owner.email,
      status: 'confirmed',
      final: true,
      proofs: { identifier: 'attestation', controller: 'passkey', did: 'address' },
    });
  });

  test('signs in after a recovery, when the key that registered is gone', async () => {
    const owner = await newOwner();
    const found = newDevice();
    await addKey(chain.rpc, owner.account, found.passkey.key);
    await removeKey(chain.rpc, owner.account, 0, owner.passkey.key);
    await lookAtKeys(owner);
    expect((await t.call('GET /api/dids/lookup', { credentialId: owner.credentialId })).status).toBe(404);
    expect(await signedIn(owner, owner.account)).toBe('proof_invalid account');
    expect(await signedIn(found, owner.account)).toMatchObject({
      did: owner.did,
      email: owner.email,
    });
  });

  test('403 proof_invalid account: not yet there, removed again, or a stranger’s', async () => {
    const [owner, phone] = [await newOwner(), newDevice()];
    expect(await signedIn(phone, owner.account)).toBe('proof_invalid account');
    await addKey(chain.rpc, owner.account, phone.passkey.key);
    expect(await signedIn(phone, owner.account, createPasskey())).toBe('proof_invalid account');
    await removeKey(chain.rpc, owner.account, 1, phone.passkey.key);
    expect(await signedIn(phone, owner.account)).toBe('proof_invalid account');
  });

  test('404 not_found: an account of which the vault knows no DID; a key of two accounts signs in where it says', async () => {
    const [one, other, phone] = [await newOwner(), await newOwner(), newDevice()];
    const bare = await createSecond(chain.rpc, people.contracts, phone.passkey.key);
    expect(await signedIn(phone, bare)).toBe('not_found');
    for (const { account } of [one, other]) await addKey(chain.rpc, account, phone.passkey.key);
    expect(await signedIn(phone, one.account)).toMatchObject({ did: one.did });
    expect(await signedIn(phone, other.account)).toMatchObject({ did: other.did });
  });

  test('of a credential that registered, the registration counts, whatever account is named', async () => {
    const [owner, other] = [await newOwner(), await newOwner()];
    expect(await signedIn(owner, other.account)).toMatchObject({ did: owner.did });
  });
});

/** The node answers these calls with an error of its own, not of the contract. */
function hiccup(...parts: string[]): Trouble {
  return async (forward, _, body) => {
    const isBatch = Array.isArray(JSON.parse(body));
    const calls = [JSON.parse(body)].flat() as { id: number; params: unknown[] }[];
    const answers = [await (await forward()).json()].flat() as { id: number }[];
    const told = answers.map((answer) => {
      const asked = JSON.stringify(calls.find(({ id }) => id === answer.id)?.params);
      const error = { code: -32_000, message: 'header not found' };
      return parts.some((part) => asked.includes(part)) ? { jsonrpc: '2.0', id: answer.id, error } : answer;
    });
    return Response.json(isBatch ? told : told[0]);
  };
}

const [GET_KEYS, GET_OWNER, RESOLVE] = ['0x2150c518', '0x893d20e8', '0x5c23bdf5'];

describe('only an answer of the chain refuses, or lets in', () => {
  test.each([
    ['getKeys and getOwner', [GET_KEYS, GET_OWNER]],
    ['getKeys alone, whose account then shows its first key', [GET_KEYS]],
  ])('502 rpc_error: the node answers -32000 to %s of an account that has code', async (_, calls) => {
    const [owner, phone] = [await newOwner(), newDevice()];
    await addKey(chain.rpc, owner.account, phone.passkey.key);
    node.trouble = hiccup(...calls);
    expect(await signedIn(owner)).toBe('rpc_error');
    expect(await signedIn(phone, owner.account)).toBe('rpc_error');
  });

  test('502 rpc_error: the node answers -32000 to resolve, of a DID that is there and of one that was deactivated', async () => {
    const owner = await newOwner();
    node.trouble = hiccup(RESOLVE);
    expect(await signedIn(owner)).toBe('rpc_error');
  });

  test('502 rpc_error: the node knows nothing of a registration that is final', async () => {
    const owner = await newOwner();
    const empty = await startTestChain();
    node.trouble = async (_, __, body) =>
      fetch(empty.url, { method: 'POST', body, headers: { 'content-type': 'application/json' } });
    expect(await signedIn(owner)).toBe('rpc_error');
    await empty.stop();
  });

  test('502 rpc_error: the node has no code of an account that has had several keys', async () => {
    const [owner, phone] = [await newOwner(), newDevice()];
    await addKey(chain.rpc, owner.account, phone.passkey.key);
    await lookAtKeys(owner);
    const forgets = (part: string) =>
      part.includes('eth_getCode') || part.includes(GET_KEYS) || part.includes(GET_OWNER);
    node.trouble = async (forward, _, body) => {
      const isBatch = Array.isArray(JSON.parse(body));
      const calls = [JSON.parse(body)].flat() as { id: number }[];
      const answers = [await (await forward()).json()].flat() as { id: number }[];
      const told = answers.map((answer) => {
        const call = calls.find(({ id }) => id === answer.id);
        return forgets(JSON.stringify(call)) ? { jsonrpc: '2.0', id: answer.id, result: '0x' } : answer;
      });
      return Response.json(isBatch ? told : told[0]);
    };
    expect(await signedIn(owner)).toBe('rpc_error');
  });

  test('502 rpc_error nodes_disagree: one of two nodes still shows a key that was removed', async () => {
    await t.stop();
    t = await start({ RPC_WITNESS_URL: witness.url });
    const [owner, phone] = [await newOwner(), newDevice()];
    await addKey(chain.rpc, owner.account, phone.passkey.key);
    const before = await chain.rpc('eth_call', [{ to: owner.account, data: GET_KEYS }, 'latest']);
    await removeKey(chain.rpc, owner.account, 1, phone.passkey.key);
    const shows = (_: string, params: readonly unknown[], result: unknown) =>
      JSON.stringify(params).includes(GET_KEYS) ? before : result;
    node.trouble = (forward, _, body) => answerWith(shows, forward, body);
    expect(await signedIn(phone, owner.account)).toBe('rpc_error nodes_disagree');
    node.trouble = undefined;
    expect(await signedIn(phone, owner.account)).toBe('proof_invalid account');
    expect(await signedIn(owner)).toMatchObject({ did: owner.did });
  });
});
