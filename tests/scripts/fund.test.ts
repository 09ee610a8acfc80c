import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { type Chain, startChain } from '../../scripts/dev-stack/chain.ts';
import { placeUsdc, USDC } from '../../scripts/dev-stack/usdc.ts';
import { temporaryFolder } from '../support/databases.ts';
import { runScript } from '../support/dev-world.ts';
import { resultOf, startUpstream } from '../support/upstream.ts';

const folder = temporaryFolder();
const env = { PATH: process.env['PATH'] ?? '', HOME: folder.path, WORLD_DIR: folder.path };
const fund = (...accounts: string[]) => runScript('fund.ts', accounts, env);
/** What `npm start` writes down, as far as it is read here. */
const putStack = (chain: string) => Bun.write(join(folder.path, 'stack.json'), JSON.stringify({ chain }));
afterAll(() => folder.remove());

const ACCOUNT = `0x${'a1'.repeat(20)}`;

test('npm run fund without npm start says what to start', async () => {
  const { code, errors } = await fund(ACCOUNT);
  expect([code, errors]).toEqual([
    1,
    'nothing is running here: start it first, in another terminal, with  npm start\n',
  ]);
});

describe('npm run fund', () => {
  let chain: Chain;
  beforeAll(async () => {
    chain = await startChain();
    await placeUsdc(chain.rpc);
    await putStack(chain.url);
  });
  afterAll(() => chain.stop());

  test('gives an account 100 USDC and 1 ETH, and says so', async () => {
    const ended = await fund(ACCOUNT);
    expect(ended).toEqual({ code: 0, output: `${ACCOUNT} got 100 USDC and 1 ETH of the local chain\n`, errors: '' });
    const data = `0x70a08231${ACCOUNT.slice(2).padStart(64, '0')}`;
    expect(BigInt((await chain.rpc('eth_call', [{ to: USDC, data }, 'latest'])) as string)).toBe(100_000_000n);
    expect(BigInt((await chain.rpc('eth_getBalance', [ACCOUNT, 'latest'])) as string)).toBe(10n ** 18n);
  });

  test.each([
    [[], 'say which account:  npm run fund 0x…\n'],
    [['0x…'], '0x… is not an account: expected 0x and 40 hex digits\n'],
    [['ada'], 'ada is not an account: expected 0x and 40 hex digits\n'],
  ])('%p is refused in words', async (given, words) => {
    expect(await fund(...given)).toEqual({ code: 1, output: '', errors: words });
  });

  test('another chain than that of npm start gets nothing, and one that is away is named', async () => {
    const other = startUpstream();
    other.answer = (call) => resultOf(call, 'Geth/v1.16');
    await putStack(other.url);
    const { code, errors } = await fund(ACCOUNT);
    expect([code, errors]).toEqual([1, `the chain at ${other.url} is not that of npm start: no test money there\n`]);
    expect(other.received.map(({ body }) => body.method)).toEqual(['web3_clientVersion']);
    await other.stop();
    expect((await fund(ACCOUNT)).errors).toBe(`no chain answers at ${other.url}: is npm start still running?\n`);
    await putStack(chain.url);
  });
});
