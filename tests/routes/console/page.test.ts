import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { startVault, type TestVault } from '../../support/vault.ts';

const FILES = [
  ['/console', 'text/html; charset=utf-8'],
  ['/console/style.css', 'text/css; charset=utf-8'],
  ['/console/main.js', 'text/javascript; charset=utf-8'],
  ['/console/icon.svg', 'image/svg+xml'],
] as const;

/** Bytes of all files together, before gzip. */
const SIZE_MAX = 160_000;

let t: TestVault;
beforeAll(async () => {
  t = await startVault();
});
afterAll(() => t.stop());

describe.each(FILES)('%s', (path, type) => {
  test('is served with nothing allowed but what is ours', async () => {
    const { status, headers } = await t.call(`GET ${path}`);
    expect(status).toBe(200);
    expect(headers.get('content-type')).toBe(type);
    expect(headers.get('content-security-policy')?.split('; ')).toEqual([
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      "img-src 'self' data:",
      "connect-src 'self'",
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
      "require-trusted-types-for 'script'",
    ]);
    expect(headers.get('cross-origin-opener-policy')).toBe('same-origin');
    expect(headers.get('cross-origin-resource-policy')).toBe('same-origin');
    expect(headers.get('referrer-policy')).toBe('no-referrer');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('cache-control')).toBe('no-cache');
  });

  test('answers HEAD alike, and 304 to whoever has it', async () => {
    const head = await t.call(`HEAD ${path}`);
    expect(head.status).toBe(200);
    expect(head.text).toBe('');
    const again = await t.call(`GET ${path}`, {}, { 'If-None-Match': head.headers.get('etag') ?? '' });
    expect(again.status).toBe(304);
    expect(again.headers.get('content-security-policy')).not.toBeNull();
  });
});

test('all of it is under 160 KB', async () => {
  const sizes = await Promise.all(
    FILES.map(async ([path]) => {
      const { text } = await t.call(`GET ${path}`, {}, { 'Accept-Encoding': 'identity' });
      return new TextEncoder().encode(text).length;
    }),
  );
  expect(sizes.every((size) => size > 500)).toBe(true);
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(SIZE_MAX);
});

test('the page holds no script, style or handler of its own, and asks for nothing of another origin', async () => {
  const { text } = await t.call('GET /console');
  expect(text).not.toMatch(/<script(?![^>]*\bsrc=)|<style|\bstyle=|\bon[a-z]+=/i);
  const named = new Set(Array.from(text.matchAll(/\b(?:src|href)="([^"]*)"/g), ([, url]) => url));
  expect([...named].toSorted()).toEqual(['/console/icon.svg', '/console/main.js', '/console/style.css']);
});

test('no code of the page makes markup of text', async () => {
  const { text } = await t.call('GET /console/main.js');
  expect(text).not.toMatch(/innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|\beval\(|new Function/);
});
