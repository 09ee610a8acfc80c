import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { type Abi, AbiEvent, AbiFunction, Address, Hex } from 'ox';
import * as UserOperation from 'ox/erc4337/UserOperation';
import { account2Abi, accountFactory2Abi, didRegistry2Abi } from '../../contracts/abi.ts';
import { type Chain, startChain } from '../../scripts/dev-stack/chain.ts';
import { deployEntryPoints, ENTRY_POINTS } from '../../scripts/dev-stack/entrypoints.ts';
import { createPasskey } from '../../scripts/dev-stack/passkey.ts';
import * as wallet from '../../scripts/dev-stack/user-operation.ts';
import { devAccount, sendTransaction } from '../../scripts/dev-stack/wallet.ts';
import {
  accountOf,
  consentFor,
  deployBoth,
  keyOf,
  NOBODY,
  pkhHash,
  sendAs,
  stranger,
  timeNow,
  ZERO,
} from '../support/registries.ts';

// An account of the first kind moves by one operation that its passkey signs, through the real EntryPoint.

const ETHER = 10n ** 18n;
const registrar = devAccount('registrar');
const HANDLE_OPS = AbiFunction.from([
  'struct PackedUserOperation { address sender; uint256 nonce; bytes initCode; bytes callData; bytes32 accountGasLimits; uint256 preVerificationGas; bytes32 gasFees; bytes paymasterAndData; bytes signature; }',
  'function handleOps(PackedUserOperation[] ops, address beneficiary)',
]);
const REVERTED = AbiEvent.from(
  'event UserOperationRevertReason(bytes32 indexed userOpHash, address indexed sender, uint256 nonce, bytes revertReason)',
);

let chain: Chain;
let world: Awaited<ReturnType<typeof deployBoth>>;
beforeAll(async () => {
  chain = await startChain();
  await deployEntryPoints(chain.rpc, ['0.7']);
  world = await deployBoth(chain.rpc);
});
afterAll(() => chain.stop());

/** An old account with ether and its did:pkh, and the second account of the same passkey. */
async function openOld() {
  const { rpc } = chain;
  const passkey = createPasskey();
  const contracts = { accountFactory: world.factory1, entryPoint: ENTRY_POINTS['0.7'] };
  const old = await wallet.openAccount(rpc, contracts, passkey);
  await rpc('anvil_setBalance', [old.address, Hex.fromNumber(2n * ETHER)]);
  const account = await accountOf(rpc, world.factory1, 1, passkey);
  const did = pkhHash(old.address);
  const order = { account, registry: world.registry2.address, didHash: did, expiresAt: await timeNow(rpc) };
  await world.registry2.act(registrar, 'registerFor', old.address, did, ZERO, consentFor(order));
  return { old, did, next: await accountOf(rpc, world.factory2, 2, passkey) };
}

/** Handles an operation of the account; the reason with which its calls reverted, or its logs. */
async function handle(account: wallet.SmartAccount, calls: readonly wallet.AccountCall[]) {
  const draft = await wallet.prepareOperation(chain.rpc, account, calls);
  const limits = { callGasLimit: 800_000n, verificationGasLimit: 1_000_000n, preVerificationGas: 60_000n };
  const signed = await wallet.signOperation(chain.rpc, account, { ...draft, ...limits });
  const data = AbiFunction.encodeData(HANDLE_OPS, [[UserOperation.toPacked(signed)], registrar.address]);
  const { logs } = await sendTransaction(chain.rpc, devAccount('bob').privateKey, { to: account.entryPoint, data });
  const failed = logs.find(({ topics }) => topics[0] === AbiEvent.getSelector(REVERTED));
  if (failed) return { reason: AbiEvent.decode(REVERTED, failed as never).revertReason.slice(0, 10), names: [] };
  const own = logs.filter(({ address }) => address === world.registry2.address.toLowerCase());
  const names = own.map(({ topics }) => AbiEvent.fromAbi(didRegistry2Abi as Abi.Abi, topics[0] as Hex.Hex).name);
  return { reason: null, names };
}

function moveOf(did: Hex.Hex, { factory, initCode }: { factory: Address.Address; initCode: Hex.Hex }, salt = 0n) {
  return { target: world.registry2.address, data: world.registry2.encode('moveDid', did, salt, factory, initCode) };
}

function ownCall(name: 'addKey' | 'removeKey', ...args: readonly unknown[]): Hex.Hex {
  return AbiFunction.encodeData(AbiFunction.fromAbi(account2Abi, name), args as never);
}

function createOf(of: Awaited<ReturnType<typeof accountOf>>): wallet.AccountCall {
  const create = AbiFunction.fromAbi(accountFactory2Abi, 'createAccount');
  return { target: of.factory, data: AbiFunction.encodeData(create, [...keyOf(of.passkey), 0n]) };
}

