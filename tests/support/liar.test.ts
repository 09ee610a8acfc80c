import { afterAll, beforeAll, expect, test } from 'bun:test';
import { type Chain, connectChain, startChain } from '../../scripts/dev-stack/chain.ts';
import { devAccount } from '../../scripts/dev-stack/wallet.ts';
import { type Liar, startLiar } from './liar.ts';

let chain: Chain;
const liars: Liar[] = [];
const liarOf = (seed: number, rate: number) => {
  const liar = startLiar({ target: chain.url, seed, rate });
  liars.push(liar);
  return { liar, rpc: connectChain(liar.url) };
};
const { address } = devAccount('owner');

beforeAll(async () => {
  chain = await startChain();
  await chain.rpc('anvil_mine', ['0x10']);
});

afterAll(async () => {
  await Promise.all(liars.map((liar) => liar.stop()));
  await chain.stop();
});

test('an honest one answers as the node does, batches and errors too', async () => {
  const { liar, rpc } = liarOf(1, 0);
  expect(await rpc('eth_blockNumber')).toBe('0x10');
  const batch = [
    { jsonrpc: '2.0', id: 7, method: 'eth_chainId', params: [] },
    { jsonrpc: '2.0', id: 8, method: 'eth_nonsense', params: [] },
  ];
  const answer = await fetch(liar.url, { method: 'POST', body: JSON.stringify(batch) });
  const [first, second] = (await answer.json()) as { id: number; result?: string; error?: { code: number } }[];
  expect(first).toEqual(expect.objectContaining({ id: 7, result: '0x14a34' }));
  expect(second).toEqual(expect.objectContaining({ id: 8, error: expect.objectContaining({ code: -32601 }) }));
  expect(liar.tally).toEqual({});
});

test('one that fails does so alike for the same seed, and otherwise for another', async () => {
  const many = async (seed: number) => {
    const { liar, rpc } = liarOf(seed, 500);
    const answers: unknown[] = [];
    for (let n = 0; n < 40; n++) {
      answers.push(await rpc('eth_getTransactionCount', [address, 'latest']).catch(({ message }) => message));
    }
    return { answers, tally: liar.tally };
  };
  const [one, again, other] = [await many(3), await many(3), await many(4)];
  expect(again).toEqual(one);
  expect(other.answers).not.toEqual(one.answers);
  expect(Object.keys(one.tally).toSorted()).toEqual(['behind', 'error', 'late', 'lost', 'nonce']);
});

test('a lie is answered always, and the honest node answers the rest', async () => {
  const { liar, rpc } = liarOf(5, 0);
  liar.lies.push(async ({ method, params }, ask) =>
    method === 'eth_getBalance'
      ? { result: `0x${(BigInt(String(await ask(method, params))) + 1n).toString(16)}` }
      : undefined,
  );
  const truth = BigInt((await chain.rpc('eth_getBalance', [address, 'latest'])) as string);
  expect(BigInt((await rpc('eth_getBalance', [address, 'latest'])) as string)).toBe(truth + 1n);
  expect(await rpc('eth_blockNumber')).toBe('0x10');
  expect(liar.tally).toEqual({ lie: 1 });
});
