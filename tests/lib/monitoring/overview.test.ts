import { afterEach, describe, expect, test } from 'bun:test';
import type { Overview as PageOverview } from '../../../assets/console/overview.ts';
import type { Overview } from '../../../lib/monitoring/overview.ts';
import { startTestChain } from '../../support/onchain.ts';
import { startVault, type TestVault, VAULT_SECRET } from '../../support/vault.ts';

const BEARER = { Authorization: `Bearer ${VAULT_SECRET.replace('00', 'ff')}` };
const REGISTRAR = '0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d';

let t: TestVault;
afterEach(() => t.stop());

/** As the page reads it: that its type and the vault's agree is checked here. */
async function read(): Promise<PageOverview> {
  const { status, body } = await t.call('GET /v1/console/overview', {}, BEARER);
  expect(status).toBe(200);
  const overview: Overview = body;
  return overview;
}

describe('the overview', () => {
  test('counts what happened by its outcome, but not what the console itself asked', async () => {
    t = await startVault({ APPS: 'shop' });
    const who = { identifier: 'alice@example.com', channel: 'email' };
    await read();
    await t.call('GET /console');
    await t.call('POST /api/verify/send', who);
    await t.call('POST /api/verify/check', { ...who, code: 'x' });
    await t.call('POST /api/verify/check', { ...who, code: t.codeFor(who.identifier) });
    await t.call('GET /nowhere');
    const { counters, latency, ...rest } = await read();
    expect(counters).toEqual({
      requests: { '2xx': 3, '4xx': 1 },
      sends: { accepted: 1 },
      verifications: { incorrect: 1, verified: 1 },
      sessions: {},
      registrations: {},
    });
    expect(latency.at(-1)).toEqual({ le: null, count: 4 });
    expect(latency.map(({ le }) => le ?? Number.POSITIVE_INFINITY)).toEqual(
      latency.map(({ le }) => le ?? Number.POSITIVE_INFINITY).toSorted((a, b) => a - b),
    );
    expect(rest).toMatchObject({
      at: '2025-01-01T00:00:00.000Z',
      live: true,
      apps: ['default', 'shop'],
      account_kinds: [1],
      database: { state: 'writable', connections: { max: 10, waiting: 0 } },
      relay: null,
      follower: null,
    });
    expect(rest.events.channels).toEqual(['audit', 'sessions', 'credentials', 'payments', 'webhooks']);
    expect(rest.events.types).toContain('code.sent');
    expect(rest.events.first_id).toBe(1);
    expect(rest.events.last_id).toBeGreaterThan(1);
  });

  test('names the kinds of accounts that are offered', async () => {
    t = await startVault({ HYPERAUTH_FACTORY_ADDRESS: 'none', ACCOUNT_FACTORY_2_ADDRESS: `0x${'5b'.repeat(20)}` });
    expect((await read()).account_kinds).toEqual([2]);
  });

  test('names the limits that refused', async () => {
    t = await startVault();
    for (const name of ['a', 'b', 'c', 'd', 'e'])
      await t.call('POST /api/verify/send', { identifier: `${name}@example.com`, channel: 'email' });
    expect((await read()).limits).toEqual({ 'sends-per-ip': 2 });
  });

  test('tells how relay, follower and upstreams are', async () => {
    const chain = await startTestChain();
    t = await startVault({ ...chain.vars, FOLLOWER: 'true', REGISTRAR_PRIVATE_KEY: REGISTRAR });
    await t.work();
    const { relay, follower, upstreams } = await read();
    expect(relay).toMatchObject({ trouble: null, open: { queued: 0, signed: 0, mined: 0 } });
    expect(relay?.balance).toBeGreaterThan(0);
    expect(follower).toMatchObject({ lag: 0 });
    expect(upstreams['rpc']?.['ok']).toBeGreaterThan(0);
    await chain.stop();
  });

  test('is answered though the database is away', async () => {
    t = await startVault();
    await read();
    await t.rows('DROP TABLE tallies');
    await t.clock.advance(10_000);
    expect(await read()).toMatchObject({ database: { state: 'unavailable' }, relay: null, follower: null });
  });
});
