import { type Mistake, PUBLIC } from './mistake.ts';

const SMTP_URL = 'smtp://user:password@mail.example.com';

/** Names that are near a setting's, and settings that have no effect: the vault starts, and warns. */
export const UNHEARD: readonly Mistake[] = [
  { vars: { SMTP_UR: SMTP_URL }, says: ['SMTP_UR is not a setting: did you mean SMTP_URL?'], exit: 'goes on' },
  {
    vars: { EMAIL_PROVIDR: 'smtp' },
    says: ['EMAIL_PROVIDR is not a setting: did you mean EMAIL_PROVIDER?'],
    exit: 'goes on',
  },
  {
    vars: { BASEURL: 'https://vault.example.com' },
    says: ['BASEURL is not a setting: did you mean BASE_URL?'],
    exit: 'goes on',
  },
  { vars: { VAULT_SECERT: 'x' }, says: ['VAULT_SECERT is not a setting: did you mean VAULT_SECRET?'], exit: 'goes on' },
  {
    vars: { SMTP_HOST: 'mail.example.com', SMTP_PASSWORD: 'x' },
    says: [
      'SMTP_HOST is not a setting: did you mean SMTP_URL?',
      'SMTP_PASSWORD is not a setting: did you mean SMTP_URL?',
    ],
    exit: 'goes on',
  },
  {
    vars: { SMTP_URL },
    says: [
      'SMTP_URL is set, but EMAIL_PROVIDER is log, which does not use it: set EMAIL_PROVIDER=smtp, or remove SMTP_URL',
    ],
    exit: 'goes on',
  },
  {
    vars: { RESEND_API_KEY: 're_1' },
    says: [
      'RESEND_API_KEY is set, but EMAIL_PROVIDER is log, which does not use it: set EMAIL_PROVIDER=resend, or remove RESEND_API_KEY',
    ],
    exit: 'goes on',
  },
  {
    vars: { TWILIO_AUTH_TOKEN: 'x' },
    says: [
      'TWILIO_AUTH_TOKEN is set, but SMS_PROVIDER is log, which does not use it: set SMS_PROVIDER=twilio, or remove TWILIO_AUTH_TOKEN',
    ],
    exit: 'goes on',
  },
  {
    vars: { CLIENT_IP_HEADER: 'X-Real-IP' },
    beside: { ...PUBLIC, TRUSTED_PROXIES: 'none' },
    says: [
      'CLIENT_IP_HEADER has no effect, because TRUSTED_PROXIES names no network: set TRUSTED_PROXIES to the network of your proxy',
    ],
    exit: 'goes on',
  },
  {
    vars: { SHARED_NETWORKS: '203.0.113.0/24', NETWORK_SHARE_PERCENT: '100' },
    says: [
      'SHARED_NETWORKS has no effect, because NETWORK_SHARE_PERCENT is 100: set NETWORK_SHARE_PERCENT to less, so that other networks have a limit',
    ],
    exit: 'goes on',
  },
  {
    done: 'Other machines let in, and no `BASE_URL`',
    vars: { HOST: '0.0.0.0' },
    beside: { EMAIL_PROVIDER: 'none', SMS_PROVIDER: 'none' },
    says: [
      'HOST lets other machines in, but BASE_URL is an origin of this machine alone: set BASE_URL to the https origin that people open: links, passkeys and tokens are made for it',
    ],
    exit: 'goes on',
  },
  {
    vars: { WEBHOOK_ALLOW_PRIVATE: 'true' },
    says: ['WEBHOOK_ALLOW_PRIVATE has no effect without WEBHOOK_URL: set WEBHOOK_URL, or remove it'],
    exit: 'goes on',
  },
  {
    vars: { SPONSOR_CALLS: '*' },
    says: ['SPONSOR_CALLS has no effect without BUNDLER_URL: set BUNDLER_URL, or remove it'],
    exit: 'goes on',
  },
  {
    vars: { RPC_URL_84532: '{node}/a', RPC_URL: '{node}' },
    says: ['RPC_URL_84532 has no effect, because RPC_URL is set and CHAIN_ID is 84532: remove one of the two'],
    exit: 'goes on',
  },
  {
    vars: { FOLLOWER_START_BLOCK: '1' },
    says: [
      'FOLLOWER_START_BLOCK has no effect, because the vault follows no chain: set DID_REGISTRY_ADDRESS and an RPC_URL of your own, and leave INDEXER_URL and FOLLOWER unset; or remove it',
    ],
    exit: 'goes on',
  },
  {
    vars: { DATABASE_AUTH_TOKEN: 'x' },
    says: [
      'DATABASE_AUTH_TOKEN has no effect, because DATABASE_URL is a file: set DATABASE_URL to the libSQL server that the token is for, or remove it',
    ],
    exit: 'goes on',
  },
  {
    vars: { RP_IDS: 'example.org' },
    says: [
      'RP_IDS names neither the host of BASE_URL nor a domain above it, so the pages of the vault make no passkeys: add the host of BASE_URL, or a domain above it',
    ],
    exit: 'goes on',
  },
];

