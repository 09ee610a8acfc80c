import { describe, expect, test } from 'bun:test';
import { checksum } from 'ox/Address';
import { toHex } from '../../../lib/base/bytes.ts';
import { CHAINS } from '../../../lib/config/chain-settings.ts';
import {
  type Config,
  ConfigError,
  effectiveVars,
  readConfig,
  SETTING_NAMES,
  type SettingFault,
} from '../../../lib/config/config.ts';
import { maskSetting } from '../../../lib/config/setting.ts';
import { SETTINGS } from '../../../lib/config/settings.ts';
import * as constants from '../../../lib/constants.ts';

const VAULT_SECRET = '000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f';
const OPERATOR_SECRET = 'ff0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f';

type Texts = Readonly<Record<string, string>>;

/** What a public vault needs besides its origin. */
const GUARDIAN = { GUARDIAN_PRIVATE_KEY: '1'.repeat(64), ACCOUNT_FACTORY_2_ADDRESS: `0x${'2'.repeat(40)}` };
const PUBLIC: Texts = {
  BASE_URL: 'https://vault.example.com',
  TRUSTED_PROXIES: '10.0.0.0/8',
  EMAIL_PROVIDER: 'resend',
  RESEND_API_KEY: 're_1',
  EMAIL_FROM: 'Vault <no-reply@example.com>',
  SMS_PROVIDER: 'twilio',
  TWILIO_ACCOUNT_SID: 'AC1',
  TWILIO_AUTH_TOKEN: 'token',
  TWILIO_VERIFY_SERVICE_SID: 'VA1',
  SMS_COUNTRIES: '+1',
};

function read(vars: Texts = {}): Config {
  return readConfig({ VAULT_SECRET, ...vars });
}

function faultsOf(vars: Texts): readonly SettingFault[] {
  try {
    read(vars);
    return [];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.faults;
  }
}

function faultyNames(vars: Texts): string[] {
  return faultsOf(vars).map(({ name }) => name);
}

