import { normalPhone } from '../identity/phone.ts';
import type { Database } from './database.ts';
import type { Migration } from './schema-1.ts';

/** Rows read at once: the vault answers other requests in between. */
const PAGE_ROWS_MAX = 5_000;
const PREFIX = 'sms:';
/** The tables that name identifiers for long, and the column by which each is read in order. */
const TABLES = [
  ['registrations', 'id'],
  ['sessions', 'identifier'],
  ['verifications', 'identifier'],
  ['codes', 'seq'],
] as const;

/** The claims of an identifier that no other may take over. */
const CLAIMED = `(EXISTS (SELECT 1 FROM registrations WHERE identifier = renames.new AND status <> 'failed')
  OR EXISTS (SELECT 1 FROM sessions WHERE identifier = renames.new AND (linked = 1
    OR expires_at > (SELECT applied_at FROM migrations WHERE version = 16))))`;
const RENAMED = `(SELECT new FROM renames WHERE renames.old = identifier)`;
const IS_RENAMED = `identifier IN (SELECT old FROM renames)`;

/**
 * Phone numbers get the normal form that they have now (docs/decisions/0017). Where somebody has claimed that form
 * already, all rows of the former one stay: nobody is displaced, and DID and credential lead where they led. Of several
 * former forms of one number the one that was registered first gets it.
 */
export const PHONE_NUMBERS: Migration = {
  version: 16,
  name: 'one normal form of a phone number',
  read: readRenames,
  statements: [
    `CREATE TABLE renames (old TEXT PRIMARY KEY, new TEXT NOT NULL) STRICT, WITHOUT ROWID`,
    `INSERT INTO renames SELECT value ->> 0, value ->> 1 FROM json_each(:read)`,
    `DELETE FROM renames WHERE ${CLAIMED}`,
    `DELETE FROM renames WHERE old NOT IN (SELECT old FROM (SELECT old, row_number() OVER (PARTITION BY new ORDER BY
      coalesce((SELECT min(id) FROM registrations WHERE identifier = old AND status <> 'failed'), 1e18),
      coalesce((SELECT created_at FROM sessions WHERE identifier = old), 1e18), old) AS place FROM renames)
      WHERE place = 1)`,
    `UPDATE registrations SET identifier = ${RENAMED} WHERE ${IS_RENAMED}`,
    // What is left there has ended.
    `DELETE FROM sessions WHERE identifier IN (SELECT new FROM renames)`,
    `UPDATE sessions SET identifier = ${RENAMED} WHERE ${IS_RENAMED}`,
    `UPDATE OR IGNORE verifications SET identifier = ${RENAMED} WHERE ${IS_RENAMED}`,
    `UPDATE codes SET identifier = ${RENAMED} WHERE ${IS_RENAMED}`,
    `DROP TABLE renames`,
  ],
};

/** The keys whose normal form is another now, with that, as JSON. */
async function readRenames(database: Database): Promise<string> {
  const renames = new Map<string, string>();
  for (const [table, by] of TABLES) {
    if (!(await hasTable(database, table))) continue;
    for (let after: string | number | undefined = by === 'identifier' ? PREFIX : 0; after !== undefined; ) {
      const { rows } = await database.execute({ sql: selectPage(table, by), args: { after } });
      for (const { identifier } of rows) rename(renames, String(identifier));
      const last = rows.length < PAGE_ROWS_MAX ? undefined : rows.at(-1)?.[by];
      after = typeof last === 'string' || last === undefined ? last : Number(last);
    }
  }
  return JSON.stringify([...renames]);
}

/** A number without a normal form, as one of a code that no country has, keeps its rows as they are. */
function rename(renames: Map<string, string>, key: string): void {
  if (!key.startsWith(PREFIX) || renames.has(key)) return;
  const phone = normalPhone(key.slice(PREFIX.length));
  if (phone !== undefined && PREFIX + phone !== key) renames.set(key, PREFIX + phone);
}

async function hasTable(database: Database, table: string): Promise<boolean> {
  const sql = `SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = :table`;
  return (await database.execute({ sql, args: { table } })).rows.length > 0;
}

function selectPage(table: string, by: string): string {
  const end = by === 'identifier' ? ` AND identifier < 'sms;'` : '';
  return `SELECT ${by === 'identifier' ? by : `${by}, identifier`} FROM ${table} WHERE ${by} > :after${end}
    ORDER BY ${by} LIMIT ${PAGE_ROWS_MAX}`;
}
