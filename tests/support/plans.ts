import { Database as Connection } from 'bun:sqlite';
import type { Database } from '../../lib/db/database.ts';
import { MIGRATIONS } from '../../lib/db/schema.ts';

/** Tables that grow with use: what is asked of them has to be found by an index. */
export const GROWING = [
  'account_keys',
  'attestation_uses',
  'authorization_codes',
  'budget_uses',
  'chain_blocks',
  'chain_events',
  'challenge_notices',
  'challenges',
  'client_assertions',
  'codes',
  'credentials',
  'erasures',
  'events',
  'idempotency',
  'identifier_rows',
  'joins',
  'key_accounts',
  'known_keys',
  'limit_notices',
  'minutes',
  'pass_grants',
  'passkey_notices',
  'payments',
  'recoveries',
  'recovery_addresses',
  'recovery_contacts',
  'recovery_notices',
  'registrations',
  'relay_attempts',
  'relays',
  'sessions',
  'signins',
  'sponsorships',
  'streams',
  'token_revocations',
  'verifications',
  'webhook_deliveries',
];

/** Indexes of open rows alone, of which there are few. */
const OF_OPEN_ROWS = ['payments_open', 'recoveries_open', 'recoveries_with_address', 'registrations_waiting'];
/** A step of a plan that reads a table, or an index of it, from end to end; the table may have another name there. */
const SCAN = /^SCAN (\w+)(?: USING (?:COVERING )?INDEX (\w+))?/;
const ONCE = new Set(MIGRATIONS.flatMap(({ statements }) => statements));

/**
 * The step of a statement's plan that reads a growing table from end to end; undefined if there is none. What takes a
 * few rows from an end of the table reads no more than these.
 */
export function scanIn(sql: string, plan: readonly string[]): string | undefined {
  const names = tablesOf(sql);
  return plan.find((step) => {
    const [, name = '', index = ''] = SCAN.exec(step) ?? [];
    const table = names.get(name) ?? name;
    if (!GROWING.includes(table) || OF_OPEN_ROWS.includes(index)) return false;
    return !new RegExp(`FROM ${table}\\s+ORDER BY [\\w, ]+ LIMIT`).test(sql);
  });
}

/** Whether a plan is asked for: the text is one of the vault's own, and no part of a migration. */
export function isPlanned(sql: string): boolean {
  return /^\s*(?:SELECT|INSERT|UPDATE|DELETE|WITH)\b/i.test(sql) && !ONCE.has(sql);
}

/** The tables of a statement by the names that it gives them. */
function tablesOf(sql: string): ReadonlyMap<string, string> {
  const named = sql.matchAll(/\b(?:FROM|JOIN|UPDATE)\s+(\w+)\s+AS\s+(\w+)/gi);
  return new Map(Array.from(named, ([, table = '', name = '']) => [name, table]));
}

let tables: Connection | undefined;

/** The plan of a statement on the newest tables; none for one of tables that a test made. */
export function planOf(sql: string): readonly string[] {
  tables ??= createTables();
  // As the embedded engine plans it: a parameter's value is no part of the plan.
  const planned = sql.replace(/'(?:[^']|'')*'|:[a-z_]/g, (text) => (text.startsWith(':') ? `+${text}` : text));
  try {
    const rows = tables.prepare(`EXPLAIN QUERY PLAN ${planned}`).all() as { detail: string }[];
    return rows.map(({ detail }) => detail);
  } catch {
    return [];
  }
}

function createTables(): Connection {
  const connection = new Connection(':memory:');
  connection.run('CREATE TABLE migrations (version INTEGER PRIMARY KEY, name TEXT, applied_at INTEGER) STRICT');
  for (const { statements } of MIGRATIONS) for (const sql of statements) connection.run(sql);
  return connection;
}

const scans = new Map<string, string | undefined>();
const refused: string[] = [];

/**
 * The database, refusing each statement that reads a growing table from end to end. Background work catches its errors,
 * so `refusedScans` has them too.
 */
export function refusingScans(database: Database): Database {
  const check = ({ sql }: { readonly sql: string }) => {
    if (!scans.has(sql)) scans.set(sql, isPlanned(sql) ? scanIn(sql, planOf(sql)) : undefined);
    const scan = scans.get(sql);
    if (scan === undefined) return;
    refused.push(`${scan}: ${sql.replace(/\s+/g, ' ')}`);
    throw new Error(`a scan of a growing table: ${scan}`);
  };
  return {
    async execute(statement) {
      check(statement);
      return database.execute(statement);
    },
    async batch(statements, mode) {
      for (const statement of statements) check(statement);
      return database.batch(statements, mode);
    },
  };
}

/** Takes what was refused since the last call. */
export function refusedScans(): readonly string[] {
  return refused.splice(0);
}
