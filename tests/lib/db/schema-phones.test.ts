import { afterAll, describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { openSqlite } from '../../../commands/storage/sqlite.ts';
import { systemClock } from '../../../lib/base/clock.ts';
import type { Database } from '../../../lib/db/database.ts';
import { migrate } from '../../../lib/db/migrations.ts';
import { MIGRATIONS } from '../../../lib/db/schema.ts';
import { engines, temporaryFolder } from '../../support/databases.ts';
import { startVault } from '../../support/vault.ts';

const BEFORE = MIGRATIONS.filter(({ version }) => version < 16);
const NEVER = 1e14;

interface Rows {
  /** Identifier and status. */
  readonly registrations?: readonly (readonly [string, string])[];
  /** Identifier, whether it is linked, and until when it is held. */
  readonly sessions?: readonly (readonly [string, number, number])[];
  readonly verifications?: readonly string[];
  readonly codes?: readonly string[];
}

/** Fills a database of before with these; each registration has a DID and a credential of its own. */
async function fill(database: Database, { registrations = [], sessions = [], verifications = [], codes = [] }: Rows) {
  const run = (sql: string) => database.execute({ sql, args: {} });
  for (const [n, [identifier, status]] of registrations.entries()) {
    await run(`INSERT INTO registrations (identifier, channel, did, did_hash, alias_hash, credential_id, tx_hash, status,
      registered_at, unseen_since) VALUES ('${identifier}', 'sms', 'did:key:z${n}', '0xd${n}', '0xa', 'c${n}', '0x',
      '${status}', 1, 1)`);
  }
  for (const [identifier, linked, expires] of sessions) {
    await run(`INSERT INTO sessions (identifier, did, ip, created_at, expires_at, linked)
      VALUES ('${identifier}', 'did:key:z', 'ip', 1, ${expires}, ${linked})`);
  }
  for (const identifier of verifications) {
    await run(`INSERT INTO verifications (identifier, verified_at) VALUES ('${identifier}', 1)`);
  }
  for (const identifier of codes) {
    await run(`INSERT INTO codes (id, identifier, channel, ip, sent_at, expires_at)
      VALUES ('i', '${identifier}', 'sms', 'ip', 1, 2)`);
  }
}

for (const engine of engines()) {
  describe(`phone numbers get one normal form on ${engine.name}`, () => {
    const open = async () => {
      const database = await engine.openEmpty();
      afterAll(() => database.close());
      const identifiers = async (table: string, order = 'identifier') => {
        const { rows } = await database.execute({ sql: `SELECT identifier FROM ${table} ORDER BY ${order}`, args: {} });
        return rows.map(({ identifier }) => String(identifier));
      };
      return { database, identifiers };
    };

    test('in every table that names them, and in one step with all migrations', async () => {
      const { database, identifiers } = await open();
      await migrate(
        database,
        systemClock,
        MIGRATIONS.filter(({ version }) => version <= 9),
      );
      const former = 'sms:+49015123456789';
      await fill(database, {
        registrations: [
          [former, 'submitted'],
          ['sms:+4402079460958', 'failed'],
          ['email:a..b@example.com', 'submitted'],
        ],
        sessions: [
          [former, 1, NEVER],
          ['handle:+490', 0, NEVER],
          ['sms:+390669882872', 0, NEVER],
        ],
        verifications: [former, 'email:a@b', 'sms:+4402079460958'],
        codes: [former, former],
      });
      await migrate(database, systemClock);
      const now = 'sms:+4915123456789';
      expect(await identifiers('registrations', 'id')).toEqual([now, 'sms:+442079460958', 'email:a..b@example.com']);
      expect(await identifiers('sessions')).toEqual(['handle:+490', 'sms:+390669882872', now]);
      expect(await identifiers('verifications')).toEqual(['email:a@b', 'sms:+442079460958', now]);
      expect(await identifiers('codes')).toEqual([now, now]);
      const { rows } = await database.execute({ sql: 'SELECT holds FROM registrations ORDER BY id', args: {} });
      expect(rows.map(({ holds }) => Number(holds))).toEqual([1, 0, 1]);
      expect(await identifiers(`(SELECT name AS identifier FROM sqlite_schema WHERE name = 'renames')`)).toEqual([]);
    });

    test('where nobody has claimed it: a claim that holds it stays alone, and the former one keeps its rows', async () => {
      const { database, identifiers } = await open();
      await migrate(database, systemClock, BEFORE);
      const kept: Rows = {
        registrations: [
          ['sms:+49015111111111', 'submitted'],
          ['sms:+4915111111111', 'confirmed'],
        ],
        sessions: [
          ['sms:+49015122222222', 1, NEVER],
          ['sms:+4915122222222', 0, NEVER],
        ],
        codes: ['sms:+49015111111111'],
      };
      await fill(database, kept);
      await migrate(database, systemClock);
      expect(await identifiers('registrations', 'id')).toEqual(
        kept.registrations?.map(([identifier]) => identifier) ?? [],
      );
      expect(await identifiers('sessions')).toEqual(kept.sessions?.map(([identifier]) => identifier) ?? []);
      expect(await identifiers('codes')).toEqual([...(kept.codes ?? [])]);
    });

    test('a claim that has ended holds nothing; of two former forms the one registered first gets it', async () => {
      const { database, identifiers } = await open();
      await migrate(database, systemClock, BEFORE);
      await fill(database, {
        registrations: [
          ['sms:+4915111111111', 'failed'],
          ['sms:+49015111111111', 'confirmed'],
          ['sms:+490015122222222', 'confirmed'],
          ['sms:+49015122222222', 'confirmed'],
        ],
        sessions: [
          ['sms:+4915133333333', 0, 1],
          ['sms:+49015133333333', 1, NEVER],
        ],
        verifications: ['sms:+4915133333333', 'sms:+49015133333333'],
      });
      await migrate(database, systemClock);
      expect(await identifiers('registrations', 'id')).toEqual([
        'sms:+4915111111111',
        'sms:+4915111111111',
        'sms:+4915122222222',
        'sms:+49015122222222',
      ]);
      expect(await identifiers('sessions')).toEqual(['sms:+4915133333333']);
      expect(await identifiers('verifications')).toEqual(['sms:+49015133333333', 'sms:+4915133333333']);
    });

    test('in tables of more rows than are read at once', async () => {
      const { database, identifiers } = await open();
      await migrate(database, systemClock, BEFORE);
      const numbers = `WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 10010)
        SELECT 'sms:+49' || CASE WHEN i % 1000 = 7 THEN '0' ELSE '' END || (15120000000 + i)`;
      await database.execute({
        sql: `INSERT INTO sessions (identifier, did, ip, created_at, expires_at, linked) ${numbers}, 'd', 'ip', 1, 2, 1 FROM n`,
        args: {},
      });
      await database.execute({
        sql: `INSERT INTO codes (identifier, id, channel, ip, sent_at, expires_at) ${numbers}, 'i', 'sms', 'ip', 1, 2 FROM n`,
        args: {},
      });
      await migrate(database, systemClock);
      for (const table of ['sessions', 'codes']) {
        expect(await identifiers(`${table} WHERE identifier GLOB 'sms:+490*'`)).toEqual([]);
        expect(await identifiers(table)).toHaveLength(10_011);
      }
      const { rows } = await database.execute({
        sql: `SELECT value FROM tallies WHERE name = 'linked_sessions'`,
        args: {},
      });
      expect(Number(rows[0]?.['value'])).toBe(10_011);
    });
  });
}

test('who registered with the 0 dialled at home is found by every spelling after the update', async () => {
  const folder = temporaryFolder();
  const sqlite = openSqlite(join(folder.path, 'vault.db'));
  await migrate(sqlite, systemClock, BEFORE);
  await fill(sqlite, { sessions: [['sms:+49015123456789', 1, NEVER]] });
  sqlite.close();
  const t = await startVault({}, { dir: folder.path });
  for (const identifier of ['+49 (0)151 23456789', '+4915123456789']) {
    const check = await t.call('GET /api/sessions/check', { channel: 'sms', identifier });
    expect(check.body).toMatchObject({ available: false, reason: 'identifier_taken' });
  }
  await t.stop();
  folder.remove();
});
