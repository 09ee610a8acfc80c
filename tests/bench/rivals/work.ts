import { Database } from 'bun:sqlite';

/** The answer to `GET /api/status`. */
export const STATUS = {
  chain: 'Base Sepolia',
  chainId: 84532,
  rpc: 'https://sepolia.base.org',
  database: 'connected',
  version: '0.2.0',
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
  const names = COLUMNS.join(', ');
  database.run(`CREATE TABLE registrations (credential_id TEXT PRIMARY KEY, ${names})`);
  const marks = COLUMNS.map(() => '?').join(', ');
  const insert = database.prepare(`INSERT INTO registrations (credential_id, ${names}) VALUES (?, ${marks})`);
  database.transaction(() => {
    for (let n = 0; n < REGISTRATIONS; n++)
      insert.run(credentialOf(n), ...COLUMNS.map((name) => registrationOf(n)[name] ?? null));
  })();
  const select = database.prepare<Row, [string]>('SELECT * FROM registrations WHERE credential_id = ?');
  return (credentialId) => {
    const row = select.get(credentialId);
    return row && answerOf(row);
  };
}

/** A column for each member of the answer: the vault reads them too, since registrations differ in all of them. */
const COLUMNS = [
  'did',
  'channel',
  'status',
  'final',
  'identifier_proof',
  'controller_proof',
  'did_proof',
  'tx_hash',
  'block_number',
  'smart_account',
  'pub_key_x',
  'pub_key_y',
  'registered_at',
] as const;

type Row = { readonly credential_id: string } & Readonly<Record<(typeof COLUMNS)[number], string | number | null>>;

/** A registration as the vault of the bench holds it; what is left out is NULL. */
function registrationOf(n: number): Partial<Row> {
  return {
    did: `did:key:z${n}`,
    channel: 'handle',
    status: 'submitted',
    final: 0,
    tx_hash: `0x${'1'.repeat(64)}`,
    registered_at: '2026-01-01T00:00:00.000Z',
  };
}

function answerOf(row: Row): Registration {
  return {
    credentialId: row.credential_id,
    did: row.did,
    channel: row.channel,
    status: row.status,
    final: row.final === 1,
    proven: row.controller_proof !== null,
    proofs: { identifier: row.identifier_proof, controller: row.controller_proof, did: row.did_proof },
    txHash: row.tx_hash,
    blockNumber: row.block_number,
    smartAccount: row.smart_account,
    pubKeyX: row.pub_key_x,
    pubKeyY: row.pub_key_y,
    registeredAt: row.registered_at,
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
