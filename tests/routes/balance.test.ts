import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import type { Chain } from '../../scripts/dev-stack/chain.ts';
import { mintUsdc, USDC } from '../../scripts/dev-stack/usdc.ts';
import { BASE_USDC, startTwoChains, type TwoChains } from '../support/two-chains.ts';
import { startVault, type TestVault } from '../support/vault.ts';

const SOMEBODY = '0x5b5b5B5b5b5B5b5B5b5B5b5b5B5b5b5b5B5b5b5B';

/** Two chains, each behind a forwarder that a test lets fail. */
let chains: TwoChains;
let sepolia: Chain;
let base: Chain;
let nodes: TwoChains['nodes'];
let t: TestVault;

beforeAll(async () => {
  chains = await startTwoChains();
  ({ sepolia, base, nodes } = chains);
});
afterAll(() => chains.stop());

beforeEach(async () => {
  nodes.sepolia.trouble = undefined;
  nodes.base.trouble = undefined;
  t = await startVault(chains.settings());
});
afterEach(() => t.stop());

describe('GET /api/balance', () => {
  const balance = (query: Readonly<Record<string, string>>) => t.call('GET /api/balance', query);
  const eth = { account: SOMEBODY, token: 'ETH', chainId: '84532' };
  const usdc = { ...eth, token: 'USDC' };

  beforeAll(async () => {
    await sepolia.rpc('anvil_setBalance', [SOMEBODY, '0x1']);
    await base.rpc('anvil_setBalance', [SOMEBODY, '0x112210f47de98115']);
    await mintUsdc(sepolia.rpc, SOMEBODY, 1_234_567n);
    await mintUsdc(base.rpc, SOMEBODY, 7n, BASE_USDC);
  });

  test.each([
    ['§2 balance balance', 'balance', '1', '1234567'],
    ['§2 balance decimals', 'decimals', 18, 6],
    ['§2 balance symbol', 'symbol', 'ETH', 'USDC'],
    ['§2 balance formatted', 'formatted', '0.000000000000000001', '1.234567'],
  ])('%s', async (_, name, ofEther, ofUsdc) => {
    expect([(await balance(eth)).body[name], (await balance(usdc)).body[name]]).toEqual([ofEther, ofUsdc]);
  });

  test('§4 balance account', async () => {
    for (const account of [SOMEBODY, SOMEBODY.toLowerCase(), `0x${SOMEBODY.slice(2).toUpperCase()}`]) {
      expect((await balance({ ...usdc, account })).body).toEqual({
        balance: '1234567',
        decimals: 6,
        symbol: 'USDC',
        formatted: '1.234567',
      });
    }
    const nobody = `0x${'0'.repeat(39)}9`;
    expect((await balance({ ...eth, account: nobody })).body.formatted).toBe('0.000000000000000000');
    expect((await balance({ ...usdc, account: nobody })).body).toMatchObject({ balance: '0', formatted: '0.000000' });
  });

  test('§4 balance token', async () => {
    for (const token of ['eth', 'Eth', 'eTH']) expect((await balance({ ...eth, token })).body.symbol).toBe('ETH');
    for (const token of ['usdc', 'uSdC']) expect((await balance({ ...eth, token })).body.symbol).toBe('USDC');
  });

  test('§4 balance chainId', async () => {
    expect((await balance({ ...eth, chainId: '8453' })).body).toMatchObject({
      balance: '1234567890123456789',
      formatted: '1.234567890123456789',
    });
    expect((await balance({ ...usdc, chainId: '8453' })).body).toMatchObject({ balance: '7', formatted: '0.000007' });
  });

  test('the configured chain is supported beside the two, with USDC only where USDC_ADDRESS says', async () => {
    const vars = { ...chains.settings(), CHAIN_ID: '31337', CHAIN_NAME: 'Local', RPC_URL_84532: nodes.sepolia.url };
    const without = await startVault(vars);
    const query = { account: SOMEBODY, chainId: '31337' };
    expect((await without.call('GET /api/balance', { ...query, token: 'ETH' })).body.balance).toBe('1');
    expect((await without.call('GET /api/balance', usdc)).body.balance).toBe('1234567');
    await without.stop();
    const having = await startVault({ ...vars, USDC_ADDRESS: USDC });
    expect((await having.call('GET /api/balance', { ...query, token: 'USDC' })).body.balance).toBe('1234567');
    await having.stop();
  });

  test('§7 balance 400 Missing query parameters: account, token, chainId', async () => {
    for (const name of ['account', 'token', 'chainId'] as const) {
      const { [name]: _, ...rest } = { account: 'x', token: 'x', chainId: 'x' };
      const reply = await balance(rest as Record<string, string>);
      const error = 'Missing query parameters: account, token, chainId';
      expect([reply.status, reply.body]).toEqual([400, { error, hint: `Missing or empty: ${name}.` }]);
    }
  });

  test('§7 balance 400 Unsupported token. Supported: ETH, USDC', async () => {
    for (const token of ['DAI', 'ETH ', 'uſdc', 'constructor', '__proto__']) {
      const reply = await balance({ account: 'x', token, chainId: 'x' });
      expect([reply.status, reply.body]).toEqual([400, { error: 'Unsupported token. Supported: ETH, USDC' }]);
    }
  });

  test('§7 balance 400 Unsupported chainId', async () => {
    for (const chainId of [
      '1',
      '084532',
      '84532 ',
      '+84532',
      '84532.0',
      '0x14a34',
      '8453n',
      'base',
      '-1',
      '1e5',
      '８４５３',
    ]) {
      for (const token of ['ETH', 'USDC']) {
        const reply = await balance({ account: 'x', token, chainId });
        expect([chainId, reply.status, reply.body]).toEqual([chainId, 400, { error: 'Unsupported chainId' }]);
      }
    }
  });

  test('§7 balance 400 USDC not available on this chain', async () => {
    for (const vars of [{ USDC_ADDRESS: 'none' }, { CHAIN_ID: '31337', CHAIN_NAME: 'Local' }]) {
      const own = await startVault({ ...chains.settings(), ...vars });
      const chainId = 'CHAIN_ID' in vars ? '31337' : '84532';
      const reply = await own.call('GET /api/balance', { account: 'x', token: 'USDC', chainId });
      expect([reply.status, reply.body]).toEqual([400, { error: 'USDC not available on this chain' }]);
      await own.stop();
    }
  });

  test('an account of another form is 400, judged last', async () => {
    for (const token of ['ETH', 'USDC']) {
      const reply = await balance({ account: 'x', token, chainId: '84532' });
      expect([reply.status, reply.body]).toEqual([400, { error: 'Invalid account: expected 20-byte address' }]);
    }
  });

  test('§7 balance 502 rpc_error', async () => {
    for (const token of ['ETH', 'USDC']) await chains.expectRpcError('GET /api/balance', { ...eth, token });
    await chains.expectRpcError('GET /api/balance', { ...eth, chainId: '8453' });
  });

  test('502 rpc_error where nothing is at the address of USDC', async () => {
    const own = await startVault({ ...chains.settings(), USDC_ADDRESS: `0x${'7'.repeat(40)}` });
    expect((await own.call('GET /api/balance', usdc)).body).toEqual({ error: 'rpc_error' });
    await own.stop();
  });

  test('200 reads at the same time are a handful of upstream requests', async () => {
    let requests = 0;
    nodes.sepolia.trouble = (forward) => {
      requests++;
      return forward();
    };
    const request = (token: string) =>
      new Request(`${t.url}/api/balance?account=${SOMEBODY}&token=${token}&chainId=84532`);
    const replies = await Promise.all(
      Array.from({ length: 200 }, (_, n) => t.vault.fetch(request(n % 2 ? 'ETH' : 'USDC'))),
    );
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200]));
    expect(requests).toBeLessThanOrEqual(5);
  });
});

test('is under the limit of calls that cost an upstream one', async () => {
  const path = '/api/balance';
  const own = await startVault({ ...chains.settings(), RATE_LIMIT_PROXY_PER_IP: '1' });
  expect((await own.call(`GET ${path}`)).status).toBe(400);
  const reply = await own.call(`GET ${path}`);
  expect([reply.status, reply.body]).toEqual([429, { error: 'rate_limited', limit: 'proxy-per-ip', retry_after: 60 }]);
  expect(reply.headers.get('ratelimit-policy')).toBe('"proxy-per-ip";q=1;w=60');
  await own.stop();
});
