import { afterAll, afterEach, beforeEach, expect, test } from 'bun:test';
import type { Hex } from 'ox';
import { registerForData } from '../../../lib/chain/registry.ts';
import { didHash } from '../../../lib/identity/did.ts';
import { devAccount, sendTransaction } from '../../../scripts/dev-stack/wallet.ts';
import { type Candidate, createCandidate, prove, startRelayChain } from '../../support/candidates.ts';
import { testClock } from '../../support/clock.ts';
import { startVault, type TestVault } from '../../support/vault.ts';

const chain = await startRelayChain({ edition: 1 });
afterAll(chain.stop);

let t: TestVault;
beforeEach(async () => {
  t = await startVault({ ...chain.vars, FINALITY_BLOCKS: '1' }, { clock: testClock() });
});
afterEach(() => t.stop());

let people = 0;

/** Somebody whose account is not deployed, and whose DID another registrar has registered. */
async function registered(): Promise<Candidate & { readonly txHash: string }> {
  const one = await createCandidate(chain, `absent${++people}`, t.clock.now());
  const call = { registry: chain.registry, controller: one.smartAccount, didHash: didHash(one.did) };
  const transaction = { to: chain.registry, data: registerForData(call) as Hex.Hex };
  const { transactionHash } = await sendTransaction(chain.rpc, devAccount('registrar').privateKey, transaction);
  return { ...one, txHash: transactionHash };
}

async function record({ body, txHash }: { body: Candidate['body']; txHash: string }) {
  const reply = await t.call('POST /api/dids', { ...body, txHash });
  return [reply.status, reply.body.error, reply.body.reason].filter((part) => part !== undefined);
}

async function settle(): Promise<void> {
  await t.work();
  await chain.mine(2);
  await t.clock.advance(30_000);
  await t.work();
}

const told = async ({ credentialId }: Candidate) => (await t.call('GET /api/dids/lookup', { credentialId })).body;

test('a recorded proof with its key proves a DID whose account does not exist yet', async () => {
  const alice = await registered();
  expect(await record(alice)).toEqual([200]);
  await settle();
  const { pubKeyX, pubKeyY } = alice.body;
  expect(await told(alice)).toMatchObject({ status: 'confirmed', final: true, proven: true, pubKeyX, pubKeyY });
});

test('without its key it is not proven, and fails once it is final', async () => {
  const { body, ...alice } = await registered();
  expect(await record({ ...alice, body: { ...body, pubKeyX: undefined, pubKeyY: undefined } })).toEqual([200]);
  await settle();
  expect((await told({ ...alice, body })).error).toBe('not_found');
});

test('a key that has another account, or has not signed, is refused at once', async () => {
  const [alice, bob] = [await registered(), await registered()];
  const { pubKeyX, pubKeyY } = bob.body;
  const account = [403, 'proof_invalid', 'account'];
  expect(await record({ ...alice, body: { ...alice.body, pubKeyX, pubKeyY } })).toEqual(account);
  expect(await record({ ...alice, body: { ...alice.body, salt: '1' } })).toEqual(account);
  const proof = prove(chain, { ...alice, passkey: bob.passkey });
  expect(await record({ ...alice, body: { ...alice.body, proof } })).toEqual([403, 'proof_invalid', 'signature']);
});

test.each([
  ['Invalid pubKeyX or pubKeyY: expected uint256 hex string', { pubKeyX: 'zz' }],
  ['Invalid pubKeyX or pubKeyY: expected uint256 hex string', { pubKeyY: undefined }],
  ['Invalid salt: expected uint256 decimal or hex string', { salt: 1 }],
])('400 %s', async (error, change) => {
  const alice = await registered();
  expect(await record({ ...alice, body: { ...alice.body, ...change } })).toEqual([400, error]);
});

test('without a proof the key is not read, as clients before sent what they liked', async () => {
  const alice = await registered();
  const body = { ...alice.body, proof: undefined, pubKeyX: 'zz', salt: 1 };
  expect(await record({ ...alice, body })).toEqual([200]);
});
