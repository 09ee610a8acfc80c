import type { Route } from '../http/route.ts';
import { file } from '../http/static-file.ts';

/** Only our own script and style run, and only our own origin is reached: events hold text that anyone may write. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join('; ');

const HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': POLICY,
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), microphone=(), geolocation=(), payment=(), usb=()',
};

/** The operator's console: a page without data until the operator signs in. The data comes from `/v1/console/…`. */
export const consolePageRoutes = [
  file('/console', {
    asset: '/console/index.html',
    type: 'text/html; charset=utf-8',
    summary: "The operator's console",
    headers: HEADERS,
  }),
  file('/console/style.css', { type: 'text/css; charset=utf-8', headers: HEADERS }),
  file('/console/icon.svg', { type: 'image/svg+xml', headers: HEADERS }),
  file('/console/main.js', { type: 'text/javascript; charset=utf-8', headers: HEADERS }),
] as const satisfies readonly Route[];
