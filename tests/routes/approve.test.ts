import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startVault, type TestVault } from '../support/vault.ts';

let t: TestVault;
beforeAll(async () => {
  t = await startVault();
});
afterAll(() => t.stop());

test('the page of approvals needs no WebAssembly, is in nobody’s frame, and keeps an opener in a popup alone', async () => {
  const page = await t.call('GET /approve');
  expect(page.status).toBe(200);
  expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
  const policy = page.headers.get('content-security-policy') ?? '';
  expect(policy).toContain("default-src 'none'; script-src 'self'; ");
  expect(policy).toContain("frame-ancestors 'none'");
  expect(page.headers.get('x-frame-options')).toBe('DENY');
  expect(page.headers.get('cross-origin-opener-policy')).toBe('same-origin');
  const popup = await t.call('GET /approve?mode=popup&origin=https://app.example');
  expect(popup.headers.get('cross-origin-opener-policy')).toBe('unsafe-none');
  for (const path of ['/approve/approve.js', '/approve/approve.css']) {
    const file = await t.call(`GET ${path}`);
    expect([path, file.status, file.headers.get('cross-origin-resource-policy')]).toEqual([path, 200, 'same-origin']);
  }
});
