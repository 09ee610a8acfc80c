import { describe, expect, test } from 'bun:test';
import type { Database } from '../../../lib/db/database.ts';
import { migrate } from '../../../lib/db/migrations.ts';
import { MIGRATIONS } from '../../../lib/db/schema.ts';
import { BASELINE } from '../../../lib/db/schema-baseline.ts';
import { testClock } from '../../support/clock.ts';
import { engines } from '../../support/databases.ts';

/** What the engine says of the tables, without white space, and all rows; a sequence of 0 is as good as none. */
async function contentOf(database: Database) {
  const query = async (sql: string) => (await database.execute({ sql, args: {} })).rows.map((row) => ({ ...row }));
  const made = await query(`SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name`);
  const rows: Record<string, unknown> = {};
  for (const { type, name } of made) {
    const where = name === 'sqlite_sequence' ? 'WHERE seq > 0' : '';
    if (type === 'table') rows[String(name)] = await query(`SELECT * FROM "${name}" ${where}`);
  }
  return { made: made.map((one) => ({ ...one, sql: String(one['sql']).replace(/\s+/g, '') })), rows };
}

describe.each(engines().map((engine) => [engine.name, engine] as const))('the baseline on %s', (_, engine) => {
  test.each([
    ['alone', MIGRATIONS.filter(({ version }) => version <= BASELINE.upTo)],
    ['with the migrations behind it', MIGRATIONS],
  ])('%s makes the tables and rows of the migrations (else: bun scripts/baseline.ts)', async (_, list) => {
    const [stepByStep, atOnce] = [await engine.openEmpty(), await engine.openEmpty()];
    expect(await migrate(stepByStep, testClock(), list, { upTo: 0, statements: [] })).toEqual([...list]);
    expect(await migrate(atOnce, testClock(), list, BASELINE)).toEqual([...list]);
    expect(await contentOf(atOnce)).toEqual(await contentOf(stepByStep));
    await Promise.all([stepByStep.close(), atOnce.close()]);
  });

  test('is not for a database that has tables: it gets what it lacks', async () => {
    const database = await engine.openEmpty();
    await migrate(database, testClock(), MIGRATIONS.slice(0, 3));
    expect(await migrate(database, testClock())).toEqual(MIGRATIONS.slice(3));
    await database.close();
  });

  test('leaves nothing behind where a table of its own is there already, and says which', async () => {
    const database = await engine.openEmpty();
    await database.execute({ sql: 'CREATE TABLE chains (id INTEGER)', args: {} });
    await expect(migrate(database, testClock())).rejects.toThrow('chains');
    const { rows } = await database.execute({ sql: 'SELECT version FROM migrations ORDER BY version', args: {} });
    expect(rows.map(({ version }) => Number(version))).toEqual([1, 3, 4]);
    await database.close();
  });
});
