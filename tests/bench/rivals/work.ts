import { Database } from 'bun:sqlite';

/** The answer to `GET /api/status`. */
export const STATUS = {
  chain: 'Base Sepolia',
  chainId: 84532,
  rpc: 'https://sepolia.base.org',
  database: 'connected',
  version: '0.1.0',
};

/** How many registrations a look-up finds one of. */
export const REGISTRATIONS = 1_000;

/** The credential of a registration, by its number. */
export function credentialOf(n: number): string {
  return `credential${n}`.padEnd(22, 'A');
}

/** What a look-up answers, member for member as the vault does. */
export type Registration = Readonly<Record<string, unknown>>;

/** Finds a registration by its credential in a file as a user of SQLite would keep it: a table and its primary key. */
export function openRegistrations(path: string): (credentialId: string) => Registration | null {
  const database = new Database(path);
  database.run('PRAGMA journal_mode = WAL');
  database.run('PRAGMA synchronous = FULL');
  database.run(
    'CREATE TABLE registrations (credential_id TEXT PRIMARY KEY, did TEXT, tx_hash TEXT, registered_at TEXT)',
  );
  const insert = database.prepare('INSERT INTO registrations VALUES (?, ?, ?, ?)');
  database.transaction(() => {
    for (let n = 0; n < REGISTRATIONS; n++)
      insert.run(credentialOf(n), `did:key:z${n}`, `0x${'1'.repeat(64)}`, '2026-01-01T00:00:00.000Z');
  })();
  const select = database.prepare<Row, [string]>('SELECT * FROM registrations WHERE credential_id = ?');
  return (credentialId) => {
    const row = select.get(credentialId);
    return row && answerOf(row);
  };
}

interface Row {
  readonly credential_id: string;
  readonly did: string;
  readonly tx_hash: string;
  readonly registered_at: string;
}

function answerOf({ credential_id, did, tx_hash, registered_at }: Row): Registration {
  return {
    credentialId: credential_id,
    did,
    channel: 'handle',
    status: 'submitted',
    final: false,
    proven: false,
    proofs: { identifier: null, controller: null, did: null },
    txHash: tx_hash,
    blockNumber: null,
    smartAccount: null,
    pubKeyX: null,
    pubKeyY: null,
    registeredAt: registered_at,
  };
}

/** The headers that the vault adds to each answer beside those of CORS and the request's id. */
export const VAULT_HEADERS = {
  'Cache-Control': 'no-store',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
};

/** What the vault lets pages of other sites read. */
export const EXPOSED_HEADERS = ['Retry-After', 'RateLimit', 'RateLimit-Policy', 'ETag', 'Link', 'X-Request-Id'];
