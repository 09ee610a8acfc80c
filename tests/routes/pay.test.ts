import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { gzipSync } from 'node:zlib';
import { Bytes, Hex } from 'ox';
import { BUILT_IN } from '../../lib/words/languages.ts';
import { type Chain, startChain } from '../../scripts/dev-stack/chain.ts';
import { mintUsdc, placeUsdc, USDC } from '../../scripts/dev-stack/usdc.ts';
import { testClock } from '../support/clock.ts';
import { answering, tokenCode } from '../support/evm/dispatch.ts';
import { type Liar, type Lie, startLiar } from '../support/liar.ts';
import { settled } from '../support/settled.ts';
import { expectStrictPage } from '../support/strict-page.ts';
import { startVault, type TestVault } from '../support/vault.ts';

const BASE_URL = 'https://vault.example.com';
/** Behind a proxy, as a public vault is. */
const PUBLIC = { BASE_URL, TRUSTED_PROXIES: 'none', ALLOW_LOG_DELIVERY: 'true' };

let t: TestVault;
beforeEach(async () => {
  t = await startVault(PUBLIC);
});
afterEach(() => t.stop());

const LINK = '</pay/method-manifest.json>; rel="payment-method-manifest"';
const HTML = 'text/html; charset=utf-8';
const SCRIPT = 'text/javascript; charset=utf-8';

describe('every file of the payment handler, by GET and by HEAD', () => {
  test.each([
    ['/pay', HTML, 'no-cache'],
    ['/pay/', HTML, 'no-cache'],
    ['/pay/method-manifest.json', 'application/json', 'public, max-age=3600'],
    ['/pay/payment-method.json', 'application/json', 'public, max-age=3600'],
    ['/pay/manifest.json', 'application/manifest+json', 'public, max-age=3600'],
    ['/pay/sw.js', SCRIPT, 'no-cache'],
    ['/pay/confirm', HTML, 'no-cache'],
    ['/pay/confirm.js', SCRIPT, 'no-cache'],
    ['/pay/setup.js', SCRIPT, 'no-cache'],
    ['/pay/about.js', SCRIPT, 'no-cache'],
    ['/pay/confirm.css', 'text/css; charset=utf-8', 'no-cache'],
    ['/icons/vault.svg', 'image/svg+xml', 'public, max-age=86400'],
    ['/icons/vault-48.png', 'image/png', 'public, max-age=86400'],
    ['/icons/vault-192.png', 'image/png', 'public, max-age=86400'],
    ['/icons/vault-512.png', 'image/png', 'public, max-age=86400'],
  ])('%s', async (path, type, caching) => {
    for (const method of ['GET', 'HEAD']) {
      const { status, headers } = await t.call(`${method} ${path}`);
      expect([status, headers.get('content-type'), headers.get('cache-control')]).toEqual([200, type, caching]);
    }
  });

  test('a file that a browser has is 304', async () => {
    const { headers } = await t.call('GET /pay/confirm.js');
    const again = await t.call('GET /pay/confirm.js', {}, { 'If-None-Match': headers.get('etag') ?? '' });
    expect([again.status, again.text]).toEqual([304, '']);
  });

  test('page, script, style and worker are under 67 KB in all, raw; with the enclave they are, as they travel', async () => {
    const read = async (path: string) => (await t.call(`GET ${path}`)).text;
    const own = await Promise.all(['/pay/confirm', '/pay/confirm.js', '/pay/confirm.css', '/pay/sw.js'].map(read));
    expect(Buffer.byteLength(own.join(''))).toBeLessThan(67_000);
    // Loaded by the first visit, and by who changes the account.
    expect(Buffer.byteLength(await read('/pay/setup.js'))).toBeLessThan(19_000);
    const enclave = await (await fetch(`${t.url}/enclave.wasm`)).bytes();
    for (const lang of BUILT_IN) {
      const words = await read(`/words/pay.json?lang=${lang}`);
      const sent = [...own, words].map((text) => gzipSync(text)).concat(gzipSync(enclave));
      expect(sent.reduce((sum, bytes) => sum + bytes.length, 0)).toBeLessThan(60_000);
    }
  });
});

