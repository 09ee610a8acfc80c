import { expect, test } from 'bun:test';
import { rememberReads } from './remembered-reads.ts';

/** A node that counts what it is asked. */
function counting() {
  const asked: string[] = [];
  const ask = rememberReads(async (method, params = []) => {
    asked.push(method);
    return [...params, asked.length];
  });
  return { ask, asked };
}

test('while nothing is mined by itself a node is asked once for each thing between two changes', async () => {
  const { ask, asked } = counting();
  await ask('evm_setAutomine', [false]);
  const [one, same, other] = await Promise.all([1, 1, 2].map((n) => ask('eth_getBalance', [n])));
  expect(same).toEqual(one);
  expect(other).not.toEqual(one);
  await ask('evm_mine');
  expect(await ask('eth_getBalance', [1])).not.toEqual(one);
  expect(asked).toEqual(['evm_setAutomine', 'eth_getBalance', 'eth_getBalance', 'evm_mine', 'eth_getBalance']);
});

test('what was asked before a change, or during it, answers nobody after it', async () => {
  const gate = Promise.withResolvers<void>();
  let balance = 0;
  const ask = rememberReads(async (method) => {
    if (method === 'evm_mine') await gate.promise;
    return method === 'evm_mine' ? balance++ : balance;
  });
  await ask('evm_setAutomine', [false]);
  const mining = ask('evm_mine');
  expect(await ask('eth_getBalance')).toBe(0);
  gate.resolve();
  await mining;
  expect(await ask('eth_getBalance')).toBe(1);
});

test('a node that mines by itself is asked each time: a receipt comes when it comes', async () => {
  const { ask, asked } = counting();
  for (let n = 0; n < 2; n++) await ask('eth_getTransactionReceipt', ['0x1']);
  await ask('evm_setAutomine', [false]);
  await ask('evm_setAutomine', [true]);
  for (let n = 0; n < 2; n++) await ask('eth_getTransactionReceipt', ['0x1']);
  expect(asked.filter((method) => method === 'eth_getTransactionReceipt')).toHaveLength(4);
});
