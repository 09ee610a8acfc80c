import { afterAll, beforeAll, expect, test } from 'bun:test';
import { systemClock } from '../../../lib/base/clock.ts';
import { createMetrics } from '../../../lib/base/metrics.ts';
import {
  FRESH_BLOCKS,
  isSpentAt,
  SEARCH_RANGE_BLOCKS_MAX,
  SEARCH_REQUESTS_MAX,
  searchOperation,
} from '../../../lib/chain/entry-point.ts';
import { createBlockRange } from '../../../lib/chain/log-range.ts';
import { createRpc } from '../../../lib/chain/rpc.ts';
import { ENTRY_POINTS } from '../../../scripts/dev-stack/entrypoints.ts';
import { settled } from '../../support/settled.ts';
import { errorOf, resultOf, startUpstream, type Upstream } from '../../support/upstream.ts';

const WANTED = { account: '0x00000000000000000000000000000000000a11ce', nonce: 7n << 64n };
const WORD = WANTED.nonce.toString(16).padStart(64, '0');
const BLOCK = { number: 5, hash: `0x${'0b'.repeat(32)}` };
const tx = (n: number) => `0x${n.toString(16).padStart(64, '0')}`;

let node: Upstream;
beforeAll(() => {
  node = startUpstream();
});
afterAll(() => node.stop());

const chain = () => ({
  config: { chainId: 1, entryPointAddress: ENTRY_POINTS['0.7'] },
  rpc: createRpc({
    fetch: (url, init) => fetch(url, init),
    clock: systemClock,
    metrics: createMetrics(),
    log: () => undefined,
    urls: { 1: node.url },
  }),
});

/** The ranges that a search asks for, and what it finds; `answer` gets the blocks. */
async function search(from: number, to: number, answer: (from: number, to: number) => unknown) {
  const ranges: [number, number][] = [];
  node.answer = (call) => {
    const [{ fromBlock, toBlock }] = call.body.params;
    ranges.push([Number(fromBlock), Number(toBlock)]);
    const found = answer(Number(fromBlock), Number(toBlock));
    return found instanceof Error ? errorOf(call, { code: -32005, message: found.message }) : resultOf(call, found);
  };
  const found = await searchOperation(chain(), WANTED, { from, to }, createBlockRange(SEARCH_RANGE_BLOCKS_MAX));
  return { ...found, ranges };
}

test('a search is a bounded number of bounded ranges, and says where to go on', async () => {
  const { ranges, next, txHashes } = await search(10, 1_000_000, () => []);
  expect(ranges).toHaveLength(SEARCH_REQUESTS_MAX);
  expect(ranges.every(([from, to]) => to - from + 1 === SEARCH_RANGE_BLOCKS_MAX)).toBe(true);
  expect([next, txHashes]).toEqual([10 + SEARCH_REQUESTS_MAX * SEARCH_RANGE_BLOCKS_MAX, []]);
});

test('refused ranges count too', async () => {
  const { ranges, next } = await search(10, 1_000_000, (from, to) => (to - from >= 300 ? new Error('range') : []));
  expect(ranges.map(([from, to]) => to - from + 1)).toEqual([2_000, 1_000, 500, 250, 250]);
  expect(next).toBe(10 + 500);
});

test('the newest blocks are never left behind', async () => {
  expect((await search(10, 500, () => [])).next).toBe(500 - FRESH_BLOCKS);
  expect((await search(490, 500, () => [])).next).toBe(490);
  expect((await search(501, 500, () => [])).next).toBe(501);
});

test('what a node does not answer is looked for again', async () => {
  for (const answer of ['no', null, {}]) expect((await search(10, 5_000, () => answer)).next).toBe(10);
  node.answer = () => new Response('', { status: 429 });
  const range = createBlockRange(SEARCH_RANGE_BLOCKS_MAX);
  expect((await searchOperation(chain(), WANTED, { from: 10, to: 500 }, range)).next).toBe(10);
});

test('of the events only those of the nonce count, few of them, and where they were found is kept', async () => {
  const others = [null, {}, { data: `0x${WORD}` }, { data: `0x${WORD.replace('7', '8')}`, transactionHash: tx(9) }];
  const own = [1, 1, 2, 3, 4].map((n) => ({ data: `0x${WORD}${'0'.repeat(192)}`, transactionHash: tx(n) }));
  const found = await search(10, 5_000, (from) => (from > 2_000 ? [...others, ...own] : others));
  expect(found.txHashes).toEqual([tx(1), tx(2), tx(3)]);
  expect(found.next).toBe(2_010);
});

test('a nonce is spent when the next one of its key is above it', async () => {
  const spent = (next: bigint) => {
    node.answer = (call) => resultOf(call, `0x${next.toString(16).padStart(64, '0')}`);
    return isSpentAt(chain(), WANTED, BLOCK);
  };
  expect([await spent(7n << 64n), await spent((7n << 64n) + 1n)]).toEqual([false, true]);
  // Another key's: no EntryPoint answers so.
  expect(await settled(spent(8n << 64n))).toThrow('rpc_error');
  expect(await settled(spent(1n))).toThrow('rpc_error');
});
