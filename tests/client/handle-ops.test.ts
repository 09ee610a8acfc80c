import { describe, expect, test } from 'bun:test';
import { Hex } from 'ox';
import { callsIn, operationsInInput, paysEther } from '../../client/handle-ops.ts';
import { accountCallData, type Operation } from '../../scripts/dev-stack/user-operation.ts';
import { handleOpsData } from '../support/operations.ts';

const [ALICE, BOB] = [
  '0x00000000000000000000000000000000000a11ce',
  '0x0000000000000000000000000000000000000b0b',
] as const;
const PAYMENT = accountCallData([{ target: ALICE, value: 5n }]);
const BATCH = accountCallData([
  { target: BOB, value: 1n, data: '0xa9059cbb' },
  { target: ALICE, value: 5n },
]);

const operation = (more: Partial<Operation>): Operation => ({
  sender: BOB,
  nonce: 1n << 200n,
  callData: PAYMENT,
  callGasLimit: 1n,
  verificationGasLimit: 2n,
  preVerificationGas: 3n,
  maxFeePerGas: 4n,
  maxPriorityFeePerGas: 5n,
  signature: '0x1234',
  ...more,
});

test('every operation of a bundle is read: sender, nonce and call data', () => {
  const input = handleOpsData(operation({}), operation({ sender: ALICE, nonce: 7n, callData: BATCH }));
  expect(operationsInInput(input)).toEqual([
    { sender: BOB, nonce: 1n << 200n, callData: PAYMENT },
    { sender: ALICE, nonce: 7n, callData: BATCH },
  ]);
  expect(operationsInInput(handleOpsData())).toEqual([]);
});

test('the calls of execute and executeBatch are read', () => {
  expect(callsIn(PAYMENT)).toEqual([{ target: ALICE, value: 5n, data: '0x' }]);
  expect(callsIn(BATCH)).toEqual([
    { target: BOB, value: 1n, data: '0xa9059cbb' },
    { target: ALICE, value: 5n, data: '0x' },
  ]);
  expect(callsIn(accountCallData([]))).toEqual([]);
});

test('ether is paid by a call of exactly this value, to the payee, without data', () => {
  const pays = (callData: string, to: string = ALICE, amount = 5n) => paysEther(callData, { to, amount });
  expect([pays(PAYMENT), pays(BATCH), pays(PAYMENT, ALICE.toUpperCase().replace('0X', '0x'))]).toEqual([
    true,
    true,
    true,
  ]);
  expect([pays(PAYMENT, BOB), pays(PAYMENT, ALICE, 4n), pays(PAYMENT, ALICE, 6n), pays(BATCH, BOB, 1n)]).toEqual(
    Array(4).fill(false),
  );
  // What the bytes do is unknown.
  expect([pays('0x'), pays('0xdeadbeef'), pays('no')]).toEqual([undefined, undefined, undefined]);
});

describe('what is cut off or leads past its end is undefined, never an error', () => {
  const whole = handleOpsData(operation({ callData: BATCH }));

  test('each prefix', () => {
    for (let bytes = 0; bytes < Hex.size(whole) - 96; bytes += 16) {
      const cut = Hex.slice(whole, 0, bytes);
      const found = operationsInInput(cut);
      // Whole operations only.
      if (found !== undefined) expect(found).toEqual([{ sender: BOB, nonce: 1n << 200n, callData: BATCH }]);
      expect(callsIn(Hex.slice(BATCH, 0, Math.min(bytes, Hex.size(BATCH) - 32)))).toBeUndefined();
    }
  });

  test('each word replaced by a large number', () => {
    const FULL = 'f'.repeat(64);
    for (let word = 0; 10 + 64 * (word + 1) <= whole.length; word++) {
      const at = 10 + 64 * word;
      const changed = `${whole.slice(0, at)}${FULL}${whole.slice(at + 64)}`;
      expect(() => operationsInInput(changed)?.map(({ callData }) => callsIn(callData))).not.toThrow();
    }
    expect(operationsInInput(`${whole.slice(0, 10)}${FULL}${whole.slice(74)}`)).toBeUndefined();
  });
});
