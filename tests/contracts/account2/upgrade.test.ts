import { afterAll, expect, test } from 'bun:test';
import { AbiParameters, type Address, Hex, Secp256k1 } from 'ox';
import { accountFactory2Abi } from '../../../contracts/abi.ts';
import { compileContracts } from '../../../scripts/contracts.ts';
import { addressSigner, passkeySigner, signUntil } from '../../../scripts/dev-stack/account2.ts';
import { startChain } from '../../../scripts/dev-stack/chain.ts';
import { create2 } from '../../../scripts/dev-stack/create2.ts';
import { createPasskey } from '../../../scripts/dev-stack/passkey.ts';
import { placeUsdc, USDC } from '../../../scripts/dev-stack/usdc.ts';
import type { SmartAccount } from '../../../scripts/dev-stack/user-operation.ts';
import { addressOf } from '../../../scripts/dev-stack/wallet.ts';
import {
  createdAccount2,
  errorName,
  eventsOf,
  keysOf,
  own,
  ownData,
  read,
  run,
  runOwn,
} from '../../support/account2.ts';
import { draftOf, readAccount, refusal } from '../../support/operations.ts';

const IMPLEMENTATION_SLOT = '0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc';
const NO_LABEL = Hex.padLeft('0x', 32);

const { rpc, stop } = await startChain();
afterAll(stop);
const { Account3, WrongSlot } = await compileContracts();

test('owners upgrade: keys, address and what is stored stay, and the old implementation is left', async () => {
  const account = await createdAccount2(rpc);
  const phone = passkeySigner(createPasskey(), 1);
  await run(rpc, account, [own(account, 'addKey', phone.x, phone.y, Hex.padRight('0x01', 32))]);
  const keys = await keysOf(rpc, account);
  const { newer, logs } = await upgrade(account);
  expect(eventsOf(logs, account)).toMatchObject([{ name: 'Upgraded', implementation: newer }]);
  expect(await read(rpc, account, 'version')).toBe(3n);
  expect(await keysOf(rpc, account)).toEqual(keys);
  for (const signer of [passkeySigner(account.passkey), phone]) {
    expect((await run(rpc, account, [], { signer })).events).toMatchObject([{ success: true }]);
  }
  const stored = await rpc('eth_getStorageAt', [account.address, IMPLEMENTATION_SLOT, 'latest']);
  expect(Hex.slice(stored as Hex.Hex, 12)).toBe(newer.toLowerCase() as Hex.Hex);
  expect(await runOwn(rpc, account, 'upgradeToAndCall', Hex.random(20), '0x')).toBe('0x');
});

test('an upgrade makes a call of the new implementation with it', async () => {
  const account = await createdAccount2(rpc);
  const { x } = addressSigner(Secp256k1.randomPrivateKey(), 1);
  await upgrade(account, ownData('addKey', x, 0n, NO_LABEL));
  expect(await read(rpc, account, 'isKey', x, 0n)).toBe(true);
});

test('nothing but an implementation of ERC-1822 for this slot is upgraded to', async () => {
  const account = await createdAccount2(rpc);
  const other = await createdAccount2(rpc);
  await placeUsdc(rpc);
  const wrongSlot = await create2(rpc, WrongSlot?.bytecode ?? '0x');
  const refusals: [Address.Address, string][] = [
    [USDC, 'ERC1967InvalidImplementation'],
    [wrongSlot, 'UUPSUnsupportedProxiableUUID'],
    [other.address, 'ERC1967InvalidImplementation'],
    [account.address, 'ERC1967InvalidImplementation'],
  ];
  for (const [to, reason] of refusals)
    expect(errorName(await runOwn(rpc, account, 'upgradeToAndCall', to, '0x'))).toBe(reason);
  // An address without code: the compiler's own check of the call reverts, without a reason.
  expect(await runOwn(rpc, account, 'upgradeToAndCall', Hex.random(20), '0x')).toBe('0x');
  expect(await read(rpc, account, 'version')).toBe(2n);
});

test('the implementation, and an address that delegates to it (EIP-7702), have no key', async () => {
  const account = await createdAccount2(rpc);
  const implementation = (await readAccount(
    rpc,
    accountFactory2Abi,
    account.factory,
    'implementation',
  )) as Address.Address;
  const delegating = addressOf(Secp256k1.randomPrivateKey());
  await rpc('anvil_setCode', [delegating, Hex.concat('0xef0100', implementation)]);
  for (const address of [implementation, delegating]) {
    const taken = { ...account, address };
    await rpc('anvil_setBalance', [address, '0xde0b6b3a7640000']);
    expect(await keysOf(rpc, taken)).toEqual([]);
    expect(await read(rpc, taken, 'isKey', 0n, 0n)).toBe(false);
    const draft = await draftOf(rpc, taken, [{ target: Hex.random(20), value: 1n }]);
    const signers = [passkeySigner(account.passkey), addressSigner(Secp256k1.randomPrivateKey(), 0)];
    for (const signer of signers) {
      const operation = await signUntil(rpc, taken, draft, signer);
      expect(await refusal(rpc, account.entryPoint, operation)).toBe('AA24 signature error');
    }
    const signed = await signUntil(rpc, taken, draft);
    const garbage = Hex.concat(Hex.slice(signed.signature, 0, 7), Hex.padLeft('0x', 64), '0x1b');
    expect(await refusal(rpc, account.entryPoint, { ...signed, signature: garbage })).toBe('AA24 signature error');
    const hash = Hex.random(32);
    expect(await read(rpc, taken, 'isValidSignature', hash, Hex.concat('0x00', Hex.padLeft('0x', 64), '0x1b'))).toBe(
      '0xffffffff',
    );
  }
});

/** Has owners upgrade to the test's third version. */
async function upgrade(account: SmartAccount, data: Hex.Hex = '0x') {
  const args = AbiParameters.encode([{ type: 'address' }], [account.entryPoint]);
  const newer = await create2(rpc, Hex.concat(Account3?.bytecode ?? '0x', args));
  const { logs, reason } = await run(rpc, account, [], { callData: ownData('upgradeToAndCall', newer, data) });
  if (reason) throw new Error(errorName(reason));
  return { newer, logs };
}
