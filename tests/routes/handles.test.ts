import { afterAll, afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { ALIAS_KEPT_MS } from '../../lib/aliases/aliases.ts';
import { compileContracts } from '../../scripts/contracts.ts';
import { create2 } from '../../scripts/dev-stack/create2.ts';
import { type Forwarder, startForwarder } from '../support/forwarder.ts';
import { startTestChain } from '../support/onchain.ts';
import { startVault, type TestVault } from '../support/vault.ts';

const DAY = 86_400_000;
const chain = await startTestChain({ edition: 1 });
afterAll(chain.stop);
const { ResolvingRegistry } = await compileContracts();
const resolving = await create2(chain.rpc, ResolvingRegistry?.bytecode ?? '0x');

let names = 0;
/** A handle and a DID that nobody has used. */
const fresh = (name: string) => ({ handle: `${name}${++names}`, did: `did:key:z${name}${names}` });
const TAKEN = { error: 'identifier_taken' };

let t: TestVault;
let node: Forwarder;
beforeEach(() => {
  node = startForwarder(chain.url);
});
afterEach(async () => {
  await t.stop();
  await node.stop();
});

const owner = () => t.from('198.51.100.1');
const stranger = () => t.from('203.0.113.66');
const open = (by: Pick<TestVault, 'call'>, handle: string, did: string) =>
  by.call('POST /api/sessions', { handle, did });
const claim = (by: Pick<TestVault, 'call'>, fields: Record<string, unknown>) => {
  const credentialId = Buffer.from(String(fields['did']).padEnd(16, '.')).toString('base64url');
  return by.call('POST /api/dids', { credentialId, ...fields });
};
const checks = async (handle: string) => [
  (await t.call('GET /api/sessions/check', { identifier: handle })).body.available,
  (await t.call('GET /api/aliases/check', { alias: handle })).body.available,
];
const sessionOf = async (key: string) =>
  (await t.rows('SELECT did, linked FROM sessions WHERE identifier = :key', { key })).map((row) => ({ ...row }))[0];

const MODES: readonly [string, Record<string, string>][] = [
  ['a follower', { FOLLOWER: 'true' }],
  ['a follower of a registry whose aliases move', { FOLLOWER: 'true', DID_REGISTRY_ADDRESS: resolving }],
  ['no follower', { FOLLOWER: 'false' }],
  ['no follower and a registry without aliases(bytes32)', { FOLLOWER: 'false', DID_REGISTRY_ADDRESS: resolving }],
];

describe.each(MODES)('the chain decides handles, with %s:', (_, vars) => {
  const registry = (vars['DID_REGISTRY_ADDRESS'] ?? chain.registry) as `0x${string}`;
  beforeEach(async () => {
    t = await startVault({ ...chain.vars, RPC_URL: node.url, ...vars, RATE_LIMIT_PROXY_PER_IP: '1000' });
  });

  test('W4: an alias of somebody else is taken for both checks, for the session, and for nobody but its owner', async () => {
    const bob = fresh('bob');
    await chain.register(bob, { registry });
    await t.work();
    expect(await checks(bob.handle)).toEqual([false, false]);
    const refused = await open(stranger(), bob.handle, 'did:key:zMallory');
    expect([refused.status, refused.body]).toEqual([409, TAKEN]);
    expect((await open(owner(), bob.handle, bob.did)).status).toBe(200);
    expect(await sessionOf(`handle:${bob.handle}`)).toEqual({ did: bob.did, linked: 1 });
  });

  test("published clients' flow: on-chain first, then the session, also while a stranger holds a bare one", async () => {
    const alice = fresh('alice');
    expect((await open(stranger(), alice.handle, 'did:key:zMallory')).status).toBe(200);
    await chain.register(alice, { registry });
    // Within the follower's lag too: it has not read the alias yet.
    const reply = await open(owner(), alice.handle, alice.did);
    expect([reply.status, reply.body.did]).toEqual([200, alice.did]);
    expect(await sessionOf(`handle:${alice.handle}`)).toEqual({ did: alice.did, linked: 1 });
    const types = (await t.rows('SELECT type FROM events ORDER BY id DESC LIMIT 3')).map(({ type }) => type);
    expect(types.sort()).toEqual(['session.created', 'session.linked', 'session.taken_over']);
    expect((await open(owner(), alice.handle, alice.did)).body).toMatchObject(TAKEN);
    expect((await open(stranger(), alice.handle, 'did:key:zMallory')).body).toEqual(TAKEN);
  });

  test("a stranger's session that was linked to its DID yields too, once the alias leads elsewhere", async () => {
    const alice = fresh('alice');
    await open(stranger(), alice.handle, 'did:key:zMallory');
    await t.rows(`UPDATE sessions SET linked = 1 WHERE identifier = 'handle:${alice.handle}'`);
    await chain.register(alice, { registry });
    expect((await open(owner(), alice.handle, alice.did)).status).toBe(200);
  });

  test('S22: a check says taken of an alias that the chain has just given away, in the lag of a follower too', async () => {
    const alice = fresh('alice');
    await t.work();
    await chain.register(alice, { registry });
    expect(await checks(alice.handle)).toEqual([false, false]);
  });

  test('S25: a session with the DID of its owner, by a stranger, keeps nobody out: it says to go on, and it counts', async () => {
    const alice = fresh('alice');
    expect((await open(stranger(), alice.handle, alice.did)).status).toBe(200);
    const same = await open(owner(), alice.handle, alice.did);
    const hint = 'This DID has a session of it already: go on with POST /api/dids.';
    expect([same.status, same.body]).toEqual([409, { ...TAKEN, reason: 'same_did', hint }]);
    const other = await open(owner(), alice.handle, 'did:key:zBob');
    expect([other.status, other.body]).toEqual([409, TAKEN]);
    const { txHash } = await chain.register(alice, { registry });
    expect((await claim(owner(), { ...alice, txHash })).status).toBe(200);
    await t.work();
    expect(await sessionOf(`handle:${alice.handle}`)).toEqual({ did: alice.did, linked: 1 });
  });

  test('H2: a registration of a handle that leads elsewhere is 409, in the lag of a follower too', async () => {
    const [alice, mallory] = [fresh('alice'), fresh('mallory')];
    const own = await chain.register({ did: mallory.did }, { registry });
    expect((await open(stranger(), alice.handle, mallory.did)).status).toBe(200);
    const { txHash } = await chain.register(alice, { registry });
    const taken = await claim(stranger(), { handle: alice.handle, did: mallory.did, txHash: own.txHash });
    expect([taken.status, taken.body.error]).toEqual([409, 'identifier_taken']);
    // Its owner's is recorded in spite of the stranger's session.
    expect((await claim(owner(), { ...alice, txHash })).status).toBe(200);
    await t.work();
    expect(await sessionOf(`handle:${alice.handle}`)).toEqual({ did: alice.did, linked: 1 });
  });

  test('H2: a registration fails once the alias leads elsewhere for good, and its owner has the handle', async () => {
    const [alice, mallory] = [fresh('alice'), fresh('mallory')];
    const own = await chain.register({ did: mallory.did }, { registry });
    expect((await claim(stranger(), { handle: alice.handle, did: mallory.did, txHash: own.txHash })).status).toBe(200);
    await t.work();
    const { txHash } = await chain.register(alice, { registry });
    expect((await claim(owner(), { ...alice, txHash })).status).toBe(200);
    for (let i = 0; i < 3; i++) {
      await t.clock.advance(60_000);
      await t.work();
    }
    const rows = await t.rows(
      `SELECT did, holds, coalesce(lost, failure) AS reason FROM registrations WHERE identifier = :key ORDER BY id`,
      { key: `handle:${alice.handle}` },
    );
    expect(rows.map((row) => ({ ...row }))).toEqual([
      { did: mallory.did, holds: 0, reason: 'alias_elsewhere' },
      { did: alice.did, holds: 1, reason: null },
    ]);
    expect(await sessionOf(`handle:${alice.handle}`)).toEqual({ did: alice.did, linked: 1 });
  });

  test('a registration of a handle is 502 rpc_error while nothing can tell; that of an email asks nobody', async () => {
    const dave = fresh('dave');
    node.trouble = () => new Response('bad gateway', { status: 502 });
    const reply = await claim(owner(), { ...dave, txHash: `0x${'07'.repeat(32)}` });
    expect([reply.status, reply.body]).toEqual([502, { error: 'rpc_error' }]);
    const email = { identifier: `dave${names}@example.com`, channel: 'email' };
    await t.call('POST /api/verify/send', email);
    const { attestation } = (await t.call('POST /api/verify/check', { ...email, code: t.codeFor(email.identifier) }))
      .body;
    const recorded = await claim(owner(), { ...email, did: dave.did, txHash: `0x${'07'.repeat(32)}`, attestation });
    expect(recorded.status).toBe(200);
  });

  test('A6: a live session of a handle is taken for the checks, as it is for the POST, until it lapses', async () => {
    const carol = fresh('carol');
    expect(await checks(carol.handle)).toEqual([true, true]);
    await open(owner(), carol.handle, carol.did);
    expect(await checks(carol.handle)).toEqual([false, false]);
    expect((await t.call('GET /api/sessions/check', { identifier: carol.handle })).body.reason).toBe(
      'identifier_taken',
    );
    await t.clock.advance(DAY);
    await t.work();
    expect(await checks(carol.handle)).toEqual([true, true]);
  });

  test('sessions and checks go on without the node, and are corrected once it is back', async () => {
    const dave = fresh('dave');
    await chain.register(dave, { registry });
    node.trouble = () => new Response('bad gateway', { status: 502 });
    expect(await checks(dave.handle)).toEqual([true, true]);
    expect((await open(stranger(), dave.handle, 'did:key:zMallory')).status).toBe(200);
    node.trouble = undefined;
    await t.clock.advance(60_000);
    await t.work();
    expect(await sessionOf(`handle:${dave.handle}`)).toMatchObject({ linked: 0 });
    expect(await checks(dave.handle)).toEqual([false, false]);
    expect((await open(owner(), dave.handle, dave.did)).status).toBe(200);
  });

  test('a session opened before its DID is on-chain is linked once the alias leads there', async () => {
    const erin = fresh('erin');
    await open(owner(), erin.handle, erin.did);
    await t.work();
    expect(await sessionOf(`handle:${erin.handle}`)).toMatchObject({ linked: 0 });
    await chain.register(erin, { registry });
    await t.clock.advance(60_000);
    await t.work();
    expect(await sessionOf(`handle:${erin.handle}`)).toEqual({ did: erin.did, linked: 1 });
  });

  test('a session whose alias was registered for another DID ends when that is final, and frees its slot', async () => {
    const alice = fresh('alice');
    await open(stranger(), alice.handle, 'did:key:zMallory');
    expect((await stranger().call('GET /api/sessions/status')).body.ip_registrations).toBe(1);
    await chain.register(alice, { registry });
    await t.clock.advance(60_000);
    await t.work();
    await t.clock.advance(60_000);
    await t.work();
    expect((await stranger().call('GET /api/sessions/status')).body.ip_registrations).toBe(0);
    expect(await checks(alice.handle)).toEqual([false, false]);
  });

  test('a session outlives the false claim that a stranger makes for its handle and DID', async () => {
    const [gina, mallory] = [fresh('gina'), fresh('mallory')];
    const own = await chain.register({ did: mallory.did }, { registry });
    expect((await open(owner(), gina.handle, gina.did)).status).toBe(200);
    expect((await claim(stranger(), { ...gina, txHash: own.txHash })).status).toBe(200);
    await t.work();
    expect(await t.rows(`SELECT failure FROM registrations WHERE did = '${gina.did}'`)).toMatchObject([
      { failure: 'other_did' },
    ]);
    expect((await open(stranger(), gina.handle, mallory.did)).body).toEqual(TAKEN);
    expect(await sessionOf(`handle:${gina.handle}`)).toEqual({ did: gina.did, linked: 0 });
    // The chain is asked about it as before, and it lapses when it would have.
    await chain.register(gina, { registry });
    await t.clock.advance(60_000);
    await t.work();
    expect(await sessionOf(`handle:${gina.handle}`)).toEqual({ did: gina.did, linked: 1 });
  });

  test('a session that a claim opened ends with it', async () => {
    const [hugo, mallory] = [fresh('hugo'), fresh('mallory')];
    const own = await chain.register({ did: mallory.did }, { registry });
    expect((await claim(stranger(), { ...hugo, txHash: own.txHash })).status).toBe(200);
    await t.work();
    expect(await checks(hugo.handle)).toEqual([true, true]);
    expect((await open(owner(), hugo.handle, 'did:key:zAnother')).status).toBe(200);
  });

  test('M9: an email or a phone is never linked by the chain', async () => {
    const squatted = { identifier: `frank${++names}@example.com`, channel: 'email' };
    const did = `did:key:zSquatter${++names}`;
    expect((await stranger().call('POST /api/sessions', { ...squatted, did })).status).toBe(200);
    await chain.register({ did, handle: squatted.identifier }, { registry });
    await t.clock.advance(60_000);
    await t.work();
    expect(await sessionOf(`email:${squatted.identifier}`)).toMatchObject({ linked: 0 });
    expect((await t.call('GET /api/sessions/check', squatted)).body.available).toBe(true);
    // Its alias is on-chain before the next session of the same DID too.
    await t.clock.advance(DAY);
    await t.work();
    expect((await stranger().call('POST /api/sessions', { ...squatted, did })).status).toBe(200);
    expect(await sessionOf(`email:${squatted.identifier}`)).toMatchObject({ linked: 0 });
  });
});

describe.each([
  ['a follower', 'true'],
  ['no follower', 'false'],
])('an alias that moves, with %s:', (_, FOLLOWER) => {
  test('takes the handle with it, from a session that it had linked', async () => {
    t = await startVault({ ...chain.vars, RPC_URL: node.url, FOLLOWER, DID_REGISTRY_ADDRESS: resolving });
    const [first, second] = [fresh('first'), fresh('second')];
    await chain.register(first, { registry: resolving });
    await t.work();
    expect((await open(owner(), first.handle, first.did)).status).toBe(200);
    expect((await open(stranger(), first.handle, second.did)).body).toEqual(TAKEN);
    await chain.register({ did: second.did, handle: first.handle }, { registry: resolving });
    await t.clock.advance(60_000);
    await t.work();
    expect(await checks(first.handle)).toEqual([false, false]);
    expect((await open(stranger(), first.handle, second.did)).status).toBe(200);
    expect(await sessionOf(`handle:${first.handle}`)).toEqual({ did: second.did, linked: 1 });
    expect((await open(owner(), first.handle, first.did)).body).toEqual(TAKEN);
  });
});

test.each(['true', 'false'])(
  'a claim that fails leaves no handle to its copies that leads elsewhere, FOLLOWER=%s',
  async (FOLLOWER) => {
    t = await startVault({ ...chain.vars, RPC_URL: node.url, FOLLOWER, FINALITY_BLOCKS: '50' });
    const [alice, mallory] = [fresh('alice'), fresh('mallory')];
    const [own, other] = [await chain.register({ did: mallory.did }), await chain.register(fresh('other'))];
    // A claim fails once that is final; the alias that follows is not.
    await chain.mine(50);
    for (const { txHash } of [other, own])
      expect((await claim(stranger(), { handle: alice.handle, did: mallory.did, txHash })).status).toBe(200);
    const { txHash } = await chain.register(alice);
    expect((await open(owner(), alice.handle, alice.did)).status).toBe(200);
    expect((await claim(owner(), { ...alice, txHash })).status).toBe(200);
    await t.work();
    const rows = await t.rows('SELECT status, holds FROM registrations ORDER BY id');
    expect(rows.map((row) => ({ ...row }))).toEqual([
      { status: 'failed', holds: 0 },
      { status: 'confirmed', holds: 1 },
      { status: 'confirmed', holds: 0 },
    ]);
    expect(await sessionOf(`handle:${alice.handle}`)).toEqual({ did: alice.did, linked: 1 });
    const taken = await t.rows(`SELECT data FROM events WHERE type = 'session.taken_over'`);
    expect(taken.map(({ data }) => JSON.parse(String(data)).did)).toEqual([alice.did]);
  },
);

test('a re-org takes back what linked a session until that was final, without a follower too', async () => {
  t = await startVault({ ...chain.vars, RPC_URL: node.url, FOLLOWER: 'false', FINALITY_BLOCKS: '3' });
  const [young, old] = [fresh('young'), fresh('old')];
  await chain.register(old);
  await chain.mine(3);
  const { raw } = await chain.register(young);
  for (const one of [old, young]) expect((await open(owner(), one.handle, one.did)).status).toBe(200);
  const linked = async () => [await sessionOf(`handle:${old.handle}`), await sessionOf(`handle:${young.handle}`)];
  const look = async () => {
    await t.clock.advance(3_600_000);
    await t.work();
    return (await linked()).map((session) => session?.['linked']);
  };
  expect(await look()).toEqual([1, 1]);
  await chain.reorg(1);
  expect(await look()).toEqual([1, 0]);
  // It has another day: what is mined again links it again.
  await t.clock.advance(DAY - 3_700_000);
  await chain.sendAgain(raw);
  expect(await look()).toEqual([1, 1]);
  await chain.mine(3);
  await look();
  const [row] = await t.rows('SELECT count(*) AS n FROM sessions WHERE ask_at IS NOT NULL');
  expect(Number(row?.['n'])).toBe(0);
});

describe('what asks the chain', () => {
  test('counts under proxy, and only then: no check of an email or a phone asks it', async () => {
    t = await startVault({ ...chain.vars, RPC_URL: node.url, FOLLOWER: 'false', RATE_LIMIT_PROXY_PER_IP: '2' });
    const alice = fresh('alice');
    await chain.register(alice);
    for (const identifier of ['a@example.com', '+14155550100']) {
      expect((await t.call('GET /api/sessions/check', { identifier })).status).toBe(200);
      expect(
        (
          await t.call('POST /api/sessions', {
            identifier,
            channel: identifier.includes('@') ? 'email' : 'sms',
            did: alice.did,
          })
        ).status,
      ).toBe(200);
    }
    expect(node.methods).toEqual([]);
    // The answer is kept: the second check asks nobody.
    for (let i = 0; i < 5; i++) expect(await checks(alice.handle)).toEqual([false, false]);
    expect(node.methods).toEqual(['eth_call']);
    expect((await t.call('GET /api/sessions/check', { identifier: 'nemo' })).status).toBe(200);
    const refused = await t.call('GET /api/sessions/check', { identifier: 'nemo' });
    expect([refused.status, refused.body.error]).toEqual([429, 'rate_limited']);
    expect((await open(t, 'nemo', alice.did)).status).toBe(429);
    await t.clock.advance(ALIAS_KEPT_MS);
    expect((await t.call('GET /api/aliases/check', { alias: alice.handle })).status).toBe(429);
  });

  test('a check of what a current follower knows asks nobody; of what it does not, the registry, once each', async () => {
    t = await startVault({ ...chain.vars, RPC_URL: node.url, FOLLOWER: 'true' });
    const alice = fresh('alice');
    await chain.register(alice);
    await t.work();
    const before = node.methods.length;
    expect(await checks(alice.handle)).toEqual([false, false]);
    expect(node.methods.slice(before)).toEqual([]);
    expect(await checks('nemo')).toEqual([true, true]);
    expect(node.methods.slice(before)).toEqual(['eth_call', 'eth_call']);
  });

  test('open sessions are asked about ever more rarely, a bounded number at a time', async () => {
    t = await startVault({
      ...chain.vars,
      RPC_URL: node.url,
      FOLLOWER: 'false',
      MAX_REGISTRATIONS_PER_IP: '1000',
      RATE_LIMIT_PROXY_PER_IP: '1000',
    });
    for (let i = 0; i < 60; i++) await open(t, `many${i}`, 'did:key:zMany');
    const asked = () => node.methods.filter((method) => method === 'eth_call').length;
    const before = asked();
    await t.clock.advance(60_000);
    await t.work();
    expect(asked() - before).toBe(50);
    await t.clock.advance(30_000);
    await t.work();
    // The other ten, and forty for the second time.
    expect(asked() - before).toBe(100);
    const dayBefore = asked();
    for (let hour = 0; hour < 24; hour++) {
      await t.clock.advance(3_600_000);
      for (let i = 0; i < 3; i++) await t.work();
    }
    expect((asked() - dayBefore) / 60).toBeLessThan(30);
  });
});
