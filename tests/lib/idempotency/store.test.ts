import { afterEach, beforeEach, expect, test } from 'bun:test';
import { createMetrics } from '../../../lib/base/metrics.ts';
import { createStore, type OwnedStore } from '../../../lib/db/store.ts';
import {
  IDEMPOTENCY_LEASE_MS,
  type KeyUse,
  keepAnswer,
  releaseKey,
  selectKey,
  takeKey,
  toKeyState,
} from '../../../lib/idempotency/store.ts';
import { testClock } from '../../support/clock.ts';
import { engines, type TestDatabase } from '../../support/databases.ts';

let database: TestDatabase;
let db: OwnedStore;

beforeEach(async () => {
  database = (await engines()[0]?.open()) as TestDatabase;
  db = createStore({ database, clock: testClock(), metrics: createMetrics(), maxConnections: 2 });
});
afterEach(() => database.close());

const NOW = Date.UTC(2026, 0, 1);
const useOf = (owner: string, now: number): KeyUse => ({ key: 'key', request: 'request', owner, erasure: 'none', now });
/** Takes the key; whose it is then. */
async function take(use: KeyUse): Promise<string> {
  const [, selected] = await db.write(takeKey(use), selectKey(use));
  return toKeyState(selected?.rows[0] ?? {}).owner;
}
const keep = async (use: KeyUse, body: string) => {
  const answer = { status: 200, body, expiresAt: NOW + 9 * IDEMPOTENCY_LEASE_MS, erasedAt: null };
  return (await db.write(keepAnswer(use, answer, { ifChanged: false })))[0]?.rowsAffected;
};

test('a key is another’s only once the lease of its holder is over, whose answer counts no more then', async () => {
  const [first, second] = [useOf('first', NOW), useOf('second', NOW + IDEMPOTENCY_LEASE_MS)];
  expect([await take(first), await take(useOf('early', second.now - 1)), await take(second)]).toEqual([
    'first',
    'first',
    'second',
  ]);
  expect([await keep(first, 'late'), await keep(second, 'own')]).toEqual([0, 1]);
  await db.write(releaseKey(first, { ifUnkept: false }));
  const [row = {}] = await db.read(selectKey(second));
  expect(toKeyState(row).answer).toEqual({ status: 200, body: 'own' });
});
