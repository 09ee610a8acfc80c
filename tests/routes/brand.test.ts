import { describe, expect, test } from 'bun:test';
import { beside } from '../../lib/base/operator-files.ts';
import { PNG, SVG } from '../support/brand.ts';
import { settled } from '../support/settled.ts';
import { startVault } from '../support/vault.ts';

const FILES: Readonly<Record<string, string | Uint8Array>> = {
  '/etc/vault/brands.json': JSON.stringify({ tea: { name: 'Tea House', logo: 'tea.png' }, books: { logo: null } }),
  '/etc/vault/tea.png': PNG,
  '/etc/vault/logo.svg': SVG,
};
const operatorFiles = {
  read: (path: string) => {
    const content = FILES[path];
    return typeof content === 'string' ? new TextEncoder().encode(content) : content;
  },
  list: () => [],
};
const VARS = {
  APPS: 'tea,books',
  BRAND_NAME: 'Market',
  BRAND_LOGO: '/etc/vault/logo.svg',
  BRANDS: '/etc/vault/brands.json',
};

describe('GET /brand/logo', () => {
  test('serves the logo of the operator or of the app, as an image that runs nothing', async () => {
    const t = await startVault(VARS, { operatorFiles });
    const { status, headers, text } = await t.call('GET /brand/logo');
    expect([status, headers.get('content-type'), text]).toEqual([200, 'image/svg+xml', SVG]);
    expect(headers.get('content-security-policy')).toStartWith(
      "default-src 'none'; style-src 'unsafe-inline'; sandbox",
    );
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('vary')).toBe('accept-encoding, x-vault-app');
    const own = await fetch(`${t.url}/brand/logo?app=tea`);
    expect([own.headers.get('content-type'), await own.bytes()]).toEqual(['image/png', PNG]);
    expect((await t.call('GET /brand/logo', {}, { 'X-Vault-App': 'tea' })).headers.get('content-type')).toBe(
      'image/png',
    );
    expect((await t.call('GET /brand/logo?app=books')).status).toBe(404);
    expect((await t.call('GET /brand/logo?app=unknown')).text).toBe(SVG);
    const etag = headers.get('etag') ?? '';
    expect((await t.call('GET /brand/logo', {}, { 'If-None-Match': etag })).status).toBe(304);
    await t.stop();
  });

  test('is 404 without a logo', async () => {
    const t = await startVault();
    expect((await t.call('GET /brand/logo')).body).toEqual({ error: 'not_found' });
    await t.stop();
  });
});

test('the brand names the passkeys’ dialog and the payment handler', async () => {
  const t = await startVault(VARS, { operatorFiles });
  expect((await t.call('GET /pay/config')).body.rpName).toBe('Market');
  expect((await t.call('GET /pay/config?app=tea')).body.rpName).toBe('Tea House');
  expect((await t.call('GET /pay/config?app=Tea')).body.rpName).toBe('Market');
  const { name, short_name } = JSON.parse((await t.call('GET /pay/manifest.json')).text);
  expect([name, short_name]).toEqual(['Market Pay', 'Market']);
  await t.stop();
});

test('a vault does not start with a brand that cannot be used', async () => {
  expect(await settled(startVault({ BRAND_LOGO: '/none.svg' }, { operatorFiles }))).toThrow(
    'BRAND_LOGO is a file that does not exist',
  );
});

test.each([
  ['/etc/brands.json', 'tea.png', '/etc/tea.png'],
  ['brands.json', 'logos/tea.png', 'logos/tea.png'],
  ['/etc/brands.json', '/srv/tea.png', '/srv/tea.png'],
  ['C:\\vault\\brands.json', 'tea.png', 'C:\\vault\\tea.png'],
  ['brands.json', 'D:\\tea.png', 'D:\\tea.png'],
])('beside %p is %p at %p', (file, path, found) => {
  expect(beside(file, path)).toBe(found);
});
