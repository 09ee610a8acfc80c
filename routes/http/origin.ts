import { VaultError } from '../../lib/base/error.ts';
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

/** Browsers hide the origin of a form on a page with `Referrer-Policy: no-referrer`, the vault's own included. */
function isOwnForm(request: Request, hosts: Hosts): boolean {
  return request.headers.get('sec-fetch-site') === 'same-origin' && hosts.isOwn(request);
}

/**
 * Whether pages of other origins may read a path. Of the operator's API they read the stream alone, whose tokens are
 * for pages, and nothing of the authorization endpoint, to which browsers are led (RFC 9700 section 2.6).
 */
export function isShared(path: string): boolean {
  if (path === '/register' || path === '/authorize/code') return false;
  return !path.startsWith('/v1/console') || path === '/v1/console/events';
}
