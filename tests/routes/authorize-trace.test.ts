// Who signed in where, and who was refused: what the person, the audit and an erasure find.
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { startRelayChain } from '../support/candidates.ts';
import { testClock } from '../support/clock.ts';
import { OPERATOR } from '../support/events.ts';
import { createPasskey } from '../support/passkey.ts';
import {
  APPS_HOST,
  APPS_VARS,
  appRequest,
  BOOKS,
  newcomer,
  registerNewcomer,
  signFor,
  signIn,
  TEA,
} from '../support/sign-ups.ts';
import { startVault, type TestVault } from '../support/vault.ts';

const chain = await startRelayChain({ startsAt: testClock().now() });
afterAll(chain.stop);

let t: TestVault;
const open = async (vars = {}) => {
  t = await startVault({ ...chain.vars, ...APPS_VARS, ...vars }, APPS_HOST);
};
beforeEach(() => open());
afterEach(() => t.stop());

const registered = () => registerNewcomer(chain, t);
type Person = Awaited<ReturnType<typeof registered>>;

/** From an address of its own. */
const signInFrom = (ip: string, one: Person, app: typeof TEA | typeof BOOKS = TEA) =>
  signIn({ ...t, call: t.from(ip).call }, one, appRequest(app));

/** A touch by another passkey for somebody's credential. */
const intrude = async (ip: string, one: Person) => {
  const request = appRequest();
  const { call } = t.from(ip);
  const by = createPasskey();
  return signIn({ ...t, call }, one, request, { by });
};

const told = async () => {
  await t.idle();
  const rows = await t.rows(`SELECT type, app, data FROM events WHERE type LIKE 'signin.%' ORDER BY id`);
  return rows.map(({ type, app, data }) => [type, app, JSON.parse(String(data))]);
};
const kept = () => t.rows('SELECT app, did, network, reason FROM signins ORDER BY id');

describe('a sign-in', () => {
  test('is an event and a row: the app, the DID and the masked network', async () => {
    const ada = await registered();
    expect((await signInFrom('198.51.100.7', ada)).status).toBe(200);
    expect((await signInFrom('2001:db8:1:2::3', ada, BOOKS)).status).toBe(200);
    const about = { did: ada.body['did'], credential: `${ada.credentialId.slice(0, 6)}***` };
    expect(await told()).toEqual([
      ['signin.succeeded', 'tea', { ...about, network: '198.51.100.***' }],
      ['signin.succeeded', 'books', { ...about, network: '2001:db8:***' }],
    ]);
    expect(await kept()).toMatchObject([
      { app: 'tea', reason: null },
      { app: 'books', reason: null },
    ]);
  });

  test('that asks again with the same evidence is one', async () => {
    const ada = await registered();
    const request = appRequest();
    const { credentialId } = ada;
    const { verifier: _, ...link } = request;
    const evidence = await signFor(t, ada, request);
    const asked = { request: String(new URLSearchParams({ ...link })), credentialId, identifiers: {}, ...evidence };
    for (let i = 0; i < 2; i++) expect((await t.call('POST /authorize/code', asked)).status).toBe(200);
    expect(await told()).toHaveLength(1);
    expect(await kept()).toHaveLength(1);
  });

  test('by another passkey at a registered credential is told once a minute', async () => {
    const ada = await registered();
    for (let i = 0; i < 3; i++) expect((await intrude('203.0.113.9', ada)).status).toBe(403);
    const did = ada.body['did'];
    expect(await told()).toEqual([
      ['signin.refused', 'tea', expect.objectContaining({ did, network: '203.0.113.***', reason: 'signature' })],
    ]);
    await t.clock.advance(60_000);
    await intrude('203.0.113.9', ada);
    expect(await kept()).toMatchObject([
      { did, reason: 'signature' },
      { did, reason: 'signature' },
    ]);
  });

  test('with a credential that nobody has registered leaves nothing', async () => {
    const nobody = await newcomer(chain, t);
    expect((await intrude('203.0.113.9', nobody)).status).toBe(404);
    expect([await told(), await kept()]).toEqual([[], []]);
  });

  test('that is refused from a network with 50 in the hour is not told, from another one it is', async () => {
    const ada = await registered();
    const at = t.clock.now() - 120_000;
    const insert = `INSERT INTO signins (at, app, did, credential_id, network, reason) VALUES (:at, 'tea', 'd', 'c', :network, 'x')`;
    for (let i = 0; i < 50; i++) await t.rows(insert, { at, network: '203.0.113.***' });
    await intrude('203.0.113.9', ada);
    expect(await told()).toEqual([]);
    for (let i = 50; i < 999; i++) await t.rows(insert, { at, network: '192.0.2.***' });
    await intrude('198.51.100.9', ada);
    expect(await told()).toHaveLength(1);
    await t.clock.advance(60_000);
    await intrude('198.51.101.9', ada);
    expect(await told()).toHaveLength(1);
  });
});

test('KEEP_SIGNINS_DAYS=0 keeps and tells nothing; 30 days keep until then', async () => {
  const ada = await registered();
  await signInFrom('198.51.100.7', ada);
  await t.clock.advance(30 * 86_400_000 - 120_000);
  await t.work();
  expect(await kept()).toHaveLength(1);
  await t.clock.advance(180_000);
  await t.work();
  expect(await kept()).toEqual([]);
  await t.stop();
  await open({ KEEP_SIGNINS_DAYS: '0' });
  const bob = await registered();
  expect((await signInFrom('198.51.100.7', bob)).status).toBe(200);
  expect((await intrude('198.51.100.7', bob)).status).toBe(403);
  expect([await told(), await kept()]).toEqual([[], []]);
});

test('an erasure takes rows and events of the person, and of nobody else', async () => {
  const [ada, bob] = [await registered(), await registered()];
  for (const one of [ada, bob]) await signInFrom('198.51.100.7', one);
  const shown = await t.call('POST /v1/console/person/show', { identifier: ada.body['identifier'] }, OPERATOR);
  expect(shown.body.tables.find(({ table }: { table: string }) => table === 'signins').rows).toHaveLength(1);
  const erased = await t.call('POST /v1/console/person/erase', { identifier: ada.body['identifier'] }, OPERATOR);
  expect(erased.status).toBe(200);
  expect((await told()).map(([, , { did }]) => did)).toEqual([bob.body['did']]);
  expect(await kept()).toMatchObject([{ did: bob.body['did'] }]);
});
