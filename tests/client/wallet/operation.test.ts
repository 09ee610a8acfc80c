import { describe, expect, test } from 'bun:test';
import { AbiFunction, Hex } from 'ox';
import * as UserOperation from 'ox/erc4337/UserOperation';
import { formatUserOperation, getUserOperationHash, toPackedUserOperation } from 'viem/account-abstraction';
import { nonceOf } from '../../../client/payment-nonce.ts';
import { loadEnclave } from '../../../client/wallet/enclave.ts';
import {
  batchOf,
  callDataOf,
  type Draft,
  draftOperation,
  factoryDataOf,
  feeOf,
  type Operation,
  paymasterAndDataOf,
  signatureHead,
  withGas,
} from '../../../client/wallet/operation.ts';
import { accountAbi, accountFactoryAbi } from '../../../contracts/abi.ts';
import { createPasskey } from '../../../scripts/dev-stack/passkey.ts';
import { encodeAssertion } from '../../../scripts/dev-stack/user-operation.ts';

const TO = '0x00000000000000000000000000000000000a11ce';
const USDC = '0x036cbd53842c5426634e7929541ec2318f3dcf7e';
const EXECUTE = AbiFunction.fromAbi(accountAbi, 'execute');
const enclave = await loadEnclave(await Bun.file(new URL('../../../assets/enclave.wasm', import.meta.url)).bytes());

const DRAFT: Draft = {
  sender: '0x00000000000000000000000000000000000000aa',
  nonce: await nonceOf('a payment'),
  callData: callDataOf({ to: TO, amount: 5n, token: 'native' }),
  kind: 1,
  p256: true,
  creation: undefined,
  maxFeePerGas: '0x64',
  maxPriorityFeePerGas: '0x1',
};
const draft = draftOperation(DRAFT);

describe('the call that moves the money, as ox encodes it', () => {
  test('ether', () => {
    expect(callDataOf({ to: TO, amount: 5n, token: 'native' })).toBe(AbiFunction.encodeData(EXECUTE, [TO, 5n, '0x']));
  });

  test('a token', () => {
    const transfer = AbiFunction.from('function transfer(address to, uint256 amount)');
    const inner = AbiFunction.encodeData(transfer, [TO, 2n ** 256n - 1n]);
    expect(callDataOf({ to: TO, amount: 2n ** 256n - 1n, token: USDC })).toBe(
      AbiFunction.encodeData(EXECUTE, [USDC, 0n, inner]),
    );
  });

  test('the creation of an account', () => {
    const { x, y } = createPasskey().key;
    const [hexX, hexY] = [Hex.fromBytes(x), Hex.fromBytes(y)];
    const create = AbiFunction.fromAbi(accountFactoryAbi, 'createAccount');
    expect(factoryDataOf(hexX, hexY)).toBe(AbiFunction.encodeData(create, [BigInt(hexX), BigInt(hexY), 0n]));
  });
});

test('several calls at once, as ox encodes them', () => {
  const calls = [
    { target: TO, value: 5n, data: '0x' },
    { target: USDC, value: 0n, data: `0x${'ab'.repeat(33)}` },
    { target: TO, value: 2n ** 256n - 1n, data: `0x${'cd'.repeat(32)}` },
  ] as const;
  const batch = AbiFunction.fromAbi(accountAbi, 'executeBatch');
  for (const some of [[], calls.slice(0, 1), calls]) expect(batchOf(some)).toBe(AbiFunction.encodeData(batch, [some]));
});

describe('what a sponsor and a bundler say', () => {
  const paymaster = {
    paymaster: '0x00000000000000000000000000000000000000bb',
    paymasterData: '0x1234',
    paymasterVerificationGasLimit: '0x1',
    paymasterPostOpGasLimit: '0x2',
  } as const;

  test('changes gas and paymaster, and nothing that moves money', () => {
    const evil = { callData: '0xdead', sender: TO, nonce: '0x1', signature: '0x', factory: TO, maxFeePerGas: '0xffff' };
    const given = withGas(draft, { ...paymaster, ...evil, preVerificationGas: '0xc350' });
    expect(given).toEqual({ ...draft, ...paymaster, preVerificationGas: '0xc350' });
  });

  test('a limit that is higher than the least is taken, a lower one is not', () => {
    const given = withGas(draft, { callGasLimit: '0x1', verificationGasLimit: '0xf4240' });
    expect([given.callGasLimit, given.verificationGasLimit]).toEqual([draft.callGasLimit, '0xf4240']);
  });

  test('the gas limits of no paymaster are left out', () => {
    expect(withGas(draft, { paymasterVerificationGasLimit: '0x0', paymasterPostOpGasLimit: '0x0' })).toEqual(draft);
  });

  test('refuses a value that is not hex', () => {
    expect(() => withGas(draft, { callGasLimit: 'lots' })).toThrow('callGasLimit is not hex');
  });

  test('the account pays all gas at the highest fee, or nothing', () => {
    expect(feeOf(withGas(draft, { preVerificationGas: '0xc350' }))).toBe((150_000n + 300_000n + 50_000n) * 100n);
    expect(feeOf(withGas(draft, paymaster))).toBe(0n);
  });
});

