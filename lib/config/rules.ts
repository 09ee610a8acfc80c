import { equalBytes } from '../base/bytes.ts';
import { isPublicHost } from '../base/public-address.ts';
import { chosenProvider, DELIVERY_CHANNELS, namesBut } from '../delivery/providers.ts';
import { memberOf, SETTING_NAMES } from './effective.ts';
import { parseSecret } from './secret-parsers.ts';
import type { Setting } from './setting.ts';
import { type Config, SETTINGS, type SettingName } from './settings.ts';
import { isLoopbackHost } from './url-parsers.ts';

/** A fault of one setting, in words that complete "NAME …" and never contain its value. */
export interface SettingFault {
  readonly name: SettingName;
  readonly problem: string;
  readonly remedy?: string;
}

/** Checks a combination of settings. It gets only those that parsed; `isSet` separates a given value from a default. */
export type Rule = (config: Partial<Config>, isSet: (name: SettingName) => boolean) => readonly SettingFault[];

/** Without it, all clients of a proxy on this machine would share one address and one limit. */
const proxyIsNamed: Rule = ({ baseUrl, host, clientIpHeader }, isSet) => {
  if (!isPublicUrl(baseUrl) || host === undefined || !isLoopbackHost(host) || isSet('TRUSTED_PROXIES')) return [];
  const remedy =
    'set TRUSTED_PROXIES=127.0.0.1/32,::1/128 (or where your proxy is) and let the proxy overwrite the header, ' +
    `in nginx with "proxy_set_header ${clientIpHeader} $remote_addr;", ` +
    `in Caddy's reverse_proxy with "header_up ${clientIpHeader} {http.request.remote.host}", ` +
    `in HAProxy with "http-request set-header ${clientIpHeader} %[src]"`;
  return [{ name: 'TRUSTED_PROXIES', problem: 'must be set when BASE_URL is public and HOST is loopback', remedy }];
};

/** Printed codes are for trials: a reader of the log could verify any identifier. */
const codesAreDelivered: Rule = (config) => {
  const { baseUrl, host, allowLogDelivery } = config;
  const isPublic = isPublicUrl(baseUrl) || (host !== undefined && !isLoopbackHost(host));
  if (!isPublic || allowLogDelivery !== false) return [];
  const problem = 'must not be log when HOST or BASE_URL is public';
  const otherwise = 'or set ALLOW_LOG_DELIVERY=true if codes may be printed';
  return DELIVERY_CHANNELS.flatMap((channel) => {
    const provider = chosenProvider(channel, config);
    if (!provider?.prints) return [];
    return [{ name: channel.setting, problem, remedy: `set ${namesBut(provider, channel)}, ${otherwise}` }];
  });
};

/** Replicas on one database must agree on keys that each would otherwise generate for itself. */
const replicasAgree: Rule = ({ databaseUrl }, isSet) => {
  if (databaseUrl === undefined || /^file:/i.test(databaseUrl) || isSet('OPERATOR_SECRET')) return [];
  const remedy = 'use the same 32 random bytes on every replica, made once with: openssl rand -hex 32';
  return [{ name: 'OPERATOR_SECRET', problem: 'must be set when DATABASE_URL is remote', remedy }];
};

/** Settings that another one requires, by its row or as the chosen provider. */
const partsAreThere: Rule = (config, isSet) => {
  const missing = (names: readonly string[], when: string) =>
    (names as readonly SettingName[])
      .filter((name) => !isSet(name))
      .map((name) => ({ name, problem: `must be set when ${when}`, ...remedyOf(name) }));
  const ofProviders = DELIVERY_CHANNELS.flatMap((channel) => {
    const provider = chosenProvider(channel, config);
    return provider ? missing(provider.needs, `${channel.setting} is ${provider.name}`) : [];
  });
  const ofRows = SETTING_NAMES.flatMap((name) => {
    const { requires } = SETTINGS[name] as Setting;
    return requires !== undefined && isThere(config, name) ? missing([requires], `${name} is`) : [];
  });
  return [...ofProviders, ...ofRows];
};

