import { LOG_LEVELS } from '../base/log.ts';
import * as limit from '../constants.ts';
import { isDid, webDid } from '../identity/did.ts';
import { ADMISSION_SETTINGS } from './admission-settings.ts';
import { APP_SETTINGS } from './app-settings.ts';
import { BACKUP_SETTINGS } from './backup-settings.ts';
import { BRAND_SETTINGS } from './brand-settings.ts';
import { CHAIN_SETTINGS } from './chain-settings.ts';
import { CREDENTIAL_SETTINGS } from './credential-settings.ts';
import { DELIVERY_SETTINGS } from './delivery-settings.ts';
import { KEEP_SETTINGS } from './keep-settings.ts';
import { count, LIMIT_SETTINGS } from './limit-settings.ts';
import { LISTENING, whileLoopback } from './listening-settings.ts';
import * as parse from './parsers.ts';
import * as secrets from './secret-parsers.ts';
import { derived, endpoint, plain, type Setting, secret } from './setting.ts';
import { TOKEN_SETTINGS } from './token-settings.ts';
import { UPSTREAM_SETTINGS } from './upstream-settings.ts';
import * as url from './url-parsers.ts';

const STORAGE = {
  DATA_DIR: plain('directory of the generated keys and the embedded database', parse.anyText, './vault-data', {
    example: '/var/lib/vault',
  }),
  DATABASE_URL: endpoint(
    'file: for the embedded database; libsql:, https: or wss: for Turso or a libSQL server',
    url.databaseUrl,
    derived(
      'file:<DATA_DIR>/vault.db',
      ({ DATA_DIR = '' }) => `file:${DATA_DIR.replace(/[%?#]/g, encodeURIComponent)}/vault.db`,
    ),
    { example: 'libsql://vault-example.turso.io' },
  ),
  DATABASE_AUTH_TOKEN: secret('token of the libSQL server', parse.unsetOr(secrets.token(1))),
  DATABASE_CHECKPOINT: plain(
    'who brings the log of the embedded database into its file: the vault (auto), or Litestream beside it (external)',
    parse.oneOf('auto', 'external'),
    'auto',
  ),
  DATABASE_MAX_CONNECTIONS: count('most statements at the same time', limit.DATABASE_MAX_CONNECTIONS, 1),
  ...BACKUP_SETTINGS,
};

const KEYS = {
  VAULT_SECRET: secret(
    'root secret: code pepper, operator DID and attestation key are derived from it',
    secrets.secretBytes,
    derived('generated into <DATA_DIR>/vault.secret'),
    { remedy: secrets.SHARED_SECRET_REMEDY },
  ),
  OPERATOR_SECRET: secret(
    'bearer secret of the operator routes',
    parse.unsetOr(secrets.secretText),
    derived('generated into <DATA_DIR>/operator.secret'),
    { remedy: secrets.SHARED_SECRET_REMEDY },
  ),
  ATTESTATION_SIGNING_KEY: secret(
    'attestation keys, separated by commas, the current one first',
    parse.unsetOr(secrets.secrets(limit.ATTESTATION_KEYS_MAX)),
    derived('<DATA_DIR>/attestation.keys after vault keys rotate, else derived from VAULT_SECRET'),
  ),
  REGISTRAR_DID: plain(
    'DID that issues the attestations',
    parse.parsed('must be a DID', (text) => (isDid(text) ? text : undefined)),
    derived('did:web:<host of BASE_URL>', ({ BASE_URL = '' }) =>
      url.parseOrigin(BASE_URL) ? webDid(BASE_URL) : undefined,
    ),
    { example: 'did:web:vault.example.com' },
  ),
  REGISTRAR_PRIVATE_KEY: secret(
    'key of the account that registers DIDs for others and pays for it',
    parse.unsetOr(secrets.privateKey),
  ),
  GUARDIAN_PRIVATE_KEY: secret(
    'key of the account that proposes recoveries, for owners who named it their guardian; without it none are offered',
    parse.unsetOr(secrets.privateKey),
  ),
  DEPLOYER_PRIVATE_KEY: secret(
    'key of the account that pays for `vault contracts deploy`, and for nothing else',
    parse.unsetOr(secrets.privateKey),
  ),
};