describe('defaults', () => {
  test('a vault needs nothing but its root secret', () => {
    const config = read();
    expect(config).toMatchObject({ host: '127.0.0.1', port: 8787, baseUrl: 'http://localhost:8787' });
    expect(config).toMatchObject({
      databaseUrl: 'file:./vault-data/vault.db',
      registrarDid: 'did:web:localhost%3A8787',
    });
    expect(config).toMatchObject({ emailProvider: 'log', smsProvider: 'log', logLevel: 'info', logFormat: 'json' });
    expect(config.trustedProxies).toEqual(['127.0.0.0/8', '::1/128']);
    expect(config.operatorSecret).toBeUndefined();
  });

  test("every constant of the specification's section 8 is a setting whose default is its value", () => {
    const names = [
      'MAX_REGISTRATIONS_PER_IP',
      'MAX_VERIFY_ATTEMPTS',
      'EMAIL_CODE_EXPIRY_SECONDS',
      'RATE_LIMIT_CODES_PER_IDENTIFIER',
      'MAX_VERIFY_SENDS_PER_IP',
      'ATTESTATION_TTL_SECONDS',
      'DATABASE_MAX_CONNECTIONS',
      'STREAM_TOKEN_TTL_SECONDS',
      'STREAM_HEARTBEAT_SECONDS',
      'STREAM_QUEUE_EVENTS_MAX',
    ] as const;
    const inForce = effectiveVars({});
    const values = new Map(Object.entries(constants));
    expect(names.map((name) => Number(inForce[name]))).toEqual(names.map((name) => Number(values.get(name))));
  });

  test('the place of the database is the same, asked for alone', () => {
    for (const vars of [{}, { DATA_DIR: ' /srv/a?b ' }, { DATABASE_URL: 'file:x.db' }]) {
      const { DATA_DIR, DATABASE_URL } = effectiveVars(vars);
      expect(effectiveVars(vars, ['DATA_DIR', 'DATABASE_URL'])).toEqual({ DATA_DIR, DATABASE_URL });
    }
  });

  test('every default is one that its own setting accepts', () => {
    expect(faultyNames({})).toEqual([]);
    expect(faultyNames({ CHAIN_ID: '8453' })).toEqual([]);
  });

  test('the contracts of chain 84532 are not taken for those of another chain', () => {
    expect(read().didRegistryAddress).toBe('0xD38972ffEA26B66F09e2109e650887ACd447E7B7');
    const other = read({ CHAIN_ID: '31337', RPC_URL: 'http://127.0.0.1:8545' });
    const { entryPointAddress, didRegistryAddress, hyperauthFactoryAddress, usdcAddress, chainName } = other;
    expect([entryPointAddress, didRegistryAddress, hyperauthFactoryAddress, usdcAddress]).toEqual([
      null,
      null,
      null,
      null,
    ]);
    expect(chainName).toBe('Chain 31337');
    expect(faultyNames({ CHAIN_ID: '31337' })).toEqual(['RPC_URL']);
  });

  test('the endpoint of the configured chain stands for that chain everywhere', () => {
    const config = read({ RPC_URL: 'https://rpc.example.com/v2/key' });
    expect(config).toMatchObject({ rpcUrl84532: config.rpcUrl, rpcPublicUrl: 'https://rpc.example.com' });
    expect(config.rpcUrl8453).toBe('https://mainnet.base.org');
    expect(read({ RPC_URL_84532: 'https://rpc.example.com' }).rpcUrl).toBe('https://rpc.example.com');
  });

  test('RP_IDS is the host of BASE_URL; on loopback localhost, as browsers take no IP address', () => {
    expect(
      read({ BASE_URL: 'https://vault.example.com:8443', ALLOW_LOG_DELIVERY: 'true', TRUSTED_PROXIES: 'none' }).rpIds,
    ).toEqual(['vault.example.com']);
    expect(read({ BASE_URL: 'http://localhost:8787' }).rpIds).toEqual(['localhost']);
    expect(read({ BASE_URL: 'http://127.0.0.1:8787' }).rpIds).toEqual(['127.0.0.1', 'localhost']);
    expect(read({ BASE_URL: 'http://[::1]:8787' }).rpIds).toEqual(['[::1]', 'localhost']);
  });

  test('a data directory may have a name that means something in a URL', () => {
    expect(read({ DATA_DIR: './50% of?#' }).databaseUrl).toBe('file:./50%25 of%3F%23/vault.db');
  });
});

/** The hash of an Android app's certificate. */
const APK = 'A'.repeat(43);

