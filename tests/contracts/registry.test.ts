import { afterAll, describe, expect, test } from 'bun:test';
import { type Abi, AbiConstructor, AbiError, AbiEvent, AbiFunction, type Address, type Hex, P256, Secp256k1 } from 'ox';
import { didRegistryAbi } from '../../contracts/abi.ts';
import { compileContracts } from '../../scripts/contracts.ts';
import { startChain } from '../../scripts/dev-stack/chain.ts';
import { create2 } from '../../scripts/dev-stack/create2.ts';
import { deployContracts } from '../../scripts/dev-stack/deploy.ts';
import { addressOf, devAccount, sendTransaction } from '../../scripts/dev-stack/wallet.ts';
import { settled } from '../support/settled.ts';

type Account = ReturnType<typeof devAccount>;

const ZERO = `0x${'0'.repeat(64)}` as const;
const NOBODY = `0x${'0'.repeat(40)}` as const;
const CID = 'bafybeigdyrzt5sfp7udm7hu76uh7y26nf3efuylqabf3oclgtqy55fbzdi';
const registryAbi: Abi.Abi = didRegistryAbi;
const { rpc, stop } = await startChain();
const { didRegistry } = await deployContracts(rpc, { registry: 1 });
const owner = devAccount('owner');
const registrar = devAccount('registrar');
let hashes = 0;

afterAll(stop);

/** A hash nobody used before. */
function fresh(): Hex.Hex {
  return `0x${(++hashes).toString(16).padStart(64, '0')}`;
}

/** Somebody with money and no history. */
async function stranger(): Promise<Account> {
  const privateKey = Secp256k1.randomPrivateKey();
  const address = addressOf(privateKey);
  await rpc('anvil_setBalance', [address, '0xde0b6b3a7640000']);
  return { privateKey, address };
}

function encode(name: string, args: readonly unknown[], abi = registryAbi): Hex.Hex {
  return AbiFunction.encodeData(AbiFunction.fromAbi(abi, name), args as never);
}

async function read(name: string, ...args: readonly unknown[]): Promise<unknown> {
  const data = await rpc('eth_call', [{ to: didRegistry, data: encode(name, args) }, 'latest']);
  return AbiFunction.decodeResult(AbiFunction.fromAbi(registryAbi, name), data as Hex.Hex);
}

/** The registry's events of one transaction, each as its name and arguments. */
async function act(from: Account, name: string, ...args: readonly unknown[]): Promise<unknown[]> {
  const { logs } = await sendTransaction(rpc, from.privateKey, { to: didRegistry, data: encode(name, args) });
  return logs.map((log) => {
    const event = AbiEvent.fromAbi(registryAbi, log.topics[0] as Hex.Hex) as AbiEvent.AbiEvent;
    return [event.name, AbiEvent.decode(event, log as never) as unknown];
  });
}

/** The custom error a transaction is refused with, as its name and arguments. */
async function refused(from: Account, name: string, ...args: readonly unknown[]): Promise<unknown[]> {
  const error: unknown = await act(from, name, ...args).catch(({ cause }) => cause);
  const { data } = error as { data: Hex.Hex };
  const item = AbiError.fromAbi(registryAbi, data) as AbiError.AbiError;
  const values = item.inputs.length ? [AbiError.decode(item, data, { as: 'Array' } as never) as unknown] : [];
  return [item.name, ...values.flat()];
}

async function timeNow(): Promise<bigint> {
  const { timestamp } = (await rpc('eth_getBlockByNumber', ['latest', false])) as { timestamp: string };
  return BigInt(timestamp);
}

test('a second deployment finds the contracts there', async () => {
  expect(await deployContracts(rpc, { registry: 1 })).toMatchObject({ didRegistry });
  expect(await read('owner')).toBe(owner.address);
  expect(await read('isRegistrar', registrar.address)).toBe(true);
});

