import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import type { LogEntry } from '../../../lib/base/log.ts';
import { createMetrics } from '../../../lib/base/metrics.ts';
import { readBlock } from '../../../lib/chain/blocks.ts';
import { createRpc, rpcErrorOf } from '../../../lib/chain/rpc.ts';
import { readNonce } from '../../../lib/chain/signer-state.ts';
import {
  agreed,
  createWitness,
  createWitnessFacts,
  readCommonFinal,
  readCommonHead,
} from '../../../lib/chain/witness.ts';
import { readConfig } from '../../../lib/config/config.ts';
import { type Chain, startChain } from '../../../scripts/dev-stack/chain.ts';
import { testClock } from '../../support/clock.ts';
import { type Forwarder, startForwarder, type Trouble } from '../../support/forwarder.ts';
import { expectHoldsNone, failureOf } from '../../support/secrecy.ts';
import { tally } from '../../support/tally.ts';
import { startVault, VAULT_SECRET } from '../../support/vault.ts';

const KEY = 'a1b2c3d4e5f60718293a4b5c6d7e8f90';
const SENDER = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266';

let chain: Chain;
let other: Chain;
let node: Forwarder;
let second: Forwarder;
beforeAll(async () => {
  [chain, other] = await Promise.all([startChain(), startChain({ startsAt: 0 })]);
  await chain.rpc('anvil_mine', ['0x20']);
  node = startForwarder(chain.url);
  second = startForwarder(chain.url);
});
afterAll(async () => {
  await Promise.all([node.stop(), second.stop()]);
  await Promise.all([chain.stop(), other.stop()]);
});
beforeEach(() => {
  node.trouble = undefined;
  second.trouble = undefined;
});

/** A node that answers calls of this method with what `lie` makes of the truth. */
const lying =
  (method: string, lie: (result: unknown) => unknown): Trouble =>
  async (forward, _, body) => {
    const calls = [JSON.parse(body)].flat() as { id: number; method: string }[];
    const asked = new Set(calls.filter((one) => one.method === method).map(({ id }) => id));
    const answers = [(await (await forward()).json()) as { id: number; result: unknown }].flat();
    const told = answers.map((one) => (asked.has(one.id) ? { ...one, result: lie(one.result) } : one));
    return Response.json(Array.isArray(JSON.parse(body)) ? told : told[0]);
  };

const refusing =
  (code: number): Trouble =>
  async (_forward, _methods, body) => {
    const answers = ([JSON.parse(body)].flat() as { id: number }[]).map(({ id }) => ({
      jsonrpc: '2.0',
      id,
      error: { code, message: 'execution reverted' },
    }));
    return Response.json(Array.isArray(JSON.parse(body)) ? answers : answers[0]);
  };

/** A vault's two nodes; the witness stands at `witnessUrl`. */
function open({ witnessUrl = second.url as string | null, finalityBlocks = 5 } = {}) {
  const entries: LogEntry[] = [];
  const log = (entry: LogEntry) => entries.push(entry);
  const config = {
    chainId: 84532,
    finalityBlocks,
    rpcWitnessUrl: witnessUrl === null ? undefined : `${witnessUrl}/${KEY}`,
  };
  const outside = { config, fetch, clock: testClock(), metrics: createMetrics(), log };
  const rpc = createRpc({ ...outside, urls: { 84532: `${node.url}/${KEY}` } });
  return { ...outside, rpc, witness: createWitness(outside, createWitnessFacts()), entries };
}

const counted = ({ metrics }: ReturnType<typeof open>) => tally(metrics, 'vault_nodes_disagree_total');

