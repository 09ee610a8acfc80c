import { afterEach, beforeEach, expect, test } from 'bun:test';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { devAccount } from '../../scripts/dev-stack/wallet.ts';
import { APPS_HOST, APPS_VARS, appRequest, queryOf } from '../support/sign-ups.ts';
import { expectQuietPage } from '../support/strict-page.ts';
import { startVault, type TestVault } from '../support/vault.ts';

let t: TestVault;
beforeEach(async () => {
  t = await startVault(
    {
      ...{ BASE_URL: 'https://vault.example.com', TRUSTED_PROXIES: 'none', ALLOW_LOG_DELIVERY: 'true' },
      ...APPS_VARS,
      REGISTRAR_PRIVATE_KEY: devAccount('registrar').privateKey,
      DID_REGISTRY_ADDRESS: `0x${'11'.repeat(20)}`,
      HYPERAUTH_FACTORY_ADDRESS: `0x${'22'.repeat(20)}`,
    },
    APPS_HOST,
  );
});
afterEach(() => t.stop());

const FILES = [
  [`/authorize?${queryOf(appRequest())}`, 'text/html; charset=utf-8'],
  ['/authorize/authorize.js', 'text/javascript; charset=utf-8'],
  ['/authorize/authorize.css', 'text/css; charset=utf-8'],
] as const;
const SHARED = ['/icons/vault.svg', '/words/authorize.json?lang=fr'];

test.each(FILES)('%s of the page of sign-ins, by GET and by HEAD', async (path, type) => {
  for (const method of ['GET', 'HEAD']) {
    const { status, headers } = await t.call(`${method} ${path}`);
    expect([status, headers.get('content-type'), headers.get('cache-control')]).toEqual([200, type, 'no-cache']);
    expect(headers.get('cross-origin-resource-policy')).toBe('same-origin');
  }
  const { headers } = await t.call(`GET ${path}`);
  expect((await t.call(`GET ${path}`, {}, { 'If-None-Match': headers.get('etag') ?? '' })).status).toBe(304);
});

test('nobody frames the page of sign-ins, nothing comes from elsewhere, and nothing is inline', async () => {
  const page = await t.call(`GET /authorize?${queryOf(appRequest())}`);
  expectQuietPage(page);
  expect(page.headers.get('referrer-policy')).toBe('no-referrer');
  // A popup of the app's own page waits for it: COOP would cut off its opener for good.
  expect(page.headers.get('cross-origin-opener-policy')).toBe('unsafe-none');
});

test('a link that leads nowhere keeps no opener', async () => {
  const wrong = { ...appRequest(), redirect_uri: 'https://evil.example/back' };
  const { status, headers } = await t.call(`GET /authorize?${queryOf(wrong)}`);
  expect([status, headers.get('cross-origin-opener-policy')]).toEqual([400, 'same-origin']);
});

test('all of the page of sign-ins is under 69 KB, unpacked', async () => {
  const files = await Promise.all([...FILES.map(([path]) => path), ...SHARED].map((path) => t.call(`GET ${path}`)));
  const bytes = files.map(({ text }) => new TextEncoder().encode(text).length);
  const sum = (all: number[]) => all.reduce((total, one) => total + one, 0);
  expect(sum(bytes)).toBeLessThan(69_000);
  expect(sum(files.map(({ text }) => gzipSync(text).length))).toBeLessThan(25_100);
});

test('it names no colour of its own', async () => {
  const own = await Bun.file(join(import.meta.dir, '../../assets/authorize/authorize.css')).text();
  expect(own.match(/#[0-9a-f]{3,8}\b|rgba?\(|hsla?\(/gi)).toBeNull();
});
