import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { createMetrics } from '../../../lib/base/metrics.ts';
import type { Row } from '../../../lib/db/database.ts';
import { createStore, type OwnedStore } from '../../../lib/db/store.ts';
import { selectFirstRows } from '../../../lib/registration/lookup-store.ts';
import { testClock } from '../../support/clock.ts';
import { engines, type TestDatabase } from '../../support/databases.ts';

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
    const together = await Promise.all(asked.map((credential) => db.read(selectFirstRows(credential))));
    expect(together.map(shown)).toEqual([...alone, [], ...alone].map(shown));
  });

  test('by the text for many are those by the text for one', async () => {
    const { many } = selectFirstRows('');
    const rows = await db.read({ sql: many?.sql ?? '', args: { many: JSON.stringify(CREDENTIALS) } });
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
    const [one] = await Promise.all([credential, 'credential1'].map((each) => db.read(selectFirstRows(each))));
    const { many, ...single } = selectFirstRows(credential);
    const alone = await db.read(single);
    expect(alone.map(({ did }) => did)).toEqual(['did:claim-2', 'did:claim-3']);
    expect(shown(one ?? [])).toEqual(shown(alone));
    const rows = await db.read({ sql: many?.sql ?? '', args: { many: JSON.stringify([credential]) } });
    expect(shown(rows)).toEqual(shown(alone));
  });
});