describe('a judgement over two nodes', () => {
  const nonce = (ctx: ReturnType<typeof open>) => agreed(ctx, 'nonce', (one) => readNonce(one, SENDER, 20));

  test('is what both say', async () => {
    const ctx = open();
    expect(await nonce(ctx)).toBe(0);
    expect(ctx.entries).toEqual([]);
    expect(second.methods).toContain('eth_getTransactionCount');
  });

  test.each(['the node', 'the witness'])('is put off while %s says something else, loudly', async (liar) => {
    const ctx = open();
    (liar === 'the node' ? node : second).trouble = lying('eth_getTransactionCount', () => '0x1f4');
    const failure = await failureOf(nonce(ctx));
    expect([failure.code, failure.details.reason, rpcErrorOf(failure)]).toEqual([
      'rpc_error',
      'nodes_disagree',
      undefined,
    ]);
    expect(ctx.entries).toEqual([{ level: 'error', event: 'nodes_disagree', about: 'nonce' }]);
    expect(counted(ctx)).toEqual(['{about="nonce"} 1']);
    expectHoldsNone([failure, ctx.entries], KEY, node.url, second.url);
    node.trouble = second.trouble = undefined;
    expect(await nonce(ctx)).toBe(0);
  });

  test('is logged once a minute, and counted each time', async () => {
    const ctx = open();
    second.trouble = lying('eth_getTransactionCount', () => '0x1f4');
    for (let i = 0; i < 3; i++) await failureOf(nonce(ctx));
    expect([ctx.entries.length, counted(ctx)]).toEqual([1, ['{about="nonce"} 3']]);
    await ctx.clock.advance(60_000);
    await failureOf(nonce(ctx));
    expect(ctx.entries).toHaveLength(2);
  });

  test('is put off while the witness does not answer, or answers alone', async () => {
    second.trouble = () => new Response('down', { status: 503 });
    const ctx = open();
    for (let i = 0; i < 2; i++) expect((await failureOf(nonce(ctx))).code).toBe('rpc_error');
    expect(ctx.entries).toEqual([{ level: 'warn', event: 'witness_silent' }]);
    second.trouble = undefined;
    node.trouble = refusing(3);
    const failure = await failureOf(nonce(open()));
    expect([failure.code, rpcErrorOf(failure)]).toEqual(['rpc_error', undefined]);
  });

  test('compares only what the caller says must agree', async () => {
    const ctx = open();
    second.trouble = lying('eth_getBlockByNumber', (block) => ({ ...(block as object), number: '0x7' }));
    const read = (one: Parameters<typeof readBlock>[0]) => readBlock(one, 'latest');
    // The first block is asked for by its number, which the lie changes too.
    (ctx.witness as NonNullable<typeof ctx.witness>).facts.isSameChain = true;
    expect((await agreed(ctx, 'payment', read, (block) => block?.hash))?.number).toBe(32);
    expect((await failureOf(agreed(ctx, 'payment', read))).details.reason).toBe('nodes_disagree');
  });

  test('without a witness is the word of the node', async () => {
    const ctx = open({ witnessUrl: null });
    node.trouble = lying('eth_getTransactionCount', () => '0x1f4');
    expect([await nonce(ctx), await readCommonHead(ctx), await readCommonFinal(ctx)]).toEqual([500, 32, 27]);
  });
});

describe('two nodes that differ by a few blocks', () => {
  test.each(['the node', 'the witness'])('are asked about the blocks of %s, which is behind', async (late) => {
    const ctx = open();
    (late === 'the node' ? node : second).trouble = lying('eth_blockNumber', () => '0x1c');
    expect([await readCommonHead(ctx), await readCommonFinal(ctx)]).toEqual([28, 23]);
    expect(ctx.entries).toEqual([]);
  });
});

test('two nodes that have two blocks of one number have no final block in common', async () => {
  const ctx = open();
  expect(await readCommonFinal(ctx)).toBe(27);
  second.trouble = lying('eth_getBlockByNumber', (block) => ({ ...(block as object), hash: `0x${'12'.repeat(32)}` }));
  expect((await failureOf(readCommonFinal(ctx))).details.reason).toBe('nodes_disagree');
});

describe('a witness of another chain', () => {
  test('with the same id bears no witness, and is asked again after it was replaced', async () => {
    const stranger = startForwarder(other.url);
    const ctx = open({ witnessUrl: stranger.url });
    const failure = await failureOf(readCommonHead(ctx));
    expect([failure.code, failure.details.reason]).toEqual(['rpc_error', 'nodes_disagree']);
    expect(ctx.entries).toEqual([{ level: 'error', event: 'nodes_disagree', about: 'chain' }]);
    await stranger.stop();
    const right = startForwarder(chain.url, Number(new URL(stranger.url).port));
    expect(await readCommonHead(ctx)).toBe(32);
    await right.stop();
  });

  test('with another id bears none either', async () => {
    second.trouble = lying('eth_chainId', () => '0x1');
    expect((await failureOf(readCommonHead(open()))).code).toBe('rpc_error');
  });
});

describe('RPC_WITNESS_URL', () => {
  test('is not RPC_URL itself', () => {
    const vars = { VAULT_SECRET, OPERATOR_SECRET: VAULT_SECRET.replace('00', 'ff'), RPC_URL: 'http://127.0.0.1:1' };
    expect(() => readConfig({ ...vars, RPC_WITNESS_URL: 'http://127.0.0.1:1/' })).toThrow(
      /RPC_WITNESS_URL must differ from RPC_URL/,
    );
    expect(readConfig({ ...vars, RPC_WITNESS_URL: 'http://127.0.0.1:2/' }).rpcWitnessUrl).toBe('http://127.0.0.1:2');
  });

  test('starts a vault whose node is asked as before', async () => {
    const vault = await startVault({ CHAIN_ID: '84532', RPC_URL: node.url, RPC_WITNESS_URL: `${second.url}/${KEY}` });
    expect((await vault.call('GET /pay/fees')).status).toBe(200);
    await vault.stop();
  });
});
