import { type Mistake, PUBLIC } from './mistake.ts';

const ORIGIN = 'https://vault.example.com';

/** Settings that do not go together, or that lack another one. */
export const TOGETHER: readonly Mistake[] = [
  {
    done: 'A public vault behind a proxy that no setting names',
    vars: { BASE_URL: ORIGIN },
    says: [
      'TRUSTED_PROXIES must be set when BASE_URL is public and HOST is loopback: set TRUSTED_PROXIES=127.0.0.1/32,::1/128 (or where your proxy is) and let the proxy overwrite the header, in nginx with "proxy_set_header Edge-Connecting-IP $remote_addr;", in Caddy\'s reverse_proxy with "header_up Edge-Connecting-IP {http.request.remote.host}", in HAProxy with "http-request set-header Edge-Connecting-IP %[src]"',
      'EMAIL_PROVIDER must not be log when HOST or BASE_URL is public: set smtp, resend, hook or none, or set ALLOW_LOG_DELIVERY=true if codes may be printed',
      'SMS_PROVIDER must not be log when HOST or BASE_URL is public: set twilio, hook or none, or set ALLOW_LOG_DELIVERY=true if codes may be printed',
    ],
    exit: 2,
  },
  {
    done: 'A public vault that prints codes',
    vars: { ...PUBLIC, EMAIL_PROVIDER: 'log' },
    says: [
      'EMAIL_PROVIDER must not be log when HOST or BASE_URL is public: set smtp, resend, hook or none, or set ALLOW_LOG_DELIVERY=true if codes may be printed',
    ],
    exit: 2,
  },
  {
    vars: { HOST: '0.0.0.0' },
    says: [
      'EMAIL_PROVIDER must not be log when HOST or BASE_URL is public: set smtp, resend, hook or none, or set ALLOW_LOG_DELIVERY=true if codes may be printed',
      'SMS_PROVIDER must not be log when HOST or BASE_URL is public: set twilio, hook or none, or set ALLOW_LOG_DELIVERY=true if codes may be printed',
    ],
    exit: 2,
  },
  {
    vars: { EMAIL_PROVIDER: 'smtp' },
    says: [
      'SMTP_URL must be set when EMAIL_PROVIDER is smtp: for instance smtp://user:password@mail.example.com:587',
      'EMAIL_FROM must be set when EMAIL_PROVIDER is smtp: for instance "Example <no-reply@example.com>"',
    ],
    exit: 2,
  },
  {
    vars: { SMS_PROVIDER: 'twilio' },
    says: [
      'TWILIO_ACCOUNT_SID must be set when SMS_PROVIDER is twilio',
      'TWILIO_AUTH_TOKEN must be set when SMS_PROVIDER is twilio',
      'TWILIO_VERIFY_SERVICE_SID must be set when SMS_PROVIDER is twilio',
      'SMS_COUNTRIES must be set when SMS_PROVIDER is twilio: name the countries of your users, for instance +1,+49; * allows every country, also the costly ones',
    ],
    exit: 2,
  },
  {
    vars: { DATABASE_URL: 'libsql://db.example.com' },
    says: [
      'VAULT_SECRET must be set: use the same 32 random bytes on every replica, made once with: openssl rand -hex 32',
      'OPERATOR_SECRET must be set when DATABASE_URL is remote: use the same 32 random bytes on every replica, made once with: openssl rand -hex 32',
    ],
    exit: 2,
  },
  {
    vars: { CHAIN_ID: '1' },
    says: ['RPC_URL must be set: set an endpoint of the chain, because no public one is known for this CHAIN_ID'],
    exit: 2,
  },
  {
    vars: { RPC_URL: 'https://rpc.example.com', RPC_WITNESS_URL: 'https://rpc.example.com' },
    says: ["RPC_WITNESS_URL must differ from RPC_URL: set another provider's node"],
    exit: 2,
  },
  {
    done: 'A registrar on a chain without a registry',
    vars: { CHAIN_ID: '8453', REGISTRAR_PRIVATE_KEY: '1'.repeat(64) },
    says: [
      'DID_REGISTRY_ADDRESS must be an address when REGISTRAR_PRIVATE_KEY is set',
      'HYPERAUTH_FACTORY_ADDRESS must be an address when REGISTRAR_PRIVATE_KEY is set',
    ],
    exit: 2,
  },
  {
    vars: { WEBHOOK_URL: 'https://app.example.com/hook' },
    says: ['WEBHOOK_SECRET must be set when WEBHOOK_URL is: make one with: echo "whsec_$(openssl rand -base64 32)"'],
    exit: 2,
  },
  {
    vars: { WEBHOOK_URL: 'http://10.0.0.7/hook' },
    beside: { WEBHOOK_SECRET: `whsec_${'eHh4'.repeat(8)}` },
    says: [
      'WEBHOOK_URL must be an https URL of a public address: use one, or set WEBHOOK_ALLOW_PRIVATE=true for a receiver in your own network',
    ],
    exit: 2,
  },
  {
    vars: { REGISTER_REDIRECTS: 'shop=https://shop.example/back' },
    beside: { REGISTRAR_PRIVATE_KEY: '1'.repeat(64) },
    says: ['REGISTER_REDIRECTS names an app that is not in APPS: add it to APPS'],
    exit: 2,
  },
  { vars: { ADMIN_PORT: '8787' }, beside: { PORT: '8787' }, says: ['ADMIN_PORT must differ from PORT'], exit: 2 },
  {
    vars: { ADMIN_HOST: '127.0.0.1' },
    says: ['ADMIN_HOST has no effect without ADMIN_PORT: set ADMIN_PORT too'],
    exit: 2,
  },
  {
    vars: { DKIM_SELECTOR: 'vault2026' },
    says: [
      'DKIM_DOMAIN must be set with the other settings of DKIM',
      'DKIM_PRIVATE_KEY must be set with the other settings of DKIM',
    ],
    exit: 2,
  },
  {
    done: 'One secret for two purposes',
    vars: { OPERATOR_SECRET: '0123456789abcdef'.repeat(4), METRICS_TOKEN: '0123456789abcdef'.repeat(4) },
    says: [
      'METRICS_TOKEN must differ from VAULT_SECRET and OPERATOR_SECRET: make another one with: openssl rand -hex 32',
    ],
    exit: 2,
  },
];
