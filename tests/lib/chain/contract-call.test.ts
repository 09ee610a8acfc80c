import { expect, test } from 'bun:test';
import { VaultError } from '../../../lib/base/error.ts';
import { UpstreamError } from '../../../lib/base/http-client.ts';
import {
  addressWord,
  findAnswer,
  findWords,
  readQuantity,
  readWords,
  tryCall,
  uint256Word,
} from '../../../lib/chain/contract-call.ts';
import { RpcError } from '../../../lib/chain/json-rpc.ts';
import { readRegistryVersion } from '../../../lib/chain/registry-version.ts';
import { readAlias } from '../../../lib/chain/registry-views.ts';
import { failureOf } from '../../support/secrecy.ts';

const WORD = 'Ab'.repeat(32);
const view = { to: '0x1', data: '0x2' };

/** A node that answers this. */
const answering = (result: unknown) => ({ call: async () => result });
const failing = (cause: Error) => ({
  call: async () => {
    throw new VaultError('rpc_error', { cause });
  },
});

test('words are read as lower-case hex', async () => {
  const lower = WORD.toLowerCase();
  expect(await readWords(answering(`0x${WORD}`), 1, view, 1)).toEqual([lower]);
  expect(await readWords(answering(`0x${WORD}${WORD}`), 1, view, 2)).toEqual([lower, lower]);
});

test('any other answer is 502 rpc_error; where there may be no such function, none', async () => {
  for (const result of ['0x', `0x${WORD}`, `0x${WORD}${WORD}00`]) {
    expect((await failureOf(readWords(answering(result), 1, view, 2))).code).toBe('rpc_error');
    expect(await findWords(answering(result), 1, view, 2)).toBeUndefined();
  }
  expect(await findWords(failing(new RpcError(3, 'reverted')), 1, view, 1)).toBeUndefined();
});

// geth, reth, anvil, Nethermind for a call that reverts, burns its gas by a loop or by memory, or runs into nothing.
const OWN_DOINGS = [
  [3, 'execution reverted'],
  [-32_000, 'execution reverted'],
  [-32_015, 'VM execution error.'],
  [-32_000, 'out of gas'],
  [-32_003, 'out of gas: gas required exceeds allowance: 1000000'],
  [-32_603, 'EVM error OutOfGas'],
  [-32_603, 'EVM error MemoryOOG'],
  [-32_603, 'EVM error InvalidFEOpcode'],
  [-32_603, 'EVM error StackUnderflow'],
] as const;
const NODES_FAULTS = [
  [-32_603, 'Internal error'],
  [-32_603, 'no gas price oracle'],
  [-32_603, 'too many requests'],
  [-32_005, 'daily request count exceeded'],
  [-32_601, 'the method eth_call does not exist'],
  [-32_097, 'rate limit'],
] as const;

test.each(OWN_DOINGS)('%d %s is a contract\u2019s own doing for every reader', async (code, message) => {
  const node = failing(new RpcError(code, message));
  expect(await tryCall(node, 1, view)).toEqual({ reverted: '0x' });
  expect(await findAnswer(node, 1, view)).toBeUndefined();
  expect(await findWords(node, 1, view, 1)).toBeUndefined();
  expect(await readAlias({ config: { chainId: 1 }, rpc: node, registry: '0x1' }, `0x${WORD}`)).toBeUndefined();
});

test.each(NODES_FAULTS)('%d %s is a fault of the node for every reader', async (code, message) => {
  const node = failing(new RpcError(code, message));
  const at = { config: { chainId: 1 }, rpc: node, registry: '0x1' };
  for (const read of [
    tryCall(node, 1, view),
    findAnswer(node, 1, view),
    findWords(node, 1, view, 1),
    readAlias(at, `0x${WORD}`),
    readRegistryVersion(at, '0x1'),
  ])
    expect((await failureOf(read)).code).toBe('rpc_error');
});

test('a revert with a reason keeps it', async () => {
  expect(await tryCall(failing(new RpcError(3, 'reverted', '0xAB')), 1, view)).toEqual({ reverted: '0xab' });
});

test('no answer at all, or one of no hex, is 502 rpc_error either way', async () => {
  const nodes = [
    answering(null),
    answering(7),
    answering(`0x${'zz'.repeat(32)}`),
    failing(new UpstreamError('timeout')),
  ];
  for (const node of nodes) {
    expect((await failureOf(readWords(node, 1, view, 1))).code).toBe('rpc_error');
    expect((await failureOf(findWords(node, 1, view, 1))).code).toBe('rpc_error');
  }
});

test('a quantity is hex of at most 32 bytes', () => {
  expect(readQuantity('0x0')).toBe(0n);
  expect(readQuantity(`0x${'f'.repeat(64)}`)).toBe(2n ** 256n - 1n);
  for (const wrong of ['0x', '1', 1, null, `0x1${'0'.repeat(64)}`, '0x-1', '0xg']) {
    expect(() => readQuantity(wrong)).toThrow('rpc_error');
  }
});

test('numbers and addresses become words', () => {
  expect(uint256Word(255n)).toBe(`${'0'.repeat(62)}ff`);
  expect(addressWord(`0x${'AB'.repeat(20)}`)).toBe(`${'0'.repeat(24)}${'ab'.repeat(20)}`);
});
