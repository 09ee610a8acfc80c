import { afterEach, beforeEach, expect, test } from 'bun:test';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { devAccount } from '../../scripts/dev-stack/wallet.ts';
import { APPS_VARS, TEA } from '../support/sign-ups.ts';
import { expectQuietPage } from '../support/strict-page.ts';
import { startVault, type TestVault } from '../support/vault.ts';

let t: TestVault;
beforeEach(async () => {
  t = await startVault({
    ...{ BASE_URL: 'https://vault.example.com', TRUSTED_PROXIES: 'none', ALLOW_LOG_DELIVERY: 'true' },
    ...APPS_VARS,
    REGISTRAR_PRIVATE_KEY: devAccount('registrar').privateKey,
    DID_REGISTRY_ADDRESS: `0x${'11'.repeat(20)}`,
    HYPERAUTH_FACTORY_ADDRESS: `0x${'22'.repeat(20)}`,
  });
});
afterEach(() => t.stop());

const FILES = [
  ['/register', 'text/html; charset=utf-8'],
  ['/authorize/authorize.js', 'text/javascript; charset=utf-8'],
  ['/authorize/authorize.css', 'text/css; charset=utf-8'],
] as const;
const SHARED = ['/icons/vault.svg', '/words/authorize.json?lang=fr'];

test.each(FILES)('%s of the sign-up page, by GET and by HEAD', async (path, type) => {
  for (const method of ['GET', 'HEAD']) {
    const { status, headers } = await t.call(`${method} ${path}`);
    expect([status, headers.get('content-type'), headers.get('cache-control')]).toEqual([200, type, 'no-cache']);
    expect(headers.get('cross-origin-resource-policy')).toBe('same-origin');
  }
  const { headers } = await t.call(`GET ${path}`);
  expect((await t.call(`GET ${path}`, {}, { 'If-None-Match': headers.get('etag') ?? '' })).status).toBe(304);
});

test('nobody frames the sign-up page, nothing comes from elsewhere, and nothing is inline', async () => {
  const page = await t.call('GET /register');
  expectQuietPage(page);
  expect(page.headers.get('referrer-policy')).toBe('no-referrer');
  expect(page.headers.get('cross-origin-opener-policy')).toBe('same-origin');
});

test('as a popup it keeps its opener only for a link that may be answered', async () => {
  const policyOf = async (link: Record<string, string>) =>
    (await t.call(`GET /register?${new URLSearchParams(link)}`)).headers.get('cross-origin-opener-policy');
  const named = { client_id: TEA.app, redirect_uri: TEA.uri };
  expect(await policyOf({ ...named, mode: 'popup' })).toBe('unsafe-none');
  expect(await policyOf({ ...named, mode: 'redirect' })).toBe('same-origin');
  expect(await policyOf({ client_id: TEA.app, mode: 'popup' })).toBe('same-origin');
  expect(await policyOf({ ...named, redirect_uri: 'https://evil.example/back', mode: 'popup' })).toBe('same-origin');
});

test('all of the sign-up page is under 64 KB, unpacked', async () => {
  const files = await Promise.all([...FILES.map(([path]) => path), ...SHARED].map((path) => t.call(`GET ${path}`)));
  const bytes = files.map(({ text }) => new TextEncoder().encode(text).length);
  const sum = (all: number[]) => all.reduce((total, one) => total + one, 0);
  expect(sum(bytes)).toBeLessThan(64_000);
  expect(sum(files.map(({ text }) => gzipSync(text).length))).toBeLessThan(25_000);
});

test('it names no colour of its own', async () => {
  const own = await Bun.file(join(import.meta.dir, '../../assets/authorize/authorize.css')).text();
  expect(own.match(/#[0-9a-f]{3,8}\b|rgba?\(|hsla?\(/gi)).toBeNull();
});