/** The registrar calls two contracts; without their addresses it would fail later. */
const registrarHasContracts: Rule = (config) => {
  if (config.registrarPrivateKey === undefined) return [];
  const missing: SettingFault[] = [];
  const problem = 'must be an address when REGISTRAR_PRIVATE_KEY is set';
  if (config.didRegistryAddress === null) missing.push({ name: 'DID_REGISTRY_ADDRESS', problem });
  if (config.hyperauthFactoryAddress === null) missing.push({ name: 'HYPERAUTH_FACTORY_ADDRESS', problem });
  return missing;
};

/** Only accounts of the second kind have a guardian. */
const guardianHasFactory: Rule = ({ guardianPrivateKey, accountFactory2Address }) =>
  guardianPrivateKey !== undefined && accountFactory2Address === null
    ? [{ name: 'ACCOUNT_FACTORY_2_ADDRESS', problem: 'must be an address when GUARDIAN_PRIVATE_KEY is set' }]
    : [];

/** A node cannot bear witness to itself. */
const witnessIsAnother: Rule = ({ rpcUrl, rpcWitnessUrl }) =>
  rpcWitnessUrl !== undefined && rpcWitnessUrl === rpcUrl
    ? [{ name: 'RPC_WITNESS_URL', problem: 'must differ from RPC_URL', remedy: "set another provider's node" }]
    : [];

/** A day in which no operation has room sponsors none. */
const dayHasRoom: Rule = ({ sponsorMaxFee, sponsorDailyWei }) =>
  sponsorMaxFee !== undefined && sponsorDailyWei !== undefined && sponsorDailyWei < sponsorMaxFee
    ? [
        {
          name: 'SPONSOR_DAILY_WEI',
          problem: 'must not be less than SPONSOR_MAX_FEE, which one operation may cost',
          remedy: 'raise it or lower SPONSOR_MAX_FEE; SPONSOR_DAILY_MAX=0 sponsors nothing',
        },
      ]
    : [];

/** Without a registry there is nothing to follow. */
const followerHasRegistry: Rule = ({ follower, didRegistryAddress }) =>
  follower === true && didRegistryAddress === null
    ? [{ name: 'FOLLOWER', problem: 'must not be true when DID_REGISTRY_ADDRESS is none' }]
    : [];

/**
 * Webhooks carry events of accounts, and the vault may reach private networks: plain http and private addresses need
 * permission.
 */
const webhooksGoOut: Rule = ({ webhookUrl, webhookAllowPrivate }) => {
  if (webhookUrl === undefined || webhookAllowPrivate !== false) return [];
  const isPublic = isPublicHost(new URL(webhookUrl).hostname);
  if (isPublic && webhookUrl.startsWith('https:')) return [];
  const problem = isPublic ? 'must be an https URL' : 'must be an https URL of a public address';
  const remedy = 'use one, or set WEBHOOK_ALLOW_PRIVATE=true for a receiver in your own network';
  return [{ name: 'WEBHOOK_URL', problem, remedy }];
};

/** Without TLS the token would be readable on the network. */
const tokensAreEncrypted: Rule = ({ databaseUrl, databaseAuthToken }) => {
  const inTheClear = /^(?:http|ws):/i.test(databaseUrl ?? '') && isPublicUrl(databaseUrl);
  return inTheClear && databaseAuthToken !== undefined
    ? [{ name: 'DATABASE_URL', problem: 'must be libsql:, https: or wss: when DATABASE_AUTH_TOKEN is set' }]
    : [];
};

/** One value for two purposes would leak the stronger one: these two are sent in requests. */
const secretsDiffer: Rule = ({ vaultSecret, operatorSecret, metricsToken }) => {
  const faults: SettingFault[] = [];
  const remedy = 'make another one with: openssl rand -hex 32';
  if (isSameSecret(operatorSecret, vaultSecret))
    faults.push({ name: 'OPERATOR_SECRET', problem: 'must differ from VAULT_SECRET', remedy });
  if (isSameSecret(metricsToken, vaultSecret) || isSameSecret(metricsToken, operatorSecret))
    faults.push({ name: 'METRICS_TOKEN', problem: 'must differ from VAULT_SECRET and OPERATOR_SECRET', remedy });
  return faults;
};

