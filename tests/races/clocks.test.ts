import { afterEach, describe, expect, test } from 'bun:test';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../lib/base/clock.ts';
import { CLOCK_LOOK_MS } from '../../lib/db/clocks.ts';
import type { Database } from '../../lib/db/database.ts';
import { READY_CACHE_MS } from '../../lib/monitoring/health.ts';
import { settableClock } from '../support/clock.ts';
import { type Engine, engines, temporaryFolder } from '../support/databases.ts';
import { startTimeNode } from '../support/time-node.ts';
import { errorOf, startUpstream, type Upstream } from '../support/upstream.ts';
import { startVault, type TestVault, timedBy } from '../support/vault.ts';

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

const NO_NODE = 'http://127.0.0.1:1';
const FOLLOWING = { DID_REGISTRY_ADDRESS: `0x${'12'.repeat(20)}`, FOLLOWER: 'true' };

/** A node that refuses each call, and what it was asked. */
function startNode(): Upstream {
  const node = startUpstream();
  ends.push(node.stop);
  node.answer = (call) => errorOf(call, { code: -32000, message: 'no' });
  return node;
}

/** The folder of several vaults' database. */
function openFolder(): string {
  const folder = temporaryFolder();
  ends.push(folder.remove);
  return folder.path;
}

/** Background work of a vault whose clock has jumped, with what the node then says of it. */
async function workAfterJump(t: TestVault): Promise<void> {
  await t.work();
  await t.clock.advance(CLOCK_LOOK_MS);
  await t.work();
}

const alice = { identifier: 'alice@example.com', channel: 'email', did: 'did:key:zalice' };
const CLAIM = { ...alice, credentialId: 'YWxpY2VhbGljZWFsaWNlYQ', txHash: `0x${'11'.repeat(32)}` };

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
    const node = startNode();
    const t = await start({ ...FOLLOWING, RPC_URL: node.url }, { clock });
    await t.work();
    clock.set(-HOUR_MS);
    const before = node.received.length;
    // The longest pause after failures.
    await clock.advance(60_000);
    await workAfterJump(t);
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
    const t = await start({ RPC_URL: NO_NODE }, { clock, database });
    expect((await t.call('GET /readyz')).status).toBe(200);
    clock.set(-HOUR_MS);
    isFull = true;
    await clock.advance(READY_CACHE_MS);
    expect((await t.call('GET /readyz')).status).toBe(503);
  });

  test('puts off the clean-up only until a block shows that it is right now', async () => {
    const clock = settableClock();
    const node = startTimeNode(clock);
    const real = await BUILT_IN.open();
    ends.push(node.stop, real.close);
    const database = timedBy({ monotonic: clock.now }, real);
    const t = await start({ SESSION_TTL_SECONDS: '60', RPC_URL: node.url }, { clock, database });
    await t.work();
    clock.set(-HOUR_MS);
    await t.call('POST /api/sessions', { identifier: 'alice@example.com', channel: 'email', did: 'did:key:zalice' });
    const count = async () => (await t.rows('SELECT count(*) AS n FROM sessions'))[0]?.['n'];
    expect(await count()).toBe(1);
    await clock.advance(60_000);
    await workAfterJump(t);
    await clock.advance(60_000);
    await t.work();
    expect(await count()).toBe(0);
  });
});

