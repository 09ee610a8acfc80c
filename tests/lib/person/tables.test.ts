import { Database as Connection } from 'bun:sqlite';
import { afterAll, describe, expect, test } from 'bun:test';
import { systemClock } from '../../../lib/base/clock.ts';
import { createMetrics } from '../../../lib/base/metrics.ts';
import { readConfig } from '../../../lib/config/config.ts';
import { MIGRATIONS } from '../../../lib/db/schema.ts';
import { createStore } from '../../../lib/db/store.ts';
import { PERSONAL_TABLES, type PersonPage, readPerson } from '../../../lib/person/read.ts';
import { TABLES } from '../../../lib/person/table-store.ts';
import { engines, type TestDatabase } from '../../support/databases.ts';
import { insertRow, STORED_TABLES, storedPerson, storePerson } from '../../support/person-rows.ts';
import { settled } from '../../support/settled.ts';
import { VAULT_SECRET } from '../../support/vault.ts';

const schema = new Connection(':memory:');
schema.run('CREATE TABLE migrations (version INTEGER PRIMARY KEY, name TEXT, applied_at INTEGER) STRICT');
for (const { statements } of MIGRATIONS) for (const sql of statements) schema.run(sql);
const names = schema
  .query(`SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'`)
  .values()
  .map(([name]) => String(name));

/** Columns that hold something of a person, or lead to it. */
const PERSONAL = /^(?:identifier|did|did_hash|account|controller|credential_id|ip|client|network|subject|data|body)$/;

describe('the tables of a person', () => {
  test('are every table of the schema, and no others', () => {
    expect(Object.keys(TABLES).sort()).toEqual(names.sort());
  });

  test('are all that have a column of a person', () => {
    const having = names.filter((table) =>
      schema
        .query(`SELECT name FROM pragma_table_info('${table}')`)
        .values()
        .some(([column]) => PERSONAL.test(String(column))),
    );
    expect(having.filter((table) => !PERSONAL_TABLES.includes(table))).toEqual([]);
  });
});

for (const engine of engines()) {
  describe(`a person on ${engine.name}`, () => {
    const opened = open(engine.open());
    afterAll(async () => (await opened).database.close());

    test('is exported from every table, with every column but secrets, and nobody else', async () => {
      const { ctx, database } = await opened;
      const [alice, bob] = [storedPerson(1), storedPerson(2)];
      for (const one of [alice, bob]) await storePerson(database, one, ctx.clock.now());
      const { tables, pages } = await readAll((after) => readPerson(ctx, alice.identifier, 'exported', after));
      expect(pages).toBeGreaterThan(0);
      expect(Object.keys(tables)).toEqual(STORED_TABLES);
      for (const [table, rows] of Object.entries(tables)) expect([table, rows.length]).toEqual([table, 1]);
      const text = JSON.stringify(tables);
      expect(text).toContain('203.0.113.1');
      for (const other of [bob.identifier, bob.did, bob.masked, bob.credentialId, 'still good', '"digest"'])
        expect(text).not.toContain(other);
      const columns = schema.query(`SELECT name FROM pragma_table_info('registrations')`).values().flat();
      expect(Object.keys(tables['registrations']?.[0] ?? {})).toEqual(columns as string[]);
    });

    test('is found by its DID as by its address, and by no DID that it did not sign for', async () => {
      const { ctx, database } = await opened;
      const [alice, mallory] = [storedPerson(1), storedPerson(3)];
      // Mallory claims the DID of Alice with an address of her own.
      const claim = { id: 3, identifier: `email:${mallory.identifier}`, channel: 'email', status: 'confirmed' };
      const { did_hash } = (await readPerson(ctx, alice.did, 'shown')).tables.find(
        ({ table }) => table === 'registrations',
      )?.rows[0] ?? { did_hash: '' };
      await insertRow(database, 'registrations', { ...claim, did: alice.did, did_hash: did_hash ?? '', final: 1 });
      const byDid = await readPerson(ctx, alice.did, 'shown');
      expect([byDid.identifiers, byDid.unproven]).toEqual([[`email:${alice.identifier}`], 1]);
      const hers = await readAll((after) => readPerson(ctx, mallory.identifier, 'shown', after));
      expect(hers.person).toMatchObject({ identifiers: [`email:${mallory.identifier}`], dids: [], accounts: [] });
      expect(Object.keys(hers.tables)).toEqual(['registrations']);
    });

    test('is nobody where nothing is stored, and what is no identifier is refused', async () => {
      const { ctx } = await opened;
      const { tables } = await readAll((after) => readPerson(ctx, 'nobody@example.com', 'shown', after));
      expect(tables).toEqual({});
      for (const [identifier, after] of [
        ['did:'],
        ['a@b@c'],
        ['a@example.com', 'sqlite_schema:'],
        ['a@example.com', 'codes:x'],
      ])
        expect(await settled(readPerson(ctx, identifier ?? '', 'shown', after))).toThrow(
          expect.objectContaining({ code: 'bad_request' }),
        );
    });
  });
}

async function open(opening: Promise<TestDatabase>) {
  const database = await opening;
  const db = createStore({ database, clock: systemClock, metrics: createMetrics(), maxConnections: 4 });
  await db.ready();
  return { database, ctx: { db, clock: systemClock, config: readConfig({ VAULT_SECRET }) } };
}

async function readAll(read: (after: string | undefined) => Promise<PersonPage>) {
  const tables: Record<string, Readonly<Record<string, unknown>>[]> = {};
  for (let after: string | undefined, pages = 1; ; pages++) {
    const { tables: found, next, ...person } = await read(after);
    for (const { table, rows } of found) tables[table] = [...(tables[table] ?? []), ...rows];
    if (next === null) return { tables, person, pages };
    after = next;
  }
}
