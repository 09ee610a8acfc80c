import { afterEach, describe, expect, test } from 'bun:test';
import { HOUR_MS } from '../../lib/base/clock.ts';
import type { Database } from '../../lib/db/database.ts';
import { READY_CACHE_MS } from '../../lib/monitoring/health.ts';
import { settableClock } from '../support/clock.ts';
import { type Engine, engines } from '../support/databases.ts';
import { errorOf, startUpstream } from '../support/upstream.ts';
import { startVault } from '../support/vault.ts';

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

/** The built-in engine. */
const [BUILT_IN] = engines() as [Engine, ...Engine[]];

const start = async (...[vars, options]: Parameters<typeof startVault>) => {
  const vault = await startVault(vars, options);
  ends.push(vault.stop);
  return vault;
};

describe('V7: a clock that is set back an hour', () => {
  test('frees a full request limit after its minute all the same', async () => {
    const clock = settableClock();
    const t = await start({ RATE_LIMIT_READS_PER_IP: '2' }, { clock });
    const look = () => t.call('GET /api/dids/lookup', { credentialId: 'bm9ib2R5Li4uLi4uLi4uLg' });
    expect([(await look()).status, (await look()).status]).toEqual([404, 404]);
    clock.set(-HOUR_MS);
    const refused = await look();
    expect([refused.status, Number(refused.headers.get('retry-after')) <= 60]).toEqual([429, true]);
    await clock.advance(60_000);
    expect((await look()).status).toBe(404);
  });

  test('does not stop the follower', async () => {
    const clock = settableClock();
    const node = startUpstream();
    ends.push(node.stop);
    node.answer = (call) => errorOf(call, { code: -32000, message: 'no' });
    const registry = { DID_REGISTRY_ADDRESS: `0x${'12'.repeat(20)}`, FOLLOWER: 'true' };
    const t = await start({ RPC_URL: node.url, ...registry }, { clock });
    await t.work();
    clock.set(-HOUR_MS);
    const before = node.received.length;
    // The longest pause after failures.
    await clock.advance(60_000);
    await t.work();
    expect(node.received.length).toBeGreaterThan(before);
  });

  test('does not keep /readyz at what it said before', async () => {
    const clock = settableClock();
    const real = await BUILT_IN.open();
    ends.push(real.close);
    let isFull = false;
    const database: Database = {
      ...real,
      batch: (statements, mode) =>
        isFull && mode === 'write' ? Promise.reject(new Error('disk full')) : real.batch(statements, mode),
    };
    const t = await start({}, { clock, database });
    expect((await t.call('GET /readyz')).status).toBe(200);
    clock.set(-HOUR_MS);
    isFull = true;
    await clock.advance(READY_CACHE_MS);
    expect((await t.call('GET /readyz')).status).toBe(503);
  });

  test('does not put off the clean-up', async () => {
    const clock = settableClock();
    const t = await start({ SESSION_TTL_SECONDS: '60' }, { clock });
    await t.work();
    clock.set(-HOUR_MS);
    await t.call('POST /api/sessions', { identifier: 'alice@example.com', channel: 'email', did: 'did:key:zalice' });
    const count = async () => (await t.rows('SELECT count(*) AS n FROM sessions'))[0]?.['n'];
    expect(await count()).toBe(1);
    await clock.advance(60_000);
    await t.work();
    expect(await count()).toBe(0);
  });
});