describe('what Chromium looks for', () => {
  test.each(['/pay', '/pay/', '/pay/payment-method.json'])(
    '%s carries exactly one Link to the manifest',
    async (path) => {
      for (const method of ['GET', 'HEAD']) {
        // Several would be joined by commas.
        expect((await t.call(`${method} ${path}`)).headers.get('link')).toBe(LINK);
      }
    },
  );

  test('no other answer has a Link', async () => {
    for (const path of ['/pay/method-manifest.json', '/pay/manifest.json', '/pay/confirm', '/pay/sw.js']) {
      expect((await t.call(`GET ${path}`)).headers.get('link')).toBeNull();
    }
  });

  test('the answers that shops look up are not shut off from them', async () => {
    for (const path of [
      '/pay',
      '/pay/',
      '/pay/payment-method.json',
      '/pay/method-manifest.json',
      '/pay/manifest.json',
    ]) {
      expect((await t.call(`GET ${path}`)).headers.get('cross-origin-resource-policy')).toBeNull();
    }
  });

  test('/pay/method-manifest.json is the W3C shape, with absolute URLs, and is not redirected', async () => {
    const { status, body } = await t.call('GET /pay/method-manifest.json');
    expect([status, body]).toEqual([
      200,
      { default_applications: [`${BASE_URL}/pay/manifest.json`], supported_origins: [BASE_URL] },
    ]);
  });

  test("§4 pay/payment-method.json: the specification's shape, one webapp", async () => {
    expect((await t.call('GET /pay/payment-method.json')).body).toEqual({
      default_applications: [{ platform: 'webapp', manifest_url: '/pay/manifest.json' }],
    });
  });

  test('§4 pay/manifest.json: name, icons and worker', async () => {
    const manifest = JSON.parse((await t.call('GET /pay/manifest.json')).text);
    expect(manifest).toEqual({
      name: 'Vault Pay (vault.example.com)',
      short_name: 'Vault Pay',
      icons: [48, 192, 512].map((size) => ({
        src: `/icons/vault-${size}.png`,
        sizes: `${size}x${size}`,
        type: 'image/png',
      })),
      serviceworker: { src: '/pay/sw.js', scope: '/pay/', use_cache: false },
    });
  });

  test.each([48, 192, 512])('the icon of %i pixels is a PNG of that size', async (size) => {
    const bytes = await (await fetch(`${t.url}/icons/vault-${size}.png`)).bytes();
    const view = new DataView(bytes.buffer);
    expect(Hex.fromBytes(bytes.subarray(0, 8))).toBe('0x89504e470d0a1a0a');
    expect([view.getUint32(16), view.getUint32(20)]).toEqual([size, size]);
  });
});

