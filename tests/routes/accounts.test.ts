import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { Address, Hex } from 'ox';
import { didHash } from '../../lib/identity/did.ts';
import { type Chain, startChain } from '../../scripts/world/chain.ts';
import { type Deployment, deployContracts } from '../../scripts/world/deploy.ts';
import { createPasskey } from '../../scripts/world/passkey.ts';
import { mintUsdc, placeUsdc, USDC } from '../../scripts/world/usdc.ts';
import { openAccount, type SmartAccount } from '../../scripts/world/user-operation.ts';
import { devAccount, sendTransaction } from '../../scripts/world/wallet.ts';
import { chainVars } from '../support/chain-vars.ts';
import { type Forwarder, startForwarder } from '../support/forwarder.ts';
import { registerData } from '../support/onchain.ts';
import { expectHoldsNone } from '../support/secrecy.ts';
import { startVault, type TestVault } from '../support/vault.ts';

const KEY = 'a1b2c3d4e5f60718293a4b5c6d7e8f90';
const BASE_USDC = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913';
const SOMEBODY = '0x5b5b5B5b5b5B5b5B5b5B5b5b5B5b5b5B5B5b5b5B';
const ZERO = `0x${'0'.repeat(64)}`;

/** The two chains that the vault knows, each behind a forwarder that a test lets fail. */
let sepolia: Chain;
let base: Chain;
let contracts: Deployment;
let nodes: { sepolia: Forwarder; base: Forwarder };
let t: TestVault;

beforeAll(async () => {
  [sepolia, base] = await Promise.all([startChain(), startChain({ chainId: 8453 })]);
  contracts = await deployContracts(sepolia.rpc);
  await placeUsdc(sepolia.rpc);
  await placeUsdc(base.rpc, BASE_USDC);
  nodes = { sepolia: startForwarder(sepolia.url), base: startForwarder(base.url) };
});
afterAll(async () => {
  await Promise.all([nodes.sepolia.stop(), nodes.base.stop()]);
  await Promise.all([sepolia.stop(), base.stop()]);
});

const settings = () => ({
  ...chainVars(`${nodes.sepolia.url}/v2/${KEY}`, contracts),
  RPC_URL_8453: `${nodes.base.url}/v2/${KEY}`,
  RATE_LIMIT_PROXY_PER_IP: '100000',
});

beforeEach(async () => {
  nodes.sepolia.trouble = undefined;
  nodes.base.trouble = undefined;
  t = await startVault(settings());
});
afterEach(() => t.stop());

/** Every way a node can fail, each of which is 502 `rpc_error`. */
const OUTAGES: Readonly<Record<string, Forwarder['trouble']>> = {
  'an error page': () => new Response('<h1>502</h1>', { status: 502 }),
  'a redirect': () => new Response(null, { status: 302, headers: { location: 'http://127.0.0.1:1/' } }),
  'an error of its own': async (forward) => {
    const answers = [(await (await forward()).json()) as { id: number }].flat();
    const errors = answers.map(({ id }) => ({ jsonrpc: '2.0', id, error: { code: -32000, message: `no key ${KEY}` } }));
    return Response.json(errors.length > 1 ? errors : errors[0]);
  },
  'results of no use': async (forward) => {
    const answers = [(await (await forward()).json()) as object].flat();
    const useless = answers.map((one) => ({ ...one, result: `0x0${'z'.repeat(63)}` }));
    return Response.json(useless.length > 1 ? useless : useless[0]);
  },
};

/** A vault of its own, as what it has learnt of the chain would answer for the node. */
async function expectRpcError(line: string, query: Readonly<Record<string, string>>): Promise<void> {
  for (const trouble of Object.values(OUTAGES)) {
    const own = await startVault(settings());
    nodes.sepolia.trouble = trouble;
    nodes.base.trouble = trouble;
    const reply = await own.call(line, query);
    expect([reply.status, reply.body]).toEqual([502, { error: 'rpc_error' }]);
    expectHoldsNone([reply.text, [...reply.headers], own.entries], KEY, nodes.sepolia.url, nodes.base.url);
    await own.stop();
  }
}

