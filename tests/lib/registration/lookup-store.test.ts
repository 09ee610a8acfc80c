import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { DatabaseUnavailable } from '../../../lib/base/error.ts';
import { createMetrics } from '../../../lib/base/metrics.ts';
import type { Database, Row } from '../../../lib/db/database.ts';
import { createStore, type OwnedStore } from '../../../lib/db/store.ts';
import { LOOK_UPS_MAX, readFirstRows } from '../../../lib/registration/first-rows.ts';
import { selectFirstRows, selectFirstRowsOf } from '../../../lib/registration/lookup-store.ts';
import { testClock } from '../../support/clock.ts';
import { engines, type TestDatabase } from '../../support/databases.ts';
import { settled } from '../../support/settled.ts';

const CREDENTIALS = Array.from({ length: 24 }, (_, n) => `credential${n}`);

interface Claim {
  readonly credential: string;
  readonly name: string;
  readonly key: string;
  readonly since: number;
}

/** What a look-up reads of its rows. */
function shown(rows: readonly Row[]) {
  const columns = ['key', 'did', 'channel', 'status', 'final', 'controller', 'tx_hash', 'is_own', 'ambiguous'];
  return rows.map((row) => columns.map((column) => row[column]));
}

describe.each(engines().map((engine) => [engine.name, engine] as const))('look-ups on %s', (_, engine) => {
  let database: TestDatabase;
  let db: OwnedStore;
  beforeEach(async () => {
    database = await engine.open();
    db = createStore({ database, clock: testClock(), metrics: createMetrics(), maxConnections: 10 });
    await db.ready();
    await fill();
  });
  afterEach(async () => {
    await db.idle();
    await database.close();
  });

  /** The nth credential has n % 5 rows: of other keys, of registrations that hold and that do not. */
  async function fill() {
    for (const [n, credential] of CREDENTIALS.entries())
      for (let i = 0; i < n % 5; i++)
        await add({ credential, name: `${n}-${i}`, key: i === 0 ? '' : `0x${9 - i}`, since: i });
  }

  async function add({ credential, name, key, since }: Claim) {
    await db.write(
      {
        sql: `INSERT INTO registrations (identifier, channel, did, did_hash, alias_hash, credential_id, tx_hash,
            status, registered_at, unseen_since, holds, controller)
          VALUES (:id, 'handle', :did, :did, :id, :credential, :id, 'confirmed', 1, 1, :holds, '0xc')`,
        args: { id: `handle:${name}`, did: `did:${name}`, credential, holds: since === 1 ? 0 : 1 },
      },
      {
        sql: `INSERT INTO credentials (credential_id, key, since, registration_id)
          VALUES (:credential, :key, :since, last_insert_rowid())`,
        args: { credential, key, since },
      },
    );
  }

  test('of a moment answer what each answers alone', async () => {
    const alone = [];
    for (const credential of CREDENTIALS) alone.push(await db.read(selectFirstRows(credential)));
    expect(alone.map(({ length }) => length)).toEqual(CREDENTIALS.map((__, n) => Math.min(2, n % 5)));
    const asked = [...CREDENTIALS, 'unknown', ...CREDENTIALS];
    const together = await Promise.all(asked.map((credential) => readFirstRows(db, credential)));
    expect(together.map(shown)).toEqual([...alone, [], ...alone].map(shown));
  });

  test('by the text for many are those by the text for one', async () => {
    const rows = await db.read(selectFirstRowsOf(CREDENTIALS));
    for (const credential of CREDENTIALS) {
      const own = rows.filter((row) => row['asked'] === credential);
      expect(shown(own)).toEqual(shown(await db.read(selectFirstRows(credential))));
    }
  });

  test('read two rows of a credential, however many DIDs claim it without a key', async () => {
    const credential = 'foreign';
    for (let since = 1; since <= 20; since++) await add({ credential, name: `claim-${since}`, key: '', since });
    const lose = `UPDATE credentials SET registration_id = -1 WHERE credential_id = :credential AND since = 1`;
    await db.write({ sql: lose, args: { credential } });
    const alone = await db.read(selectFirstRows(credential));
    expect(alone.map(({ did }) => did)).toEqual(['did:claim-2', 'did:claim-3']);
    const rows = await db.read(selectFirstRowsOf([credential]));
    expect(shown(rows)).toEqual(shown(alone));
  });
});

