import { VaultError } from '../../lib/base/error.ts';
import type { Client } from '../../lib/clients/client.ts';
import type { Config } from '../../lib/config/config.ts';
import type { Hosts } from './host.ts';

/**
 * Throws 403 `origin_not_allowed` for a page's request whose `Origin` is neither the vault's own nor one of
 * `ALLOWED_ORIGINS`, where that is set. Programs send no `Origin`.
 */
export function createCheckOrigin(
  { baseUrl, allowedOrigins }: Pick<Config, 'baseUrl' | 'allowedOrigins'>,
  hosts: Hosts,
): (request: Request) => void {
  if (allowedOrigins.length === 0) return () => undefined;
  const allowed = new Set<string>([baseUrl, ...allowedOrigins]);
  return (request) => {
    const origin = request.headers.get('origin');
    if (origin === null || allowed.has(origin) || (origin === 'null' && isOwnForm(request, hosts))) return;
    throw new VaultError('origin_not_allowed');
  };
}

/**
 * The same for a route that a client of `CLIENTS` asks from its own pages: those of its redirect URIs may too. Throws
 * 403 `origin_not_allowed`.
 */
export function demandClientOrigin(
  { baseUrl, allowedOrigins }: Pick<Config, 'baseUrl' | 'allowedOrigins'>,
  request: Request,
  { redirectUris }: Client,
): void {
  const origin = request.headers.get('origin');
  if (allowedOrigins.length === 0 || origin === null || origin === baseUrl || allowedOrigins.includes(origin)) return;
  if (!redirectUris.some((uri) => new URL(uri).origin === origin)) throw new VaultError('origin_not_allowed');
}

/** Browsers hide the origin of a form on a page with `Referrer-Policy: no-referrer`, the vault's own included. */
function isOwnForm(request: Request, hosts: Hosts): boolean {
  return request.headers.get('sec-fetch-site') === 'same-origin' && hosts.isOwn(request);
}

/**
 * Whether pages of other origins may read a path. Of the operator's API they read the stream alone, whose tokens are
 * for pages, and nothing of the authorization endpoint, to which browsers are led (RFC 9700 section 2.6).
 */
export function isShared(path: string): boolean {
  if (path === '/authorize' || path === '/authorize/code') return false;
  return !path.startsWith('/v1/console') || path === '/v1/console/events';
}