describe('the worker and the page', () => {
  test('§4 pay/sw.js: a classic script for /pay/ that asks nobody', async () => {
    const { headers, text } = await t.call('GET /pay/sw.js');
    expect(headers.get('service-worker-allowed')).toBe('/pay/');
    expect(headers.get('content-security-policy')).toBe("default-src 'none'");
    expect(text).not.toMatch(/\bimport\b|\bexport\b|importScripts|\bfetch\b|XMLHttpRequest/);
    for (const event of ['canmakepayment', 'paymentrequest', 'abortpayment']) expect(text).toContain(event);
    expect(text.length).toBeLessThan(4_000);
  });

  test('§4 pay/confirm: a page that nobody frames, with a strict policy and nothing inline', async () => {
    expectStrictPage(await t.call('GET /pay/confirm'));
    // The page of the identifier names its manifest, which a browser reads under the policy of the page.
    const { headers } = await t.call('GET /pay');
    const policy = headers.get('content-security-policy')?.split('; ') ?? [];
    expect(policy.slice(0, 1).concat(policy.slice(-1))).toEqual(["default-src 'none'", "manifest-src 'self'"]);
  });

  test('the page is cut off from its opener, but for one that it answers', async () => {
    const policyOf = async (query: string) =>
      (await t.call(`GET /pay/confirm${query}`)).headers.get('cross-origin-opener-policy');
    expect(await policyOf('')).toBe('same-origin');
    expect(await policyOf('?mode=redirect&request=e30')).toBe('same-origin');
    expect(await policyOf('?mode=popup')).toBe('unsafe-none');
  });

  test('/pay/config names the first of RP_IDS that its host belongs to', async () => {
    const rpIdOf = async (RP_IDS: string, RELATED_ORIGINS = '') => {
      const other = await startVault({ ...PUBLIC, RP_IDS, RELATED_ORIGINS });
      const { body } = await other.call('GET /pay/config');
      await other.stop();
      return body.rpId;
    };
    expect(await rpIdOf('other.example,example.com,vault.example.com')).toBe('example.com');
    expect(await rpIdOf('ult.example.com,app.example.com')).toBe('vault.example.com');
    // One that moved goes on with the passkeys of its former host, once it says that it may.
    expect(await rpIdOf('old.example', 'https://app.example.com')).toBe('vault.example.com');
    expect(await rpIdOf('old.example', `https://app.example.com,${BASE_URL}`)).toBe('old.example');
    expect(await rpIdOf('old.example,example.com', BASE_URL)).toBe('example.com');
  });

  test('/pay/config names the explorer of a chain that has one, and the one that the operator set', async () => {
    expect((await t.call('GET /pay/config')).body.explorer).toBe('https://sepolia.basescan.org');
    const explorerOf = async (vars: Readonly<Record<string, string>>) => {
      const other = await startVault({ ...PUBLIC, ...vars });
      const { body } = await other.call('GET /pay/config');
      await other.stop();
      return body.explorer;
    };
    expect(await explorerOf({ CHAIN_ID: '31337', RPC_URL: 'http://127.0.0.1:1' })).toBeNull();
    expect(await explorerOf({ EXPLORER_URL: 'none' })).toBeNull();
    expect(await explorerOf({ EXPLORER_URL: 'https://scan.example/base/' })).toBe('https://scan.example/base');
  });

  test.each(['http://scan.example', 'javascript:alert(1)', 'https://a:b@scan.example', 'https://scan.example/?a=1'])(
    'the explorer %s is refused',
    async (EXPLORER_URL) => {
      expect(await settled(startVault({ ...PUBLIC, EXPLORER_URL }))).toThrow('EXPLORER_URL must be an https URL');
    },
  );

  test('/pay/config tells the page its chain and contracts, and whose passkeys it takes', async () => {
    const { body } = await t.call('GET /pay/config');
    expect(body).toMatchObject({ rpId: 'vault.example.com', origin: BASE_URL, chainId: 84532, chain: 'Base Sepolia' });
    expect(body.entryPoint).toBe('0x0000000071727De22E5E9d8BAf0edAc6f37da032');
    expect(body).toMatchObject({ factory2: null, usdc: USDC, feeMax: '10000000000000000' });
    const factory2 = '0x52908400098527886E0F7030069857D2E4169EE7';
    const other = await startVault({ ...PUBLIC, ACCOUNT_FACTORY_2_ADDRESS: factory2 });
    expect((await other.call('GET /pay/config')).body.factory2).toBe(factory2);
    await other.stop();
  });
});