describe('look-ups of a moment', () => {
  const ONE = selectFirstRows('').sql;
  const MANY = selectFirstRowsOf([]).sql;

  /** A server that has a row for each credential but `unknown`, and the texts that it was asked. */
  function serverOf(refuse: (sql: string) => Error | undefined = () => undefined, protocol = 'http') {
    const texts: string[] = [];
    const rowsOf = ({ sql, args }: Parameters<Database['execute']>[0]) => {
      texts.push(sql);
      const error = refuse(sql);
      if (error) throw error;
      const asked = sql === MANY ? (JSON.parse(String(args['many'])) as string[]) : [String(args['credential_id'])];
      const rows = asked.filter((id) => id !== 'unknown').map((id) => ({ asked: id, did: `did:${id}` }));
      return { rows, rowsAffected: 0 };
    };
    const database: Database = {
      protocol,
      execute: async (statement) => rowsOf(statement),
      batch: async (statements) => statements.map(rowsOf),
    };
    const clock = testClock();
    const db = createStore({
      database,
      clock,
      metrics: createMetrics(),
      maxConnections: 10,
      schema: { isCurrent: true },
    });
    return { db, database, texts };
  }
  const didsOf = (found: readonly (readonly Row[])[]) => found.map(([row]) => row?.['did']);

  test('are one statement on a server, and each has its own rows', async () => {
    const { db, texts } = serverOf();
    const found = await Promise.all(['a', 'unknown', 'b', 'a'].map((id) => readFirstRows(db, id)));
    expect(didsOf(found)).toEqual(['did:a', undefined, 'did:b', 'did:a']);
    expect(texts).toEqual([MANY]);
  });

  test('are a statement each on a file', async () => {
    const { db, texts } = serverOf(undefined, 'file');
    await Promise.all(['a', 'b'].map((id) => readFirstRows(db, id)));
    expect(texts).toEqual([ONE, ONE]);
  });

  test('are as many statements as a bound says', async () => {
    const { db, texts } = serverOf();
    const ids = Array.from({ length: LOOK_UPS_MAX + 1 }, (_, n) => `c${n}`);
    expect(didsOf(await Promise.all(ids.map((id) => readFirstRows(db, id))))).toEqual(ids.map((id) => `did:${id}`));
    expect(texts).toEqual([MANY, MANY]);
  });

  test('go each alone where the server refuses them together', async () => {
    const { db, texts } = serverOf((sql) => {
      return sql === MANY ? Object.assign(new Error('refused'), { code: 'SQLITE_ERROR' }) : undefined;
    });
    expect(didsOf(await Promise.all(['a', 'b'].map((id) => readFirstRows(db, id))))).toEqual(['did:a', 'did:b']);
    expect(texts.filter((sql) => sql === ONE)).toHaveLength(2);
  });

  test('fail together where the server is away, and later ones do not', async () => {
    let isAway = true;
    const { db, texts } = serverOf(() =>
      isAway ? Object.assign(new Error('away'), { code: 'NO_ANSWER' }) : undefined,
    );
    const results = await Promise.allSettled(['a', 'b'].map((id) => readFirstRows(db, id)));
    expect(results).toEqual(results.map(() => ({ status: 'rejected', reason: expect.any(DatabaseUnavailable) })));
    expect(texts).toHaveLength(1);
    isAway = false;
    expect(didsOf([await readFirstRows(db, 'a')])).toEqual(['did:a']);
  });

  test('that failed before they were sent hold up no later ones', async () => {
    const away = Object.assign(new Error('away'), { code: 'NO_ANSWER' });
    const failures = [away];
    const { database } = serverOf();
    const db = createStore({
      database,
      clock: testClock(),
      metrics: createMetrics(),
      maxConnections: 10,
      migrate: async () => {
        const error = failures.pop();
        if (error) throw error;
      },
    });
    expect(await settled(readFirstRows(db, 'a'))).toThrow('away');
    expect(didsOf([await readFirstRows(db, 'a')])).toEqual(['did:a']);
  });
});
