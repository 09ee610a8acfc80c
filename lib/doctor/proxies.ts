import { callUpstream } from '../base/http-client.ts';
import { parseCidr, parseIp } from '../base/ip.ts';
import { isObject } from '../base/json.ts';
import type { Config } from '../config/config.ts';
import { isLoopbackHost } from '../config/url-parsers.ts';
import { MESSAGE_ANSWER_BYTES_MAX, UPSTREAM_TIMEOUT_MS } from '../constants.ts';
import type { Sighting } from '../identity/doctor-token.ts';
import { makeDoctorToken } from '../identity/doctor-token.ts';
import { type Finding, fail, ok, skip, warn } from './finding.ts';
import type { Examined } from './host.ts';

/** A trusted network with fewer bits is a finding. */
const PROXY_BITS_MIN = 8;

/** An address that belongs to nobody (RFC 5737): only a forged header names it. */
const FORGED = '192.0.2.1';

/** Checks the settings of proxies, and asks the running vault which client it sees through `BASE_URL`. */
export async function checkProxies(examined: Examined): Promise<readonly Finding[]> {
  return [...checkNetworks(examined.config), ...(await tryProxy(examined))];
}

function checkNetworks({ trustedProxies, clientIpHeader }: Config): readonly Finding[] {
  const wide = trustedProxies.filter((network) => (parseCidr(network)?.bits ?? 0) < PROXY_BITS_MIN);
  const header = warn(
    'proxies',
    `clients can write ${clientIpHeader}, because proxies only append to it`,
    'set CLIENT_IP_HEADER to a header that the proxy overwrites',
  );
  const networks = wide.map((network) =>
    warn(
      'proxies',
      `TRUSTED_PROXIES ${network} is very wide: everyone in it can choose the address that limits count`,
      'list only the proxies',
    ),
  );
  return [...(/^x-forwarded-for$/i.test(clientIpHeader) ? [header] : []), ...networks];
}

/** Sends an honest request and one with a forged header, and judges which client the vault saw. */
async function tryProxy(examined: Examined): Promise<readonly Finding[]> {
  const { config, namesProxies } = examined;
  const honest = await ask(examined, {});
  if (typeof honest === 'string') return [skip('proxies', `not tried: ${honest}`)];
  const forged = await ask(examined, { [config.clientIpHeader]: FORGED });
  if (typeof forged === 'string') return [skip('proxies', `not tried: ${forged}`)];
  return judge({ ...config, namesProxies }, honest, forged);
}

interface Setup extends Pick<Config, 'baseUrl' | 'clientIpHeader'> {
  /** Whether `TRUSTED_PROXIES` is set; its default is for development. */
  readonly namesProxies: boolean;
}

function judge(
  { baseUrl, clientIpHeader: header, namesProxies }: Setup,
  honest: Sighting,
  forged: Sighting,
): Finding[] {
  const { client, peer, trusted, named, forwarded } = honest;
  const isLocal = isLoopbackHost(new URL(baseUrl).hostname);
  if (isLocal && !namesProxies && forged.client === FORGED)
    return [ok('proxies', `in development programs on this machine may name a client in ${header}`)];
  const faults: Finding[] = [];
  const isNamed = isAddress(named);
  if (forged.client === FORGED)
    faults.push(
      fail('proxies', `clients choose the address that limits count: a forged ${header} was believed`, OVERWRITE),
    );
  if (trusted && !isNamed)
    faults.push(
      fail('proxies', `the proxy at ${peer} names no client in ${header}: its clients share one limit`, OVERWRITE),
    );
  // A header that the proxy appended to is not an address, and the proxy's own counts.
  if (trusted && isNamed && !isAddress(forged.named))
    faults.push(
      fail('proxies', `the proxy at ${peer} spoils ${header} where clients write it: they share one limit`, OVERWRITE),
    );
  if (!trusted && (forwarded || !isLocal))
    faults.push(
      fail(
        'proxies',
        `requests come from ${peer}, which TRUSTED_PROXIES does not list: all clients behind it share one limit`,
        `set TRUSTED_PROXIES to the proxy's address, and let it overwrite ${header} (docs/proxies.md)`,
      ),
    );
  if (faults.length > 0) return faults;
  return [ok('proxies', `the vault saw this machine as ${client}, also under a forged ${header}`)];
}

function isAddress(text: string | null): boolean {
  return text !== null && parseIp(text.trim()) !== undefined;
}

const OVERWRITE = 'let the proxy overwrite the header (docs/proxies.md)';

/** The origin that the vault saw of a request through `BASE_URL`, or why it cannot be known. */
async function ask(
  { config, ...outside }: Examined,
  headers: Readonly<Record<string, string>>,
): Promise<Sighting | string> {
  const { baseUrl, vaultSecret } = config;
  const authorization = `Bearer ${makeDoctorToken(vaultSecret, outside.clock.now())}`;
  const request = { url: `${baseUrl}/api/client`, method: 'GET', headers: { ...headers, authorization } } as const;
  const limits = { timeoutMs: UPSTREAM_TIMEOUT_MS, maxBytes: MESSAGE_ANSWER_BYTES_MAX };
  try {
    const { status, text } = await callUpstream(outside, request, limits);
    if (status === 401) return `the vault at ${baseUrl} has another VAULT_SECRET`;
    const seen: unknown = status === 200 ? JSON.parse(text) : undefined;
    return isSighting(seen) ? seen : `${baseUrl} answers ${status}, but not as this vault`;
  } catch {
    return `nothing answers at ${baseUrl} as a vault`;
  }
}

function isSighting(value: unknown): value is Sighting {
  return isObject(value) && typeof value['client'] === 'string' && typeof value['trusted'] === 'boolean';
}
