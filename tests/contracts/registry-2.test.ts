import { afterAll, describe, expect, test } from 'bun:test';
import { Hash, Hex } from 'ox';
import { devAccount, sendTransaction } from '../../scripts/dev-stack/wallet.ts';
import { accountOf, freshHash, pkhHash, type Registry, startRegistries, ZERO } from '../support/registries.ts';
import { settled } from '../support/settled.ts';

const { rpc, stop, stranger, registry1, registry2, factory2 } = await startRegistries();
afterAll(stop);
describe('a DID', () => {
  test('in lower case is its address’s too; in other capitals it is a label', async () => {
    const [alice, mallory] = [await stranger(), await stranger()];
    const text = `did:pkh:eip155:84532:${alice.address}`;
    const lower = Hash.keccak256(Hex.fromString(text.toLowerCase()));
    await registry2.act(mallory, 'register', lower, ZERO, '');
    await registry2.act(alice, 'register', lower, ZERO, '');
    expect(await registry2.read('isRightful', lower)).toBe(true);
    const upper = Hash.keccak256(Hex.fromString(`did:pkh:eip155:84532:0x${alice.address.slice(2).toUpperCase()}`));
    await registry2.act(mallory, 'register', upper, ZERO, '');
    await registry2.act(alice, 'deactivate', lower);
    expect(await registry2.refused(alice, 'register', upper, ZERO, '')).toEqual(['DidTaken', upper]);
  });

  test('of another chain is a label', async () => {
    const [alice, mallory] = [await stranger(), await stranger()];
    const did = Hash.keccak256(Hex.fromString(`did:pkh:eip155:8453:${alice.address}`));
    await registry2.act(mallory, 'register', did, ZERO, '');
    expect(await registry2.refused(alice, 'register', did, ZERO, '')).toEqual(['DidTaken', did]);
  });

  test('that its address moved on is never taken back, nor ended and given out again', async () => {
    const [alice, bob] = [await stranger(), await stranger()];
    const did = pkhHash(alice.address);
    await registry2.act(alice, 'registerSelf', ZERO, '');
    expect(await registry2.act(alice, 'offerDid', did, bob.address)).toEqual([
      ['DIDOffered', { didHash: did, from: alice.address, to: bob.address }],
    ]);
    expect(await registry2.act(bob, 'acceptDid', did)).toEqual([
      ['DIDMoved', { didHash: did, from: alice.address, to: bob.address }],
    ]);
    expect(await registry2.refused(alice, 'registerSelf', ZERO, '')).toEqual(['DidTaken', did]);
    expect(await registry2.read('controllerToDid', alice.address)).toBe(ZERO);
    expect(await registry2.read('controllerToDid', bob.address)).toBe(did);
    await registry2.act(bob, 'deactivate', did);
    expect(await registry2.refused(alice, 'registerSelf', ZERO, '')).toEqual(['DidTaken', did]);
    expect(await registry2.refused(bob, 'offerDid', did, alice.address)).toEqual(['NotActive', did]);
  });

  test('is accepted only as offered, by a free place, and once', async () => {
    const [alice, bob, carol, did] = [await stranger(), await stranger(), await stranger(), freshHash()];
    await registry2.act(alice, 'register', did, ZERO, '');
    await registry2.act(alice, 'offerDid', did, bob.address);
    expect(await registry2.refused(carol, 'acceptDid', did)).toEqual(['NotOffered', did, carol.address]);
    await registry2.act(bob, 'registerSelf', ZERO, '');
    expect(await registry2.refused(bob, 'acceptDid', did)).toEqual(['ControllerTaken', bob.address]);
    await registry2.act(alice, 'offerDid', did, `0x${'0'.repeat(40)}`);
    await registry2.act(bob, 'deactivate', pkhHash(bob.address));
    expect(await registry2.refused(bob, 'acceptDid', did)).toEqual(['NotOffered', did, bob.address]);
    await registry2.act(alice, 'offerDid', did, bob.address);
    await registry2.act(bob, 'acceptDid', did);
    await registry2.act(bob, 'offerDid', did, alice.address);
    await registry2.act(alice, 'acceptDid', did);
    expect(await registry2.refused(bob, 'acceptDid', did)).toEqual(['NotOffered', did, bob.address]);
  });

  test('an offer of a squatter ends when the address takes its DID', async () => {
    const [alice, mallory, accomplice] = [await stranger(), await stranger(), await stranger()];
    const did = pkhHash(alice.address);
    await registry2.act(mallory, 'register', did, ZERO, '');
    await registry2.act(mallory, 'offerDid', did, accomplice.address);
    await registry2.act(alice, 'registerSelf', ZERO, '');
    expect(await registry2.refused(accomplice, 'acceptDid', did)).toEqual(['NotOffered', did, accomplice.address]);
  });

  test('of an address that a squatter offers it is registered, not accepted', async () => {
    const [alice, mallory, name] = [await stranger(), await stranger(), freshHash()];
    const did = pkhHash(alice.address);
    await registry2.act(mallory, 'register', did, name, '');
    await registry2.act(mallory, 'offerDid', did, alice.address);
    expect(await registry2.refused(alice, 'acceptDid', did)).toEqual(['OwnDid', did]);
    await registry2.act(alice, 'registerSelf', ZERO, '');
    expect(await registry2.read('isRightful', did)).toBe(true);
    expect(await registry2.read('aliases', name)).toBe(ZERO);
  });
});

test('what is for an old account is not for a wallet: moveDid', async () => {
  const [mallory, victim] = [await stranger(), await accountOf(rpc, factory2, 2)];
  await registry2.act(mallory, 'registerSelf', ZERO, '');
  const move = [pkhHash(mallory.address), 0n, factory2, victim.initCode] as const;
  expect(await registry2.refused(mallory, 'moveDid', ...move)).toEqual(['NotLegacyAccount', mallory.address]);
  const did = pkhHash((await stranger()).address);
  expect(await registry2.refused(mallory, 'moveDid', did, 0n, factory2, victim.initCode)).toEqual([
    'NotController',
    did,
    mallory.address,
  ]);
});

test('registrars and owner are as in the first registry', async () => {
  const [owner, helper] = [devAccount('owner'), await stranger()];
  const roles = async (registry: Registry) => [
    await registry.act(owner, 'setRegistrar', helper.address, true),
    await registry.read('isRegistrar', helper.address),
    await registry.refused(helper, 'setRegistrar', helper.address, true),
    await registry.act(owner, 'setRegistrar', helper.address, false),
  ];
  expect(await roles(registry2)).toEqual(await roles(registry1));
  expect(await registry2.read('version')).toBe(2n);
  expect(
    await settled(sendTransaction(rpc, owner.privateKey, { to: registry1.address, data: registry2.encode('version') })),
  ).toThrow();
});
