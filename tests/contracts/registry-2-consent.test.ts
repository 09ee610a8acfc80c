import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { AbiFunction, Address, Hash, Hex } from 'ox';
import { account2Abi } from '../../contracts/abi.ts';
import { ENTRY_POINTS } from '../../scripts/dev-stack/entrypoints.ts';
import { createPasskey, type Passkey } from '../../scripts/dev-stack/passkey.ts';
import { devAccount } from '../../scripts/dev-stack/wallet.ts';
import {
  accountOf,
  type ConsentOptions,
  consentFor,
  keyOf,
  nextBlockAt,
  pkhHash,
  sendAs,
  stranger,
  type TestAccount,
  timeNow,
  ZERO,
} from '../support/registries.ts';
import { startWorlds, type World } from '../support/registry-worlds.ts';

const NODES = { 'with the P-256 precompile': {}, 'without it': { hardfork: 'prague' } } as const;
const DAY = 86_400n;
const registrar = devAccount('registrar');

const { worlds, stop } = await startWorlds(NODES);
afterAll(stop);

describe.each(Object.keys(NODES))('on a chain %s', (node) => {
  describe.each([1, 2] as const)('an account of kind %d', (kind) => {
    let world: World;
    beforeAll(() => {
      world = worlds.get(node) as World;
    });

    function newAccount(passkey?: Passkey): Promise<TestAccount> {
      return accountOf(world.rpc, kind === 1 ? world.factory1 : world.factory2, kind, passkey);
    }

    /** An account, its did:pkh, and what a registrar sends with its consent or a changed one. */
    async function order(change: Partial<ConsentOptions> & { readonly bring?: object } = {}) {
      const { bring, ...changed } = change;
      const account = changed.account ?? (await newAccount());
      const didHash = pkhHash(account.address);
      const honest = { account, registry: world.registry2.address, didHash, expiresAt: await timeNow(world.rpc) };
      const consent = { ...consentFor({ ...honest, ...changed }), ...bring };
      return { account, didHash, args: [account.address, didHash, ZERO, consent] as const };
    }

    test('is registered before it exists, by its creation code, and its registrar is in an event', async () => {
      const { account, didHash, args } = await order();
      expect(await world.registry2.act(registrar, 'registerFor', ...args)).toEqual([
        ['DIDRegistered', { didHash, controller: Address.checksum(account.address), metadataCid: '' }],
        ['RegisteredBy', { didHash, registrar: registrar.address }],
      ]);
      expect(await world.registry2.read('isRightful', didHash)).toBe(true);
    });

    test('is registered once it exists, by its own word', async () => {
      const { account, didHash, args } = await order({ bring: { factory: `0x${'0'.repeat(40)}`, initCode: '0x' } });
      await account.create();
      await world.registry2.act(registrar, 'registerFor', ...args);
      expect(await world.registry2.read('controllerToDid', account.address)).toBe(didHash);
    });

    test('takes its did:pkh from a squatter by its consent', async () => {
      const { account, didHash, args } = await order();
      const mallory = await stranger(world.rpc);
      await world.registry2.act(mallory, 'register', didHash, ZERO, '');
      await world.registry2.act(registrar, 'registerFor', ...args);
      expect(await world.registry2.read('resolve', didHash)).toContain(Address.checksum(account.address));
    });

    test('consents for 24 hours behind the proof’s end, and not a second longer', async () => {
      const { args, account } = await order();
      const { expiresAt } = args[3];
      const early = await order({ account, expiresAt });
      await nextBlockAt(world.rpc, expiresAt + DAY + 1n);
      await world.rpc('evm_mine', []);
      expect(await world.registry2.refused(registrar, 'registerFor', ...early.args)).toEqual([
        'ConsentExpired',
        expiresAt,
      ]);
      const edge = await order();
      await nextBlockAt(world.rpc, edge.args[3].expiresAt + DAY);
      await world.registry2.act(registrar, 'registerFor', ...edge.args);
    });

    test('consents to nothing whose end is more than a day ahead', async () => {
      const { args } = await order({ expiresAt: (await timeNow(world.rpc)) + 2n * DAY });
      expect(await world.registry2.refused(registrar, 'registerFor', ...args)).toEqual([
        'ConsentEndsTooLate',
        args[3].expiresAt,
      ]);
    });

    test('consents once: a consent used again registers nothing, though it freed itself', async () => {
      const account = await newAccount((await order()).account.passkey);
      const holder = await world.deploy('KeyHolder', ...keyOf(account.passkey));
      const didHash = Hash.keccak256(Hex.fromString('did:example:once'.concat(node, String(kind))));
      const { args } = await order({ account: { ...account, address: holder }, didHash });
      const call = [holder, didHash, ZERO, args[3]] as const;
      await world.registry2.act(registrar, 'registerFor', ...call);
      expect(await world.registry2.refused(registrar, 'registerFor', ...call)).toEqual(['DidTaken', didHash]);
      const forward = AbiFunction.from('function forward(address to, bytes data)');
      const data = AbiFunction.encodeData(forward, [
        world.registry2.address,
        world.registry2.encode('deactivate', didHash),
      ]);
      await sendAs(world.rpc, registrar.address, holder, data);
      expect(await world.registry2.read('resolve', didHash)).toContain(false);
      expect(await world.registry2.refused(registrar, 'registerFor', ...call)).toEqual(['DidTaken', didHash]);
    });

    test('consents to this DID, alias, account, registry and chain alone (R1)', async () => {
      const another = await newAccount();
      const other = Hash.keccak256(Hex.fromString('another'));
      const changes: Readonly<Record<string, Partial<ConsentOptions> & { bring?: object }>> = {
        DID: { didHash: other },
        alias: { aliasHash: other },
        account: { controller: another.address },
        registry: { registry: world.registry1.address },
        chain: { chainId: 8453 },
        end: { bring: { expiresAt: (await timeNow(world.rpc)) + 1_000n } },
        vault: { bring: { registrarDidHash: other } },
        credential: { bring: { credentialHash: other } },
        identifier: { bring: { identifierHash: other } },
      };
      for (const [name, change] of Object.entries(changes)) {
        const { args } = await order(change);
        const why = await world.registry2.refused(registrar, 'registerFor', ...args);
        expect({ name, why }).toEqual({ name, why: ['ConsentInvalid'] });
      }
    });

    test('consents by WebAuthn with the user verified, in its one form', async () => {
      const ceremonies: Readonly<Record<string, ConsentOptions['ceremony']>> = {
        'user not verified': { flags: 0x01 },
        'user not present': { flags: 0x04 },
        'backed up without being eligible': { flags: 0x15 },
        'a registration': { clientData: { type: 'webauthn.create' } },
      };
      for (const [name, ceremony] of Object.entries(ceremonies)) {
        const { args } = await order(ceremony ? { ceremony } : {});
        const why = await world.registry2.refused(registrar, 'registerFor', ...args);
        expect({ name, why }).toEqual({ name, why: ['ConsentInvalid'] });
      }
      for (const assertion of ['0x', Hex.slice((await order()).args[3].assertion, 0, 224)]) {
        const { args } = await order({ bring: { assertion } });
        expect(await world.registry2.refused(registrar, 'registerFor', ...args)).toEqual(['ConsentInvalid']);
      }
      const synced = await order({ ceremony: { flags: 0x1d, origin: 'https://other.example' } });
      expect(await world.registry2.act(registrar, 'registerFor', ...synced.args)).toHaveLength(2);
    });

    test('is spoken for by its own key alone, through its own factory and code', async () => {
      const [thief, another] = [createPasskey(), await newAccount()];
      const { account } = await order();
      const otherKind = await accountOf(
        world.rpc,
        kind === 1 ? world.factory2 : world.factory1,
        kind === 1 ? 2 : 1,
        account.passkey,
      );
      const theirs = await newAccount(thief);
      const salted = Hex.concat(Hex.slice(account.initCode, 0, -32), Hex.fromNumber(1, { size: 32 }));
      const swapped = Hex.concat(Hex.slice(account.initCode, 0, -96), Hex.slice(theirs.initCode, -96));
      const cases: Readonly<Record<string, Partial<ConsentOptions> & { bring?: object }>> = {
        'another passkey': { passkey: thief },
        'another passkey with its own code': { passkey: thief, bring: { initCode: theirs.initCode } },
        'another passkey put into the code': { passkey: thief, bring: { initCode: swapped } },
        'another salt': { bring: { initCode: salted } },
        'another account’s code': { bring: { initCode: another.initCode } },
        'another factory': { bring: { factory: otherKind.factory } },
        'the other kind’s code': { bring: { factory: otherKind.factory, initCode: otherKind.initCode } },
        'no key': { bring: { x: 0n, y: 0n } },
      };
      for (const [name, change] of Object.entries(cases)) {
        const { args } = await order({ account, ...change });
        const why = await world.registry2.refused(registrar, 'registerFor', ...args);
        expect({ name, why }).toEqual({ name, why: ['NotKeyOf', Address.checksum(account.address)] });
      }
      const { args } = await order({ account, bring: { initCode: '0x1234' } });
      expect(await world.registry2.refused(registrar, 'registerFor', ...args)).toEqual(['InitCodeTooShort', 2n]);
    });

    test('that exists is not spoken for by code of another address', async () => {
      const thief = await newAccount();
      const { account } = await order();
      await account.create();
      const { args } = await order({
        account,
        passkey: thief.passkey,
        bring: { factory: thief.factory, initCode: thief.initCode },
      });
      expect(await world.registry2.refused(registrar, 'registerFor', ...args)).toEqual([
        'NotKeyOf',
        Address.checksum(account.address),
      ]);
    });

    test('is registered by registrars alone, and once (R15)', async () => {
      const { account, args } = await order();
      const mallory = await stranger(world.rpc);
      expect(await world.registry2.refused(mallory, 'registerFor', ...args)).toEqual(['NotRegistrar', mallory.address]);
      await world.registry2.act(registrar, 'registerFor', ...args);
      const didHash = Hash.keccak256(Hex.fromString(`did:example:${account.address}`));
      const second = await order({ account, didHash });
      const call = [account.address, didHash, ZERO, second.args[3]] as const;
      expect(await world.registry2.refused(registrar, 'registerFor', ...call)).toEqual([
        'ControllerTaken',
        Address.checksum(account.address),
      ]);
    });
  });
});

