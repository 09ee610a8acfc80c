import { Database as Connection } from 'bun:sqlite';
import { existsSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { openSqlite } from '../../../commands/storage/sqlite.ts';
import { systemClock } from '../../../lib/base/clock.ts';
import { migrate } from '../../../lib/db/migrations.ts';
import { hexSql, KINDS, SCATTERED } from './keys.ts';

/** The file of so many registrations in the folder, filled unless it is there already. */
export async function filled(folder: string, registrations: number): Promise<string> {
  const path = join(folder, `vault-${registrations}.db`);
  if (existsSync(path)) return path;
  const draft = `${path}.draft`;
  const database = openSqlite(draft);
  await migrate(database, systemClock);
  database.close();
  const connection = new Connection(draft, { readwrite: true, strict: true });
  for (const pragma of FAST) connection.run(`PRAGMA ${pragma}`);
  const start = performance.now();
  for (const table of TABLES) {
    fillTable(connection, table, registrations);
    const seconds = ((performance.now() - start) / 1000).toFixed(0);
    console.log(`${path}: ${table.name}, ${seconds} s, ${(statSync(draft).size / 1e9).toFixed(2)} GB`);
  }
  connection.run(
    `UPDATE tallies SET value = (SELECT count(*) FROM sessions) WHERE name IN ('sessions', 'linked_sessions')`,
  );
  for (const kind of ['DIDRegistered', 'AliasRegistered'])
    connection.run(
      `UPDATE tallies SET value = (SELECT count(*) FROM chain_events WHERE kind = '${kind}') WHERE name = '${kind}'`,
    );
  for (const pragma of ['locking_mode = NORMAL', 'journal_mode = WAL']) connection.run(`PRAGMA ${pragma}`);
  connection.close(true);
  renameSync(draft, path);
  return path;
}

/** Nothing is kept of a fill that breaks off. */
const FAST = [
  // It leaves the log of WAL first.
  'journal_mode = DELETE',
  'journal_mode = OFF',
  'synchronous = OFF',
  'locking_mode = EXCLUSIVE',
  'foreign_keys = OFF',
  'temp_store = MEMORY',
  `cache_size = -${3 * 1024 * 1024}`,
];

/** Rows that a table gets after its indexes are made, so that the indexes' pages are as full as use leaves them. */
const LATE_SHARE = 0.35;
const ROWS_AT_ONCE = 250_000;

interface Fill {
  readonly name: string;
  readonly columns: string;
  /** After SELECT, from `scattered`: `n` counts, `h` is scattered. */
  readonly values: string;
  /** After `FROM scattered`. */
  readonly where?: string;
  /** Rows for each registration; 1 where it is left out. */
  readonly share?: number;
}

function fillTable(
  connection: Connection,
  { name, columns, values, where = '', share = 1 }: Fill,
  registrations: number,
) {
  const rows = Math.max(1, Math.round(registrations * share));
  const insert = connection.prepare(
    `INSERT INTO ${name} (${columns}) ${SCATTERED} SELECT ${values} FROM scattered ${where}`.replaceAll(
      ':rows',
      String(rows),
    ),
  );
  const put = (from: number, to: number) => {
    for (let first = from; first <= to; first += ROWS_AT_ONCE)
      insert.run({ first, last: Math.min(to, first + ROWS_AT_ONCE - 1) } as never);
  };
  const made = connection
    .query(`SELECT type, name, sql FROM sqlite_schema WHERE tbl_name = :name AND type <> 'table' AND sql IS NOT NULL`)
    .all({ name } as never) as { type: string; name: string; sql: string }[];
  for (const one of made) connection.run(`DROP ${one.type} ${one.name}`);
  const early = Math.floor(rows * (1 - LATE_SHARE));
  put(1, early);
  for (const one of made) if (one.type === 'index') connection.run(one.sql);
  put(early + 1, rows);
  insert.finalize();
  for (const one of made) if (one.type === 'trigger') connection.run(one.sql);
}

const hex = (words: number, kind: keyof typeof KINDS) => hexSql(words, KINDS[kind]);
const ADDRESS = `'0x' || ${hex(5, 'account')}`;
const DID = `'did:pkh:eip155:84532:' || ${ADDRESS}`;
const HASH = (kind: keyof typeof KINDS) => `'0x' || ${hex(8, kind)}`;
const KEY = `'0x' || ${hex(8, 'account')} || ${hex(8, 'block')}`;
const CHANNEL = `CASE WHEN n % 4 = 0 THEN 'handle' WHEN n % 4 = 1 THEN 'sms' ELSE 'email' END`;
const IDENTIFIER = `CASE WHEN n % 4 = 0 THEN 'handle:u' || ${hex(2, 'identifier')}
  WHEN n % 4 = 1 THEN printf('sms:+49%011d', h)
  ELSE 'email:' || ${hex(2, 'identifier')} || '@example.com' END`;
const ALIAS = `CASE WHEN n % 4 = 0 THEN ${HASH('alias')} ELSE '' END`;
const IP = `printf('10.%d.%d.%d', h % 256, (h / 256) % 256, (h / 65536) % 256)`;
/** Two years, newest last, the newest a minute ago. */
const NOW = `(unixepoch() * 1000)`;
const TIME = `${NOW} - 60000 - (:rows - n) * 12000`;
/** Codes of a day, 100,000 at most for each million registrations. */
const DAY = `${NOW} - 80000000 + n * 10`;
const PROOF = `CASE WHEN n % 8 = 2 THEN '{"challenge":"' || ${hex(8, 'alias')} || '","assertion":{"authenticatorData":"' ||
  ${hex(8, 'block')} || '0500000001","clientDataJSON":"' || hex(zeroblob(140)) || '","r":"0x' || ${hex(8, 'did')} || '","s":"0x' ||
  ${hex(8, 'transaction')} || '"}}' END`;

/** What a vault holds after it has made so many registrations, the transient tables as of a day. */
const TABLES: readonly Fill[] = [
  {
    name: 'registrations',
    columns: `id, identifier, channel, did, did_hash, alias_hash, credential_id, tx_hash, block_number, smart_account,
      proof, status, registered_at, unseen_since, mined_block, mined_hash, checks, controller, controller_key, proof_key,
      final, aliased, holds`,
    values: `n, ${IDENTIFIER}, ${CHANNEL}, ${DID}, ${HASH('did')}, ${ALIAS}, ${hex(4, 'credential')},
      ${HASH('transaction')}, 20000000 + n, ${ADDRESS}, ${PROOF}, 'confirmed', ${TIME}, ${TIME}, 20000000 + n,
      ${HASH('block')}, 7, ${ADDRESS}, CASE WHEN n % 5 THEN ${KEY} END, CASE WHEN n % 8 = 2 THEN ${KEY} END, 1,
      n % 4 = 0, 1`,
  },
  {
    name: 'credentials',
    columns: 'credential_id, key, since, registration_id',
    values: `${hex(4, 'credential')}, CASE WHEN n % 8 = 2 THEN ${KEY} ELSE '' END, n, n`,
  },
  {
    name: 'sessions',
    columns: 'identifier, did, ip, created_at, expires_at, linked, alias_hash, did_hash, counts',
    values: `${IDENTIFIER}, ${DID}, ${IP}, ${TIME}, ${TIME}, 1, ${ALIAS}, ${HASH('did')}, n % 4 = 0`,
  },
  {
    name: 'verifications',
    columns: 'identifier, verified_at, wrong_guesses',
    values: `${IDENTIFIER}, ${TIME}, n % 16 = 1`,
    where: 'WHERE n % 4 <> 0',
  },
  {
    name: 'chain_events',
    columns: 'block, log_index, block_hash, tx_hash, kind, subject, object, metadata_cid',
    values: `20000000 + n, 3, ${HASH('block')}, ${HASH('transaction')}, 'DIDRegistered', ${HASH('did')}, ${ADDRESS}, ''
      FROM scattered UNION ALL SELECT 20000000 + n, 4, ${HASH('block')}, ${HASH('transaction')}, 'AliasRegistered',
      ${HASH('alias')}, ${HASH('did')}, NULL`,
    where: 'WHERE n % 4 = 0',
  },
  {
    name: 'key_accounts',
    columns: 'account, checked_at',
    values: `${ADDRESS}, ${TIME}`,
    where: 'WHERE n % 5 = 0',
  },
  { name: 'account_keys', columns: 'account, key', values: `${ADDRESS}, ${KEY}`, where: 'WHERE n % 5 = 0' },
  {
    name: 'relays',
    columns: `id, kind, role, registration_id, chain_id, target, controller, did_hash, network, status, signer, nonce,
      tx_hash, mined_hash, final, created_at, checks`,
    values: `n, 'registration', 'registrar', n * 10, 84532, '0x' || ${hex(5, 'block')}, ${ADDRESS}, ${HASH('did')}, ${IP},
      'confirmed', '0x70997970c51812dc3a010c7d01b50e0d17dc79c8', n, ${HASH('transaction')}, ${HASH('block')}, 1,
      ${NOW} - 60000 - (:rows - n) * 120000, 9`,
    share: 0.1,
  },
  {
    name: 'relay_attempts',
    columns: 'relay_id, hash, raw, gas, max_fee, tip, kind',
    values: `n, ${HASH('transaction')}, '0x' || hex(zeroblob(220)), 200000, 1000000, 1000, 'call'`,
    share: 0.1,
  },
  {
    name: 'codes',
    columns: 'id, identifier, channel, ip, sent_at, expires_at, digest, attempts, delivery, consumed_at',
    values: `${hex(4, 'block')}, 'email:' || ${hex(2, 'transaction')} || '@example.org', 'email', ${IP}, ${DAY},
      ${DAY} + 90000, ${hex(8, 'did')}, 1, 'accepted', ${DAY} + 20000`,
    share: 0.1,
  },
  {
    name: 'budget_uses',
    columns: 'kind, bucket, slot, used',
    values: `'emails-per-network', ${IP}, ${DAY}, 1`,
    share: 0.05,
  },
  {
    name: 'events',
    columns: 'app, channel, type, at, data',
    values: `'default', 'audit', 'code.sent', ${NOW} - 500000000 + n * 50,
      '{"channel":"email","identifier":"a***@example.org"}'`,
    share: 0.4,
  },
  {
    name: 'webhook_deliveries',
    columns:
      'event_id, app, channel, type, at, data, status, attempts, give_up_at, last_status, created_at, settled_at',
    values: `n, 'default', 'audit', 'code.sent', ${DAY}, '{"channel":"email","identifier":"a***@example.org"}',
      'delivered', 1, ${DAY}, 200, ${DAY}, ${DAY}`,
    share: 0.06,
  },
  {
    name: 'attestation_uses',
    columns: 'signature, expires_at',
    values: `${HASH('credential')}, ${NOW} + 600000`,
    share: 0.001,
  },
];

if (import.meta.main) {
  const [folder = '.', ...counts] = process.argv.slice(2);
  for (const count of counts) await filled(folder, Number(count));
}