describe('what is signed', () => {
  const operations: readonly [string, Operation][] = [
    ['a plain one', draft],
    ['one that creates the account', { ...draft, factory: TO, factoryData: '0x12345678' }],
    [
      'a sponsored one',
      withGas(draft, { paymaster: USDC, paymasterData: '0x99', paymasterVerificationGasLimit: '0x5' }),
    ],
  ];
  test.each([
    ['0.7', '0x0000000071727De22E5E9d8BAf0edAc6f37da032'],
    ['0.8', '0x4337084D9E255Ff0702461CF8895CE9E3b5Ff108'],
    ['0.9', '0x433709009B8330FDa32311DF1C2AFA402eD8D009'],
  ] as const)('is the hash of EntryPoint %s, as ox computes it', (entryPointVersion, entryPointAddress) => {
    for (const [, operation] of operations) {
      const complete = { paymasterPostOpGasLimit: '0x0', ...operation } as never;
      const options = { chainId: 84532, entryPointAddress, entryPointVersion };
      const expected = UserOperation.hash(UserOperation.fromRpc(complete) as never, options as never);
      expect(Hex.fromBytes(enclave.userOpHash(operation, entryPointAddress, 84532))).toBe(expected);
    }
  });

  test('a paymaster of EntryPoint 0.9 that signs by itself is packed as viem packs it, its signature not hashed', () => {
    const [entryPoint, chainId] = ['0x433709009B8330FDa32311DF1C2AFA402eD8D009', 84532] as const;
    const paymaster = { paymaster: USDC, paymasterData: '0x99', paymasterVerificationGasLimit: '0x5' };
    const sponsored = withGas(draft, { ...paymaster, paymasterSignature: `0x${'ab'.repeat(65)}` });
    const theirs = formatUserOperation(sponsored as never);
    expect(Hex.fromBytes(paymasterAndDataOf(sponsored))).toBe(toPackedUserOperation(theirs).paymasterAndData);
    const options = {
      chainId,
      entryPointAddress: entryPoint,
      entryPointVersion: '0.9',
      userOperation: theirs,
    } as const;
    const expected = getUserOperationHash(options as never);
    expect(Hex.fromBytes(enclave.userOpHash(sponsored, entryPoint, chainId))).toBe(expected);
    const other = withGas(draft, { ...paymaster, paymasterSignature: '0xcd' });
    expect(Hex.fromBytes(enclave.userOpHash(other, entryPoint, chainId))).toBe(expected);
  });

  test('nothing is hashed for an EntryPoint that is not known', () => {
    for (const entryPoint of ['0x5FF137D4b0FDCD49DcA30c7CF57E578a026d2789', TO] as const) {
      expect(() => enclave.userOpHash(draft, entryPoint, 84532)).toThrow('no known EntryPoint');
    }
  });

  test('an assertion is packed as the world packs it', () => {
    const assertion = createPasskey().assert(new Uint8Array(32).fill(7));
    const bytes = (text: string) => new Uint8Array(Buffer.from(text, 'base64url'));
    const packed = enclave.packAssertion({
      authenticatorData: bytes(assertion.authenticatorData),
      clientDataJSON: bytes(assertion.clientDataJSON),
      signature: bytes(assertion.signature),
    });
    expect(packed).toBe(encodeAssertion(assertion));
    // The one in form, of whose gas an estimate is made, is not shorter.
    expect(draft.signature.length).toBeGreaterThanOrEqual(packed.length);
    expect(draftOperation({ ...DRAFT, kind: 2 }).signature.length).toBe(draft.signature.length + 14);
  });

  test('of an account of kind 2 it stands behind index and end', () => {
    expect(signatureHead(31, 1_800_000_000)).toBe('0x1f00006b49d200');
  });

  test('without a precompile for P-256 the verification gets the gas of Solidity', () => {
    const { verificationGasLimit } = draftOperation({ ...DRAFT, p256: false });
    expect(BigInt(verificationGasLimit) - BigInt(draft.verificationGasLimit)).toBe(250_000n);
  });
});