describe('register', () => {
  test('makes the caller the controller and can be read by DID, alias and controller', async () => {
    const [alice, did, alias] = [await stranger(), fresh(), fresh()];
    expect(await act(alice, 'register', did, alias, CID)).toEqual([
      ['DIDRegistered', { didHash: did, controller: alice.address, metadataCid: CID }],
      ['AliasRegistered', { aliasHash: alias, didHash: did }],
    ]);
    const time = await timeNow();
    expect(await read('resolve', did)).toEqual([alice.address, time, time, CID, true]);
    expect(await read('resolveAlias', alias)).toEqual([alice.address, time, time, CID, true]);
    expect(await read('aliases', alias)).toBe(did);
    expect(await read('controllerToDid', alice.address)).toBe(did);
  });

  test('with a zero alias hash registers no alias', async () => {
    const [alice, bob] = [await stranger(), await stranger()];
    for (const one of [alice, bob]) expect(await act(one, 'register', fresh(), ZERO, '')).toHaveLength(1);
    expect(await read('aliases', ZERO)).toBe(ZERO);
    expect(await read('resolveAlias', ZERO)).toEqual([NOBODY, 0n, 0n, '', false]);
  });

  test('refuses a taken DID, also from its own controller and after its deactivation', async () => {
    const [alice, did] = [await stranger(), fresh()];
    await act(alice, 'register', did, ZERO, CID);
    expect(await refused(await stranger(), 'register', did, ZERO, CID)).toEqual(['DidTaken', did]);
    expect(await refused(alice, 'register', did, ZERO, CID)).toEqual(['DidTaken', did]);
    await act(alice, 'deactivate', did);
    expect(await refused(alice, 'register', did, ZERO, CID)).toEqual(['DidTaken', did]);
  });

  test('refuses a taken alias, also after its DID was deactivated, and then leaves the DID free', async () => {
    const [alice, bob, did, alias] = [await stranger(), await stranger(), fresh(), fresh()];
    await act(alice, 'register', did, alias, CID);
    const other = fresh();
    expect(await refused(bob, 'register', other, alias, CID)).toEqual(['AliasTaken', alias]);
    await act(alice, 'deactivate', did);
    expect(await refused(bob, 'register', other, alias, CID)).toEqual(['AliasTaken', alias]);
    expect(await read('resolve', other)).toEqual([NOBODY, 0n, 0n, '', false]);
    expect(await act(bob, 'register', other, fresh(), CID)).toHaveLength(2);
  });

  test('gives a controller one active DID at a time', async () => {
    const [alice, first, second] = [await stranger(), fresh(), fresh()];
    await act(alice, 'register', first, ZERO, CID);
    expect(await refused(alice, 'register', second, ZERO, CID)).toEqual(['ControllerTaken', alice.address]);
    await act(alice, 'deactivate', first);
    expect(await read('controllerToDid', alice.address)).toBe(first);
    await act(alice, 'register', second, ZERO, CID);
    expect(await read('controllerToDid', alice.address)).toBe(second);
  });

  test('refuses the zero DID hash and metadata of more than 256 bytes', async () => {
    const alice = await stranger();
    expect(await refused(alice, 'register', ZERO, ZERO, CID)).toEqual(['InvalidDid']);
    expect(await refused(alice, 'register', fresh(), ZERO, 'c'.repeat(257))).toEqual(['MetadataCidTooLong', 257n]);
    expect(await act(alice, 'register', fresh(), ZERO, 'c'.repeat(256))).toHaveLength(1);
  });
});

describe('registerFor', () => {
  test('registers for a controller that never signed, which alone can change it', async () => {
    const [alice, did, alias] = [await stranger(), fresh(), fresh()];
    expect(await act(registrar, 'registerFor', alice.address, did, alias, CID)).toEqual([
      ['DIDRegistered', { didHash: did, controller: alice.address, metadataCid: CID }],
      ['AliasRegistered', { aliasHash: alias, didHash: did }],
    ]);
    expect(await refused(registrar, 'update', did, 'other')).toEqual(['NotController', did, registrar.address]);
    expect(await act(alice, 'update', did, 'other')).toHaveLength(1);
  });

  test('is for registrars only, the owner is none', async () => {
    const [alice, did] = [await stranger(), fresh()];
    for (const caller of [alice, owner]) {
      expect(await refused(caller, 'registerFor', alice.address, did, ZERO, CID)).toEqual([
        'NotRegistrar',
        caller.address,
      ]);
    }
  });

  test('keeps the rules of register', async () => {
    const [alice, did, alias] = [await stranger(), fresh(), fresh()];
    const registerFor = (...args: unknown[]) => refused(registrar, 'registerFor', ...args);
    expect(await registerFor(NOBODY, did, ZERO, CID)).toEqual(['InvalidController']);
    expect(await registerFor(alice.address, ZERO, ZERO, CID)).toEqual(['InvalidDid']);
    expect(await registerFor(alice.address, did, ZERO, 'c'.repeat(257))).toEqual(['MetadataCidTooLong', 257n]);
    await act(registrar, 'registerFor', alice.address, did, alias, CID);
    expect(await registerFor(alice.address, fresh(), ZERO, CID)).toEqual(['ControllerTaken', alice.address]);
    const bob = await stranger();
    expect(await registerFor(bob.address, did, ZERO, CID)).toEqual(['DidTaken', did]);
    expect(await registerFor(bob.address, fresh(), alias, CID)).toEqual(['AliasTaken', alias]);
  });
});

