import type { Mistake } from './mistake.ts';

/** Mistakes outside the settings: ports, folders, the chain, upstreams. */
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
    says: ['203.0.113.7 is not an address of this machine: set HOST to one that is, or to 0.0.0.0 for all of them'],
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
