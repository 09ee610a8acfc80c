import { afterAll, describe, expect, test } from 'bun:test';
import { systemClock } from '../../../lib/base/clock.ts';
import { createMetrics } from '../../../lib/base/metrics.ts';
import { createRpc } from '../../../lib/chain/rpc.ts';
import { chooseBlock, createResolutionFacts, HEADER_READS_MAX } from '../../../lib/resolution/versions.ts';
import { startChain } from '../../../scripts/dev-stack/chain.ts';
import { openDraw } from '../../support/draw.ts';
import { startForwarder } from '../../support/forwarder.ts';
import { SEED } from '../../support/seed.ts';
import { settled } from '../../support/settled.ts';

// The evidence chapter, part A, rule 8: a search by time reads few headers, however long the chain is.

/** A vault's reader of a chain, with what it has kept of its headers. */
function readerOf(url: string) {
  const metrics = createMetrics();
  const outside = { fetch: (to: string, init?: RequestInit) => fetch(to, init), clock: systemClock, log: () => {} };
  return {
    ...outside,
    config: { chainId: 84532, finalityBlocks: 0 } as never,
    rpc: createRpc({ ...outside, metrics, urls: { 84532: url } }),
    witness: undefined,
    metrics,
    resolutionFacts: createResolutionFacts(),
  };
}

const timeText = (seconds: number) => new Date(seconds * 1000).toISOString().replace('.000', '');

describe('evidence A8: a search by time on a real chain with an outage', async () => {
  const chain = await startChain();
  const node = startForwarder(chain.url);
  afterAll(() => Promise.all([node.stop(), chain.stop()]));
  for (const [blocks, seconds] of [
    [300, 2],
    [1, 86_400],
    [250, 1],
    [30, 0],
    [200, 12],
  ])
    await chain.rpc('anvil_mine', [blocks, seconds]);
  const head = Number(await chain.rpc('eth_blockNumber'));
  const times = await Promise.all(
    Array.from({ length: head + 1 }, async (_, number) => {
      const block = await chain.rpc('eth_getBlockByNumber', [`0x${number.toString(16)}`, false]);
      return Number((block as { timestamp: string }).timestamp);
    }),
  );
  const [first, last] = [times[0] as number, times[head] as number];

  /** The block that is chosen, and how many headers that cost. */
  const search = async (time: number, reader = readerOf(node.url)) => {
    const before = node.methods.length;
    const { number } = await chooseBlock(reader, { versionTime: timeText(time) });
    return { number, headers: node.methods.slice(before).filter((name) => name === 'eth_getBlockByNumber').length };
  };

  test('finds the newest block at or before a time, at both ends and between, within the limit', async () => {
    const draw = openDraw(SEED);
    const drawn = Array.from({ length: 40 }, () => first + draw.below(last - first));
    const outage = times[300] as number;
    for (const time of [first, first + 1, outage - 1, outage, outage + 1, outage + 86_399, last - 1, last, ...drawn]) {
      const { number, headers } = await search(time);
      expect([time, number]).toEqual([time, times.findLastIndex((one) => one <= time)]);
      expect(headers).toBeLessThanOrEqual(HEADER_READS_MAX);
    }
  });

  test('outside of the chain says so', async () => {
    expect(await settled(search(first - 1))).toThrow(expect.objectContaining({ type: 'NOT_FOUND' }));
    expect(await settled(search(last + 1))).toThrow(expect.objectContaining({ type: 'INVALID_OPTIONS' }));
  });

  test('reads a final header once: the same search again reads the newest one alone', async () => {
    const reader = readerOf(node.url);
    const time = first + Math.floor((last - first) / 2);
    expect((await search(time, reader)).headers).toBeGreaterThan(1);
    expect((await search(time, reader)).headers).toBe(1);
  });

  test('keeps 10,000 headers, and drops the oldest', async () => {
    const reader = readerOf(node.url);
    const { headers } = reader.resolutionFacts;
    const kept = { number: 0, hash: '', time: 0 };
    for (let i = 1; i <= 10_000; i++) headers.set(-i, kept);
    await search(first + Math.floor((last - first) / 2), reader);
    expect([headers.size, headers.has(-1), headers.has(-10_000)]).toEqual([10_000, false, true]);
  });
});

describe('evidence A8: a search by time on a chain too long to mine', () => {
  /** A node of a chain whose headers are computed: block `n` was made at `timeOf(n)`. */
  const startNode = (length: number, timeOf: (number: number) => number) => {
    let headers = 0;
    const server = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      async fetch(request) {
        const asked = (await request.json()) as { id: number; method: string; params: string[] };
        const hex = (value: number) => `0x${value.toString(16)}`;
        const header = () => {
          headers++;
          const number = Number(asked.params[0]);
          return {
            number: hex(number),
            hash: `0x${number.toString(16).padStart(64, '0')}`,
            timestamp: hex(timeOf(number)),
          };
        };
        const result = asked.method === 'eth_blockNumber' ? hex(length - 1) : header();
        return Response.json({ jsonrpc: '2.0', id: asked.id, result });
      },
    });
    return { url: server.url.href, count: () => headers, stop: () => server.stop(true) };
  };

  const LENGTH = 400_000_000;
  const START = 1_438_269_973;
  // The last two mislead every guess: all time passes at one end of the chain.
  test.each([
    ['of even blocks', (n: number) => START + 2 * n, 6],
    ['that changed its pace', (n: number) => START + (n < 1e8 ? 13 * n : 13e8 + 2 * (n - 1e8)), HEADER_READS_MAX],
    ['with a first block of long ago', (n: number) => (n === 0 ? 0 : START + 2 * n), HEADER_READS_MAX],
    ['with several blocks a second', (n: number) => START + Math.floor(n / 4), HEADER_READS_MAX],
    [
      'that stood still before its last block',
      (n: number) => START + (n < LENGTH - 1 ? Math.floor(n / 1e6) : 1e9),
      HEADER_READS_MAX,
    ],
    [
      'that stood still after its first block',
      (n: number) => START + (n === 0 ? 0 : 1e9 + Math.floor(n / 1e6)),
      HEADER_READS_MAX,
    ],
  ])('%s', async (_, timeOf, most) => {
    const node = startNode(LENGTH, timeOf);
    const draw = openDraw(SEED);
    const drawn = Array.from({ length: 20 }, () => draw.below(LENGTH - 1));
    for (const number of [0, 1, LENGTH - 2, LENGTH - 1, ...drawn]) {
      const before = node.count();
      const time = timeOf(number);
      const found = await chooseBlock(readerOf(node.url), { versionTime: timeText(time) });
      expect([found.time, found.number >= number]).toEqual([time, true]);
      if (found.number < LENGTH - 1) expect(timeOf(found.number + 1)).toBeGreaterThan(time);
      expect(node.count() - before).toBeLessThanOrEqual(most);
    }
    node.stop();
  });
});