/** What is outside: ports, folders, the chain, upstreams. */
export const OUTSIDE: readonly Mistake[] = [
  {
    done: 'A port in use',
    vars: { PORT: '{taken}' },
    says: [
      'port {taken} on 127.0.0.1 is in use: stop the program that listens there, or choose another port with --port (0 picks a free one)',
    ],
    exit: 1,
  },
  {
    done: 'A host of another machine',
    vars: { HOST: '203.0.113.7' },
    beside: { EMAIL_PROVIDER: 'none', SMS_PROVIDER: 'none' },
    says: ['203.0.113.7 is no address of this machine: set HOST to one that is, or to 0.0.0.0 for all of them'],
    exit: 1,
  },
  {
    done: 'A file where `DATA_DIR` should be',
    vars: { DATA_DIR: 'data' },
    files: { data: '' },
    says: [
      "DATA_DIR data cannot be used: ENOTDIR: not a directory, stat 'data/vault.secret': set DATA_DIR to a folder in which the vault's user may write",
    ],
    exit: 1,
  },
  {
    done: 'A text file as the database',
    vars: { DATABASE_URL: 'file:notes.txt' },
    files: { 'notes.txt': 'no database\n'.repeat(500) },
    says: [
      'Cannot open the database notes.txt: file is not a database: restore a backup, or set DATABASE_URL to another file',
    ],
    exit: 1,
  },
  {
    done: 'A node that does not answer',
    vars: { RPC_URL: 'http://127.0.0.1:{free}' },
    says: ['follower_failed', 'VaultError: rpc_error', 'UpstreamError: unreachable (ECONNREFUSED)'],
    exit: 'goes on',
  },
  {
    done: 'A node of another chain',
    vars: { CHAIN_ID: '8453', RPC_URL: '{node}' },
    says: ['RPC_URL is an endpoint of chain 84532, but CHAIN_ID is 8453: set both to the same chain.'],
    exit: 2,
  },
  {
    done: 'No node',
    vars: { RPC_URL: 'http://127.0.0.1:{free}' },
    args: 'doctor',
    says: ['unreachable (ECONNREFUSED)', '→ check the node at RPC_URL, or set another one'],
    exit: 1,
  },
  {
    done: 'A node of another chain, asked by the doctor',
    vars: { CHAIN_ID: '8453', RPC_URL: '{node}' },
    args: 'doctor',
    says: ['RPC_URL is an endpoint of chain 84532, but CHAIN_ID is 8453', '→ set both to the same chain'],
    exit: 1,
  },
  {
    done: 'No mail server',
    vars: { EMAIL_PROVIDER: 'smtp', SMTP_URL: 'smtp://127.0.0.1:{free}', EMAIL_FROM: 'a@example.com' },
    beside: { RPC_URL: 'http://127.0.0.1:{free}' },
    args: 'doctor',
    says: [
      'SMTP: the connection failed (ESOCKET, ECONNREFUSED, CONN)',
      '→ nothing listens there: check host and port in SMTP_URL, and that the server runs',
    ],
    exit: 1,
  },
];
