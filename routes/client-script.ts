import type { Route } from './http/route.ts';
import { file } from './http/static-file.ts';

const HEADERS = { 'cache-control': 'public, max-age=600', 'cross-origin-resource-policy': 'cross-origin' };

/** The client for pages of any origin (docs/client.md): what it needs at once, and what it loads when it needs it. */
export const clientScriptRoutes: readonly Route[] = [
  '/client.js',
  '/client-keys.js',
  '/client-operation.js',
  '/payments.js',
].map((path) => file(path, { type: 'text/javascript; charset=utf-8', headers: HEADERS }));
