import { afterAll, describe, expect, test } from 'bun:test';
import type { Hex } from 'ox';
import { commitment, freshHash, nextBlockAt, pkhHash, startRegistries, timeNow, ZERO } from '../support/registries.ts';

const { rpc, stop, stranger, later, registry2 } = await startRegistries();
afterAll(stop);
const MINUTE = 60n;
const DAY = 86_400n;

describe('an alias', () => {
  /** A controller with an active DID. */
  async function holder() {
    const one = await stranger();
    await registry2.act(one, 'registerSelf', ZERO, '');
    return { ...one, did: pkhHash(one.address), salt: freshHash() };
  }

  async function commit(one: Awaited<ReturnType<typeof holder>>, name: Hex.Hex): Promise<void> {
    const made = commitment(name, one.address, one.salt);
    expect(await registry2.act(one, 'commitAlias', made)).toEqual([['AliasCommitted', { commitment: made }]]);
  }

  test('goes to the older of two commitments, even when the younger claims first', async () => {
    const [alice, mallory, name] = [await holder(), await holder(), freshHash()];
    await commit(alice, name);
    await later(1n);
    await commit(mallory, name);
    await registry2.act(mallory, 'claimAlias', name, mallory.salt);
    expect(await registry2.act(alice, 'claimAlias', name, alice.salt)).toEqual([
      ['AliasRegistered', { aliasHash: name, didHash: alice.did }],
    ]);
    expect(await registry2.refused(mallory, 'claimAlias', name, mallory.salt)).toEqual(['AliasTaken', name]);
  });

  test('is settled after 10 minutes, and not a second earlier', async () => {
    for (const [after, isTaken] of [
      [10n * MINUTE - 1n, true],
      [10n * MINUTE, false],
    ] as const) {
      const [alice, mallory, name] = [await holder(), await holder(), freshHash()];
      await commit(alice, name);
      await later(5n);
      await registry2.act(mallory, 'claimAlias', name, ZERO);
      const taken = await timeNow(rpc);
      await nextBlockAt(rpc, taken + after);
      if (isTaken) await registry2.act(alice, 'claimAlias', name, alice.salt);
      else expect(await registry2.refused(alice, 'claimAlias', name, alice.salt)).toEqual(['AliasTaken', name]);
    }
  });

  test('that changed hands is settled 10 minutes after it was first taken', async () => {
    const [alice, bob, mallory, name] = [await holder(), await holder(), await holder(), freshHash()];
    await commit(bob, name);
    await later(2n);
    await commit(alice, name);
    await later(2n);
    await registry2.act(mallory, 'claimAlias', name, ZERO);
    const taken = await timeNow(rpc);
    await nextBlockAt(rpc, taken + 9n * MINUTE);
    await registry2.act(alice, 'claimAlias', name, alice.salt);
    await nextBlockAt(rpc, taken + 10n * MINUTE);
    expect(await registry2.refused(bob, 'claimAlias', name, bob.salt)).toEqual(['AliasTaken', name]);
  });

  test('is not taken by a commitment of more than an hour: hoarded ones are worth nothing (R11)', async () => {
    for (const [age, isTaken] of [
      [60n * MINUTE, true],
      [60n * MINUTE + 1n, false],
    ] as const) {
      const [alice, hoarder, name] = [await holder(), await holder(), freshHash()];
      await commit(hoarder, name);
      const committed = await timeNow(rpc);
      await nextBlockAt(rpc, committed + age - 60n);
      await registry2.act(alice, 'claimAlias', name, ZERO);
      await nextBlockAt(rpc, committed + age);
      if (isTaken) await registry2.act(hoarder, 'claimAlias', name, hoarder.salt);
      else expect(await registry2.refused(hoarder, 'claimAlias', name, hoarder.salt)).toEqual(['AliasTaken', name]);
    }
  });

  test('is not lost by another repeating the commitment, nor by a commitment of another', async () => {
    const [alice, mallory, name] = [await holder(), await holder(), freshHash()];
    const made = commitment(name, alice.address, alice.salt);
    await commit(alice, name);
    const committed = await registry2.read('commitments', made);
    await later(30n);
    expect(await registry2.act(mallory, 'commitAlias', made)).toEqual([]);
    expect(await registry2.read('commitments', made)).toBe(committed as bigint);
    await later(1n);
    await registry2.act(mallory, 'claimAlias', name, alice.salt);
    await registry2.act(alice, 'claimAlias', name, alice.salt);
    expect(await registry2.read('aliases', name)).toBe(alice.did);
    expect(await registry2.read('commitments', made)).toBe(0n);
  });

  test('cannot be hidden from an older claim by freeing, ending or pointing', async () => {
    const [alice, mallory, name] = [await holder(), await holder(), freshHash()];
    await commit(alice, name);
    await later(2n);
    await registry2.act(mallory, 'claimAlias', name, ZERO);
    expect(await registry2.refused(mallory, 'freeAlias', name)).toEqual(['AliasNotSettled', name]);
    await registry2.act(mallory, 'deactivate', mallory.did);
    await registry2.act(mallory, 'register', freshHash(), ZERO, '');
    await registry2.act(mallory, 'pointAlias', name);
    await registry2.act(alice, 'claimAlias', name, alice.salt);
    expect(await registry2.read('aliases', name)).toBe(alice.did);
  });

  test('that was freed is for 30 days its last controller’s', async () => {
    const [alice, mallory, name] = [await holder(), await holder(), freshHash()];
    await registry2.act(alice, 'claimAlias', name, ZERO);
    await later(10n * MINUTE);
    expect(await registry2.act(alice, 'freeAlias', name)).toEqual([['AliasFreed', { aliasHash: name }]]);
    const freed = await timeNow(rpc);
    expect(await registry2.read('aliases', name)).toBe(ZERO);
    expect(await registry2.read('aliasStatus', name)).toEqual([ZERO, 0n, alice.address, freed + 30n * DAY]);
    await nextBlockAt(rpc, freed + 30n * DAY - 1n);
    expect(await registry2.refused(mallory, 'claimAlias', name, ZERO)).toEqual(['AliasTaken', name]);
    await registry2.act(alice, 'claimAlias', name, ZERO);
    await later(10n * MINUTE);
    await registry2.act(alice, 'freeAlias', name);
    await later(30n * DAY);
    await registry2.act(mallory, 'claimAlias', name, ZERO);
    expect(await registry2.read('aliases', name)).toBe(mallory.did);
  });

  test('that its controller freed and takes again in its 30 days is not open to a commitment that waited', async () => {
    const [alice, mallory, name] = [await holder(), await holder(), freshHash()];
    await registry2.act(alice, 'claimAlias', name, ZERO);
    await later(10n * MINUTE);
    await registry2.act(alice, 'freeAlias', name);
    await commit(mallory, name);
    await later(60n);
    await registry2.act(alice, 'claimAlias', name, ZERO);
    expect(await registry2.refused(mallory, 'claimAlias', name, mallory.salt)).toEqual(['AliasTaken', name]);
  });

  test('is led and freed by its controller alone, and claimed for an active DID alone', async () => {
    const [alice, mallory, name] = [await holder(), await holder(), freshHash()];
    await registry2.act(alice, 'claimAlias', name, ZERO);
    for (const call of ['pointAlias', 'freeAlias']) {
      expect(await registry2.refused(mallory, call, name)).toEqual(['NotAliasController', name, mallory.address]);
      expect(await registry2.refused(mallory, call, freshHash())).toMatchObject([
        'NotAliasController',
        expect.any(String),
        mallory.address,
      ]);
    }
    await registry2.act(alice, 'deactivate', alice.did);
    expect(await registry2.refused(alice, 'pointAlias', name)).toEqual(['NotActive', alice.did]);
    expect(await registry2.refused(alice, 'claimAlias', freshHash(), ZERO)).toEqual(['NotActive', alice.did]);
    expect(await registry2.refused(await stranger(), 'claimAlias', freshHash(), ZERO)).toEqual(['NotActive', ZERO]);
  });

  test('of a squatter never leads to the victim, and is free at once (R9)', async () => {
    const [alice, mallory, name] = [await stranger(), await stranger(), freshHash()];
    await registry2.act(mallory, 'register', pkhHash(alice.address), name, '');
    await later(11n * MINUTE);
    await registry2.act(alice, 'registerSelf', ZERO, '');
    expect(await registry2.read('aliases', name)).toBe(ZERO);
    expect(await registry2.read('resolveAlias', name)).toMatchObject([`0x${'0'.repeat(40)}`, 0n, 0n, '', false]);
    expect(await registry2.refused(mallory, 'pointAlias', name)).toMatchObject([
      'NotAliasController',
      expect.any(String),
      mallory.address,
    ]);
    const bob = await holder();
    await registry2.act(bob, 'claimAlias', name, ZERO);
    expect(await registry2.read('aliases', name)).toBe(bob.did);
  });
});