describe('update', () => {
  test('replaces the metadata and its time, and nothing else', async () => {
    const [alice, did, alias] = [await stranger(), fresh(), fresh()];
    await act(alice, 'register', did, alias, CID);
    const created = await timeNow();
    await rpc('evm_increaseTime', [60]);
    expect(await act(alice, 'update', did, 'other')).toEqual([['DIDUpdated', { didHash: did, metadataCid: 'other' }]]);
    expect(await read('resolve', did)).toEqual([alice.address, created, await timeNow(), 'other', true]);
    expect(await timeNow()).toBeGreaterThan(created);
  });

  test('is refused to others, for unknown and for deactivated DIDs, and with too long metadata', async () => {
    const [alice, bob, did] = [await stranger(), await stranger(), fresh()];
    expect(await refused(alice, 'update', did, CID)).toEqual(['NotController', did, alice.address]);
    await act(alice, 'register', did, ZERO, CID);
    expect(await refused(bob, 'update', did, CID)).toEqual(['NotController', did, bob.address]);
    expect(await refused(alice, 'update', did, 'c'.repeat(257))).toEqual(['MetadataCidTooLong', 257n]);
    await act(alice, 'deactivate', did);
    expect(await refused(alice, 'update', did, CID)).toEqual(['NotActive', did]);
  });
});

describe('deactivate', () => {
  test('ends a DID for good and leaves it readable', async () => {
    const [alice, did, alias] = [await stranger(), fresh(), fresh()];
    await act(alice, 'register', did, alias, CID);
    expect(await act(alice, 'deactivate', did)).toEqual([['DIDDeactivated', { didHash: did }]]);
    const ended = [alice.address, expect.any(BigInt), await timeNow(), CID, false];
    expect(await read('resolve', did)).toEqual(ended);
    expect(await read('resolveAlias', alias)).toEqual(ended);
    expect(await refused(alice, 'deactivate', did)).toEqual(['NotActive', did]);
  });

  test('is refused to others and for unknown DIDs', async () => {
    const [alice, bob, did] = [await stranger(), await stranger(), fresh()];
    await act(alice, 'register', did, ZERO, CID);
    expect(await refused(bob, 'deactivate', did)).toEqual(['NotController', did, bob.address]);
    expect(await refused(bob, 'deactivate', ZERO)).toEqual(['NotController', ZERO, bob.address]);
  });
});

describe('roles', () => {
  test('the owner names registrars and withdraws the role', async () => {
    const [helper, alice] = [await stranger(), await stranger()];
    expect(await act(owner, 'setRegistrar', helper.address, true)).toEqual([
      ['RegistrarSet', { registrar: helper.address, allowed: true }],
    ]);
    await act(helper, 'registerFor', alice.address, fresh(), ZERO, CID);
    await act(owner, 'setRegistrar', helper.address, false);
    const late = await refused(helper, 'registerFor', helper.address, fresh(), ZERO, CID);
    expect(late).toEqual(['NotRegistrar', helper.address]);
  });

  test('nobody else names registrars, registrars included', async () => {
    for (const caller of [registrar, await stranger()]) {
      const answer = await refused(caller, 'setRegistrar', caller.address, true);
      expect(answer).toEqual(['OwnableUnauthorizedAccount', caller.address]);
    }
  });

  test('ownership passes in two steps, and only once the new owner accepts', async () => {
    const [heir, thief] = [await stranger(), await stranger()];
    expect(await refused(thief, 'transferOwnership', thief.address)).toEqual([
      'OwnableUnauthorizedAccount',
      thief.address,
    ]);
    await act(owner, 'transferOwnership', heir.address);
    expect(await read('owner')).toBe(owner.address);
    expect(await refused(thief, 'acceptOwnership')).toEqual(['OwnableUnauthorizedAccount', thief.address]);
    await act(heir, 'acceptOwnership');
    expect(await read('owner')).toBe(heir.address);
    expect(await refused(owner, 'setRegistrar', thief.address, true)).toEqual([
      'OwnableUnauthorizedAccount',
      owner.address,
    ]);
    await act(heir, 'transferOwnership', owner.address);
    await act(owner, 'acceptOwnership');
  });
});

test('a contract can control a DID, and shows its key', async () => {
  const { KeyHolder: artifact } = await compileContracts();
  if (!artifact) throw new Error('KeyHolder is missing');
  const { x, y } = P256.getPublicKey({ privateKey: P256.randomPrivateKey() }) as { x: Hex.Hex; y: Hex.Hex };
  const args = [BigInt(x), BigInt(y)];
  const holder = await create2(
    rpc,
    AbiConstructor.encode(artifact.abi as never, { bytecode: artifact.bytecode, args } as never),
  );
  const [anyone, did] = [await stranger(), fresh()];
  const forward = (data: Hex.Hex) =>
    sendTransaction(rpc, anyone.privateKey, {
      to: holder as Address.Address,
      data: encode('forward', [didRegistry, data], artifact.abi),
    });
  await forward(encode('register', [did, ZERO, CID]));
  expect(await read('controllerToDid', holder)).toBe(did);
  const key = await rpc('eth_call', [{ to: holder, data: encode('getOwner', [], artifact.abi) }, 'latest']);
  expect(key).toBe(`0x${args.map((half) => half.toString(16).padStart(64, '0')).join('')}`);
  expect(await settled(forward(encode('register', [fresh(), ZERO, CID])))).toThrow();
});
