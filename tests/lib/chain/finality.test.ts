import { afterAll, afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { FINAL_DEPTH_BLOCKS, readFinalBlock } from '../../../lib/chain/finality.ts';
import { readConfig } from '../../../lib/config/config.ts';
import { createContext } from '../../../lib/context.ts';
import { type Forwarder, startForwarder } from '../../support/forwarder.ts';
import { startTestChain } from '../../support/onchain.ts';
import { failureOf } from '../../support/secrecy.ts';
import { VAULT_SECRET } from '../../support/vault.ts';

const chain = await startTestChain();
await chain.mine(100);
afterAll(chain.stop);
const head = Number(await chain.rpc('eth_blockNumber'));

const unused = { execute: () => Promise.reject(), batch: () => Promise.reject() };
let node: Forwarder;
/** The final block as a vault sees it; without `finalityBlocks` the node decides. */
const read = (finalityBlocks?: number) => {
  const { config, rpc } = createContext({ vars: { VAULT_SECRET, ...chain.vars, RPC_URL: node.url }, database: unused });
  return readFinalBlock({ config: { ...config, finalityBlocks }, rpc });
};
beforeEach(() => {
  node = startForwarder(chain.url);
});
afterEach(() => node.stop());

describe('the final block', () => {
  test("is the node's own", async () => {
    const { number } = (await chain.rpc('eth_getBlockByNumber', ['finalized', false])) as { number: string };
    expect(await read()).toBe(Number(number));
    expect(Number(number)).toBeLessThan(head);
  });

  test('is so many blocks below the newest one where FINALITY_BLOCKS says so', async () => {
    expect([await read(0), await read(5)]).toEqual([head, head - 5]);
  });

  test.each([
    ['an error', { error: { code: -32602, message: 'unknown block tag' } }],
    ['null', { result: null }],
  ])('is 12 blocks deep where the node answers the tag with %s', async (_, answer) => {
    node.trouble = (forward, _methods, body) => {
      const { id } = JSON.parse(body);
      return body.includes('finalized') ? Response.json({ jsonrpc: '2.0', id, ...answer }) : forward();
    };
    expect(await read()).toBe(head - FINAL_DEPTH_BLOCKS);
  });

  test.each([
    ['a limit', { error: { code: -32005, message: 'daily request count exceeded' } }],
    ['null of a back end that is behind', { result: null }],
  ])("is the node's own also behind one answer of %s", async (_, answer) => {
    let times = 0;
    node.trouble = (forward, _methods, body) => {
      const { id } = JSON.parse(body);
      return body.includes('finalized') && times++ === 0 ? Response.json({ jsonrpc: '2.0', id, ...answer }) : forward();
    };
    const { number } = (await chain.rpc('eth_getBlockByNumber', ['finalized', false])) as { number: string };
    expect(await read()).toBe(Number(number));
  });

  test('is unknown, 502 rpc_error, where the node cannot be asked or answers no block', async () => {
    node.trouble = (_forward, _methods, body) => Response.json({ id: JSON.parse(body).id, result: { number: 7 } });
    expect((await failureOf(read())).code).toBe('rpc_error');
    node.trouble = () => new Response('bad gateway', { status: 502 });
    expect((await failureOf(read())).code).toBe('rpc_error');
  });
});

test('FINALITY_BLOCKS is 0 while RPC_URL is loopback, else unset', () => {
  const of = (vars: Record<string, string>) => readConfig({ VAULT_SECRET, ...vars }).finalityBlocks;
  expect([of(chain.vars), of({}), of({ ...chain.vars, FINALITY_BLOCKS: '3' })]).toEqual([0, undefined, 3]);
});
