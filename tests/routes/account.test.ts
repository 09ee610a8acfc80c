import { afterEach, beforeEach, expect, test } from 'bun:test';
import { gzipSync } from 'node:zlib';
import { BUILT_IN } from '../../lib/words/languages.ts';
import { expectStrictPage } from '../support/strict-page.ts';
import { startVault, type TestVault } from '../support/vault.ts';

let t: TestVault;
beforeEach(async () => {
  t = await startVault({ BASE_URL: 'https://vault.example.com', TRUSTED_PROXIES: 'none', ALLOW_LOG_DELIVERY: 'true' });
});
afterEach(() => t.stop());

const HTML = 'text/html; charset=utf-8';
const SCRIPT = 'text/javascript; charset=utf-8';
const STYLE = 'text/css; charset=utf-8';
const FILES = [
  ['/account', HTML],
  ['/account/account.js', SCRIPT],
  ['/account/qr.js', SCRIPT],
  ['/account/statement.js', SCRIPT],
  ['/account/account.css', STYLE],
  ['/design/tokens.css', STYLE],
  ['/design/parts.css', STYLE],
] as const;

test.each(FILES)('%s of the account page, by GET and by HEAD', async (path, type) => {
  for (const method of ['GET', 'HEAD']) {
    const { status, headers } = await t.call(`${method} ${path}`);
    expect([status, headers.get('content-type'), headers.get('cache-control')]).toEqual([200, type, 'no-cache']);
    expect(headers.get('cross-origin-resource-policy')).toBe('same-origin');
  }
  const { headers } = await t.call(`GET ${path}`);
  expect((await t.call(`GET ${path}`, {}, { 'If-None-Match': headers.get('etag') ?? '' })).status).toBe(304);
});

test('nobody frames the account page, nothing comes from elsewhere, and nothing is inline', async () => {
  const page = await t.call('GET /account');
  expectStrictPage(page);
  expect(page.headers.get('cross-origin-opener-policy')).toBe('same-origin');
});

/** Loaded by who adds a key of another device, or makes a statement. */
const APART = ['/account/qr.js', '/account/statement.js'];

test('the account page, with the enclave and one part that it loads, is under 60 KB as it travels; so is a visit in any language', async () => {
  const sizeOf = async (path: string) => gzipSync((await t.call(`GET ${path}`)).text).length;
  const sum = (sizes: readonly number[]) => sizes.reduce((all, size) => all + size, 0);
  const enclave = gzipSync(await (await fetch(`${t.url}/enclave.wasm`)).bytes()).length;
  const own = FILES.map(([path]) => path).filter((path) => !APART.includes(path));
  const visited = enclave + sum(await Promise.all(own.map(sizeOf)));
  for (const part of APART) expect(visited + (await sizeOf(part))).toBeLessThan(60_000);
  for (const lang of BUILT_IN)
    expect(visited + (await sizeOf(`/words/account.json?lang=${lang}`))).toBeLessThan(60_000);
});

test('a page names no colour of its own: all are in the tokens', async () => {
  const RAW = /#[0-9a-f]{3,8}\b|rgba?\(|hsla?\(/gi;
  for (const path of ['/design/parts.css', '/account/account.css']) {
    const colors = (await t.call(`GET ${path}`)).text.match(RAW) ?? [];
    // A camera reads a QR code black on white, in the dark too.
    expect([path, colors]).toEqual([path, path.startsWith('/account') ? ['#fff', '#000'] : []]);
  }
});
