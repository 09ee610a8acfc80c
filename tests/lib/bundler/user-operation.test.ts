import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { VaultError } from '../../../lib/base/error.ts';
import { readUserOperation, type UserOperationStage } from '../../../lib/bundler/user-operation.ts';
import { always } from '../../support/property.ts';

const ADDRESS = `0x${'aB'.repeat(20)}`;
const SIGNED = {
  sender: ADDRESS,
  nonce: '0x0',
  callData: '0x',
  callGasLimit: '0x1',
  verificationGasLimit: '0x1',
  preVerificationGas: '0x1',
  maxFeePerGas: '0x1',
  maxPriorityFeePerGas: '0x1',
  signature: '0x00',
};
const DRAFT = { sender: ADDRESS, nonce: '0x0', callData: '0x' };
const FACTORY = { factory: ADDRESS, factoryData: '0x01' };
const PAYMASTER = { paymaster: ADDRESS, paymasterData: '0x' };
const AUTHORIZATION = {
  chainId: '0x14a34',
  address: ADDRESS,
  nonce: '0x0',
  yParity: '0x1',
  r: `0x${'01'.repeat(32)}`,
  s: `0x${'02'.repeat(32)}`,
};
const PAYMASTER_GAS = { paymasterVerificationGasLimit: '0x1', paymasterPostOpGasLimit: '0x1' };

/** What a refused operation is said to be; undefined when it is read. */
function fault(value: unknown, stage: UserOperationStage): string | undefined {
  try {
    readUserOperation(value, stage);
    return undefined;
  } catch (error) {
    if (!(error instanceof VaultError)) throw error;
    expect([error.code, error.details.extra]).toEqual(['invalid_params', { kind: 'invalid_params' }]);
    expect(error.message.length).toBeLessThan(200);
    return error.message.replace('Invalid params: ', '');
  }
}

describe('is read', () => {
  test.each<[string, object, UserOperationStage]>([
    ['signed, alone', SIGNED, 'signed'],
    ['signed, with factory and paymaster', { ...SIGNED, ...FACTORY, ...PAYMASTER, ...PAYMASTER_GAS }, 'signed'],
    ['a draft of the least there can be', DRAFT, 'draft'],
    ['a draft whose paymaster has no gas limits yet', { ...DRAFT, ...PAYMASTER }, 'draft'],
    ['a draft whose paymaster has', { ...SIGNED, ...FACTORY, ...PAYMASTER, ...PAYMASTER_GAS }, 'draft'],
    ['of EIP-7702, as ERC-7769 has it', { ...SIGNED, factory: '0x7702', eip7702Auth: AUTHORIZATION }, 'signed'],
    ['with data for the delegate', { ...SIGNED, factory: '0x7702', factoryData: '0x01' }, 'signed'],
    ['with the factory as the EntryPoint has it', { ...SIGNED, factory: `0x7702${'0'.repeat(36)}` }, 'signed'],
    ['of EIP-7702, of an address that is delegated already', { ...SIGNED, factory: '0x7702' }, 'signed'],
    [
      'a draft whose authorization is not signed',
      { ...DRAFT, eip7702Auth: { chainId: '0x0', address: ADDRESS, nonce: '0x1' } },
      'draft',
    ],
    [
      'with a signature of the paymaster of its own (EntryPoint 0.9)',
      { ...SIGNED, ...PAYMASTER, ...PAYMASTER_GAS, paymasterSignature: '0x01' },
      'signed',
    ],
  ])('%s', (_, operation, stage) => {
    expect<object>(readUserOperation(operation, stage)).toEqual(operation);
  });

  test('without its null members, which are as good as absent', () => {
    expect<object>(readUserOperation({ ...DRAFT, factory: null, factoryData: null, paymaster: null }, 'draft')).toEqual(
      DRAFT,
    );
  });
});

test('is read without the zero gas limits of a paymaster that is not there, as viem sends them', () => {
  const zero = { paymasterVerificationGasLimit: '0x0', paymasterPostOpGasLimit: '0x00' };
  for (const stage of ['draft', 'signed'] as const) {
    expect<object>(readUserOperation({ ...SIGNED, ...zero }, stage)).toEqual(SIGNED);
    expect(fault({ ...SIGNED, ...zero, paymasterPostOpGasLimit: '0x1' }, stage)).toBeDefined();
    expect<object>(readUserOperation({ ...SIGNED, ...PAYMASTER, ...zero }, stage)).toMatchObject(zero);
  }
});