describe('forms', () => {
  const accepted: readonly [keyof Config, string, string, unknown][] = [
    ['port', 'PORT', ' 0 ', 0],
    ['baseUrl', 'BASE_URL', 'HTTP://LocalHost:80/', 'http://localhost'],
    ['baseUrl', 'BASE_URL', 'http://[::1]:9000', 'http://[::1]:9000'],
    ['rpcUrl', 'RPC_URL', 'https://rpc.example.com/key/', 'https://rpc.example.com/key'],
    ['allowLogDelivery', 'ALLOW_LOG_DELIVERY', 'true', true],
    ['trustedProxies', 'TRUSTED_PROXIES', '10.0.0.0/8, ::1', ['10.0.0.0/8', '::1']],
    ['trustedProxies', 'TRUSTED_PROXIES', 'none', []],
    ['metricsAllow', 'METRICS_ALLOW', '0.0.0.0/0', ['0.0.0.0/0']],
    ['relayMinBalance', 'RELAY_MIN_BALANCE', '0.002 ether', 2_000_000_000_000_000n],
    ['relayMinBalance', 'RELAY_MIN_BALANCE', '1', 10n ** 18n],
    ['relayMaxFeeGwei', 'RELAY_MAX_FEE_GWEI', '10', 10_000_000_000n],
    ['relayMaxFeeGwei', 'RELAY_MAX_FEE_GWEI', '0.05 gwei', 50_000_000n],
    ['smsCountries', 'SMS_COUNTRIES', '49,+1', ['+49', '+1']],
    ['smsCountries', 'SMS_COUNTRIES', '*', ['+']],
    ['reservedIdentifiers', 'RESERVED_IDENTIFIERS', 'Boss,,ceo@example.com', ['boss', 'ceo@example.com']],
    ['reservedDomains', 'RESERVED_DOMAINS', 'Example.com,bücher.example', ['example.com', 'xn--bcher-kva.example']],
    ['didMethods', 'DID_METHODS', '', []],
    ['relatedOrigins', 'RELATED_ORIGINS', 'https://a.example/', ['https://a.example']],
    [
      'appOrigins',
      'APP_ORIGINS',
      `https://a.example,android:apk-key-hash:${APK}`,
      ['https://a.example', `android:apk-key-hash:${APK}`],
    ],
    ['rpIds', 'RP_IDS', 'Example.com, app.example.com,example.com', ['example.com', 'app.example.com']],
    ['didRegistryAddress', 'DID_REGISTRY_ADDRESS', 'none', null],
    [
      'bundlerExtraMethods',
      'BUNDLER_EXTRA_METHODS',
      'pimlico_getUserOperationGasPrice',
      ['pimlico_getUserOperationGasPrice'],
    ],
    ['sponsorContext', 'SPONSOR_CONTEXT', '{"policyId":"p"}', { policyId: 'p' }],
    ['registrarPrivateKey', 'REGISTRAR_PRIVATE_KEY', 'AB'.repeat(32), `0x${'ab'.repeat(32)}`],
    ['databaseUrl', 'DATABASE_URL', 'file:/srv/vault.db', 'file:/srv/vault.db'],
  ];

  test.each(accepted)('%s takes %s=%j', (field, name, text, value) => {
    expect(read({ [name]: text })[field]).toEqual(value as never);
  });

  const refused: readonly [string, string][] = [
    ['HOST', 'no host'],
    ['PORT', '65536'],
    ['PORT', '0x50'],
    ['BASE_URL', 'http://vault.example.com'],
    ['BASE_URL', 'https://vault.example.com/app'],
    ['BASE_URL', 'https://user@vault.example.com'],
    ['BASE_URL', 'localhost:8787'],
    ['RPC_URL', 'https://user:pass@rpc.example.com'],
    ['TRUSTED_PROXIES', '0.0.0.0/0'],
    ['TRUSTED_PROXIES', '10.0.0.0/33'],
    ['CLIENT_IP_HEADER', 'X Real IP'],
    ['DATABASE_URL', 'postgres://localhost/vault'],
    ['DATABASE_URL', 'libsql://db.example.com?authToken=x'],
    ['EMAIL_PROVIDER', 'sendmail'],
    ['EMAIL_FROM', 'nobody'],
    ['ALLOW_LOG_DELIVERY', 'maybe'],
    ['EMAIL_CODE_EXPIRY_SECONDS', '0'],
    ['EMAIL_CODE_EXPIRY_SECONDS', '601'],
    ['RELAY_MIN_BALANCE', '-1'],
    ['RELAY_MAX_FEE_GWEI', '0'],
    ['RELAY_MAX_FEE_GWEI', '1000000'],
    ['DID_REGISTRY_ADDRESS', '0xD38972ffea26b66f09e2109e650887acd447e7b7'],
    ['DID_REGISTRY_ADDRESS', `0x${'0'.repeat(40)}`],
    ['REGISTRAR_PRIVATE_KEY', '00'.repeat(32)],
    ['REGISTRAR_PRIVATE_KEY', 'ff'.repeat(32)],
    ['REGISTRAR_DID', 'vault.example.com'],
    ['APP_ORIGINS', 'http://app.example'],
    ['APP_ORIGINS', 'android:apk-key-hash:AAAA'],
    ['APP_ORIGINS', 'myapp://'],
    ['RP_IDS', 'https://example.com'],
    ['RP_IDS', 'example.com:8443'],
    ['RP_IDS', 'other.example,'],
    ['BUNDLER_EXTRA_METHODS', 'debug_traceCall'],
    ['SPONSOR_CONTEXT', 'sp_ours'],
    ['SPONSOR_CONTEXT', '["sp_ours"]'],
    ['SPONSOR_CONTEXT', 'null'],
    ['WEBHOOK_SECRET', 'whsec_c2hvcnQ='],
    ['METRICS_TOKEN', 'short'],
    ['APPS', 'My App'],
    ['LOG_LEVEL', 'verbose'],
    ['CHAIN_NAME', 'two\nlines'],
    ['CHAIN_NAME', 'x'.repeat(65_537)],
  ];

  test.each(refused)('%s refuses %j without repeating it', (name, text) => {
    const faults = faultsOf({ [name]: text });
    expect(faults.map((fault): string => fault.name)).toContain(name);
    if (text.length > 4) expect(JSON.stringify(faults)).not.toContain(text);
  });
});