describe('/pay/token and /pay/fees, from a real chain', () => {
  const HOLDER = '0x00000000000000000000000000000000000a11ce';
  let chain: Chain;
  let c: TestVault;
  beforeAll(async () => {
    chain = await startChain();
    await placeUsdc(chain.rpc);
    c = await startVault({ RPC_URL: chain.url, CHAIN_ID: '84532' });
  });
  afterAll(async () => {
    await c.stop();
    await chain.stop();
  });

  /** A token of 9 decimals whose symbol is these 32 bytes, as tokens answered before the standard was final. */
  const place = (address: string, symbol: Uint8Array) =>
    chain.rpc('anvil_setCode', [address, tokenCode(9n, answering(Hex.fromBytes(symbol).slice(2)))]);

  test('native', async () => {
    await chain.rpc('anvil_setBalance', [HOLDER, '0x7b']);
    const { body } = await c.call('GET /pay/token', { token: 'native', account: HOLDER });
    expect(body).toEqual({ token: 'native', symbol: 'ETH', decimals: 18, listed: true, balance: '123', deposit: '0' });
  });

  test('USDC, whatever the case of its address, with decimals as the chain has them', async () => {
    await mintUsdc(chain.rpc, HOLDER, 5n);
    const { body } = await c.call('GET /pay/token', { token: USDC, account: HOLDER });
    expect(body).toEqual({ token: USDC.toLowerCase(), symbol: 'USDC', decimals: 6, listed: true, balance: '5' });
  });

  test('another token that calls itself USDC is not listed', async () => {
    const fake = '0x00000000000000000000000000000000000fa4e0';
    await placeUsdc(chain.rpc, fake);
    expect((await c.call('GET /pay/token', { token: fake })).body).toEqual({
      token: fake,
      symbol: 'USDC',
      decimals: 6,
      listed: false,
    });
  });

  test('a symbol of 32 bytes is read, without letters of other scripts that pass for Latin ones', async () => {
    const odd = '0x00000000000000000000000000000000000fa4e1';
    await place(odd, Bytes.padRight(Bytes.fromString('U\u0405DC'), 32));
    expect((await c.call('GET /pay/token', { token: odd })).body).toEqual({
      token: odd,
      symbol: 'UDC',
      decimals: 9,
      listed: false,
    });
  });

  test.each([
    ['no contract', HOLDER, 'Invalid token: no ERC-20 token at this address'],
    ['no address', 'usdc', 'Invalid token: expected native or a 20-byte address'],
    ['nothing', '', 'Missing query parameters: token'],
  ])('%s is refused', async (_, token, error) => {
    const { status, body } = await c.call('GET /pay/token', { token });
    expect([status, body]).toEqual([400, { error }]);
  });

  test('fees are what the next block asks for', async () => {
    const { status, body } = await c.call('GET /pay/fees');
    expect(status).toBe(200);
    const block = (await chain.rpc('eth_getBlockByNumber', ['pending', false])) as { baseFeePerGas: string };
    expect(BigInt(body.maxFeePerGas)).toBeGreaterThan(BigInt(block.baseFeePerGas));
    expect(BigInt(body.maxPriorityFeePerGas)).toBeGreaterThan(0n);
    expect(body.block).toBe(Number(await chain.rpc('eth_blockNumber')));
  });

  test('the time is that of the next block: the later one of the newest block and the clock', async () => {
    const newest = async () => {
      const block = (await chain.rpc('eth_getBlockByNumber', ['latest', false])) as { timestamp: string };
      return Number(block.timestamp);
    };
    const idle = await c.call('GET /pay/fees');
    expect(idle.body.time).toBe(Math.max(await newest(), Math.floor(c.clock.now() / 1000)));
    await chain.rpc('anvil_mine', ['0x1', '0x0']);
    await chain.rpc('evm_increaseTime', [100 * 86_400]);
    await chain.rpc('anvil_mine', ['0x1', '0x0']);
    expect((await c.call('GET /pay/fees')).body.time).toBe(await newest());
  });

  test.each([
    [30, 30],
    [31, 0],
    [86_400, 0],
  ])('a node whose newest block is %d s ahead of a public vault is believed for %d s', async (ahead, believed) => {
    const block = (await chain.rpc('eth_getBlockByNumber', ['latest', false])) as { timestamp: string };
    const now = Number(block.timestamp) - ahead;
    const open = await startVault(
      { ...PUBLIC, RPC_URL: chain.url, CHAIN_ID: '84532' },
      { clock: testClock(now * 1000) },
    );
    expect((await open.call('GET /pay/fees')).body.time).toBe(now + believed);
    await open.stop();
  });

  test('whether the chain has a precompile for P-256 is asked of the chain', async () => {
    expect((await c.call('GET /pay/fees')).body.p256).toBe(true);
    const older = await startChain({ hardfork: 'prague' });
    const vault = await startVault({ RPC_URL: older.url, CHAIN_ID: '84532' });
    expect((await vault.call('GET /pay/fees')).body.p256).toBe(false);
    await vault.stop();
    await older.stop();
  });

  describe('a node that lies about decimals', () => {
    let liar: Liar;
    beforeAll(() => {
      liar = startLiar({ target: chain.url, seed: 1 });
    });
    afterAll(() => liar.stop());
    beforeEach(() => {
      liar.lies.length = 0;
    });
    const twelve =
      (token: string): Lie =>
      ({ method, params: [call] }) => {
        const { to = '', data } = (call ?? {}) as { to?: string; data?: string };
        const isAsked = method === 'eth_call' && to.toLowerCase() === token.toLowerCase() && data === '0x313ce567';
        return isAsked ? { result: `0x${'c'.padStart(64, '0')}` } : undefined;
      };
    const ask = async (token: string, vars: Record<string, string> = {}) => {
      const vault = await startVault({ RPC_URL: liar.url, CHAIN_ID: '84532', ...vars });
      const { status, body } = await vault.call('GET /pay/token', { token });
      const metrics = (await vault.call('GET /metrics')).text.match(/^vault_node_contradictions_total.* [1-9]\d*$/gm);
      await vault.stop();
      return { answer: [status, body.error, body.reason, body.decimals], entries: vault.entries, metrics };
    };

    test('of USDC, 12 for 6, is not believed: no amount is shown, and the operator hears of it', async () => {
      liar.lies.push(twelve(USDC));
      const { answer, entries, metrics } = await ask(USDC);
      expect(answer).toEqual([502, 'rpc_error', 'decimals_differ', undefined]);
      expect(entries).toContainEqual(
        expect.objectContaining({ level: 'error', event: 'node_contradiction', about: 'decimals', decimals: 12 }),
      );
      expect(metrics).toEqual(['vault_node_contradictions_total{about="decimals"} 1']);
    });

    test.each(['RPC_URL', 'RPC_WITNESS_URL'])(
      'of another token at %s alone, is not believed where there are two nodes',
      async (lying) => {
        const fake = '0x00000000000000000000000000000000000fa4e2';
        await placeUsdc(chain.rpc, fake);
        liar.lies.push(twelve(fake));
        const other = lying === 'RPC_URL' ? 'RPC_WITNESS_URL' : 'RPC_URL';
        const nodes = { [lying]: liar.url, [other]: chain.url };
        expect((await ask(fake, nodes)).answer).toEqual([502, 'rpc_error', 'nodes_disagree', undefined]);
        liar.lies.length = 0;
        expect((await ask(fake, nodes)).answer).toEqual([200, undefined, undefined, 6]);
      },
    );
  });

  test('a chain that cannot be read is 502 rpc_error', async () => {
    const lost = await startVault({ RPC_URL: 'http://127.0.0.1:1', CHAIN_ID: '84532' });
    for (const path of ['/pay/fees', '/pay/token?token=native&account=0x00000000000000000000000000000000000a11ce']) {
      const { status, body } = await lost.call(`GET ${path}`);
      expect([path, status, body]).toEqual([path, 502, { error: 'rpc_error' }]);
    }
    await lost.stop();
  });
});
