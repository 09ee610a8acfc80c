import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'bun:test';
import { HOUR_MS, systemClock } from '../../../lib/base/clock.ts';
import { createMetrics } from '../../../lib/base/metrics.ts';
import { findRegistration } from '../../../lib/chain/registration-event.ts';
import { createRpc } from '../../../lib/chain/rpc.ts';
import { didHash } from '../../../lib/identity/did.ts';
import { devAccount } from '../../../scripts/dev-stack/wallet.ts';
import { type Forwarder, startForwarder } from '../../support/forwarder.ts';
import { type Mined, startTestChain } from '../../support/onchain.ts';
import { answerWith, type Lie } from '../../support/relay-world.ts';

const did = 'did:key:zSought';
const wallet = devAccount('alice');
const controller = wallet.address.toLowerCase();
const chain = await startTestChain({ edition: 1 });
afterAll(chain.stop);

let registered: Mined;
let madeAt: number;
let head: number;
beforeAll(async () => {
  registered = await chain.register({ did }, { wallet });
  const { timestamp } = (await chain.rpc('eth_getBlockByNumber', ['latest', false])) as { timestamp: string };
  madeAt = 1_000 * Number(timestamp);
  await chain.mine(150);
  head = Number(await chain.rpc('eth_blockNumber'));
});

let node: Forwarder;
beforeEach(() => {
  node = startForwarder(chain.url);
});
afterEach(() => node.stop());

const lie = (one: Lie) => {
  node.trouble = (forward, _methods, body) => answerWith(one, forward, body);
};

function find(change: { to?: number; sinceMs?: number; did?: string; controller?: string } = {}) {
  const log = () => {};
  const rpc = createRpc({ urls: { 84532: node.url }, fetch, clock: systemClock, metrics: createMetrics(), log });
  const sought = {
    registry: chain.registry,
    didHash: didHash(change.did ?? did),
    controller: change.controller ?? controller,
  };
  // The hour by which clocks may differ is over.
  const range = { to: change.to ?? head, sinceMs: change.sinceMs ?? madeAt + HOUR_MS, blocks: 20 };
  return findRegistration({ config: { chainId: 84532 }, rpc }, sought, range);
}

const place = () => ({ txHash: registered.txHash, block: registered.block, blockHash: expect.any(String) });

test('an event among the newest blocks is found, whenever it was asked for', async () => {
  expect(await find({ to: registered.block + 70, sinceMs: 0 })).toEqual(place());
});

test('one behind many blocks is found by the time at which it was asked for', async () => {
  expect(head - registered.block).toBeGreaterThan(4 * 20);
  expect(await find()).toEqual(place());
  expect(node.methods.filter((one) => one === 'eth_getLogs').length).toBeLessThan(8);
});

test('a node that takes few blocks at once is asked for fewer', async () => {
  node.trouble = async (forward, _methods, body) => {
    const { id, method, params } = JSON.parse(body);
    const [{ fromBlock = '0x0', toBlock = '0x0' } = {}] = method === 'eth_getLogs' ? params : [];
    if (Number(toBlock) - Number(fromBlock) < 6) return forward();
    return Response.json({ jsonrpc: '2.0', id, error: { code: -32_005, message: 'query exceeds the range' } });
  };
  expect(await find()).toEqual(place());
});

test('not for another DID or controller, and not beyond the last block', async () => {
  expect(await find({ did: 'did:key:zOther' })).toBeUndefined();
  expect(await find({ controller: devAccount('bob').address })).toBeUndefined();
  expect(await find({ to: registered.block - 1 })).toBeUndefined();
});

test.each([
  ['of another contract', { address: devAccount('bob').address }],
  ['that a re-org removed', { removed: true }],
  ['of a block that nobody asked about', { blockNumber: '0xffffff' }],
  ['without a block', { blockHash: null }],
  ['of another DID', { topics: [`0x${'5b'.repeat(32)}`, `0x${'5b'.repeat(32)}`, `0x${'5b'.repeat(32)}`] }],
])('a log %s is no answer', async (_, change) => {
  lie((method, _params, result) =>
    method === 'eth_getLogs' ? (result as object[]).map((log) => ({ ...log, ...change })) : undefined,
  );
  expect(await find({ to: registered.block + 70 })).toBeUndefined();
});
