import type { Mistake } from './mistake.ts';

const ORIGIN = 'https://vault.example.com';

/** Values of settings that cannot be used. */
export const VALUES: readonly Mistake[] = [
  { vars: { PORT: 'eight' }, says: ['PORT must be a whole number from 0 to 65535'], exit: 2 },
  { vars: { PORT: '70000' }, says: ['PORT must be a whole number from 0 to 65535'], exit: 2 },
  { vars: { HOST: 'http://0.0.0.0' }, says: ['HOST must be an IP address or a host name'], exit: 2 },
  {
    vars: { BASE_URL: 'vault.example.com' },
    says: [
      'BASE_URL must be an origin: https://, a host and perhaps a port, no path (http:// only for localhost and loopback addresses)',
    ],
    exit: 2,
  },
  {
    vars: { BASE_URL: 'http://vault.example.com' },
    says: [
      'BASE_URL must be an origin: https://, a host and perhaps a port, no path (http:// only for localhost and loopback addresses)',
    ],
    exit: 2,
  },
  {
    vars: { BASE_URL: `${ORIGIN}/vault` },
    says: [
      'BASE_URL must be an origin: https://, a host and perhaps a port, no path (http:// only for localhost and loopback addresses)',
    ],
    exit: 2,
  },
  {
    vars: { TRUSTED_PROXIES: '0.0.0.0/0' },
    says: [
      'TRUSTED_PROXIES must be a comma list of networks such as 127.0.0.1/32 (none of them may contain every address), or none',
    ],
    exit: 2,
  },
  {
    vars: { TRUSTED_PROXIES: 'nginx' },
    says: [
      'TRUSTED_PROXIES must be a comma list of networks such as 127.0.0.1/32 (none of them may contain every address), or none',
    ],
    exit: 2,
  },
  {
    vars: { SHARED_NETWORKS: '2001:db8::/80' },
    says: [
      'SHARED_NETWORKS must be a comma list of networks such as 203.0.113.0/24 or 2001:db8::/32 (IPv6 up to /64, none with every address), or none',
    ],
    exit: 2,
  },
  {
    vars: { NETWORK_SHARE_PERCENT: '0' },
    says: ['NETWORK_SHARE_PERCENT must be a whole number from 1 to 100'],
    exit: 2,
  },
  {
    vars: { EMAIL_PROVIDER: 'sendgrid' },
    says: ['EMAIL_PROVIDER must be one of log, none, smtp, resend, hook'],
    exit: 2,
  },
  {
    vars: { SMTP_URL: 'mail.example.com:587' },
    says: ['SMTP_URL must look like smtp://user:password@host:587 or smtps://user:password@host'],
    exit: 2,
  },
  { vars: { EMAIL_FROM: 'Example' }, says: ['EMAIL_FROM must be a mail address or `Name <address>`'], exit: 2 },
  { vars: { TWILIO_ACCOUNT_SID: 'VA123' }, says: ['TWILIO_ACCOUNT_SID must start with AC'], exit: 2 },
  {
    vars: { SMS_COUNTRIES: 'Germany' },
    says: ['SMS_COUNTRIES must be a comma list of country prefixes such as +1,+49, or * for all'],
    exit: 2,
  },
  {
    vars: { VAULT_SECRET: 'changeme' },
    says: [
      'VAULT_SECRET must be at least 32 random bytes in hex or base64url, for instance from: openssl rand -hex 32',
    ],
    exit: 2,
  },
  {
    vars: { VAULT_SECRET: '0'.repeat(64) },
    says: [
      'VAULT_SECRET must be at least 32 random bytes in hex or base64url, for instance from: openssl rand -hex 32',
    ],
    exit: 2,
  },
  {
    vars: { DATABASE_URL: 'postgres://localhost/vault' },
    says: [
      'DATABASE_URL must be file:<path>, or libsql:, https:, http:, wss: or ws: and the host of a libSQL server (put a token into DATABASE_AUTH_TOKEN)',
    ],
    exit: 2,
  },
  {
    vars: { DATABASE_URL: 'libsql://db.example.com?authToken=x' },
    says: [
      'DATABASE_URL must be file:<path>, or libsql:, https:, http:, wss: or ws: and the host of a libSQL server (put a token into DATABASE_AUTH_TOKEN)',
    ],
    exit: 2,
  },
  {
    vars: { RPC_URL: 'localhost:8545' },
    says: ['RPC_URL must be an http(s) URL without user, password and fragment'],
    exit: 2,
  },
  {
    vars: { RPC_URL: 'https://user:key@rpc.example.com' },
    says: ['RPC_URL must be an http(s) URL without user, password and fragment'],
    exit: 2,
  },
  { vars: { CHAIN_ID: 'base' }, says: ['CHAIN_ID must be a whole number from 1 to 9007199254740991'], exit: 2 },
  {
    vars: { DID_REGISTRY_ADDRESS: '0xd38972ffEA26B66F09e2109e650887ACd447E7B7' },
    says: [
      'DID_REGISTRY_ADDRESS must be an address (0x and 40 hex digits, a correct checksum where in mixed case) or none',
    ],
    exit: 2,
  },
  {
    vars: { REGISTRAR_PRIVATE_KEY: '0x1234' },
    says: ['REGISTRAR_PRIVATE_KEY must be a secp256k1 private key: 64 hex digits, with or without 0x'],
    exit: 2,
  },
  {
    vars: { WEBHOOK_SECRET: 'secret' },
    says: ['WEBHOOK_SECRET must be one to 4 keys with commas between, each whsec_ and 24 to 64 bytes in base64'],
    exit: 2,
  },
  { vars: { APPS: 'My App' }, says: ['APPS must be a comma list of names of 1 to 64 of a-z, 0-9 and -'], exit: 2 },
  { vars: { RP_IDS: ORIGIN }, says: ['RP_IDS must be hosts such as example.com, without https:// and port'], exit: 2 },
  {
    vars: { RELAY_MIN_BALANCE: '2 wei' },
    says: ['RELAY_MIN_BALANCE must be an amount of ether such as 0.002'],
    exit: 2,
  },
  { vars: { ALLOW_LOG_DELIVERY: 'yes' }, says: ['ALLOW_LOG_DELIVERY must be true or false'], exit: 2 },
  { vars: { LOG_LEVEL: 'verbose' }, says: ['LOG_LEVEL must be one of error, warn, info, debug'], exit: 2 },
  {
    vars: { BRAND_COLOR: '#ffff00' },
    says: ['BRAND_COLOR has a contrast of 1.0:1 in the light theme, which is under 4.5:1: #757500 can be read there'],
    exit: 2,
  },
  {
    done: 'Several at once',
    vars: { PORT: 'eight', LOG_LEVEL: 'verbose' },
    says: ['PORT must be a whole number from 0 to 65535', 'LOG_LEVEL must be one of error, warn, info, debug'],
    exit: 2,
  },
];
