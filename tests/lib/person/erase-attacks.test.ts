import { afterEach, beforeEach, expect, test } from 'bun:test';
import { systemClock } from '../../../lib/base/clock.ts';
import { createMetrics } from '../../../lib/base/metrics.ts';
import { readConfig } from '../../../lib/config/config.ts';
import { withRow } from '../../../lib/db/row-lock.ts';
import { createStore } from '../../../lib/db/store.ts';
import { erasureDigest } from '../../../lib/identity/erasure.ts';
import { type Erasure, erasePerson } from '../../../lib/person/erase.ts';
import { eraseAgain } from '../../../lib/person/erase-again.ts';
import { readPerson } from '../../../lib/person/read.ts';
import { engines, type TestDatabase } from '../../support/databases.ts';
import { insertRow, rowsIn, storedPerson, storePerson } from '../../support/person-rows.ts';
import { settled } from '../../support/settled.ts';
import { VAULT_SECRET } from '../../support/vault.ts';

const config = readConfig({ VAULT_SECRET });
const [alice, bob] = [storedPerson(1), storedPerson(2)];
const [engine] = engines();
let database: TestDatabase;
let db: ReturnType<typeof createStore>;

beforeEach(async () => {
  if (!engine) throw new Error('there is an engine');
  database = await engine.open();
  db = createStore({ database, clock: systemClock, metrics: createMetrics(), maxConnections: 4 });
  await db.ready();
});
afterEach(() => database.close());

const ctx = () => ({ db, clock: systemClock, config });
const listOf = (...erasures: Erasure[]) => new Map(erasures.map((one) => [one.digest, one]));

test('a number that has passed on leads to nobody who held it before', async () => {
  for (const one of [alice, bob]) await storePerson(database, one, Date.now());
  // Alice had the number too, with a proof, until Bob took it over.
  const [own] = (await rowsIn(database, 'registrations')).filter(({ id }) => id === alice.n);
  const number = { channel: 'sms', identifier: 'sms:+4915123456789' };
  await insertRow(database, 'registrations', { ...own, id: 11, ...number, holds: 0, tx_hash: '0x11' } as never);
  const [his] = (await rowsIn(database, 'registrations')).filter(({ id }) => id === bob.n);
  await insertRow(database, 'registrations', { ...his, id: 12, ...number, holds: 1, tx_hash: '0x12' } as never);

  const shown = await readPerson(ctx(), '+4915123456789', 'exported');
  expect(shown.dids).toEqual([bob.did]);
  for (const hers of [alice.identifier, alice.did]) expect(JSON.stringify(shown)).not.toContain(hers);
  const report = await erasePerson(ctx(), '+4915123456789');
  expect([...report.identifiers].sort()).toEqual([`email:${bob.identifier}`, 'sms:+4915123456789']);
  expect(await rowsIn(database, 'sessions')).toMatchObject([{ identifier: `email:${alice.identifier}` }]);
  expect(JSON.stringify(await rowsIn(database, 'registrations'))).not.toContain(number.identifier);
});

test('who came back after a restore without them stays at the next restore', async () => {
  const digest = erasureDigest(config.vaultSecret, `email:${alice.identifier}`);
  const list = listOf({ digest, begunAt: 1_000, wasRegistered: true });
  expect(await eraseAgain(ctx(), list)).toBe(0);
  await storePerson(database, alice, Date.now());
  expect(await eraseAgain(ctx(), list)).toBe(0);
  expect(await rowsIn(database, 'sessions')).toMatchObject([{ identifier: `email:${alice.identifier}` }]);
});

test('a restore brings back no invite for somebody erased', async () => {
  const key = `email:${alice.identifier}`;
  await insertRow(database, 'invites', { digest: 'd', uses: 1, identifier: key, created_at: 1, expires_at: 2 });
  const erased = { digest: erasureDigest(config.vaultSecret, key), begunAt: 1_000, wasRegistered: false };
  expect(await eraseAgain(ctx(), listOf(erased))).toBe(1);
  expect(await rowsIn(database, 'invites')).toEqual([]);
});

test.each([
  ['is the last', 1],
  ['waits for a recovery', 0],
])('an erasure that another process took the row from unlinks nothing and is not told: it %s', async (_name, final) => {
  await storePerson(database, alice, Date.now());
  await database.execute({ sql: 'UPDATE recoveries SET final = :final', args: { final } });
  const key = `email:${alice.identifier}`;
  const other = createStore({ database, clock: systemClock, metrics: createMetrics(), maxConnections: 4 });
  // The lease lapses before the last commit, and another process holds the row when it is written.
  const takeRow = async () => {
    await database.execute({ sql: 'UPDATE identifier_rows SET leased_until = 0 WHERE key = :key', args: { key } });
    await withRow({ db: other, clock: systemClock }, key, async () => {});
  };
  const late: typeof db = {
    ...db,
    async write(...statements) {
      if (statements.some(({ emits }) => emits)) await takeRow();
      return db.write(...statements);
    },
  };
  expect(await settled(erasePerson({ ...ctx(), db: late }, alice.identifier))).toThrow(
    expect.objectContaining({
      code: 'identifier_busy',
    }),
  );
  const erasures = async () => (await rowsIn(database, 'erasures')).map(({ finished_at }) => finished_at);
  const told = async () => (await rowsIn(database, 'events')).filter(({ type }) => type === 'person.erased').length;
  expect(await rowsIn(database, 'registrations')).toMatchObject([{ identifier: key, holds: 1 }]);
  expect([await erasures(), await told()]).toEqual([[null], 0]);

  await erasePerson(ctx(), alice.identifier);
  expect(await rowsIn(database, 'registrations')).toMatchObject([{ identifier: 'email:[1]@erased' }]);
  expect([await erasures(), await told()]).toEqual([[final ? expect.any(Number) : null], 1]);
});
