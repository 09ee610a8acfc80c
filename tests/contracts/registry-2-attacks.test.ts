import { afterAll, describe, expect, test } from 'bun:test';
import { Hex } from 'ox';
import { devAccount } from '../../scripts/dev-stack/wallet.ts';
import { commitment, freshHash, pkhHash, startRegistries, timeNow, ZERO } from '../support/registries.ts';

// What M7 of the review showed against the first registry, each attack as it was made, on both: what it gains there, and
// that it gains nothing on the second.

const { rpc, stop, stranger, later, registry1, registry2, factory1 } = await startRegistries();
afterAll(stop);
const REGISTRIES = [
  ['the first registry', registry1, 1],
  ['the second registry', registry2, 2],
] as const;
const DAY = 86_400n;

describe.each(REGISTRIES)('%s', (_, registry, edition) => {
  test('squatting the did:pkh of somebody', async () => {
    const [alice, mallory] = [await stranger(), await stranger()];
    const did = pkhHash(alice.address);
    await registry.act(mallory, 'register', did, ZERO, 'mallory');
    if (edition === 1) {
      expect(await registry.refused(alice, 'register', did, ZERO, 'alice')).toEqual(['DidTaken', did]);
      return;
    }
    await registry.act(alice, 'register', did, ZERO, 'alice');
    expect(await registry.read('resolve', did)).toEqual([
      alice.address,
      expect.any(BigInt),
      expect.any(BigInt),
      'alice',
      true,
    ]);
    expect(await registry.refused(mallory, 'register', did, ZERO, 'mallory')).toEqual(['DidTaken', did]);
  });

  test('a name is burnt by register and deactivate', async () => {
    const [alice, mallory, name] = [await stranger(), await stranger(), freshHash()];
    const ended = freshHash();
    await registry.act(mallory, 'register', ended, name, '');
    await registry.act(mallory, 'deactivate', ended);
    expect(await registry.refused(alice, 'register', pkhHash(alice.address), name, '')).toEqual(['AliasTaken', name]);
    await later(30n * DAY);
    if (edition === 1) {
      expect(await registry.refused(alice, 'register', pkhHash(alice.address), name, '')).toEqual(['AliasTaken', name]);
      return;
    }
    await registry.act(alice, 'register', pkhHash(alice.address), name, '');
    expect(await registry.read('aliases', name)).toBe(pkhHash(alice.address));
  });

  test('a controller leads its own alias to its next DID', async () => {
    const [alice, first, second, name] = [await stranger(), freshHash(), freshHash(), freshHash()];
    await registry.act(alice, 'register', first, name, '');
    await registry.act(alice, 'deactivate', first);
    if (edition === 1) {
      expect(await registry.refused(alice, 'register', second, name, '')).toEqual(['AliasTaken', name]);
      return;
    }
    await registry.act(alice, 'register', second, name, '');
    expect(await registry.read('aliases', name)).toBe(second);
  });

  test('a handle is copied from a transaction that waits', async () => {
    const [alice, mallory, name] = [await stranger(), await stranger(), freshHash()];
    if (edition === 1) {
      await registry.act(mallory, 'register', freshHash(), name, '');
      expect(await registry.refused(alice, 'register', freshHash(), name, '')).toEqual(['AliasTaken', name]);
      return;
    }
    const [salt, did] = [freshHash(), pkhHash(alice.address)];
    await registry.act(alice, 'registerSelf', ZERO, '');
    await registry.act(alice, 'commitAlias', commitment(name, alice.address, salt));
    await later(2n);
    await registry.act(mallory, 'register', freshHash(), name, '');
    await registry.act(alice, 'claimAlias', name, salt);
    expect(await registry.read('aliases', name)).toBe(did);
  });

  test('a registrar fills the place of a controller that consented to nothing', async () => {
    const [alice, did, registrar] = [await stranger(), freshHash(), devAccount('registrar')];
    if (edition === 1) {
      await registry.act(registrar, 'registerFor', alice.address, did, ZERO, '');
      expect(await registry.read('controllerToDid', alice.address)).toBe(did);
      return;
    }
    const consent = {
      registrarDidHash: ZERO,
      credentialHash: ZERO,
      identifierHash: ZERO,
      expiresAt: await timeNow(rpc),
      x: 1n,
      y: 2n,
      factory: factory1,
      initCode: Hex.padLeft('0x', 96),
      assertion: '0x',
      salt: ZERO,
    };
    expect(await registry.refused(registrar, 'registerFor', alice.address, did, ZERO, consent)).toEqual([
      'NotKeyOf',
      alice.address,
    ]);
  });
});
