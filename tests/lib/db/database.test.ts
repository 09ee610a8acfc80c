import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { Value } from '../../../lib/db/database.ts';
import { engines, type TestDatabase } from '../../support/databases.ts';

for (const engine of engines()) {
  describe(`the port on ${engine.name}`, () => {
    let database: TestDatabase;
    const run = (sql: string, args: Record<string, Value> = {}) => database.execute({ sql, args });
    const statement = (sql: string, args: Record<string, Value> = {}) => ({ sql, args });
    const count = async () => Number((await run('SELECT count(*) AS n FROM things')).rows[0]?.['n']);

    beforeAll(async () => {
      database = await engine.openEmpty();
      await run('CREATE TABLE things (id INTEGER PRIMARY KEY, name TEXT UNIQUE, size ANY) STRICT');
      await run('CREATE TABLE parts (thing INTEGER REFERENCES things (id) DEFERRABLE INITIALLY DEFERRED) STRICT');
      await run('CREATE TABLE changes (total INTEGER) STRICT');
      await run('INSERT INTO changes VALUES (0)');
      await run('CREATE TRIGGER things_added AFTER INSERT ON things BEGIN UPDATE changes SET total = total + 1; END');
    });

    afterAll(() => database.close());

    test('named arguments may stand anywhere and more than once', async () => {
      const { rows } = await run('SELECT :b AS b, :a AS a, :b AS again', { a: 'one', b: 'two' });
      expect({ ...rows[0] }).toEqual({ b: 'two', a: 'one', again: 'two' });
    });

    test('a bigint is stored as an integer and comes back as a number', async () => {
      await run('INSERT INTO things (name, size) VALUES (:name, :size)', { name: 'integer', size: 1_732_000_000_000n });
      const { rows } = await run('SELECT typeof(size) AS type, size FROM things WHERE name = :name', {
        name: 'integer',
      });
      expect({ ...rows[0] }).toEqual({ type: 'integer', size: 1_732_000_000_000 });
    });

    test('text, null and fractions come back as they were', async () => {
      const { rows } = await run('SELECT :text AS text, :empty AS empty, :half AS half', {
        text: 'grüße',
        empty: null,
        half: 0.5,
      });
      expect({ ...rows[0] }).toEqual({ text: 'grüße', empty: null, half: 0.5 });
    });

    test('rowsAffected counts the rows a statement changed itself, not those of its triggers', async () => {
      const insert = `INSERT INTO things (name) SELECT :name WHERE (SELECT count(*) FROM things WHERE name = :name) < :limit`;
      expect((await run(insert, { name: 'limited', limit: 1n })).rowsAffected).toBe(1);
      expect((await run(insert, { name: 'limited', limit: 1n })).rowsAffected).toBe(0);
      expect((await run('UPDATE things SET size = 1 WHERE name = :name', { name: 'limited' })).rowsAffected).toBe(1);
      expect((await run('UPDATE things SET size = 1 WHERE name = :name', { name: 'nobody' })).rowsAffected).toBe(0);
      expect((await run('DELETE FROM things WHERE name = :name', { name: 'limited' })).rowsAffected).toBe(1);
      expect((await run('SELECT * FROM things')).rowsAffected).toBe(0);
    });

    test('the rows of RETURNING are the verdict of an upsert', async () => {
      const upsert = `INSERT INTO things (name, size) VALUES (:name, :size)
        ON CONFLICT (name) DO UPDATE SET size = excluded.size WHERE size < excluded.size RETURNING size`;
      expect((await run(upsert, { name: 'upserted', size: 1n })).rows).toHaveLength(1);
      expect({ ...(await run(upsert, { name: 'upserted', size: 2n })).rows[0] }).toEqual({ size: 2 });
      expect((await run(upsert, { name: 'upserted', size: 2n })).rows).toHaveLength(0);
    });

    test('a read in a batch sees the writes before it', async () => {
      const [, read] = await database.batch(
        [
          statement('INSERT INTO things (name) VALUES (:name)', { name: 'seen' }),
          statement('SELECT count(*) AS n FROM things WHERE name = :name', { name: 'seen' }),
        ],
        'write',
      );
      expect({ ...read?.rows[0] }).toEqual({ n: 1 });
    });

    test('a batch whose second statement fails leaves nothing behind and names the statement', async () => {
      const before = await count();
      const insert = statement('INSERT INTO things (name) VALUES (:name)', { name: 'twice' });
      const failure = database.batch([insert, insert, insert], 'write');
      expect(await failure.catch((error) => error)).toMatchObject({
        statementIndex: 1,
        code: expect.stringMatching(/^SQLITE_CONSTRAINT/),
      });
      expect(await count()).toBe(before);
    });

    test('a batch refused at its end leaves nothing behind and names no statement', async () => {
      const orphan = statement('INSERT INTO parts (thing) VALUES (:thing)', { thing: 999_999n });
      const failure = await database.batch([orphan], 'write').catch((error) => error);
      expect(failure).toMatchObject({ code: expect.stringMatching(/^SQLITE_CONSTRAINT/) });
      expect(failure.statementIndex).toBeUndefined();
      expect((await run('SELECT * FROM parts')).rows).toHaveLength(0);
    });

    test('after a failed batch the next one succeeds', async () => {
      await database.batch([statement('INSERT INTO nowhere VALUES (1)')], 'write').catch(() => undefined);
      const [result] = await database.batch(
        [statement('INSERT INTO things (name) VALUES (:name)', { name: 'next' })],
        'write',
      );
      expect(result?.rowsAffected).toBe(1);
    });
  });
}
