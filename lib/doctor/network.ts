import { callUpstream } from '../base/http-client.ts';
import { isPublicAddress } from '../base/public-address.ts';
import type { Config } from '../config/config.ts';
import { isLoopbackHost } from '../config/url-parsers.ts';
import { MAX_REGISTRATIONS_PER_IP, MESSAGE_ANSWER_BYTES_MAX, UPSTREAM_TIMEOUT_MS } from '../constants.ts';
import { type DoctorCheck, type Finding, fail, ok, skip, warn } from './finding.ts';
import { type Examined, UNSEEN } from './host.ts';
import { checkProxies } from './proxies.ts';
import { troubleOf } from './trouble.ts';

/** Checks of origin, proxies, sign-up page and webhook receiver. */
export function networkChecks(examined: Examined): readonly DoctorCheck[] {
  const { config } = examined;
  return [
    { name: 'origin', remedy: '', run: () => checkOrigin(examined) },
    ...(config.appOrigins.length === 0
      ? []
      : [{ name: 'origin', remedy: '', run: () => checkWriters(config) } as const]),
    { name: 'proxies', remedy: '', run: () => checkProxies(examined) },
    ...(config.clients === undefined ? [] : [{ name: 'sign-up', remedy: '', run: () => checkSignUp(config) } as const]),
    ...(config.webhookUrl === undefined
      ? []
      : [
          {
            name: 'webhooks',
            remedy: 'make the host name in WEBHOOK_URL resolve',
            run: () => checkWebhook(config, examined.host),
          } as const,
        ]),
  ];
}

async function checkOrigin({ config: { baseUrl }, ...outside }: Examined): Promise<readonly Finding[]> {
  if (isLoopbackHost(new URL(baseUrl).hostname))
    return [
      warn('origin', `only this machine can reach ${baseUrl}`, 'set BASE_URL to a public https origin to serve others'),
    ];
  const remedy = 'if the vault is running, check DNS, proxy and certificate';
  try {
    const limits = { timeoutMs: UPSTREAM_TIMEOUT_MS, maxBytes: MESSAGE_ANSWER_BYTES_MAX };
    const request = { url: `${baseUrl}/api/status`, method: 'GET' } as const;
    const { status, text } = await callUpstream(outside, request, limits);
    if (status === 200 && text.includes('"chainId"')) return [ok('origin', `a vault answers at ${baseUrl}`)];
    return [warn('origin', `${baseUrl} answers ${status}, but not as a vault`, remedy)];
  } catch (error) {
    const trouble = troubleOf(error, remedy);
    return [warn('origin', `nothing answers at ${baseUrl}: ${trouble.text}`, trouble.remedy)];
  }
}

/** Which pages may POST: any may, until somebody lists them. */
function checkWriters({ allowedOrigins, appOrigins }: Config): readonly Finding[] {
  if (allowedOrigins.length > 0) return [ok('origin', 'only pages of BASE_URL and ALLOWED_ORIGINS may POST')];
  const pages = appOrigins.filter((origin) => origin.startsWith('http')).join(',');
  return [
    warn(
      'origin',
      'pages of any origin may POST, and use up the codes of who visits them',
      `set ALLOWED_ORIGINS to the pages that you know, such as ${pages || 'BASE_URL alone'}`,
    ),
  ];
}

/** Checks sign-up on the page for apps: its codes, and its limits of new people. */
function checkSignUp({ emailProvider, smsProvider, maxRegistrationsPerIp, relayDailyMax }: Config): Finding[] {
  const found: Finding[] = [];
  if (emailProvider === 'none' && smsProvider === 'none')
    found.push(fail('sign-up', 'nobody gets a code at /authorize', 'set EMAIL_PROVIDER or SMS_PROVIDER'));
  if (maxRegistrationsPerIp <= MAX_REGISTRATIONS_PER_IP)
    found.push(
      warn(
        'sign-up',
        `/authorize takes ${maxRegistrationsPerIp} new people behind one address, such as an office or a carrier`,
        'set MAX_REGISTRATIONS_PER_IP to what you expect (docs/openid.md)',
      ),
    );
  const daily = `/authorize takes ${relayDailyMax} new people in a day`;
  return found.length > 0 ? found : [ok('sign-up', daily)];
}

async function checkWebhook(
  { webhookUrl = '', webhookAllowPrivate }: Config,
  host: Examined['host'],
): Promise<readonly Finding[]> {
  if (!host) return [skip('webhooks', UNSEEN)];
  const { hostname } = new URL(webhookUrl);
  const addresses = await host.addressesOf(hostname.replace(/^\[|\]$/g, ''));
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