describe('is refused', () => {
  test('what is no object', () => {
    for (const value of [undefined, null, [], [SIGNED], 'x', 7, true]) {
      expect(fault(value, 'draft')).toBe('no user operation');
    }
  });

  test.each(Object.keys(SIGNED))('to be sent without %s', (name) => {
    const { [name as keyof typeof SIGNED]: _, ...rest } = SIGNED;
    expect(fault(rest, 'signed')).toBe(`the user operation lacks ${name}`);
    expect(fault({ ...rest, [name]: null }, 'signed')).toBe(`the user operation lacks ${name}`);
  });

  test('all that is missing is told at once', () => {
    expect(fault({}, 'draft')).toBe('the user operation lacks sender, nonce, callData');
  });

  test.each<[string, unknown]>([
    ['sender', '0x1234'],
    ['sender', ADDRESS.slice(2)],
    ['sender', [ADDRESS]],
    ['sender', { toString: 'x' }],
    ['nonce', 0],
    ['nonce', '0'],
    ['nonce', '0x'],
    ['nonce', `0x1${'0'.repeat(64)}`],
    ['nonce', '-0x1'],
    ['callData', '0x0'],
    ['callData', '0xzz'],
    ['callData', true],
    ['callGasLimit', '1e3'],
    ['signature', '0x00 '],
    ['signature', ''],
  ])('with %s %p', (name, value) => {
    expect(fault({ ...SIGNED, [name]: value }, 'signed')).toStartWith(`${name} must be `);
  });

  test('with a signature of a paymaster that is not there', () => {
    expect(fault({ ...SIGNED, paymasterSignature: '0x01' }, 'signed')).toBe('paymasterSignature without paymaster');
  });

  test.each<[string, unknown, UserOperationStage, string]>([
    ['is a text', '0x', 'signed', 'an object'],
    ['is a list', [AUTHORIZATION], 'signed', 'an object'],
    ['holds an unknown member', { ...AUTHORIZATION, v: '0x1b' }, 'signed', 'an unknown member in the eip7702Auth'],
    ['holds a number', { ...AUTHORIZATION, chainId: 84532 }, 'signed', '0x-hex'],
    ['names no address', { ...AUTHORIZATION, address: '0x7702' }, 'signed', 'address must be a 20-byte address'],
    ['names nobody', { chainId: '0x1', nonce: '0x0' }, 'draft', 'eip7702Auth lacks address'],
    ['is not signed', { chainId: '0x1', address: ADDRESS, nonce: '0x0' }, 'signed', 'yParity, r, s'],
    ['is signed by null', { ...AUTHORIZATION, r: null }, 'signed', 'eip7702Auth lacks r'],
    ['is of a prototype', Object.create(AUTHORIZATION), 'signed', 'chainId, address, nonce'],
  ])('with an eip7702Auth that %s', (_, eip7702Auth, stage, words) => {
    expect(fault({ ...SIGNED, eip7702Auth }, stage)).toContain(words);
  });

  test.each(['initCode', 'paymasterAndData', 'authorization', 'constructor', 'toString', '__proto__', ''])(
    'with the unknown member "%s"',
    (name) => {
      const operation = JSON.parse(`{${JSON.stringify(name)}:"0x",${JSON.stringify(SIGNED).slice(1)}`);
      expect(fault(operation, 'signed')).toBe('an unknown member in the user operation');
    },
  );

  test('members of the prototype are none of its own', () => {
    expect(fault(Object.create(SIGNED), 'signed')).toStartWith('the user operation lacks sender, nonce');
  });

  test('with part of a group (ERC-7769)', () => {
    const groups = { factory: FACTORY, paymaster: { ...PAYMASTER, ...PAYMASTER_GAS } };
    for (const group of Object.values(groups)) {
      const names = Object.keys(group);
      always(fc.subarray(names, { minLength: 1, maxLength: names.length - 1 }), (some) => {
        const part = Object.fromEntries(Object.entries(group).filter(([name]) => some.includes(name)));
        expect(fault({ ...SIGNED, ...part }, 'signed')).toEndWith('stand together or not at all');
      });
    }
    expect(fault({ ...DRAFT, factory: ADDRESS }, 'draft')).toBe('factory, factoryData stand together or not at all');
    expect(fault({ ...DRAFT, paymaster: ADDRESS }, 'draft')).toEndWith('stand together or not at all');
    expect(fault({ ...DRAFT, ...PAYMASTER_GAS }, 'draft')).toEndWith('without paymaster');
  });
});

test('whatever is read holds known members of hex alone', () => {
  const members = fc.dictionary(
    fc.oneof(fc.constantFrom(...Object.keys({ ...SIGNED, ...FACTORY, ...PAYMASTER })), fc.string()),
    fc.oneof(fc.constantFrom('0x', '0x0', '0x00', ADDRESS, null), fc.anything()),
  );
  always(members, (some) => {
    const value: object = { ...DRAFT, ...some };
    if (fault(value, 'draft') !== undefined) return;
    for (const [name, member] of Object.entries(readUserOperation(value, 'draft'))) {
      expect([name, member]).toEqual([
        expect.stringMatching(/^[a-z]+[A-Za-z]*$/),
        expect.stringMatching(/^0x[0-9a-fA-F]*$/),
      ]);
    }
  });
});
