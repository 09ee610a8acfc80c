import { lookup } from 'node:dns/promises';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '../../lib/base/clock.ts';
import { callUpstream } from '../../lib/base/http-client.ts';
import { isPublicAddress } from '../../lib/base/public-address.ts';
import type { Config } from '../../lib/config/config.ts';
import { isLoopbackHost } from '../../lib/config/url-parsers.ts';
import { MAX_REGISTRATIONS_PER_IP, MESSAGE_ANSWER_BYTES_MAX, UPSTREAM_TIMEOUT_MS } from '../../lib/constants.ts';
import { KEY_FILES } from '../setup/secrets.ts';
import { type DoctorCheck, type Finding, fail, ok, warn } from './finding.ts';
import { checkProxies } from './proxies.ts';

/** Checks who can read the vault's files. */
export function fileChecks({ dataDir }: Config): readonly DoctorCheck[] {
  return [{ name: 'files', remedy: `give the vault access to DATA_DIR ${dataDir}`, run: () => checkModes(dataDir) }];
}

/** Checks of origin, proxies and webhook receiver. */
export function networkChecks(
  config: Config,
  { resolve = addressesOf, namesProxies = true }: { resolve?: typeof addressesOf; namesProxies?: boolean } = {},
): readonly DoctorCheck[] {
  return [
    { name: 'origin', remedy: '', run: () => checkOrigin(config) },
    { name: 'proxies', remedy: '', run: () => checkProxies(config, namesProxies) },
    ...(config.registerRedirects.length === 0 ? [] : [{ name: 'sign-up', remedy: '', run: () => checkSignUp(config) }]),
    ...(config.webhookUrl === undefined
      ? []
      : [
          {
            name: 'webhooks',
            remedy: 'make the host name in WEBHOOK_URL resolve',
            run: () => checkWebhook(config, resolve),
          },
        ]),
  ];
}

function checkModes(dataDir: string): readonly Finding[] {
  if (!existsSync(dataDir)) return [ok('files', `there is no DATA_DIR ${dataDir} yet: the first start creates it`)];
  const modes = [
    [dataDir, 0o700],
    ...['vault.db', ...KEY_FILES].map((name) => [join(dataDir, name), 0o600] as const),
  ] as const;
  const there = modes.filter(([path]) => existsSync(path));
  const open = there.filter(([path]) => (statSync(path).mode & 0o077) !== 0);
  const left = readdirSync(dataDir).filter((name) => DRAFT.test(name));
  return [
    ...open.map(([path, mode]) =>
      warn('files', `${path} can be read by other users`, `chmod ${mode.toString(8)} ${path}`),
    ),
    ...left.map((name) =>
      warn('files', `${name} was left by a killed command, or is still being written`, `rm ${join(dataDir, name)}`),
    ),
    ...(open.length === 0 ? [ok('files', `${there.length} in DATA_DIR, none readable by other users`)] : []),
  ];
}

/** As `draftOf` names what is not whole yet. */
const DRAFT = /\.\d+\.[0-9a-f]{8}-[0-9a-f-]{27}$/;

async function checkOrigin({ baseUrl }: Config): Promise<readonly Finding[]> {
  if (isLoopbackHost(new URL(baseUrl).hostname))
    return [
      warn('origin', `only this machine can reach ${baseUrl}`, 'set BASE_URL to a public https origin to serve others'),
    ];
  const remedy = 'if the vault is running, check DNS, proxy and certificate';
  try {
    const limits = { timeoutMs: UPSTREAM_TIMEOUT_MS, maxBytes: MESSAGE_ANSWER_BYTES_MAX };
    const request = { url: `${baseUrl}/api/status`, method: 'GET' } as const;
    const { status, text } = await callUpstream({ fetch, clock: systemClock }, request, limits);
    if (status === 200 && text.includes('"chainId"')) return [ok('origin', `a vault answers at ${baseUrl}`)];
    return [warn('origin', `${baseUrl} answers ${status}, but not as a vault`, remedy)];
  } catch (error) {
    return [warn('origin', `nothing answers at ${baseUrl}: ${error instanceof Error ? error.message : error}`, remedy)];
  }
}

/** The page for apps: who could not be registered there. */
function checkSignUp({ emailProvider, smsProvider, maxRegistrationsPerIp, relayDailyMax }: Config): Finding[] {
  const found: Finding[] = [];
  if (emailProvider === 'none' && smsProvider === 'none')
    found.push(fail('sign-up', 'nobody gets a code at /register', 'set EMAIL_PROVIDER or SMS_PROVIDER'));
  if (maxRegistrationsPerIp <= MAX_REGISTRATIONS_PER_IP)
    found.push(
      warn(
        'sign-up',
        `/register takes ${maxRegistrationsPerIp} new people behind one address, such as an office or a carrier`,
        'set MAX_REGISTRATIONS_PER_IP to what you expect (docs/register.md)',
      ),
    );
  const daily = `/register takes ${relayDailyMax} new people in a day`;
  return found.length > 0 ? found : [ok('sign-up', daily)];
}

async function addressesOf(name: string): Promise<readonly string[]> {
  return (await lookup(name, { all: true })).map(({ address }) => address);
}

async function checkWebhook(
  { webhookUrl = '', webhookAllowPrivate }: Config,
  resolve: typeof addressesOf,
): Promise<readonly Finding[]> {
  const { hostname } = new URL(webhookUrl);
  const addresses = await resolve(hostname.replace(/^\[|\]$/g, ''));
  const inside = addresses.filter((address) => !isPublicAddress(address));
  if (inside.length === 0) return [ok('webhooks', `${hostname} is public; nothing was posted`)];
  if (webhookAllowPrivate)
    return [ok('webhooks', `${hostname} is private, which WEBHOOK_ALLOW_PRIVATE allows; nothing was posted`)];
  if (inside.length < addresses.length)
    return [
      warn(
        'webhooks',
        `${hostname} has private and public addresses; webhooks go only to the public ones`,
        'remove the private addresses from its DNS',
      ),
    ];
  return [
    fail(
      'webhooks',
      `${hostname} has only private addresses, to which no webhooks are posted`,
      'use a public receiver, or set WEBHOOK_ALLOW_PRIVATE=true',
    ),
  ];
}