test('§5.6 a control character in any setting stops the start, which names it (S27)', () => {
  for (const name of SETTING_NAMES)
    for (const between of ['\n', '\r\nX: 1', '\u0000', '\u001b[2J', '\u009b']) {
      const faults = faultsOf({ [name]: `Tea${between}House` });
      expect([name, faults.find((one) => one.name === name)?.problem]).toEqual([
        name,
        'must not contain line breaks or other control characters',
      ]);
    }
});

describe('secrets', () => {
  test('a secret of hex digits is hex, another one base64url', () => {
    expect(toHex(read().vaultSecret)).toBe(VAULT_SECRET);
    const encoded = Buffer.from(VAULT_SECRET, 'hex').toString('base64url');
    expect(toHex(read({ VAULT_SECRET: encoded }).vaultSecret)).toBe(VAULT_SECRET);
  });

  test.each([
    ['too short', VAULT_SECRET.slice(2)],
    ['of one repeated byte', 'ab'.repeat(32)],
    ['of seven distinct bytes', '00010203040506'.repeat(5)],
    ['of an odd number of hex digits', `${VAULT_SECRET}0`],
    ['a passphrase', 'correct horse battery staple, and some more of it'],
  ])('a secret that is %s is refused', (_, secret) => {
    expect(faultyNames({ VAULT_SECRET: secret, OPERATOR_SECRET: secret })).toEqual(['VAULT_SECRET', 'OPERATOR_SECRET']);
    expect(faultyNames({ ATTESTATION_SIGNING_KEY: secret })).toEqual(['ATTESTATION_SIGNING_KEY']);
  });

  test('attestation keys are read in order, the current one first', () => {
    const keys = read({ ATTESTATION_SIGNING_KEY: `${OPERATOR_SECRET}, ${VAULT_SECRET}` }).attestationSigningKey;
    expect(keys?.map(toHex)).toEqual([OPERATOR_SECRET, VAULT_SECRET]);
    const five = new Array(5).fill(VAULT_SECRET).join();
    expect(faultyNames({ ATTESTATION_SIGNING_KEY: five })).toEqual(['ATTESTATION_SIGNING_KEY']);
  });

  test('without a root secret nothing starts, and the message says how to make one', () => {
    expect(() => readConfig({})).toThrow(/^VAULT_SECRET must be set.*openssl rand -hex 32$/);
  });

  test('a secret for one purpose is not taken for another, however it is written', () => {
    const same = Buffer.from(VAULT_SECRET, 'hex').toString('base64url');
    expect(faultyNames({ OPERATOR_SECRET: same })).toEqual(['OPERATOR_SECRET']);
    expect(faultyNames({ OPERATOR_SECRET, METRICS_TOKEN: OPERATOR_SECRET })).toEqual(['METRICS_TOKEN']);
    expect(faultyNames({ METRICS_TOKEN: VAULT_SECRET })).toEqual(['METRICS_TOKEN']);
  });
});

const VERIFY_SERVICE = `VA${'0'.repeat(32)}`;