describe('V8: a process six hours ahead that died', () => {
  const AHEAD_MS = 6 * HOUR_MS;

  /** A vault ahead that did some work, as a kill leaves it, and the time of the others. */
  async function die(vars: Record<string, string> = {}) {
    const dir = openFolder();
    const clock = settableClock();
    const ahead = settableClock(clock);
    ahead.set(AHEAD_MS);
    const dead = await start({ RPC_URL: NO_NODE, ...vars }, { dir, clock: ahead });
    return { dir, clock, dead };
  }

  test('leaves leases that count as free', async () => {
    const [theirs, ours] = [startNode(), startNode()];
    const { dir, clock, dead } = await die({ ...FOLLOWING, RPC_URL: theirs.url });
    await dead.work();
    expect(theirs.received.length).toBeGreaterThan(0);
    const t = await start({ ...FOLLOWING, RPC_URL: ours.url }, { dir, clock });
    await t.work();
    expect(ours.received.length).toBeGreaterThan(0);
  });

  test('leaves registrations that are looked at within a minute', async () => {
    const node = startNode();
    const { dir, clock, dead } = await die();
    await dead.call('POST /api/verify/send', alice);
    const checked = await dead.call('POST /api/verify/check', { ...alice, code: dead.codeFor(alice.identifier) });
    const recorded = await dead.call('POST /api/dids', { ...CLAIM, attestation: checked.body.attestation });
    expect(recorded.status).toBe(200);
    const t = await start({ RPC_URL: node.url }, { dir, clock });
    await t.work();
    await clock.advance(MINUTE_MS);
    await t.work();
    expect(node.received.length).toBeGreaterThan(0);
  });

  test('leaves an Idempotency-Key in use that another request takes', async () => {
    const { dir, clock, dead } = await die();
    const key = { 'Idempotency-Key': 'one' };
    expect((await dead.call('POST /api/sessions', alice, key)).status).toBe(200);
    await dead.rows(`UPDATE idempotency SET owner = 'dead', status = NULL, body = NULL, expires_at = :end`, {
      end: dead.clock.now() + 60_000,
    });
    await dead.rows('DELETE FROM sessions');
    const t = await start({ RPC_URL: NO_NODE }, { dir, clock });
    expect(await t.call('POST /api/sessions', alice, key)).toMatchObject({ status: 200 });
  });

  test('leaves a row lock that another request takes', async () => {
    const { dir, clock, dead } = await die();
    expect((await dead.call('GET /readyz')).status).toBe(200);
    await dead.rows(
      `INSERT INTO identifier_rows (key, fence, leased_until) VALUES ('email:alice@example.com', :now, :end)`,
      {
        now: dead.clock.now(),
        end: dead.clock.now() + 30_000,
      },
    );
    const t = await start({ RPC_URL: NO_NODE }, { dir, clock });
    await t.call('POST /api/verify/send', alice);
    const checked = await t.call('POST /api/verify/check', { ...alice, code: t.codeFor(alice.identifier) });
    const recorded = await t.call('POST /api/dids', { ...CLAIM, attestation: checked.body.attestation });
    expect([recorded.status, recorded.body.error]).toEqual([200, undefined]);
  });
});

describe('V9: a process a day ahead', () => {
  /** A vault with what lapses, and one whose clock is a day ahead, on the same database. */
  async function meet() {
    const dir = openFolder();
    const clock = settableClock();
    const node = startTimeNode(clock);
    ends.push(node.stop);
    const vars = { MAX_VERIFY_SENDS_PER_IP: '1', RPC_URL: node.url };
    const t = await start(vars, { dir, clock });
    await t.call('POST /api/sessions', alice);
    await t.call('POST /api/verify/send', alice);
    await t.work();
    const ahead = settableClock(clock);
    ahead.set(DAY_MS);
    const wrong = await start(vars, { dir, clock: ahead });
    return { t, clock, wrong, set: ahead.set };
  }

  /** Both work for two minutes: each has its clean-ups. */
  async function workBoth({ t, clock, wrong }: Awaited<ReturnType<typeof meet>>): Promise<void> {
    for (let seconds = 0; seconds < 120; seconds += 5) {
      await t.work();
      await wrong.work();
      await clock.advance(5_000);
    }
  }

  test('takes away no session, code or limit of the others, and says so', async () => {
    const met = await meet();
    const { t, wrong } = met;
    await workBoth(met);
    expect(await t.rows('SELECT count(*) AS n FROM sessions')).toEqual([{ n: 1 }]);
    expect(await t.rows('SELECT count(*) AS n FROM codes')).toEqual([{ n: 1 }]);
    const bob = { identifier: 'bob@example.com', channel: 'email' };
    expect((await t.call('POST /api/verify/send', bob)).status).toBe(429);
    const ready = await wrong.call('GET /readyz');
    expect([ready.status, ready.body]).toEqual([
      503,
      { ok: false, database: 'writable', clock: { offSeconds: DAY_MS / 1000 } },
    ]);
    expect(wrong.entries.filter(({ event }) => event === 'clock_off')).toMatchObject([{ seconds: DAY_MS / 1000 }]);
    // The other one has the right clock, and goes on.
    expect((await t.call('GET /readyz')).status).toBe(200);
    expect(t.entries.filter(({ event }) => event === 'clock_off')).toEqual([]);
  });

  test('works again once its clock is set', async () => {
    const met = await meet();
    await workBoth(met);
    met.set(-DAY_MS);
    await workBoth(met);
    expect((await met.wrong.call('GET /readyz')).status).toBe(200);
    expect(met.wrong.entries.map(({ event }) => event)).toContain('clock_agrees');
  });

  test('does not work either when it jumped there while both ran', async () => {
    const met = await meet();
    met.set(-DAY_MS);
    await workBoth(met);
    met.set(DAY_MS);
    await workBoth(met);
    expect((await met.wrong.call('GET /readyz')).status).toBe(503);
    expect((await met.t.call('GET /readyz')).status).toBe(200);
    expect(await met.t.rows('SELECT count(*) AS n FROM sessions')).toEqual([{ n: 1 }]);
  });
});
