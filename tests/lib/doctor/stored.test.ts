import { expect, test } from 'bun:test';
import { createMetrics } from '../../../lib/base/metrics.ts';
import { createStore } from '../../../lib/db/store.ts';
import { readStoredFacts } from '../../../lib/doctor/stored.ts';
import { OPERATOR } from '../../support/events.ts';
import { startVault, timedBy } from '../../support/vault.ts';

test('what the database knows: registrations of a week, their gas, the clock and the last clean-up', async () => {
  const t = await startVault({ RPC_URL: 'http://127.0.0.1:1' });
  await t.call('GET /v1/console/doctor', {}, OPERATOR);
  const now = t.clock.now();
  const relay = (id: number, daysAgo: number, status = 'confirmed', nonce: number | null = id) =>
    t.rows(
      `INSERT INTO relays (id, kind, role, chain_id, target, status, nonce, signer, created_at)
       VALUES (${id}, 'registration', 'registrar', 1, '0x', '${status}', ${nonce}, '0x', ${now - daysAgo * 86_400_000})`,
    );
  await relay(1, 8);
  await relay(2, 6);
  await relay(3, 1);
  await relay(4, 1, 'failed', null);
  for (const [id, gas] of [
    [2, 100_000],
    [3, 300_000],
  ] as const)
    await t.rows(
      `INSERT INTO relay_attempts (relay_id, hash, raw, gas, max_fee, tip, kind) VALUES (${id}, '${id}', '', ${gas}, 1, 1, 'call')`,
    );
  await t.rows(`INSERT INTO key_marks (name, mark) VALUES ('vault', 'a mark')`);
  const at = Math.floor(t.clock.monotonic());
  await t.rows(`INSERT INTO tallies (name, value) VALUES ('known_time', ${now - 7})`);
  await t.rows(`INSERT INTO key_accounts (account, checked_at, due_at, look_at) VALUES ('0x1', 0, ${now}, 1),
    ('0x2', 0, NULL, ${now}), ('0x3', 0, NULL, 1), ('0x4', 0, ${now + 1}, 1), ('0x5', 0, NULL, ${now + 1})`);
  await t.rows(`INSERT INTO signing_keys (kid, alg, public, sealed, made_at, signs_from, ends_at) VALUES
    ('one', 'RS256', '{"kid":"one","n":"AQAB"}', '', 1, 1, NULL), ('over', 'RS256', '{"kid":"over","n":"AQAB"}', '', 0, 0, ${now}),
    ('other', 'ES256', '{"kid":"other","x":"AQ","y":"Ag"}', '', 1, 1, NULL)`);
  const db = createStore({
    database: timedBy(t.clock, t.database),
    clock: t.clock,
    metrics: createMetrics(),
    maxConnections: 1,
  });
  expect(await readStoredFacts({ db, clock: t.clock })).toEqual({
    relaysOfWeek: 2,
    relayGas: 200_000,
    createdAt: expect.any(Number),
    aheadMs: now - at,
    sinceCleanUpMs: 7,
    secretMark: 'a mark',
    backup: { last: null, isDue: false },
    looks: { changed: 1, routine: 2 },
    signingKeys: [{ kid: 'one', n: 'AQAB', signsFrom: 1 }],
    credentialKeys: [{ kid: 'other', x: 'AQ', signsFrom: 1 }],
  });
  await db.idle();
  await t.stop();
});
