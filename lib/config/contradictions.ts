import { chosenProvider, DELIVERY_CHANNELS, type DeliveryChannel } from '../delivery/providers.ts';
import { SETTING_NAMES } from './effective.ts';
import { isThere } from './rules.ts';
import type { Setting } from './setting.ts';
import { type Config, SETTINGS, type SettingName } from './settings.ts';
import { isLoopbackHost, isLoopbackOrigin } from './url-parsers.ts';

/**
 * Warns of a setting that cannot be meant, though the vault starts with it. Reads "NAME problem: remedy" and contains
 * no value.
 */
export interface SettingWarning {
  /** The name of the setting, or of the variable that was set instead of one. */
  readonly name: string;
  readonly problem: string;
  readonly remedy: string;
}

/** Whether a value was given, by a person: a default or a generated secret is none. */
type IsSet = (name: SettingName) => boolean;

/** A rule between several settings: those that it warns of where they are given, and when. */
interface Contradiction {
  readonly names: readonly SettingName[];
  readonly when: (config: Config, isSet: IsSet) => boolean;
  readonly problem: string;
  readonly remedy: string;
}

const CONTRADICTIONS: readonly Contradiction[] = [
  {
    names: ['SHARED_NETWORKS'],
    when: ({ networkSharePercent, sharedNetworks }) => networkSharePercent === 100 && sharedNetworks.length > 0,
    problem: 'has no effect, because NETWORK_SHARE_PERCENT is 100',
    remedy: 'set NETWORK_SHARE_PERCENT to less, so that other networks have a limit',
  },
  {
    names: ['HOST'],
    when: ({ host, baseUrl }) => !isLoopbackHost(host) && isLoopbackOrigin(baseUrl),
    problem: 'lets other machines in, but BASE_URL is an origin of this machine alone',
    remedy: 'set BASE_URL to the https origin that people open: links, passkeys and tokens are made for it',
  },
  {
    names: ['RP_IDS'],
    when: ({ rpIds, baseUrl }) => !rpIds.some((rpId) => isWithin(new URL(baseUrl).hostname, rpId)),
    problem: 'names neither the host of BASE_URL nor a domain above it, so the pages of the vault make no passkeys',
    remedy: 'add the host of BASE_URL, or a domain above it',
  },
  {
    names: ['ALLOW_LOG_DELIVERY'],
    when: (config) => config.allowLogDelivery && !DELIVERY_CHANNELS.some((one) => chosenProvider(one, config)?.prints),
    problem: 'is true, though no provider prints codes',
    remedy: 'remove it, so that no later change prints them on a public host',
  },
  {
    names: ['RPC_URL_84532'],
    when: ({ chainId, rpcUrl, rpcUrl84532 }) => chainId === 84532 && rpcUrl !== rpcUrl84532,
    problem: 'has no effect, because RPC_URL is set and CHAIN_ID is 84532',
    remedy: 'remove one of the two',
  },
  {
    names: ['RPC_URL_8453'],
    when: ({ chainId, rpcUrl, rpcUrl8453 }) => chainId === 8453 && rpcUrl !== rpcUrl8453,
    problem: 'has no effect, because RPC_URL is set and CHAIN_ID is 8453',
    remedy: 'remove one of the two',
  },
  {
    names: ['RPC_PUBLIC_URL', 'RPC_WITNESS_URL'],
    when: ({ chainId }, isSet) => !isSet('RPC_URL') && !(isRpcSetting(chainId) && isSet(`RPC_URL_${chainId}`)),
    problem: 'is set, but RPC_URL is not: the vault reads the public endpoint of the chain',
    remedy: 'set RPC_URL to your own endpoint',
  },
  {
    names: ['INDEXER_URL'],
    when: ({ follower }) => follower,
    problem: 'is set, and FOLLOWER is true: the chain is followed by both',
    remedy: 'remove one of the two',
  },
  {
    names: ['DATABASE_AUTH_TOKEN'],
    when: ({ databaseUrl }) => isFile(databaseUrl),
    problem: 'has no effect, because DATABASE_URL is a file',
    remedy: 'set DATABASE_URL to the libSQL server that the token is for, or remove it',
  },
  {
    names: ['DATABASE_CHECKPOINT'],
    when: ({ databaseUrl }) => !isFile(databaseUrl),
    problem: 'has no effect, because DATABASE_URL is a server',
    remedy: 'remove it: it is for the embedded database',
  },
  {
    names: ['BACKUP_S3_ACCESS_KEY_ID', 'BACKUP_S3_SECRET_ACCESS_KEY'],
    when: ({ backupS3AccessKeyId: id, backupS3SecretAccessKey: key }) => (id === undefined) !== (key === undefined),
    problem: 'is set, but its other half is not: backups to s3:// are refused',
    remedy: 'set BACKUP_S3_ACCESS_KEY_ID and BACKUP_S3_SECRET_ACCESS_KEY both',
  },
];

/** The contradictions between usable settings, each with its remedy. `vault serve` and the doctor report them. */
export function findContradictions(config: Config, isSet: IsSet): readonly SettingWarning[] {
  const found = CONTRADICTIONS.filter(({ names, when }) => names.some(isSet) && when(config, isSet));
  return [
    ...DELIVERY_CHANNELS.flatMap((channel) => unusedOf(channel, config, isSet)),
    ...SETTING_NAMES.flatMap((name) => (isSet(name) ? withoutEffect(name, config) : [])),
    ...found.flatMap(({ names, problem, remedy }) => names.filter(isSet).map((name) => ({ name, problem, remedy }))),
  ];
}

/** A warning for a setting whose row names another one that it needs and that is missing. */
function withoutEffect(name: SettingName, config: Config): SettingWarning[] {
  const { needs } = SETTINGS[name] as Setting;
  if (needs === undefined || isThere(config, needs)) return [];
  return [{ name, problem: `has no effect without ${needs}`, remedy: `set ${needs}, or remove it` }];
}

/** Settings that the vault reads whatever the provider is. */
const READ_ANYWAY: readonly string[] = ['SMS_COUNTRIES'];

/** Settings of a provider that is not the chosen one. */
function unusedOf(channel: DeliveryChannel, config: Config, isSet: IsSet): SettingWarning[] {
  const { setting, providers } = channel;
  const chosen = chosenProvider(channel, config);
  const names = new Set(providers.flatMap(({ needs, takes = [] }) => [...needs, ...takes] as readonly SettingName[]));
  const used = [...READ_ANYWAY, ...(chosen?.needs ?? []), ...(chosen?.takes ?? [])];
  const unused = [...names].filter((name) => isSet(name) && !used.includes(name));
  return unused.map((name) => {
    const users = providers
      .filter(({ needs, takes = [] }) => [...needs, ...takes].includes(name))
      .map((one) => one.name);
    const problem = `is set, but ${setting} is ${chosen?.name}, which does not use it`;
    return { name, problem, remedy: `set ${setting}=${users.join(' or ')}, or remove ${name}` };
  });
}

function isRpcSetting(chainId: number): chainId is 84532 | 8453 {
  return chainId === 84532 || chainId === 8453;
}

function isFile(databaseUrl: string): boolean {
  return /^file:/i.test(databaseUrl);
}

function isWithin(host: string, domain: string): boolean {
  return host === domain || host.endsWith(`.${domain}`);
}
