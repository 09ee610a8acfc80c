import { describeWarning, findWarnings } from '../../../commands/setup/warnings.ts';
import { ConfigError, describeFault, readConfig } from '../../../lib/config/config.ts';
import type { Mistake } from './mistake.ts';

type Texts = Readonly<Record<string, string>>;

const ORIGIN = 'https://vault.example.com';
const SECRET = '0123456789abcdef'.repeat(4);
/** What the program makes by itself where none is set. */
const ROOT = 'fedcba9876543210'.repeat(4);

/** Settings that the program refuses. What it has to say is read off the parsers and the rules. */
export const REFUSED: readonly Mistake[] = [
  refused('A wrong value for each of many settings', {
    PORT: 'eight',
    HOST: 'http://0.0.0.0',
    BASE_URL: `${ORIGIN}/vault`,
    TRUSTED_PROXIES: '0.0.0.0/0',
    SHARED_NETWORKS: '2001:db8::/80',
    NETWORK_SHARE_PERCENT: '0',
    EMAIL_PROVIDER: 'sendgrid',
    SMTP_URL: 'mail.example.com:587',
    EMAIL_FROM: 'Example',
    TWILIO_ACCOUNT_SID: 'VA123',
    SMS_COUNTRIES: 'Germany',
    VAULT_SECRET: 'changeme',
    DATABASE_URL: 'libsql://db.example.com?authToken=x',
    RPC_URL: 'https://user:key@rpc.example.com',
    CHAIN_ID: 'base',
    DID_REGISTRY_ADDRESS: '0xd38972ffEA26B66F09e2109e650887ACd447E7B7',
    REGISTRAR_PRIVATE_KEY: '0x1234',
    WEBHOOK_SECRET: 'secret',
    EMAIL_HOOK_URL: 'http://hooks.example.com',
    APPS: 'My App',
    RP_IDS: ORIGIN,
    RELAY_MIN_BALANCE: '2 wei',
    ALLOW_LOG_DELIVERY: 'yes',
    LOG_LEVEL: 'verbose',
    BRAND_COLOR: '#ffff00',
  }),
  refused('A public vault behind a proxy that no setting names', { BASE_URL: ORIGIN }),
  refused('What a provider of mail, one of SMS and a webhook need', {
    EMAIL_PROVIDER: 'smtp',
    SMS_PROVIDER: 'twilio',
    WEBHOOK_URL: 'https://app.example.com/hook',
  }),
  refused('A database that replicas share', { DATABASE_URL: 'libsql://db.example.com', VAULT_SECRET: '' }),
  refused('Settings that do not go together', {
    RPC_URL: 'https://rpc.example.com',
    RPC_WITNESS_URL: 'https://rpc.example.com',
    CLIENTS: '/etc/vault/clients.json',
    ADMIN_PORT: '8787',
    PORT: '8787',
    OPERATOR_SECRET: SECRET,
    METRICS_TOKEN: SECRET,
  }),
  refused('A chain without a known node', { CHAIN_ID: '1' }),
];

/** Settings that the program warns of: names near a setting's, and settings without effect. */
export const WARNED: readonly Mistake[] = [
  warned('Names near a setting’s, and settings without effect', {
    SMTP_UR: 'smtp://user:key@mail.example.com',
    EMAIL_PROVIDR: 'smtp',
    BASEURL: ORIGIN,
    VAULT_SECERT: SECRET,
    SMTP_HOST: 'mail.example.com',
    PORT_FILE: 'port',
    SMTP_URL: 'smtp://user:key@mail.example.com',
    TWILIO_AUTH_TOKEN: SECRET,
    SHARED_NETWORKS: '203.0.113.0/24',
    NETWORK_SHARE_PERCENT: '100',
    WEBHOOK_ALLOW_PRIVATE: 'true',
    SPONSOR_CALLS: '*',
    FOLLOWER_START_BLOCK: '1',
    DATABASE_AUTH_TOKEN: SECRET,
    RP_IDS: 'example.org',
    ADMIN_HOST: '127.0.0.1',
  }),
  warned('Other machines let in, no `BASE_URL`, and a header from nobody', {
    HOST: '0.0.0.0',
    EMAIL_PROVIDER: 'none',
    SMS_PROVIDER: 'none',
    TRUSTED_PROXIES: 'none',
    CLIENT_IP_HEADER: 'X-Real-IP',
  }),
];

function refused(done: string, vars: Texts): Mistake {
  try {
    readConfig({ VAULT_SECRET: ROOT, ...vars });
  } catch (error) {
    if (error instanceof ConfigError) return { done, vars, says: error.faults.map(describeFault), exit: 2 };
    throw error;
  }
  throw new Error(`nothing is refused: ${done}`);
}

function warned(done: string, vars: Texts): Mistake {
  const config = readConfig({ VAULT_SECRET: ROOT, ...vars });
  const sources = Object.fromEntries(Object.keys(vars).map((name) => [name, 'environment']));
  return { done, vars, says: findWarnings({ config, sources }, vars).map(describeWarning), exit: 'goes on' };
}
