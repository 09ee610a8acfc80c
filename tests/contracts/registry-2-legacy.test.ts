import { afterAll, expect, test } from 'bun:test';
import { Hash, Hex } from 'ox';
import { startChain } from '../../scripts/dev-stack/chain.ts';
import { devAccount } from '../../scripts/dev-stack/wallet.ts';
import { deployBoth, NOBODY, openRegistry, pkhHash, stranger as strangerOn, ZERO } from '../support/registries.ts';

// A registry that follows the first one: what that gave out is not up for grabs on the day of the change.

const { rpc, stop } = await startChain();
afterAll(stop);
const { registry1, deploy } = await deployBoth(rpc);
const owner = devAccount('owner').address;
const registry2 = openRegistry(rpc, await deploy('DIDRegistry2', owner, NOBODY, NOBODY, registry1.address), 2);
const stranger = () => strangerOn(rpc);
let hashes = 0;

function fresh(): Hex.Hex {
  return Hash.keccak256(Hex.fromNumber(++hashes, { size: 32 }));
}

test('an active alias of the first registry is its controller’s in the second', async () => {
  const [alice, mallory, name] = [await stranger(), await stranger(), fresh()];
  await registry1.act(alice, 'register', fresh(), name, '');
  expect(await registry2.refused(mallory, 'register', fresh(), name, '')).toEqual(['AliasTaken', name]);
  await registry2.act(mallory, 'registerSelf', ZERO, '');
  expect(await registry2.refused(mallory, 'claimAlias', name, ZERO)).toEqual(['AliasTaken', name]);
  await registry2.act(alice, 'registerSelf', name, '');
  expect(await registry2.read('aliases', name)).toBe(pkhHash(alice.address));
});

test('an alias that was burnt in the first registry is free in the second', async () => {
  const [alice, mallory, name, did] = [await stranger(), await stranger(), fresh(), fresh()];
  await registry1.act(mallory, 'register', did, name, '');
  await registry1.act(mallory, 'deactivate', did);
  await registry2.act(alice, 'registerSelf', name, '');
  expect(await registry2.read('aliases', name)).toBe(pkhHash(alice.address));
});

test('a DID of the first registry is its controller’s, but for an address’s own', async () => {
  const [alice, mallory, did] = [await stranger(), await stranger(), fresh()];
  await registry1.act(alice, 'register', did, ZERO, '');
  expect(await registry2.refused(mallory, 'register', did, ZERO, '')).toEqual(['DidTaken', did]);
  await registry2.act(alice, 'register', did, ZERO, '');
  const [bob, squatter] = [await stranger(), await stranger()];
  await registry1.act(squatter, 'register', pkhHash(bob.address), ZERO, '');
  await registry2.act(bob, 'registerSelf', ZERO, '');
  expect(await registry2.read('isRightful', pkhHash(bob.address))).toBe(true);
});

test('a first registry of another project that reverts for a free alias stands in nobody’s way', async () => {
  const other = await deploy('ResolvingRegistry');
  const following = openRegistry(rpc, await deploy('DIDRegistry2', owner, NOBODY, NOBODY, other), 2);
  const [alice, name] = [await stranger(), fresh()];
  await following.act(alice, 'registerSelf', name, '');
  expect(await following.read('aliases', name)).toBe(pkhHash(alice.address));
});
