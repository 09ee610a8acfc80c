import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { type Address, Hex } from 'ox';
import { argumentsIn, callDataIn, callsIn } from '../../client/call-data.ts';
import { accountCallData, type Operation } from '../../scripts/dev-stack/user-operation.ts';
import { handleOpsData } from '../support/operations.ts';
import { always } from '../support/property.ts';

const bytes = fc.uint8Array({ maxLength: 70 }).map((some) => Hex.fromBytes(some));
const address = fc.uint8Array({ minLength: 20, maxLength: 20 }).map((some) => Hex.fromBytes(some) as Address.Address);
const uint256 = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n });
const calls = fc.array(fc.record({ target: address, value: uint256, data: bytes }), { maxLength: 5 });
const operation = fc
  .record({ sender: address, nonce: uint256, callData: bytes, signature: bytes })
  .map((fields): Operation => ({ ...GAS, ...fields }));
/** One that stands there twice is not read. */
const nameOf = ({ sender, nonce }: Pick<Operation, 'sender' | 'nonce'>) => `${sender} ${nonce}`;
const GAS = {
  callGasLimit: 1n,
  verificationGasLimit: 2n,
  preVerificationGas: 3n,
  maxFeePerGas: 4n,
  maxPriorityFeePerGas: 5n,
};

describe('the input of handleOps', () => {
  test('shows the call data of each of its operations', () => {
    always(fc.uniqueArray(operation, { minLength: 1, maxLength: 4, selector: nameOf }), (operations) => {
      const input = handleOpsData(...operations);
      for (const { sender, nonce, callData } of operations) expect(callDataIn(input, { sender, nonce })).toBe(callData);
    });
  });

  test('shows nothing of an operation that is not in it', () => {
    always(fc.tuple(operation, operation), ([one, { sender, nonce }]) => {
      for (const other of [
        { sender: one.sender, nonce },
        { sender, nonce: one.nonce },
      ]) {
        if (nameOf(other) !== nameOf(one)) expect(callDataIn(handleOpsData(one), other)).toBeUndefined();
      }
    });
  });

  test('cut short or changed anywhere it is read as nothing or as something, and never fails', () => {
    always(fc.tuple(operation, fc.nat(), fc.nat({ max: 15 })), ([one, at, digit]) => {
      const input = handleOpsData(one);
      const place = 10 + (at % (input.length - 10));
      expect(['string', 'undefined']).toContain(typeof callDataIn(input.slice(0, place), one));
      const changed = `${input.slice(0, place)}${digit.toString(16)}${input.slice(place + 1)}`;
      expect(['string', 'undefined']).toContain(typeof callDataIn(changed, one));
    });
  });

  test('that holds an operation twice is not read', () => {
    const one = { ...GAS, sender: `0x${'11'.repeat(20)}`, nonce: 7n, callData: '0x12', signature: '0x' } as const;
    expect(callDataIn(handleOpsData(one, { ...one, callData: '0x34' }), one)).toBeUndefined();
  });

  test('of another function is not read', () => {
    const one = { ...GAS, sender: `0x${'11'.repeat(20)}`, nonce: 7n, callData: '0x12', signature: '0x' } as const;
    expect(callDataIn(`0x12345678${handleOpsData(one).slice(10)}`, one)).toBeUndefined();
  });
});

describe('what an account is to call', () => {
  test('one call or several, by target and value', () => {
    always(calls, (some) => {
      const expected = some.map(({ target, value, data }) => ({ target: BigInt(target), value, data }));
      expect(callsIn(accountCallData(some))).toEqual(expected);
    });
  });

  test('by another function is unknown', () => {
    expect(callsIn('0x')).toBeUndefined();
    expect(callsIn('0xb61d27f6')).toBeUndefined();
    expect(callsIn(`0x12345678${'0'.repeat(256)}`)).toBeUndefined();
  });

  test('is unknown where one of several calls cannot be read', () => {
    const word = (value: bigint) => Hex.fromNumber(value, { size: 32 }).slice(2);
    // The second of two calls is said to be before the list: Solidity would follow it.
    const backwards = `0x34fcd5be${word(32n)}${word(2n)}${word(64n)}${word(2n ** 256n - 32n)}${word(1n)}${word(2n)}${word(96n)}${word(0n)}`;
    expect(
      argumentsIn(backwards)
        .tuples(0)
        ?.map((call) => call?.word(0)),
    ).toEqual([1n, undefined]);
    expect(callsIn(backwards)).toBeUndefined();
  });

  test('a list that claims to be longer than the call data is none', () => {
    const word = (value: bigint) => Hex.fromNumber(value, { size: 32 }).slice(2);
    expect(callsIn(`0x34fcd5be${word(32n)}${word(2n ** 200n)}`)).toBeUndefined();
    expect(callsIn(`0x34fcd5be${word(2n ** 255n)}`)).toBeUndefined();
  });
});