describe('GET /api/accounts/predict', () => {
  const predict = (query: Readonly<Record<string, string>>) => t.call('GET /api/accounts/predict', query);
  const key = { pubKeyX: `0x${'1a'.repeat(32)}`, pubKeyY: `0x${'2b'.repeat(32)}` };

  /** What the factory itself says. */
  const getAddress = async (x: bigint, y: bigint, salt = 0n) => {
    const data = `0xe81b22ea${[x, y, salt].map((word) => word.toString(16).padStart(64, '0')).join('')}`;
    const word = (await sepolia.rpc('eth_call', [{ to: contracts.accountFactory, data }, 'latest'])) as Hex.Hex;
    return Address.checksum(Hex.slice(word, 12));
  };

  test('the counterfactual address of the key, checksummed, and nothing is deployed', async () => {
    const reply = await predict(key);
    expect([reply.status, Object.keys(reply.body)]).toEqual([200, ['address']]);
    expect(reply.body.address).toBe(await getAddress(BigInt(key.pubKeyX), BigInt(key.pubKeyY)));
    expect(Address.validate(reply.body.address, { strict: true })).toBe(true);
    expect(await sepolia.rpc('eth_getCode', [reply.body.address, 'latest'])).toBe('0x');
  });

  test('§4 accounts/predict pubKeyX', async () => {
    const address = await getAddress(0xabcn, 5n);
    for (const pubKeyX of [
      '0xabc',
      'abc',
      'ABC',
      '0xABC',
      '0x0abc',
      `0x${'0'.repeat(61)}abc`,
      `${'0'.repeat(100)}abc`,
    ]) {
      expect((await predict({ pubKeyX, pubKeyY: '5' })).body).toEqual({ address });
    }
  });

  test('§4 accounts/predict pubKeyY', async () => {
    expect((await predict({ pubKeyX: '1', pubKeyY: '0x10' })).body.address).toBe(await getAddress(1n, 16n));
    expect((await predict({ pubKeyX: '1', pubKeyY: '10' })).body.address).toBe(await getAddress(1n, 16n));
    const max = 'f'.repeat(64);
    expect((await predict({ pubKeyX: max, pubKeyY: max })).body.address).toBe(
      await getAddress(2n ** 256n - 1n, 2n ** 256n - 1n),
    );
  });

  test('§4 accounts/predict salt', async () => {
    const of = async (salt?: string) =>
      (await predict({ ...key, ...(salt === undefined ? {} : { salt }) })).body.address;
    const expected = (salt: bigint) => getAddress(BigInt(key.pubKeyX), BigInt(key.pubKeyY), salt);
    expect([await of(), await of(''), await of('0'), await of('0x0')]).toEqual(Array(4).fill(await expected(0n)));
    expect([await of('10'), await of('0xa'), await of('0x0A'), await of('0010')]).toEqual(
      Array(4).fill(await expected(10n)),
    );
    const max = 2n ** 256n - 1n;
    expect([await of(String(max)), await of(`0x${max.toString(16)}`)]).toEqual(Array(2).fill(await expected(max)));
  });

  test('§7 accounts/predict 400 Missing query parameters: pubKeyX, pubKeyY', async () => {
    for (const query of [{}, { pubKeyX: '1' }, { pubKeyY: '1' }, { pubKeyX: '', pubKeyY: '1' }, { salt: 'x' }]) {
      const reply = await predict(query as Record<string, string>);
      expect([reply.status, reply.body]).toEqual([400, { error: 'Missing query parameters: pubKeyX, pubKeyY' }]);
    }
  });

  test('§7 accounts/predict 400 Invalid pubKeyX or pubKeyY: expected uint256 hex string', async () => {
    const above = `1${'0'.repeat(64)}`;
    for (const wrong of [
      'xyz',
      '0x',
      '0xg',
      '-1',
      ' 1',
      '1 ',
      '0X1',
      '1_0',
      '１',
      '0x0x1',
      above,
      `0x${above}`,
      '0'.repeat(1025),
    ]) {
      for (const query of [
        { pubKeyX: wrong, pubKeyY: '1' },
        { pubKeyX: '1', pubKeyY: wrong, salt: 'x' },
      ]) {
        const reply = await predict(query);
        const error = 'Invalid pubKeyX or pubKeyY: expected uint256 hex string';
        expect([wrong, reply.status, reply.body]).toEqual([wrong, 400, { error }]);
      }
    }
  });

  test('§7 accounts/predict 400 Invalid salt: expected uint256 decimal or hex string', async () => {
    for (const salt of [
      'ff',
      '0x',
      '-1',
      '1.0',
      '1e3',
      ' 1',
      '0b1',
      '0xg',
      String(2n ** 256n),
      `0x1${'0'.repeat(64)}`,
    ]) {
      const reply = await predict({ ...key, salt });
      const error = 'Invalid salt: expected uint256 decimal or hex string';
      expect([salt, reply.status, reply.body]).toEqual([salt, 400, { error }]);
    }
  });

  test('§7 accounts/predict 502 rpc_error', () => expectRpcError('GET /api/accounts/predict', key));

  test('once the factory is known to be ours, no chain is needed', async () => {
    await predict(key);
    nodes.sepolia.trouble = OUTAGES['an error page'];
    expect((await predict({ pubKeyX: '1', pubKeyY: '2' })).body.address).toBe(await getAddress(1n, 2n));
  });
});

