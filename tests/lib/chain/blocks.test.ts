import { afterAll, afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { findDeployment, readBlock, readGenesis, readHead } from '../../../lib/chain/blocks.ts';
import { createContext } from '../../../lib/context.ts';
import { type Forwarder, startForwarder } from '../../support/forwarder.ts';
import { startTestChain } from '../../support/onchain.ts';
import { failureOf } from '../../support/secrecy.ts';
import { VAULT_SECRET } from '../../support/vault.ts';

const chain = await startTestChain();
await chain.mine(40);
afterAll(chain.stop);

const unused = { execute: () => Promise.reject(), batch: () => Promise.reject() };
let node: Forwarder;
const open = (vars: Record<string, string> = {}) =>
  createContext({ vars: { VAULT_SECRET, ...chain.vars, RPC_URL: node.url, ...vars }, database: unused });
beforeEach(() => {
  node = startForwarder(chain.url);
});
afterEach(() => node.stop());

const answering = (result: unknown) => {
  node.trouble = () => Response.json({ jsonrpc: '2.0', id: 1, result });
};

describe('blocks', () => {
  test('are read by number and as the newest', async () => {
    const head = await readHead(open());
    expect(head.number).toBe(Number(await chain.rpc('eth_blockNumber')));
    expect(await readBlock(open(), head.number)).toEqual(head);
    expect(await readBlock(open(), head.number + 1)).toBeUndefined();
  });

  test.each([[{}], [{ number: '0x1' }], [{ number: '0x2', hash: '0xab' }], [{ number: 1, hash: '0xab' }], ['x'], [[]]])(
    'an answer of %o is 502 rpc_error',
    async (result) => {
      answering(result);
      expect((await failureOf(readBlock(open(), 1))).code).toBe('rpc_error');
    },
  );

  test('a chain without a newest block is 502 rpc_error', async () => {
    answering(null);
    expect((await failureOf(readHead(open()))).code).toBe('rpc_error');
  });
});

test('the first block is told only by a node on the configured chain', async () => {
  const first = (await chain.rpc('eth_getBlockByNumber', ['0x0', false])) as { hash: string };
  expect(await readGenesis(open())).toEqual({ number: 0, hash: first.hash });
  const failure = await failureOf(readGenesis(open({ CHAIN_ID: '8453', RPC_URL_8453: node.url })));
  expect([failure.code, String(failure.cause)]).toEqual([
    'rpc_error',
    'Error: a node answered as one of chain 84532, but CHAIN_ID is 8453',
  ]);
});

describe('where contracts were deployed', () => {
  /** By looking at every block. */
  const expected = async () => {
    for (let block = 0; ; block++) {
      if ((await chain.rpc('eth_getCode', [chain.registry, `0x${block.toString(16)}`])) !== '0x') return block;
    }
  };

  test('is found by bisection, of several the first', async () => {
    const head = Number(await chain.rpc('eth_blockNumber'));
    const block = await expected();
    expect(block).toBeGreaterThan(0);
    expect(await findDeployment(open(), [chain.registry], head)).toBe(block);
    expect(await findDeployment(open(), [`0x${'1'.repeat(40)}`, chain.registry], head)).toBe(block);
    expect(await findDeployment(open(), [chain.registry], block)).toBe(block);
  });

  test('is the newest block while they are not', async () => {
    expect(await findDeployment(open(), [`0x${'1'.repeat(40)}`], 30)).toBe(30);
  });

  test('is the first block when the node does not say, and 502 rpc_error when it cannot be asked', async () => {
    node.trouble = () =>
      Response.json({ jsonrpc: '2.0', id: null, error: { code: -32000, message: 'missing trie node' } });
    expect(await findDeployment(open(), [chain.registry], 30)).toBe(0);
    node.trouble = () => new Response('', { status: 503 });
    expect((await failureOf(findDeployment(open(), [chain.registry], 30))).code).toBe('rpc_error');
  });
});
