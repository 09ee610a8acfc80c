import type { Setting } from '../../lib/config/setting.ts';
import type { SettingName } from '../../lib/config/settings.ts';

/** A value of each setting whose default is not one. Of secrets it is where one comes from, never one. */
const EXAMPLES: { readonly [Name in SettingName]?: string } = {
  BASE_URL: 'https://vault.example.com',
  TRUSTED_PROXIES: '127.0.0.1/32,::1/128',
  ADMIN_PORT: '8790',
  ALLOWED_HOSTS: 'vault.internal',
  ALLOWED_ORIGINS: 'https://app.example.com',
  DATA_DIR: '/var/lib/vault',
  DATABASE_URL: 'libsql://vault-example.turso.io',
  DATABASE_CACHE_MB: '64',
  BACKUP_S3_ENDPOINT: 'https://s3.eu-central-1.amazonaws.com',
  REGISTRAR_DID: 'did:web:vault.example.com',
  EMAIL_PROVIDER: 'smtp',
  EMAIL_FROM: 'Example <no-reply@example.com>',
  SMTP_URL: 'smtp://user:password@mail.example.com:587',
  EMAIL_HOOK_URL: 'https://app.example.com/hooks/mail',
  SMS_HOOK_URL: 'https://app.example.com/hooks/sms',
  TWILIO_ACCOUNT_SID: `AC${'0'.repeat(32)}`,
  TWILIO_VERIFY_SERVICE_SID: `VA${'0'.repeat(32)}`,
  DKIM_DOMAIN: 'example.com',
  DKIM_SELECTOR: 'vault2026',
  SMS_PROVIDER: 'twilio',
  BRAND_NAME: 'Example',
  BRAND_LOGO: '/etc/vault/logo.svg',
  BRAND_COLOR: '#3146c8',
  SUPPORT_ADDRESS: 'help@example.com',
  SECURITY_CONTACT: 'security@example.com',
  BRANDS: '/etc/vault/brands.json',
  WORDS_DIR: '/etc/vault/words',
  CHAIN_NAME: 'Base',
  EXPLORER_URL: 'https://basescan.org',
  RPC_URL: 'https://base-mainnet.example.com/v2/key',
  RPC_URL_84532: 'https://base-sepolia.example.com/v2/key',
  RPC_URL_8453: 'https://base-mainnet.example.com/v2/key',
  RPC_WITNESS_URL: 'https://rpc.example.org',
  RPC_PUBLIC_URL: 'https://mainnet.base.org',
  FINALITY_BLOCKS: '12',
  BUNDLER_URL: 'https://bundler.example.com/rpc?key=…',
  BUNDLER_EXTRA_METHODS: 'example_estimateFees',
  SPONSOR_CONTEXT: '{"sponsorshipPolicyId":"sp_1"}',
  SPONSOR_CALLS: '0x036CbD53842c5426634e7929541eC2318f3dCF7e:0xa9059cbb',
  INDEXER_URL: 'https://indexer.example.com/graphql',
  FOLLOWER: 'false',
  FOLLOWER_START_BLOCK: '21000000',
  FOLLOWER_POLL_SECONDS: '10',
  WEBHOOK_URL: 'https://app.example.com/hooks/vault',
  RESERVED_IDENTIFIERS: 'admin,press@example.com',
  EMAIL_LOCAL_DOMAINS: 'localhost,intranet',
  RESERVED_DOMAINS: 'example.com',
  DID_METHODS: 'key,pkh',
  SMS_COUNTRIES: '+1,+49',
  APPS: 'shop,forum',
  REGISTER_REDIRECTS: 'shop=https://shop.example/back',
  RELATED_ORIGINS: 'https://shop.example',
  APP_ORIGINS: 'https://app.example.com',
  RP_IDS: 'example.com',
  RATE_LIMIT_WRITES_PER_IP: '60',
  SHARED_NETWORKS: '203.0.113.0/24,2001:db8::/32',
  METRICS_ALLOW: '127.0.0.1/32',
};

/** An example of a setting, or its default where that is a value; undefined where neither can be written down. */
export function exampleOf(name: SettingName, fallback: Setting['default']): string | undefined {
  const known = EXAMPLES[name];
  if (known !== undefined) return known;
  if (typeof fallback === 'object') return /^0x[0-9a-fA-F]{40}(?= on chain)/.exec(fallback.words)?.[0];
  return fallback === '' ? undefined : fallback;
}