test('an account of kind 2 is spoken for by a key that it added, and no more by one that it removed (R5)', async () => {
  for (const world of worlds.values()) {
    const [added, account] = [createPasskey(), await accountOf(world.rpc, world.factory2, 2)];
    await account.create();
    const own = async (name: 'addKey' | 'removeKey', ...args: readonly unknown[]) => {
      const data = AbiFunction.encodeData(AbiFunction.fromAbi(account2Abi, name), args as never);
      await sendAs(world.rpc, ENTRY_POINTS['0.7'], account.address, data);
    };
    await own('addKey', ...keyOf(added), ZERO);
    await own('removeKey', 0, ...keyOf(account.passkey));
    const didHash = pkhHash(account.address);
    const honest = { account, registry: world.registry2.address, didHash, expiresAt: await timeNow(world.rpc) };
    const call = [account.address, didHash, ZERO] as const;
    expect(await world.registry2.refused(registrar, 'registerFor', ...call, consentFor(honest))).toEqual([
      'NotKeyOf',
      Address.checksum(account.address),
    ]);
    const consent = consentFor({ ...honest, passkey: added });
    expect(await world.registry2.act(registrar, 'registerFor', ...call, consent)).toHaveLength(2);
  }
});

describe('a contract that is no account', () => {
  test('is spoken for by nobody unless it answers as one', async () => {
    const world = worlds.get('with the P-256 precompile') as World;
    const passkey = createPasskey();
    const base = await accountOf(world.rpc, world.factory1, 1, passkey);
    const [x, y] = keyOf(passkey);
    const silent = await world.deploy('DevUSDC');
    const holder = await world.deploy('KeyHolder', x, y);
    for (const [address, isSpokenFor] of [
      [silent, false],
      [holder, true],
    ] as const) {
      const account = { ...base, address };
      const didHash = pkhHash(address);
      const honest = { account, registry: world.registry2.address, didHash, expiresAt: await timeNow(world.rpc) };
      const args = [address, didHash, ZERO, consentFor(honest)] as const;
      if (isSpokenFor) await world.registry2.act(registrar, 'registerFor', ...args);
      else expect(await world.registry2.refused(registrar, 'registerFor', ...args)).toEqual(['NotKeyOf', address]);
    }
  });
});