test('an old account moves DID and funds and creates the second account, by one operation', async () => {
  const { old, did, next } = await openOld();
  const funds = { target: next.address, value: ETHER };
  expect(await handle(old, [createOf(next), moveOf(did, next), funds])).toEqual({ reason: null, names: ['DIDMoved'] });
  expect(await world.registry2.read('resolve', did)).toContain(Address.checksum(next.address));
  expect(await world.registry2.read('controllerToDid', next.address)).toBe(did);
  expect(await world.registry2.read('controllerToDid', old.address)).toBe(ZERO);
  expect(await world.registry2.read('isRightful', did)).toBe(true);
  expect(BigInt((await chain.rpc('eth_getBalance', [next.address, 'latest'])) as string)).toBe(ETHER);
  // Rightful for good: not even the address that it names takes it back.
  expect(
    await handle(old, [{ target: world.registry2.address, data: world.registry2.encode('registerSelf', ZERO, '') }]),
  ).toEqual({
    reason: '0xd3d9f7b2',
    names: [],
  });
});

test('also where a stranger has created the second account first (R12)', async () => {
  const { old, did, next } = await openOld();
  await next.create();
  expect(await handle(old, [createOf(next), moveOf(did, next)])).toEqual({ reason: null, names: ['DIDMoved'] });
  expect(await world.registry2.read('controllerToDid', next.address)).toBe(did);
});

test('before the second account exists, too', async () => {
  const { old, did, next } = await openOld();
  expect(await handle(old, [moveOf(did, next)])).toEqual({ reason: null, names: ['DIDMoved'] });
  expect(await chain.rpc('eth_getCode', [next.address, 'latest'])).toBe('0x');
  await next.create();
  expect(await world.registry2.read('controllerToDid', next.address)).toBe(did);
});

describe('a move is refused', () => {
  const NOT_LEGACY = '0x81f7d3d7';
  const NOT_KEY_OF = '0xf29da020';
  const CONTROLLER_TAKEN = '0x4ee465fa';

  test('to the account of another key: nobody’s place is filled by a stranger (R10)', async () => {
    const { old, did } = await openOld();
    const victim = await accountOf(chain.rpc, world.factory2, 2);
    expect(await handle(old, [moveOf(did, victim)])).toEqual({ reason: NOT_LEGACY, names: [] });
    const swapped = Hex.concat(
      Hex.slice(victim.initCode, 0, -96),
      ...[...keyOf(old.passkey), 0n].map((one) => Hex.fromNumber(one, { size: 32 })),
    );
    const moved = await handle(old, [moveOf(did, { factory: victim.factory, initCode: swapped })]);
    expect(moved.names).toEqual(['DIDMoved']);
    expect(await world.registry2.read('controllerToDid', victim.address)).toBe(ZERO);
  });

  test('with the salt of another account', async () => {
    const { old, did, next } = await openOld();
    expect(await handle(old, [moveOf(did, next, 1n)])).toEqual({ reason: NOT_LEGACY, names: [] });
  });

  test('to an account that has removed the key', async () => {
    const { old, did, next } = await openOld();
    await next.create();
    const added = createPasskey();
    await sendAs(chain.rpc, ENTRY_POINTS['0.7'], next.address, ownCall('addKey', ...keyOf(added), ZERO));
    await sendAs(chain.rpc, ENTRY_POINTS['0.7'], next.address, ownCall('removeKey', 0, ...keyOf(next.passkey)));
    expect(await handle(old, [moveOf(did, next)])).toEqual({ reason: NOT_KEY_OF, names: [] });
  });

  test('to an account whose place is not free', async () => {
    const { old, did, next } = await openOld();
    const order = {
      account: next,
      registry: world.registry2.address,
      didHash: pkhHash(next.address),
      expiresAt: await timeNow(chain.rpc),
    };
    await world.registry2.act(registrar, 'registerFor', next.address, order.didHash, ZERO, consentFor(order));
    expect(await handle(old, [moveOf(did, next)])).toEqual({ reason: CONTROLLER_TAKEN, names: [] });
  });

  test('of a DID that the account does not control, and where no first factory is known', async () => {
    const [{ old, next, did }, alice] = [await openOld(), await stranger(chain.rpc)];
    await world.registry2.act(alice, 'registerSelf', ZERO, '');
    expect((await handle(old, [moveOf(pkhHash(alice.address), next)])).reason).toBe('0xe6936786');
    const without = await world.deploy('DIDRegistry2', alice.address, alice.address, NOBODY, NOBODY, 0);
    const own = { target: without, data: world.registry2.encode('registerSelf', ZERO, '') };
    const move = { ...moveOf(did, next), target: without };
    expect((await handle(old, [own, move])).reason).toBe(NOT_LEGACY);
  });
});
