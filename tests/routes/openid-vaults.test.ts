import { afterAll, afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { createPublicKey, verify } from 'node:crypto';
import { join } from 'node:path';
import { openSqlite } from '../../commands/storage/sqlite.ts';
import { DAY_MS, HOUR_MS } from '../../lib/base/clock.ts';
import { type Candidate, startRelayChain } from '../support/candidates.ts';
import { type SettableClock, settableClock, testClock } from '../support/clock.ts';
import { temporaryFolder } from '../support/databases.ts';
import {
  answer,
  bearer,
  clientsFile,
  exchange,
  OPENID_VARS,
  parametersOf,
  partsOf,
  requestOf,
  tokensFor,
} from '../support/openid.ts';
import { runProgram } from '../support/run.ts';
import { registerNewcomer } from '../support/sign-ups.ts';
import { originOf } from '../support/touch.ts';
import { startVault, type TestVault, VAULT_SECRET } from '../support/vault.ts';

// Two vaults on one database behind one name: an app's requests go to either.

const chain = await startRelayChain({ startsAt: testClock().now() });
afterAll(chain.stop);

let a: TestVault;
let b: TestVault;
let itsClock: SettableClock;
let alice: Candidate;
beforeEach(async () => {
  a = await startVault({ ...chain.vars, ...OPENID_VARS }, clientsFile());
  itsClock = settableClock(a.clock);
  const vars = { ...chain.vars, ...OPENID_VARS, BASE_URL: originOf(a) };
  b = await startVault(vars, { ...clientsFile(), database: a.database, clock: itsClock });
  alice = await registerNewcomer(chain, a);
});
afterEach(async () => {
  await b.stop();
  await a.stop();
});

/** A sign-in whose page asks one vault, and whose app the other. */
async function across(page: TestVault, app: TestVault, request = requestOf()) {
  // The passkey of tests signs the same text in the same way.
  await a.clock.advance(1_000);
  const given = await answer(page, alice, request, { ceremony: { origin: originOf(a) } });
  const code = String(parametersOf(given)['code']);
  return { code, request, reply: await exchange(app, request, code) };
}
const kidsOf = async (vault: TestVault): Promise<string[]> =>
  (await vault.call('GET /jwks')).body.keys.map(({ kid }: { kid: string }) => kid);
const kidOf = (token: string) => String(partsOf(token)[0]?.['kid']);

describe('two vaults on one database', () => {
  test('first sign-ins at once from both: one key, one salt', async () => {
    const found = await Promise.all([across(a, b), across(b, a)]);
    const tokens = found.map(({ reply }) => reply.body.id_token);
    expect(new Set(tokens.map(kidOf)).size).toBe(1);
    expect(new Set(tokens.map((token) => partsOf(token)[1]?.['sub'])).size).toBe(1);
  });

  test('a code of one is exchanged by the other, once; its token reads at both, and ends at both', async () => {
    const { code, request, reply } = await across(a, b);
    expect([reply.status, reply.body.error_description]).toEqual([200, undefined]);
    const read = async (vault: TestVault) =>
      (await vault.call('GET /userinfo', {}, bearer(reply.body.access_token))).status;
    expect([await read(a), await read(b)]).toEqual([200, 200]);
    expect((await exchange(a, request, code)).body.reason).toBe('used');
    expect([await read(a), await read(b)]).toEqual([401, 401]);
  });

  test('exchanges of one code at once at both: one is answered', async () => {
    const request = requestOf();
    const code = String(parametersOf(await answer(a, alice, request))['code']);
    const replies = await Promise.all([a, b, a, b].map((vault) => exchange(vault, request, code)));
    expect(replies.map(({ body }) => body.reason ?? 'answered').toSorted()).toEqual([
      'answered',
      'used',
      'used',
      'used',
    ]);
  });

  test('a rotation while people sign in: no app meets a key that /jwks lacked an hour before, or lacks at the end', async () => {
    await across(a, b);
    await a.clock.advance(90 * DAY_MS - 2 * HOUR_MS);
    let cached = [await kidsOf(a), await kidsOf(b)].flat();
    const signed = new Set<string>();
    const ends: { kid: string; at: number }[] = [];
    for (let hour = 0; hour < 30; hour++) {
      await Promise.all([a.work(), b.work()]);
      const made = await Promise.all([across(a, b), across(b, a)]);
      for (const { reply } of made) {
        const kid = kidOf(reply.body.id_token);
        // What either vault answered an hour ago, which caches may still hold.
        expect(cached).toContain(kid);
        ends.push({ kid, at: a.clock.now() + HOUR_MS });
        signed.add(kid);
      }
      const now = [await kidsOf(a), await kidsOf(b)];
      for (const { kid, at } of ends) if (at >= a.clock.now()) for (const kids of now) expect(kids).toContain(kid);
      cached = now[hour % 2] ?? [];
      await a.clock.advance(HOUR_MS);
    }
    expect(signed.size).toBe(2);
  });
});

describe.each([
  ['ahead', 60_000],
  ['behind', -60_000],
])('clocks that differ by a minute, the other one %s', (_, ms) => {
  beforeEach(() => itsClock.set(ms));

  test('a code is exchanged by either, and ends after a minute for both', async () => {
    for (const [page, app] of [
      [a, b],
      [b, a],
    ] as const) {
      const { reply } = await across(page, app);
      expect([reply.status, reply.body.error_description]).toEqual([200, undefined]);
      const { access_token } = reply.body;
      for (const vault of [a, b])
        expect((await vault.call('GET /userinfo', {}, bearer(access_token))).status).toBe(200);
      const request = requestOf();
      const late = await answer(page, alice, request, { ceremony: { origin: originOf(a) } });
      await a.clock.advance(60_000);
      const refused = await exchange(app, request, String(parametersOf(late)['code']));
      expect(refused.body.reason).toBe('expired');
    }
  });

  test('a code that is exchanged again at either ends its access token at both, at once', async () => {
    for (const [app, again] of [
      [a, b],
      [b, a],
    ] as const) {
      const { code, request, reply } = await across(a, app);
      expect(reply.status).toBe(200);
      expect((await exchange(again, request, code)).body.reason).toBe('used');
      const { access_token } = reply.body;
      for (const vault of [a, b])
        expect((await vault.call('GET /userinfo', {}, bearer(access_token))).status).toBe(401);
    }
  });

  test('a page that got its nonce from one vault is answered by the other', async () => {
    const mixed: TestVault = {
      ...b,
      call: (line, fields, headers) => (fields?.['fresh'] ? a : b).call(line, fields, headers),
    };
    const { reply } = await across(mixed, a);
    expect(reply.status).toBe(200);
  });
});

describe('a restore', () => {
  const folder = temporaryFolder();
  afterAll(() => folder.remove());

  const run = async (args: readonly string[], vars: Readonly<Record<string, string>>) => {
    const { code, err } = await runProgram(args, { cwd: folder.path, vars });
    expect([code, code === 0 ? '' : err]).toEqual([0, '']);
  };
  const isSignedBy = (token: string, keys: readonly { readonly kid: string }[]) => {
    const [head, payload, signature = ''] = token.split('.');
    const jwk = keys.find(({ kid }) => kid === kidOf(token));
    if (!jwk) return false;
    const key = createPublicKey({ key: jwk, format: 'jwk' });
    return verify('sha256', Buffer.from(`${head}.${payload}`), key, Buffer.from(signature, 'base64url'));
  };

  test.each([
    ['the same VAULT_SECRET, and with the key that signs', VAULT_SECRET, []],
    ['another VAULT_SECRET, by a key of its own', VAULT_SECRET.replace('01', '10'), ['--other-secret']],
  ] as const)('by vault backup and vault restore keeps every sub with %s', async (_, secret, flags) => {
    const before = await tokensFor(a, alice);
    const [{ file } = {}] = await a.rows('PRAGMA database_list');
    const backup = `${flags.length}.backup`;
    await run(['backup', backup], { VAULT_SECRET, DATABASE_URL: `file:${file}` });
    const dir = join(folder.path, `restored${flags.length}`);
    await run(['restore', backup, ...flags], { VAULT_SECRET: secret, DATA_DIR: dir });

    const database = openSqlite(join(dir, 'vault.db'), {}, a.clock);
    const vars = { ...chain.vars, ...OPENID_VARS, VAULT_SECRET: secret, BASE_URL: originOf(a) };
    const restored = await startVault(vars, { ...clientsFile(), database, clock: a.clock });
    await a.clock.advance(1_000);
    // The restored vault knows whom a token from before is about.
    const request = requestOf('tea', { id_token_hint: before.id_token });
    const after = await tokensFor(restored, alice, request, { ceremony: { origin: originOf(a) } });
    const { keys } = (await restored.call('GET /jwks')).body;
    const status = (await restored.call('GET /userinfo', {}, bearer(before.access_token))).status;
    await restored.stop();
    database.close();
    expect(after.claims['sub']).toBe(before.claims['sub'] as string);
    expect([isSignedBy(before.id_token, keys), isSignedBy(after.id_token, keys), status]).toEqual([true, true, 200]);
    expect(kidOf(after.id_token) === kidOf(before.id_token)).toBe(secret === VAULT_SECRET);
  });
});
