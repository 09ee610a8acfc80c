import * as parse from './parsers.ts';
import { derived, plain, type Vars } from './setting.ts';
import * as url from './url-parsers.ts';

/** Settings for the address that the vault listens on, and for the proxies that it trusts. */
export const LISTENING = {
  HOST: plain('address to listen on', url.host, '127.0.0.1'),
  PORT: plain('port to listen on; 0 picks a free one and prints it', parse.integer(0, 65_535), '8787'),
  BASE_URL: plain(
    'public origin of the service',
    url.origin,
    derived('http://localhost:<PORT>', ({ PORT }) => `http://localhost:${PORT}`),
    { example: 'https://vault.example.com' },
  ),
  TRUSTED_PROXIES: plain(
    'networks whose CLIENT_IP_HEADER is trusted (CIDR, comma list), or none',
    url.networks(1),
    derived('loopback while BASE_URL is loopback, else none', whileLoopback),
    { example: '127.0.0.1/32,::1/128' },
  ),
  CLIENT_IP_HEADER: plain("header that carries the client's address", parse.headerName, 'Edge-Connecting-IP', {
    needs: 'TRUSTED_PROXIES',
  }),
  ADMIN_PORT: plain(
    'port of a listener of its own for /metrics, /console and /v1/console, which PORT then does not serve; 0 picks one',
    parse.unsetOr(parse.integer(0, 65_535)),
    undefined,
    { example: '8790' },
  ),
  ADMIN_HOST: plain('address that ADMIN_PORT listens on', url.host, '127.0.0.1', { needs: 'ADMIN_PORT' }),
  ALLOWED_HOSTS: plain(
    'host names besides that of BASE_URL under which /metrics and the console are served',
    url.hostNames,
    '',
    { example: 'vault.internal' },
  ),
  ALLOWED_ORIGINS: plain('origins besides BASE_URL whose pages may POST; all when empty', url.webOrigins, '', {
    example: 'https://app.example.com',
  }),
};

/** Networks that are trusted by default in development alone. */
export function whileLoopback({ BASE_URL = '' }: Vars): string {
  return url.isLoopbackOrigin(BASE_URL) ? '127.0.0.0/8,::1/128' : 'none';
}
