import { afterEach, beforeEach, expect, test } from 'bun:test';
import { OPERATOR } from '../../support/events.ts';
import { startVault, type TestVault, VAULT_SECRET } from '../../support/vault.ts';

const others: TestVault[] = [];
let t: TestVault;
beforeEach(async () => {
  t = await startVault({ APPS: 'shop', RPC_URL: 'https://node.example/key-of-mine', MAX_VERIFY_SENDS_PER_IP: '3' });
});
afterEach(async () => {
  for (const one of others.splice(0)) await one.stop();
  await t.stop();
});

const ask = async (what: string, vault = t) => (await vault.call(`GET /v1/console/${what}`, {}, OPERATOR)).body;

test('settings in force: what differs from its default first, no secret, of an endpoint its origin', async () => {
  const { settings } = await ask('settings');
  const by = Object.fromEntries(settings.map((one: { name: string }) => [one.name, one]));
  expect(by['APPS']).toMatchObject({ value: 'shop', changed: true });
  expect(by['VAULT_SECRET']).toMatchObject({ value: '(secret)', changed: true });
  expect(by['RPC_URL']).toMatchObject({ value: 'https://node.example/…', changed: true });
  expect(by['ADDRESS_MOVE_HOURS']).toMatchObject({ value: '72', default: '72', changed: false });
  const changed = settings.map((one: { changed: boolean }) => one.changed);
  expect(changed.lastIndexOf(true)).toBe(changed.indexOf(false) - 1);
  const text = JSON.stringify(settings);
  for (const secret of [VAULT_SECRET, OPERATOR.Authorization.slice(7), 'key-of-mine'])
    expect(text).not.toContain(secret);
});

test('refusals of the last hour, by word and route, of all processes, without who asked', async () => {
  await t.work();
  const send = (name: string) => t.call('POST /api/verify/send', { identifier: name, channel: 'email' });
  for (const name of ['ada', 'eve', 'bob', 'ada@example.com', 'ada@example.com', 'ada@example.com', 'eve@example.com'])
    await send(name);
  await t.call('GET /api/nothing-of-ada');
  await t.call('PUT /api/verify/send');
  const rows = async (vault = t) =>
    (await ask('refusals', vault)).refusals.map(({ error, route, status, count }: Record<string, unknown>) => [
      ...[error, route, status, count],
    ]);
  const expected = [
    ['bad_request', '/api/verify/send', 400, 3],
    ['rate_limited', '/api/verify/send', 429, 1],
    ['not_found', 'unknown', 404, 1],
    ['method_not_allowed', '/api/verify/send', 405, 1],
  ];
  expect((await rows()).toSorted()).toEqual(expected.toSorted());
  expect((await rows())[0]).toEqual(expected[0]);
  const { refusals } = await ask('refusals');
  expect(refusals[1].cause.length).toBeGreaterThan(10);
  expect(JSON.stringify(refusals)).not.toMatch(/ada|eve/);

  // What another process reads is what was written, after a restart too.
  await t.clock.advance(60_000);
  await t.work();
  const other = await startVault({}, { database: t.database, clock: t.clock });
  others.push(other);
  expect((await rows(other)).toSorted()).toEqual(expected.toSorted());
  await t.clock.advance(3_600_000);
  expect(await rows(other)).toEqual([]);
  // The charts have their own counters alone.
  expect(Object.keys((await ask('history')).totals).filter((key) => key.startsWith('refused'))).toEqual([]);
});

test('keys by their public parts, and tokens that have opened a stream until they end or are revoked', async () => {
  expect(await ask('keys')).toMatchObject({
    operator_did: expect.stringMatching(/^did:key:z6Mk/),
    registrar_did: expect.stringMatching(/^did:web:localhost/),
    attestation_keys: 1,
    registrar: null,
    guardian: null,
    stream_tokens: [],
  });
  const { token, cid } = (await t.call('POST /v1/console/token', { app: 'default' }, OPERATOR)).body;
  const stream = await fetch(`${t.url}/v1/console/events?token=${token}`);
  const [live] = (await ask('keys')).stream_tokens;
  expect(live).toEqual({ cid, expires_at: '2025-01-01T00:05:00.000Z' });
  await t.call('POST /v1/console/revoke', { cid }, OPERATOR);
  expect((await ask('keys')).stream_tokens).toEqual([]);
  await stream.body?.cancel();
});
