import type { Client, Clients } from '../clients/client.ts';
import { readClients } from '../clients/clients-file.ts';
import type { Config } from '../config/config.ts';
import { isLoopbackHost } from '../config/url-parsers.ts';
import { type DoctorCheck, type Finding, ok, warn } from './finding.ts';
import type { Examined } from './host.ts';
import { countKeys, differenceOf, type KeyDifference, keysIn, readAnswer } from './published-keys.ts';
import { troubleOf } from './trouble.ts';

/** Checks of the apps of `CLIENTS`: the issuer as they find it, and how they are set up. */
export function appChecks(examined: Examined): readonly DoctorCheck[] {
  const { config, host } = examined;
  // The file was read at the start; a host without a doctor cannot read it again.
  if (config.clients === undefined || !host) return [];
  const read = () => readClients(config, host.operatorFiles) ?? new Map();
  const remedy = 'see docs/openid.md; vault clients check reads the file alone';
  return [
    {
      name: 'apps',
      remedy,
      run: () => [...checkClients(read(), isLocal(config.baseUrl)), ...checkAgents(config, read())],
    },
    ...(isLocal(config.baseUrl) ? [] : [{ name: 'apps', remedy, run: () => checkIssuer(examined) } as const]),
  ];
}

function isLocal(url: string): boolean {
  return isLoopbackHost(new URL(url).hostname);
}

function checkClients(clients: Clients, isTrial: boolean): readonly Finding[] {
  const all = [...clients.values()];
  const named = (list: readonly Client[]) => list.map(({ id }) => id).join(', ');
  const lax = all.filter(({ needsPkce }) => !needsPkce);
  const local = isTrial ? [] : all.filter(({ redirectUris }) => redirectUris.some(isLocal));
  return [
    ok('apps', `${all.length} ${all.length === 1 ? 'app signs' : 'apps sign'} people in: ${named(all)}`),
    ...(lax.length === 0
      ? []
      : [
          warn(
            'apps',
            `without PKCE where they like: ${named(lax)}`,
            'remove "pkce": "optional" in CLIENTS if the app can do PKCE; else see that it checks nonce or state',
          ),
        ]),
    ...(local.length === 0
      ? []
      : [
          warn(
            'apps',
            `redirect URIs on the person's own machine: ${named(local)}`,
            'remove those of development from redirect_uris, unless the app runs on people’s devices',
          ),
        ]),
  ];
}

/** Checks that clients with a document have a server to use. */
function checkAgents({ clientMetadataHosts: hosts }: Pick<Config, 'clientMetadataHosts'>, clients: Clients) {
  if (hosts.length === 0) return [];
  const servers = new Set([...clients.values()].flatMap(({ resources }) => resources.map(({ url }) => url)));
  if (servers.size > 0) return [ok('apps', `agents of ${hosts.join(', ')} may use ${[...servers].join(', ')}`)];
  const remedy = 'add "resources" to an app of CLIENTS, or unset CLIENT_METADATA_HOSTS; see docs/openid.md';
  return [warn('apps', `agents of ${hosts.join(', ')} find no server that they may use`, remedy)];
}

/** Checks the answers that apps read first: the discovery document with this issuer, and the keys. */
async function checkIssuer({ config: { baseUrl }, stored, ...outside }: Examined): Promise<readonly Finding[]> {
  const remedy =
    'lead /.well-known/openid-configuration, /jwks, /token and /userinfo to the vault; see docs/proxies.md';
  try {
    const [document, jwks] = await Promise.all([
      readAnswer(outside, `${baseUrl}/.well-known/openid-configuration`),
      readAnswer(outside, `${baseUrl}/jwks`),
    ]);
    if (document?.['issuer'] !== baseUrl)
      return [warn('apps', `apps that read ${baseUrl} find no OpenID Provider, or another issuer`, remedy)];
    const keys = keysIn(jwks);
    if (keys.length === 0) return [warn('apps', `apps find no key at ${baseUrl}/jwks`, remedy)];
    const { signingKeys = [] } = (await stored?.().catch(() => undefined)) ?? {};
    const difference = differenceOf(keys, signingKeys, outside.clock.now());
    if (difference !== undefined) return [warn('apps', `${baseUrl}/jwks ${DIFFERENCES[difference]}`, OTHER_KEYS)];
    return [ok('apps', `apps find the issuer ${baseUrl} and ${countKeys(keys)}`)];
  } catch (error) {
    const trouble = troubleOf(error, remedy);
    return [warn('apps', `apps cannot read the issuer ${baseUrl}: ${trouble.text}`, trouble.remedy)];
  }
}

const OTHER_KEYS =
  'have no proxy or CDN keep /jwks for longer than its Cache-Control says, and lead it to a vault on this database; see docs/proxies.md';

const DIFFERENCES: Readonly<Record<KeyDifference, string>> = {
  current: 'lacks the key that signs: apps refuse each sign-in',
  missing: 'lacks a key of ID tokens: apps will refuse what it signs, or has signed',
  foreign: 'has a key that the database does not have: apps still take what it signs, as after a theft',
};
