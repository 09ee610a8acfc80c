import { VaultError } from '../../lib/base/error.ts';
import type { Config } from '../../lib/config/config.ts';

/**
 * Throws 403 `origin_not_allowed` for a page's request whose `Origin` is neither the vault's own nor one of
 * `ALLOWED_ORIGINS`, where that is set. Programs send no `Origin`.
 */
export function createCheckOrigin({
  baseUrl,
  allowedOrigins,
}: Pick<Config, 'baseUrl' | 'allowedOrigins'>): (request: Request) => void {
  if (allowedOrigins.length === 0) return () => undefined;
  const allowed = new Set<string>([baseUrl, ...allowedOrigins]);
  return ({ headers }) => {
    const origin = headers.get('origin');
    if (origin !== null && !allowed.has(origin)) throw new VaultError('origin_not_allowed');
  };
}
