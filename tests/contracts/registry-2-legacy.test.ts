import { afterAll, expect, test } from 'bun:test';
import {
  freshHash,
  NOBODY,
  nextBlockAt,
  openRegistry,
  pkhHash,
  startRegistries,
  timeNow,
  ZERO,
} from '../support/registries.ts';

// A registry that follows the first one: what that gave out is not up for grabs on the day of the change.

const { rpc, stop, stranger, registry1, deploy } = await startRegistries();
afterAll(stop);
/** One that has just opened: another owner is another address. */
async function follow(first = registry1.address) {
  const until = (await timeNow(rpc)) + 60n;
  const by = (await stranger()).address;
  const registry2 = openRegistry(rpc, await deploy('DIDRegistry2', by, NOBODY, NOBODY, first, until), 2);
  await nextBlockAt(rpc, until);
  await rpc('evm_mine', []);
  return registry2;
}

test('an active alias of the first registry is its controller’s in the second', async () => {
  const [alice, mallory, name] = [await stranger(), await stranger(), freshHash()];
  await registry1.act(alice, 'register', freshHash(), name, '');
  const registry2 = await follow();
  expect(await registry2.refused(mallory, 'register', freshHash(), name, '')).toEqual(['AliasTaken', name]);
  await registry2.act(mallory, 'registerSelf', ZERO, '');
  expect(await registry2.refused(mallory, 'claimAlias', name, ZERO)).toEqual(['AliasTaken', name]);
  await registry2.act(alice, 'registerSelf', name, '');
  expect(await registry2.read('aliases', name)).toBe(pkhHash(alice.address));
});

test('an alias that was burnt in the first registry is free in the second', async () => {
  const [alice, mallory, name, did] = [await stranger(), await stranger(), freshHash(), freshHash()];
  await registry1.act(mallory, 'register', did, name, '');
  await registry1.act(mallory, 'deactivate', did);
  const registry2 = await follow();
  await registry2.act(alice, 'registerSelf', name, '');
  expect(await registry2.read('aliases', name)).toBe(pkhHash(alice.address));
});

test('a DID of the first registry is its controller’s, but for an address’s own', async () => {
  const [alice, mallory, did] = [await stranger(), await stranger(), freshHash()];
  await registry1.act(alice, 'register', did, ZERO, '');
  const [bob, squatter] = [await stranger(), await stranger()];
  await registry1.act(squatter, 'register', pkhHash(bob.address), ZERO, '');
  const registry2 = await follow();
  expect(await registry2.refused(mallory, 'register', did, ZERO, '')).toEqual(['DidTaken', did]);
  await registry2.act(alice, 'register', did, ZERO, '');
  await registry2.act(bob, 'registerSelf', ZERO, '');
  expect(await registry2.read('isRightful', pkhHash(bob.address))).toBe(true);
});

test('what is registered in the very second of the opening counts as afterwards, a second earlier not (R8)', async () => {
  const until = (await timeNow(rpc)) + 60n;
  const by = (await stranger()).address;
  const registry2 = openRegistry(rpc, await deploy('DIDRegistry2', by, NOBODY, NOBODY, registry1.address, until), 2);
  const [alice, mallory, early, late] = [await stranger(), await stranger(), freshHash(), freshHash()];
  await nextBlockAt(rpc, until - 1n);
  await registry1.act(alice, 'register', freshHash(), early, '');
  await nextBlockAt(rpc, until);
  await registry1.act(mallory, 'register', freshHash(), late, '');
  expect(await timeNow(rpc)).toBe(until);
  const bob = await stranger();
  expect(await registry2.refused(bob, 'register', freshHash(), early, '')).toEqual(['AliasTaken', early]);
  await registry2.act(bob, 'registerSelf', late, '');
  expect(await registry2.read('aliases', late)).toBe(pkhHash(bob.address));
});

test('what is registered in the first registry afterwards blocks nobody (X41)', async () => {
  const registry2 = await follow();
  const [alice, mallory, name, did] = [await stranger(), await stranger(), freshHash(), freshHash()];
  await registry1.act(mallory, 'register', did, name, '');
  await registry2.act(alice, 'register', did, name, '');
  expect(await registry2.read('aliases', name)).toBe(did);
});

test('a first registry of another project that reverts for a free alias stands in nobody’s way', async () => {
  const other = await deploy('ResolvingRegistry');
  const following = await follow(other);
  const [alice, name] = [await stranger(), freshHash()];
  await following.act(alice, 'registerSelf', name, '');
  expect(await following.read('aliases', name)).toBe(pkhHash(alice.address));
});