describe('combinations', () => {
  test('a complete public vault starts', () => {
    expect(faultsOf(PUBLIC)).toEqual([]);
    expect(read(PUBLIC)).toMatchObject({ metricsAllow: [], registrarDid: 'did:web:vault.example.com' });
    expect(faultsOf({ ...PUBLIC, HOST: '0.0.0.0', TRUSTED_PROXIES: '' })).toEqual([]);
  });

  test('behind a proxy the proxy must be named, and the message shows what to set in each', () => {
    const [fault] = faultsOf({ ...PUBLIC, TRUSTED_PROXIES: '', CLIENT_IP_HEADER: 'X-Real-IP' });
    expect(fault?.name).toBe('TRUSTED_PROXIES');
    for (const said of ['nginx', 'Caddy', 'HAProxy', 'proxy_set_header X-Real-IP $remote_addr']) {
      expect(fault?.remedy).toContain(said);
    }
    expect(faultsOf({ ...PUBLIC, TRUSTED_PROXIES: 'none' })).toEqual([]);
  });

  test.each([
    ['a public BASE_URL', { BASE_URL: 'https://vault.example.com', TRUSTED_PROXIES: '::1' }],
    ['a public HOST', { HOST: '0.0.0.0' }],
    ['every IPv6 address', { HOST: '::' }],
    ['a host name', { HOST: 'vault.example.com' }],
  ])('codes are not printed with %s unless that is allowed', (_, vars) => {
    expect(faultyNames(vars)).toEqual(['EMAIL_PROVIDER', 'SMS_PROVIDER']);
    expect(faultyNames({ ...vars, ALLOW_LOG_DELIVERY: 'true' })).toEqual([]);
  });

  test.each(['127.0.0.2', '::1', 'localhost', 'vault.localhost'])('on %s codes are printed', (HOST) => {
    expect(faultyNames({ HOST })).toEqual([]);
  });

  test('replicas on a remote database do not each make keys of their own', () => {
    expect(faultyNames({ DATABASE_URL: 'libsql://db.example.com' })).toEqual(['OPERATOR_SECRET']);
    expect(faultyNames({ DATABASE_URL: 'libsql://db.example.com', OPERATOR_SECRET })).toEqual([]);
  });

  test.each<[Texts, string[]]>([
    [{ EMAIL_PROVIDER: 'smtp' }, ['SMTP_URL', 'EMAIL_FROM']],
    [{ EMAIL_PROVIDER: 'resend' }, ['RESEND_API_KEY', 'EMAIL_FROM']],
    [
      { SMS_PROVIDER: 'twilio' },
      ['TWILIO_ACCOUNT_SID', 'TWILIO_AUTH_TOKEN', 'TWILIO_VERIFY_SERVICE_SID', 'SMS_COUNTRIES'],
    ],
    [{ EMAIL_PROVIDER: 'hook' }, ['EMAIL_HOOK_URL', 'EMAIL_HOOK_SECRET']],
    [{ SMS_PROVIDER: 'hook' }, ['SMS_HOOK_URL', 'SMS_HOOK_SECRET', 'SMS_COUNTRIES']],
    [
      { EMAIL_HOOK_URL: 'http://hooks.example.com', SMS_HOOK_URL: 'http://8.8.8.8' },
      ['EMAIL_HOOK_URL', 'SMS_HOOK_URL'],
    ],
    [{ EMAIL_HOOK_URL: 'http://127.0.0.1:3000/messages', SMS_HOOK_URL: 'http://mailer:3000' }, []],
    [{ ...PUBLIC, SMS_COUNTRIES: '' }, ['SMS_COUNTRIES']],
    [{ ...PUBLIC, SMS_COUNTRIES: '*' }, []],
    [{ WEBHOOK_URL: 'https://hooks.example.com' }, ['WEBHOOK_SECRET']],
    [
      { REGISTRAR_PRIVATE_KEY: '1'.repeat(64), CHAIN_ID: '8453' },
      ['DID_REGISTRY_ADDRESS', 'HYPERAUTH_FACTORY_ADDRESS'],
    ],
    [{ GUARDIAN_PRIVATE_KEY: '1'.repeat(64) }, ['ACCOUNT_FACTORY_2_ADDRESS']],
    [
      { ...GUARDIAN, REGISTRAR_PRIVATE_KEY: `0x${'1'.repeat(64)}`, DEPLOYER_PRIVATE_KEY: '1'.repeat(64) },
      ['GUARDIAN_PRIVATE_KEY', 'GUARDIAN_PRIVATE_KEY'],
    ],
    [{ ...GUARDIAN, DEPLOYER_PRIVATE_KEY: '2'.repeat(64) }, []],
    [
      {
        TWILIO_VERIFY_SERVICE_SID: VERIFY_SERVICE,
        TWILIO_VERIFY_SERVICE_SID_RECOVERY: VERIFY_SERVICE,
        TWILIO_VERIFY_SERVICE_SID_CREDENTIAL: VERIFY_SERVICE,
      },
      ['TWILIO_VERIFY_SERVICE_SID_RECOVERY', 'TWILIO_VERIFY_SERVICE_SID_CREDENTIAL'],
    ],
    [{ WEBHOOK_URL: 'http://hooks.example.com', WEBHOOK_SECRET: `whsec_${btoa('x'.repeat(24))}` }, ['WEBHOOK_URL']],
    [{ DATABASE_URL: 'http://db.example.com', DATABASE_AUTH_TOKEN: 'token', OPERATOR_SECRET }, ['DATABASE_URL']],
  ])('%j names what is missing', (vars, names) => {
    expect(faultyNames(vars)).toEqual(names);
  });
});