const NAMES = {
  RESERVED_IDENTIFIERS: plain(
    'identifiers that cannot be registered, besides the built-in ones and the names of BRAND_NAME, BRANDS and APPS',
    parse.identifiers,
    '',
    { example: 'admin,press@example.com' },
  ),
  EMAIL_LOCAL_DOMAINS: plain('mail domains without a dot that have addresses (localhost,intranet)', parse.domains, '', {
    example: 'localhost,intranet',
  }),
  RESERVED_DOMAINS: plain('mail domains whose role addresses (admin@, …) cannot be registered', parse.domains, '', {
    example: 'example.com',
  }),
  DID_METHODS: plain('DID methods accepted (key,web,…); all when empty', parse.didMethods, '', { example: 'key,pkh' }),
  SMS_COUNTRIES: plain(
    'country prefixes that SMS are sent to (+1,+49,…), or * for all; required if the provider charges for SMS',
    parse.countries,
    '',
    {
      example: '+1,+49',
      remedy: 'name the countries of your users, for instance +1,+49; * allows every country, also the costly ones',
    },
  ),
  ...ADMISSION_SETTINGS,
  ...TOKEN_SETTINGS,
  ...APP_SETTINGS,
  ...CREDENTIAL_SETTINGS,
  RELATED_ORIGINS: plain('origins that may use the passkeys of BASE_URL', url.origins, '', {
    example: 'https://shop.example',
  }),
  APP_ORIGINS: plain(
    'further origins whose pages and apps may make passkey proofs (https://… or android:apk-key-hash:…)',
    url.appOrigins,
    '',
    { example: 'https://app.example.com' },
  ),
  RP_IDS: plain(
    'RP IDs whose passkeys may make proofs; choose before the first sign-up, as accounts depend on it',
    url.rpIds,
    derived('host of BASE_URL', ({ BASE_URL = '' }) => defaultRpIds(BASE_URL)),
    { example: 'example.com' },
  ),
};

const OPERATION = {
  METRICS_ALLOW: plain(
    'networks that may read /metrics (CIDR, comma list), or none',
    url.networks(0),
    derived('loopback while BASE_URL is loopback, else none', whileLoopback),
    { example: '127.0.0.1/32' },
  ),
  METRICS_TOKEN: secret('bearer token that may read /metrics', parse.unsetOr(secrets.token(16))),
  STREAM_TOKEN_TTL_SECONDS: count(
    'maximum lifetime of a stream token in seconds',
    limit.STREAM_TOKEN_TTL_SECONDS,
    1,
    300,
  ),
  STREAM_HEARTBEAT_SECONDS: count("seconds between a stream's heartbeats", limit.STREAM_HEARTBEAT_SECONDS, 1, 120),
  STREAM_QUEUE_EVENTS_MAX: count(
    'maximum number of events queued for one subscriber',
    limit.STREAM_QUEUE_EVENTS_MAX,
    1,
    100_000,
  ),
  NEXT_PUBLIC_HYPERAUTH_ENABLE_LIVE: plain("the console's live stream", parse.boolean, 'true'),
  LOG_LEVEL: plain('lowest level that is written; debug adds one line per request', parse.oneOf(...LOG_LEVELS), 'info'),
  LOG_FORMAT: plain('format of the log; pretty by default on a terminal', parse.oneOf('json', 'pretty'), 'json'),
};

/** All settings, by subject. */
export const SUBJECTS = {
  Listening: LISTENING,
  Storage: STORAGE,
  Keys: KEYS,
  'Delivery of codes': DELIVERY_SETTINGS,
  'Brand and languages': BRAND_SETTINGS,
  Chain: CHAIN_SETTINGS,
  Upstreams: UPSTREAM_SETTINGS,
  'Names and origins': NAMES,
  Limits: LIMIT_SETTINGS,
  'What is kept': KEEP_SETTINGS,
  Operation: OPERATION,
} as const;

/** All settings, by name; a derived default may use only the settings before its own. */
export const SETTINGS = {
  ...LISTENING,
  ...STORAGE,
  ...KEYS,
  ...DELIVERY_SETTINGS,
  ...BRAND_SETTINGS,
  ...CHAIN_SETTINGS,
  ...UPSTREAM_SETTINGS,
  ...NAMES,
  ...LIMIT_SETTINGS,
  ...KEEP_SETTINGS,
  ...OPERATION,
};

/** A setting's variable name. */
export type SettingName = keyof typeof SETTINGS;

/** The parsed settings, under the camelCase of their variables' names; undefined where unset and without a default. */
export type Config = {
  readonly [Name in SettingName as Camel<Name>]: ValueOf<(typeof SETTINGS)[Name]>;
};

type ValueOf<S> = S extends Setting<infer T> ? T : never;

type Camel<Name extends string> = Name extends `${infer Head}_${infer Tail}`
  ? `${Lowercase<Head>}${Capitalize<Camel<Tail>>}`
  : Lowercase<Name>;

/** Browsers take no IP address as RP ID, so pages on a loopback address use `localhost`. */
function defaultRpIds(baseUrl: string): string | undefined {
  if (!URL.canParse(baseUrl)) return undefined;
  const { hostname } = new URL(baseUrl);
  return url.isLoopbackHost(hostname) ? `${hostname},localhost` : hostname;
}