/** A thief of the key in daily use, or of the one that deploys, is not to be a guardian too. */
const guardianIsAlone: Rule = ({ guardianPrivateKey: key, registrarPrivateKey, deployerPrivateKey }) => {
  const remedy = 'make one with: openssl rand -hex 32';
  const others = [
    [registrarPrivateKey, 'REGISTRAR_PRIVATE_KEY'],
    [deployerPrivateKey, 'DEPLOYER_PRIVATE_KEY'],
  ] as const;
  return others
    .filter(([other]) => key !== undefined && key === other)
    .map(([, name]) => ({ name: 'GUARDIAN_PRIVATE_KEY', problem: `must differ from ${name}`, remedy }));
};

/** One Verify service repeats one code to a number, whatever it is for. */
const servicesDiffer: Rule = ({
  twilioVerifyServiceSid: registration,
  twilioVerifyServiceSidRecovery: recovery,
  twilioVerifyServiceSidCredential: credential,
}) => {
  const remedy = 'create a Verify service of its own at Twilio';
  const faults: SettingFault[] = [];
  if (recovery !== undefined && recovery === registration)
    faults.push({
      name: 'TWILIO_VERIFY_SERVICE_SID_RECOVERY',
      problem: 'must differ from TWILIO_VERIFY_SERVICE_SID',
      remedy,
    });
  if (credential !== undefined && (credential === registration || credential === recovery))
    faults.push({
      name: 'TWILIO_VERIFY_SERVICE_SID_CREDENTIAL',
      problem: 'must differ from the two other Verify services',
      remedy,
    });
  return faults;
};

/** One address cannot be listened on twice. */
const adminListens: Rule = ({ host, port, adminHost, adminPort }) =>
  adminPort !== undefined && adminPort !== 0 && adminPort === port && adminHost === host
    ? [{ name: 'ADMIN_PORT', problem: 'must differ from PORT' }]
    : [];

/** Refuses a colour in which nobody could read a button, or see a link. */
const brandIsReadable: Rule = ({ brandColor }) =>
  brandColor?.fault ? [{ name: 'BRAND_COLOR', ...brandColor.fault }] : [];

/** Every rule. */
export const RULES: readonly Rule[] = [
  proxyIsNamed,
  codesAreDelivered,
  replicasAgree,
  partsAreThere,
  registrarHasContracts,
  followerHasRegistry,
  dayHasRoom,
  witnessIsAnother,
  webhooksGoOut,
  tokensAreEncrypted,
  secretsDiffer,
  guardianIsAlone,
  servicesDiffer,
  guardianHasFactory,
  adminListens,
  brandIsReadable,
];

/** How to get a value of a setting that must be set and is not: its row says it, or has an example. */
export function remedyOf(name: SettingName): { readonly remedy?: string } {
  const { remedy, example } = SETTINGS[name] as Setting;
  if (remedy !== undefined) return { remedy };
  return example === undefined ? {} : { remedy: `for instance ${/\s/.test(example) ? `"${example}"` : example}` };
}

/** Whether a setting, or its default, is more than unset, `none`, `false` or an empty list. */
export function isThere(config: Partial<Config>, name: string): boolean {
  const value = (config as Readonly<Record<string, unknown>>)[memberOf(name)];
  return value !== undefined && value !== null && value !== false && !(Array.isArray(value) && value.length === 0);
}

function isPublicUrl(url: string | undefined): boolean {
  return url !== undefined && URL.canParse(url) && !isLoopbackHost(new URL(url).hostname);
}

function isSameSecret(text: string | undefined, other: string | Uint8Array | undefined): boolean {
  const secret = typeof other === 'string' ? parseSecret(other) : other;
  const bytes = text === undefined ? undefined : parseSecret(text);
  return bytes !== undefined && secret !== undefined && equalBytes(bytes, secret);
}
