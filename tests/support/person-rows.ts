import type { Database, Value } from '../../lib/db/database.ts';
import { aliasHash, didHash } from '../../lib/identity/did.ts';
import { PERSONAL_TABLES } from '../../lib/person/read.ts';

/** Somebody of whom every table has a row. */
export interface Stored {
  /** Tells the rows of several people apart. */
  readonly n: number;
  readonly identifier: string;
  readonly masked: string;
  readonly did: string;
  readonly account: string;
  readonly credentialId: string;
}

/** People with an address each. */
export function storedPerson(n: number): Stored {
  const account = `0x${String(n).padStart(40, 'a')}`;
  return {
    n,
    identifier: `person${n}@mail${n}.example`,
    masked: `p***@mail${n}.example`,
    did: `did:pkh:eip155:84532:${account}`,
    account,
    credentialId: `credential-of-${n}`,
  };
}

/** What has rows of a person who was never erased. */
export const STORED_TABLES = PERSONAL_TABLES.filter((table) => table !== 'erasures');

/** Writes a row of a person into every table that can have one; the rows refer to each other. */
export async function storePerson(database: Database, who: Stored, now: number): Promise<void> {
  const parents = ['registrations', 'relays', 'recoveries'];
  const order = [...parents, ...STORED_TABLES.filter((name) => !parents.includes(name))];
  for (const table of order) await insertRow(database, table, rowOf(table, who, now));
}

/** The number of rows of a table. */
export async function rowsIn(database: Database, table: string): Promise<readonly Readonly<Record<string, unknown>>[]> {
  return (await database.execute({ sql: `SELECT * FROM ${table}`, args: {} })).rows;
}

/** Inserts a row; columns that must have a value and are not given one get one of their type. */
export async function insertRow(
  database: Database,
  table: string,
  given: Readonly<Record<string, Value>>,
): Promise<void> {
  const { rows } = await database.execute({ sql: `SELECT * FROM pragma_table_info('${table}')`, args: {} });
  const cells = rows.flatMap(({ name, type, notnull, dflt_value: fallback, pk }) => {
    const column = String(name);
    if (column in given) return [[column, given[column] as Value] as const];
    if (Number(notnull) === 0 || fallback !== null || (Number(pk) > 0 && type === 'INTEGER')) return [];
    return [[column, type === 'INTEGER' ? 0 : ''] as const];
  });
  const names = cells.map(([name]) => name);
  const sql = `INSERT INTO ${table} (${names.join(', ')}) VALUES (${names.map((name) => `:${name}`).join(', ')})`;
  await database.execute({ sql, args: Object.fromEntries(cells) });
}

function rowOf(table: string, who: Stored, now: number): Record<string, Value> {
  const { n, identifier, masked, did, account, credentialId } = who;
  const key = `email:${identifier}`;
  const data = JSON.stringify({ identifier: masked, channel: 'email', did });
  const common = {
    identifier: key,
    channel: 'email',
    did,
    did_hash: didHash(did),
    account,
    controller: account,
    credential_id: credentialId,
    chain_id: 84532,
    app: 'default',
    ip: `203.0.113.${n}`,
  };
  const own: Readonly<Record<string, Readonly<Record<string, Value>>>> = {
    codes: { id: `id${n}`, sent_at: now, expires_at: now + 90_000, digest: 'd', pass: 'p' },
    sessions: { alias_hash: aliasHash(identifier), linked: 1, created_at: now, expires_at: now },
    registrations: {
      id: n,
      alias_hash: aliasHash(identifier),
      status: 'confirmed',
      final: 1,
      holds: 1,
      proof_key: `0xkey${n}`,
      proof: '{}',
      tx_hash: `0x${n}`,
    },
    // Not due yet: a vault that sends it writes a pass, another row of `codes`.
    challenge_notices: { challenge_id: n, kind: 'begun', recipient: 'address', due_at: now + 3_600_000 },
    challenges: { id: n, opened_at: now },
    credentials: { registration_id: n, since: n, key: `0xkey${n}` },
    account_keys: { key: `0xkey${n}` },
    relays: { id: n, kind: 'registration', role: 'registrar', registration_id: n, network: '203.0.113.7' },
    relay_attempts: { relay_id: n, hash: `0x${n}`, kind: 'call' },
    recoveries: { id: n, final: 1, status: 'finished' },
    recovery_notices: { recovery_id: n, kind: 'started', recipient: 'owner', due_at: now },
    recovery_addresses: { commitment: `0x${n}`, is_used: 1, check_at: now + 1_000_000_000 },
    payments: { nonce: '0x1', status: 'settled', settled_at: now, created_at: now },
    sponsorships: { sender: account, nonce: '0x1', sponsored_at: now },
    joins: { id: `join${n}`, opened_at: now },
    chain_events: { block: n, log_index: 0, kind: 'DIDRegistered', subject: didHash(did), object: account },
    events: { type: 'session.created', channel: 'sessions', at: now, data },
    webhook_deliveries: { event_id: n, type: 'session.created', channel: 'sessions', at: now, data, created_at: now },
    idempotency: {
      key: `request${n}`,
      status: 200,
      body: JSON.stringify({ identifier, attestation: { signature: 'still good' } }),
      expires_at: now + 1_000_000,
    },
    authorization_codes: { proof: `proof${n}`, code: `code${n}`, kept_until: now + 1_000_000 },
    signins: { at: now, network: '203.0.113.***' },
    identifier_rows: { key, fence: 1, leased_until: 0 },
    limit_notices: { bucket: `sends-per-identifier ${key}`, until: now + 1_000_000 },
    budget_uses: { kind: 'credentials-per-identifier', bucket: key, slot: now + 600_000, used: 1 },
    limit_clears: { kind: 'sends-per-identifier', key, at: now },
    invites: { id: n, digest: `digest${n}`, uses: 1, created_at: now, expires_at: now + 1_000_000 },
    pass_grants: { code: n, until: now + 1_000_000 },
    verifications: { verified_at: now },
  };
  const only = COLUMNS[table];
  const all: Record<string, Value> = { ...common, ...own[table] };
  return only ? Object.fromEntries(Object.entries(all).filter(([name]) => !only.includes(name))) : all;
}

/** Columns whose name means something else in a table. */
const COLUMNS: Readonly<Record<string, readonly string[]>> = { payments: ['channel'] };
