import { afterAll, afterEach, beforeEach, expect, test } from 'bun:test';
import { type Abi, AbiConstructor, AbiFunction, Address, type Hex } from 'ox';
import { didHash } from '../../../lib/identity/did.ts';
import { compileContracts } from '../../../scripts/contracts.ts';
import { create2 } from '../../../scripts/dev-stack/create2.ts';
import { sendTransaction } from '../../../scripts/dev-stack/wallet.ts';
import { startTestChain } from '../../support/onchain.ts';
import { createPasskey } from '../../support/passkey.ts';
import { createPeople, type Person } from '../../support/people.ts';
import { keyOf, openRegistry, stranger } from '../../support/registries.ts';
import { startVault, type TestVault } from '../../support/vault.ts';

// What the vault's records say of a DID that the second registry has moved to another controller.

const chain = await startTestChain();
afterAll(chain.stop);
const registry = openRegistry(chain.rpc, chain.registry, 2);
const FORWARD = AbiFunction.from('function forward(address to, bytes data) returns (bytes)');

let t: TestVault;
beforeEach(async () => {
  const vars = { ...chain.vars, FOLLOWER: 'true', FINALITY_BLOCKS: '0', RATE_LIMIT_PROXY_PER_IP: '100000' };
  t = await startVault({ ...vars, MAX_VERIFY_SENDS_PER_IP: '1000', MAX_REGISTRATIONS_PER_IP: '1000' });
});
afterEach(() => t.stop());
const people = createPeople(chain, () => t);

/** Somebody whose DID is the did:pkh of its account, recorded with a proof and final. */
async function settled(): Promise<Person> {
  const made = await people.create('email');
  const one = { ...made, did: `did:pkh:eip155:84532:${Address.checksum(made.account)}` };
  const { txHash } = await people.publish(one);
  expect((await people.claim(one, txHash, { proof: true })).status).toBe(200);
  await settle();
  return one;
}

async function settle(): Promise<void> {
  await chain.mine(70);
  for (let turn = 0; turn < 3; turn++) {
    await t.clock.advance(60_000);
    await t.work();
  }
}

/** The account offers its DID, and the other one accepts. */
async function move(from: string, to: string, did: string): Promise<void> {
  const by = await stranger(chain.rpc);
  const send = (account: string, data: Hex.Hex) =>
    sendTransaction(chain.rpc, by.privateKey, {
      to: account as Hex.Hex,
      data: AbiFunction.encodeData(FORWARD, [chain.registry, data]),
    });
  await send(from, registry.encode('offerDid', didHash(did), to));
  await send(to, registry.encode('acceptDid', didHash(did)));
}

test('a DID that its address moved to another account of its key stays proven, with the new controller', async () => {
  const alice = await settled();
  const account = alice.account.toLowerCase();
  expect(await people.lookup(alice)).toMatchObject({
    proven: true,
    smartAccount: account,
    proofs: { controller: 'passkey', did: 'address' },
  });
  const next = await deployAgain(alice);
  await move(alice.account, next, alice.did);
  await settle();
  expect(await people.lookup(alice)).toMatchObject({
    did: alice.did,
    status: 'confirmed',
    proven: true,
    smartAccount: next.toLowerCase(),
    proofs: { identifier: 'attestation', controller: 'passkey', did: 'moved' },
  });
});

test('a DID that was moved to a stranger is proven by nobody’s passkey', async () => {
  const alice = await settled();
  const stranger = await chain.deployHolder(createPasskey().key);
  await move(alice.account, stranger, alice.did);
  await settle();
  expect(await people.lookup(alice)).toMatchObject({
    status: 'confirmed',
    proven: false,
    smartAccount: stranger.toLowerCase(),
    proofs: { controller: null, did: 'moved' },
  });
});

test('its new controller claims it with the first transaction and its own proof', async () => {
  const alice = await settled();
  const bob = await people.create('email');
  await move(alice.account, bob.account, alice.did);
  await settle();
  const [row] = await t.rows('SELECT tx_hash FROM registrations WHERE did = :did', { did: alice.did });
  const claim = { ...bob, did: alice.did };
  expect((await people.claim(claim, String(row?.['tx_hash']), { proof: true })).status).toBe(200);
  await settle();
  expect(await people.lookup(bob)).toMatchObject({
    did: alice.did,
    proven: true,
    smartAccount: bob.account.toLowerCase(),
    proofs: { controller: 'passkey', did: 'moved' },
  });
});

test('a squatter’s did:pkh is nobody’s, however often it is moved, and is its address’s once taken', async () => {
  const [mallory, accomplice, alice] = [
    await people.create('email'),
    await people.create('email'),
    await people.create('email'),
  ];
  const did = `did:pkh:eip155:84532:${Address.checksum(alice.account)}`;
  const { txHash } = await people.publish({ ...mallory, did });
  await move(mallory.account, accomplice.account, did);
  expect((await people.claim({ ...accomplice, did }, txHash, { proof: true })).status).toBe(200);
  await settle();
  expect((await people.lookup(accomplice)).error).toBe('not_found');
  const taken = await people.publish({ ...alice, did });
  expect((await people.claim({ ...alice, did }, taken.txHash, { proof: true })).status).toBe(200);
  await settle();
  expect(await people.lookup(alice)).toMatchObject({ proven: true, proofs: { did: 'address' } });
});

/** Another account that shows the same key. */
async function deployAgain({ passkey }: Person): Promise<`0x${string}`> {
  const { KeyHolder } = await compileContracts();
  const { abi, bytecode } = KeyHolder as { abi: Abi.Abi; bytecode: Hex.Hex };
  const code = AbiConstructor.encode(abi as never, { bytecode, args: keyOf(passkey) } as never);
  return create2(chain.rpc, code, `0x${'01'.repeat(32)}`);
}