describe('faults', () => {
  test('all are reported at once, a line each that begins with the variable, combinations included', () => {
    const vars = { PORT: 'http', BASE_URL: 'ftp://x', HOST: '0.0.0.0', SMS_DAILY_MAX: '-1' };
    expect(() => read(vars)).toThrow(ConfigError);
    const lines = new ConfigError(faultsOf(vars)).message.split('\n');
    expect(lines.map((line) => line.split(' ')[0])).toEqual([
      'PORT',
      'BASE_URL',
      'SMS_DAILY_MAX',
      'EMAIL_PROVIDER',
      'SMS_PROVIDER',
    ]);
  });

  test('a default derived from a faulty setting is no fault of its own', () => {
    expect(faultyNames({ PORT: 'http' })).toEqual(['PORT']);
    expect(faultyNames({ BASE_URL: 'vault' })).toEqual(['BASE_URL']);
    expect(faultyNames({ RPC_URL: 'rpc' })).toEqual(['RPC_URL']);
  });

  test('a setting that cannot be read is not also called unset', () => {
    expect(faultyNames({ EMAIL_PROVIDER: 'smtp', SMTP_URL: 'mail.example.com', EMAIL_FROM: 'a@example.com' })).toEqual([
      'SMTP_URL',
    ]);
  });

  test.each([
    'eth_call',
    'eth_sendRawTransaction',
    'admin_peers',
    // Sponsors' own, which nothing would judge.
    'alchemy_requestGasAndPaymasterAndData',
    'zd_sponsorUserOperation',
    'eth_paymasterAndDataForUserOperation',
    'wallet_prepareCalls',
  ])('the bundler is never opened to %s', (method) => {
    expect(faultyNames({ BUNDLER_EXTRA_METHODS: method })).toEqual(['BUNDLER_EXTRA_METHODS']);
  });

  test('names that are no setting are left alone', () => {
    expect(faultyNames({ PATH: '/bin', PORTS: 'x' })).toEqual([]);
  });
});

describe('the table', () => {
  test('no secret and no key in a URL is ever shown', () => {
    const key = 'very-secret-key';
    for (const name of SETTING_NAMES.filter((one) => SETTINGS[one].kind !== 'plain')) {
      expect(maskSetting(SETTINGS[name], `https://host.example:1/${key}?key=${key}`)).not.toContain(key);
    }
    expect(maskSetting(SETTINGS.RPC_URL, `https://rpc.example.com/v2/${key}`)).toBe('https://rpc.example.com/…');
    expect(maskSetting(SETTINGS.RPC_URL, key)).not.toContain(key);
  });

  test('what may hold a secret is known as one', () => {
    const named = SETTING_NAMES.filter((name) => /SECRET|_KEY(?!_DAYS)|TOKEN$|PASSWORD|SMTP_URL/.test(name));
    expect(named.filter((name) => SETTINGS[name].kind !== 'secret')).toEqual([]);
  });
});

test('the contracts of known chains are written with their checksums, which no start computes', () => {
  const addresses = Object.values(CHAINS).flatMap((chain) =>
    Object.values(chain).filter((text) => text.startsWith('0x')),
  );
  expect(addresses.length).toBeGreaterThan(5);
  for (const address of addresses)
    expect(checksum(address.toLowerCase() as `0x${string}`)).toBe(address as `0x${string}`);
});
