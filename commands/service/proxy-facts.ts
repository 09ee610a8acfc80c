import type { Config } from '../../lib/config/config.ts';
import { type Arguments, UsageError } from '../cli/arguments.ts';
import { option } from '../cli/options.ts';

/** The proxies that files are written for. */
export const PROXIES = ['nginx', 'caddy', 'haproxy'] as const;
export type ProxyName = (typeof PROXIES)[number];

/** While this file exists, nginx and Caddy send everything to the second port. A reboot removes it. */
export const SECOND_SERVES = '/run/vault-second';

/** Where Debian's HAProxy takes orders. */
export const HAPROXY_SOCKET = '/run/haproxy/admin.sock';

/** The facts for a proxy's file, from the settings in force. */
export interface ProxyFacts {
  readonly host: string;
  /** The public port, mostly 443. */
  readonly port: number;
  /** The two addresses of the vault, as `host:port`. */
  readonly first: string;
  readonly second: string;
  readonly clientHeader: string;
  /** Longer than two heartbeats of a stream, and than the longest answer. */
  readonly silenceSeconds: number;
  /** Undefined for the proxy's own default. */
  readonly certificate: string | undefined;
  readonly certificateKey: string | undefined;
}

/** The port beside `PORT`. */
export const SECOND_PORT = option(
  '--second-port <port>',
  'the port of the second vault during an upgrade; by default PORT + 1',
);

/** Throws `UsageError` for an invalid port. */
export function readSecondPort({ options }: Arguments, { port }: Pick<Config, 'port'>): number {
  const text = options[SECOND_PORT.name] ?? String(port + 1);
  const second = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (second < 1 || second > 65_535 || second === port)
    throw new UsageError('--second-port must be a port from 1 to 65535, and not PORT.');
  return second;
}

/** Bytes of a request's body, above what any route takes. The vault has a smaller limit for each route. */
export const PROXY_BODY = { bytes: 1_048_576, nginx: '1m', caddy: '1MB' } as const;

const SILENCE_SECONDS = 60;

/** The facts of the settings in force. Throws `UsageError` where no proxy can serve them. */
export function readProxyFacts(config: Config, { secondPort, certificate, certificateKey }: ProxyChoice): ProxyFacts {
  const url = new URL(config.baseUrl);
  if (url.protocol !== 'https:')
    throw new UsageError(
      `--proxy needs a public https origin, and BASE_URL is ${config.baseUrl}: add --base-url https://vault.example.com.`,
    );
  const at = (port: number) => `${upstreamHost(config.host)}:${port}`;
  return {
    host: url.hostname,
    port: url.port === '' ? 443 : Number(url.port),
    first: at(config.port),
    second: at(secondPort),
    clientHeader: config.clientIpHeader,
    silenceSeconds: Math.max(SILENCE_SECONDS, 2 * config.streamHeartbeatSeconds + 10),
    certificate,
    certificateKey,
  };
}

/** The facts that are not in the settings. */
export interface ProxyChoice {
  readonly secondPort: number;
  readonly certificate?: string | undefined;
  readonly certificateKey?: string | undefined;
}

/** Where a proxy on the same machine, or a health check, reaches a vault that listens on `host`. */
export function upstreamHost(host: string): string {
  if (host === '0.0.0.0' || host === '') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return host.includes(':') ? `[${host}]` : host;
}