describe('GET /api/accounts/state', () => {
  const state = (account: string) => t.call('GET /api/accounts/state', { account });

  async function createAccount(): Promise<SmartAccount> {
    const account = await openAccount(sepolia.rpc, contracts, createPasskey());
    await sendTransaction(sepolia.rpc, devAccount('bob').privateKey, {
      to: account.factory,
      data: account.factoryData,
    });
    return account;
  }

  test('§4 accounts/state: the decoded on-chain state, without a DID and with one', async () => {
    const account = await createAccount();
    const key = { pubKeyX: Hex.fromBytes(account.passkey.key.x), pubKeyY: Hex.fromBytes(account.passkey.key.y) };
    const fresh = await state(account.address.toLowerCase());
    expect([fresh.status, fresh.body]).toEqual([200, { nonce: '0x0', did: ZERO, isActive: false, ...key }]);

    const did = `did:example:${account.address}`;
    await sepolia.rpc('anvil_setBalance', [account.address, '0xde0b6b3a7640000']);
    await sepolia.rpc('anvil_impersonateAccount', [account.address]);
    const call = { from: account.address, to: contracts.didRegistry, data: registerData({ did }) };
    await sepolia.rpc('eth_sendTransaction', [call]);
    expect((await state(account.address)).body).toMatchObject({ did: didHash(did), isActive: true, ...key });
  });

  test('an account without code is inactive and all zeros, whatever else there is or is not', async () => {
    const nothing = { nonce: '0x0', did: ZERO, isActive: false, pubKeyX: ZERO, pubKeyY: ZERO };
    const reply = await state(SOMEBODY);
    expect([reply.status, reply.body]).toEqual([200, nothing]);
    // A helper that reverts of such an account, as another deployment's may.
    const other = await startVault({ ...settings(), ACCOUNT_HELPER_ADDRESS: contracts.accountFactory });
    expect((await other.call('GET /api/accounts/state', { account: SOMEBODY })).body).toEqual(nothing);
    const refused = await other.call('GET /api/accounts/state', { account: contracts.didRegistry });
    expect([refused.status, refused.body]).toEqual([502, { error: 'rpc_error' }]);
    await other.stop();
  });

  test('400 Missing query parameters: account, and Invalid account: expected 20-byte address', async () => {
    const missing = await t.call('GET /api/accounts/state');
    expect([missing.status, missing.body]).toEqual([400, { error: 'Missing query parameters: account' }]);
    for (const account of [
      '0x',
      SOMEBODY.slice(2),
      `${SOMEBODY}00`,
      SOMEBODY.slice(0, -1),
      `${SOMEBODY.slice(0, -1)}g`,
      'x',
    ]) {
      const reply = await state(account);
      expect([reply.status, reply.body]).toEqual([400, { error: 'Invalid account: expected 20-byte address' }]);
    }
  });

  test('502 rpc_error', () => expectRpcError('GET /api/accounts/state', { account: SOMEBODY }));

  test('502 rpc_error where the chain has no helper', async () => {
    const other = await startVault({ ...settings(), ACCOUNT_HELPER_ADDRESS: 'none' });
    expect((await other.call('GET /api/accounts/state', { account: SOMEBODY })).body).toEqual({ error: 'rpc_error' });
    await other.stop();
  });
});

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
    const vars = { ...settings(), CHAIN_ID: '31337', CHAIN_NAME: 'Local', RPC_URL_84532: nodes.sepolia.url };
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
      expect([reply.status, reply.body]).toEqual([400, { error: 'Missing query parameters: account, token, chainId' }]);
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
      const own = await startVault({ ...settings(), ...vars });
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
    for (const token of ['ETH', 'USDC']) await expectRpcError('GET /api/balance', { ...eth, token });
    await expectRpcError('GET /api/balance', { ...eth, chainId: '8453' });
  });

  test('502 rpc_error where nothing is at the address of USDC', async () => {
    const own = await startVault({ ...settings(), USDC_ADDRESS: `0x${'7'.repeat(40)}` });
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

test.each(['/api/accounts/predict', '/api/accounts/state', '/api/balance'])(
  '%s is under the limit of calls that cost an upstream one',
  async (path) => {
    const own = await startVault({ ...settings(), RATE_LIMIT_PROXY_PER_IP: '1' });
    expect((await own.call(`GET ${path}`)).status).toBe(400);
    const reply = await own.call(`GET ${path}`);
    expect([reply.status, reply.body]).toEqual([429, { error: 'rate_limited' }]);
    expect(reply.headers.get('ratelimit-policy')).toBe('"proxy-per-ip";q=1;w=60');
    await own.stop();
  },
);
