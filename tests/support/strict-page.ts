import { expect } from 'bun:test';

/** Expects of a page that signs that nobody frames it, nothing comes from elsewhere and nothing is inline. */
export function expectStrictPage(page: Page): void {
  expectPolicy(page, "script-src 'self' 'wasm-unsafe-eval'");
}

/** Expects the same of a page that signs nothing, and so runs no WebAssembly. */
export function expectQuietPage(page: Page): void {
  expectPolicy(page, "script-src 'self'");
}

interface Page {
  readonly headers: Headers;
  readonly text: string;
}

function expectPolicy({ headers, text }: Page, scripts: string): void {
  expect(headers.get('content-security-policy')?.split('; ')).toEqual([
    "default-src 'none'",
    scripts,
    "style-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ]);
  expect(headers.get('x-frame-options')).toBe('DENY');
  expect(text).not.toMatch(/<script(?![^>]*\bsrc=)|<style|\sstyle=|\son\w+=/);
  expect(text.match(/https?:/g)).toBeNull();
}
