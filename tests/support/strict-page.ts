import { expect } from 'bun:test';

/** Expects of a page that signs that nobody frames it, nothing comes from elsewhere and nothing is inline. */
export function expectStrictPage({ headers, text }: { readonly headers: Headers; readonly text: string }): void {
  expect(headers.get('content-security-policy')?.split('; ')).toEqual([
    "default-src 'none'",
    "script-src 'self' 'wasm-unsafe-eval'",
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
