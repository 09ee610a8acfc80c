import { afterAll, describe, expect, test } from 'bun:test';
import { systemClock } from '../../../lib/base/clock.ts';
import { createMetrics } from '../../../lib/base/metrics.ts';
import { readConfig } from '../../../lib/config/config.ts';
import { SWEEP_ROWS_MAX } from '../../../lib/constants.ts';
import { createStore } from '../../../lib/db/store.ts';
import { aliasHash } from '../../../lib/identity/did.ts';
import { type Erasure, eraseFound, erasePerson, planErasure } from '../../../lib/person/erase.ts';
import { PERSONAL_TABLES } from '../../../lib/person/read.ts';
import { testClock } from '../../support/clock.ts';
import { engines, type TestDatabase } from '../../support/databases.ts';
import { rowsIn, STORED_TABLES, storedPerson, storePerson } from '../../support/person-rows.ts';
import { VAULT_SECRET } from '../../support/vault.ts';

const [alice, bob] = [storedPerson(1), storedPerson(2)];

for (const engine of engines()) {
  describe(`an erasure on ${engine.name}`, () => {
    const opened = open(engine.open());
    afterAll(async () => (await opened).database.close());

    test('is said before, then leaves nothing of an address, and of another person all', async () => {
      const { ctx, database, kept } = await opened;
      for (const one of [alice, bob]) await storePerson(database, one, ctx.clock.now());
      const before = await everything(database);
      const plan = await planErasure(ctx, alice.identifier);
      expect(plan.erased).toBe(false);
      expect(plan.tables.map(({ table, rows }) => [table, rows])).toEqual(STORED_TABLES.map((table) => [table, 1]));
      expect(await everything(database)).toEqual(before);

      const report = await erasePerson(ctx, alice.identifier);
      expect([report.erased, report.waiting, report.identifiers]).toEqual([true, 0, [`email:${alice.identifier}`]]);
      const after = await everything(database);
      const text = JSON.stringify(after);
      for (const gone of [alice.identifier, alice.masked, aliasHash(alice.identifier)])
        expect(text).not.toContain(gone);
      for (const [table, rows] of Object.entries(before)) {
        const bobs = rows.filter((row) => JSON.stringify(row).includes(bob.identifier));
        for (const row of bobs) expect([table, after[table]]).toEqual([table, expect.arrayContaining([row])]);
      }
      expect(after['registrations']).toMatchObject([
        { id: 1, identifier: 'email:[1]@erased', did: alice.did, alias_hash: '', proof: null, ip: null, holds: 1 },
        { id: 2, identifier: `email:${bob.identifier}` },
      ]);
      expect(after['credentials']).toEqual(before['credentials'] ?? []);
      expect(after['recovery_notices']).toMatchObject([{ due_at: null }, { due_at: expect.anything() }]);
      expect(after['recovery_contacts']).toMatchObject([{ identifier: '' }, { identifier: `email:${bob.identifier}` }]);
      expect(kept).toMatchObject([{ wasRegistered: true, digest: after['erasures']?.[0]?.['digest'] }]);
      const told = after['events']?.filter(({ type }) => type === 'person.erased');
      expect(told?.map(({ data }) => JSON.parse(String(data)))).toMatchObject([{ identifiers: 1, waiting: 0 }]);
    });

    test('changes nothing the second time, by the address or the DID', async () => {
      const { ctx, database } = await opened;
      const tables = ({ events: _events, erasures: _erasures, ...others }: Awaited<ReturnType<typeof everything>>) =>
        others;
      const before = tables(await everything(database));
      for (const name of [alice.identifier, alice.did]) {
        const report = await erasePerson(ctx, name);
        expect(report.tables.filter(({ erasure }) => erasure === 'removed')).toEqual([]);
        expect(tables(await everything(database))).toEqual(before);
      }
      expect((await rowsIn(database, 'erasures')).map((row) => Number(row['was_registered']))).toEqual([1]);
    });

    test('of one person twice at once, by each address, takes the rows in one order', async () => {
      const { ctx } = await opened;
      // Time stands still: two that wait for each other's row would wait without end.
      const still = { ...ctx, clock: testClock() };
      const [one, other] = ['email:dora@example.com', 'email:eve@example.com'];
      const person = { dids: [], accounts: [], unproven: 0 };
      const reports = await Promise.all(
        [
          [one, other],
          [other, one],
        ].map((identifiers) => eraseFound(still, { ...person, identifiers })),
      );
      expect(reports.map(({ erased }) => erased)).toEqual([true, true]);
    });

    test('is not finished while a recovery of the person is not over', async () => {
      const { ctx, database } = await opened;
      const frank = storedPerson(6);
      await storePerson(database, frank, ctx.clock.now());
      const setFinal = (final: number) =>
        database.execute({ sql: 'UPDATE recoveries SET final = :final WHERE id = 6', args: { final } });
      const open = async () =>
        (await rowsIn(database, 'erasures')).filter(({ finished_at }) => finished_at === null).length;
      await setFinal(0);
      expect([(await erasePerson(ctx, frank.identifier)).waiting > 0, await open()]).toEqual([true, 1]);
      await setFinal(1);
      expect([(await erasePerson(ctx, frank.identifier)).waiting, await open()]).toEqual([0, 0]);
    });

    test('goes on until nothing is left, however many rows there are', async () => {
      const { ctx, database } = await opened;
      await database.execute({
        sql: `INSERT INTO codes (identifier, channel, id, ip, sent_at, expires_at)
          WITH RECURSIVE sends (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM sends WHERE n < :count)
          SELECT 'email:carol@example.com', 'email', 'id' || n, '203.0.113.7', 1, 2 FROM sends`,
        args: { count: 3 * SWEEP_ROWS_MAX },
      });
      await erasePerson(ctx, 'carol@example.com');
      expect(JSON.stringify(await rowsIn(database, 'codes'))).not.toContain('carol');
    });
  });
}

type Rows = readonly Readonly<Record<string, unknown>>[];

async function everything(database: TestDatabase): Promise<Readonly<Record<string, Rows>>> {
  const tables: Record<string, Rows> = {};
  for (const table of PERSONAL_TABLES) tables[table] = (await rowsIn(database, table)).map((row) => ({ ...row }));
  return tables;
}

async function open(opening: Promise<TestDatabase>) {
  const database = await opening;
  const db = createStore({ database, clock: systemClock, metrics: createMetrics(), maxConnections: 4 });
  await db.ready();
  const kept: Erasure[] = [];
  const keepErasures = async (erasures: readonly Erasure[]) => void kept.push(...erasures);
  return { database, kept, ctx: { db, clock: systemClock, config: readConfig({ VAULT_SECRET }), keepErasures } };
}
