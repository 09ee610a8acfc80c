import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { createHash } from 'node:crypto';
import { p256 } from '@noble/curves/nist.js';
import * as Base58 from 'ox/Base58';
import { DAY_MS } from '../../lib/base/clock.ts';
import { askByCode, createHolder, partsOfCredential } from '../support/credentials.ts';
import { OPERATOR } from '../support/events.ts';
import { settled } from '../support/settled.ts';
import { startVault, type TestVault, VAULT_SECRET } from '../support/vault.ts';

let t: TestVault;
beforeEach(async () => {
  t = await startVault();
});
afterEach(() => t.stop());

type Jwk = { readonly kid: string; readonly x: string; readonly y: string };
const keysOf = async (vault: TestVault): Promise<Jwk[]> =>
  (await vault.call('GET /.well-known/jwt-vc-issuer')).body.jwks.keys;
const beside = (vars: Record<string, string> = {}) => startVault(vars, { database: t.database, clock: t.clock });

describe('evidence B7', () => {
  test('/.well-known/jwt-vc-issuer has the issuer and its ES256 keys alone, each by its thumbprint', async () => {
    const { status, headers, body } = await t.call('GET /.well-known/jwt-vc-issuer');
    const issuer = `http://localhost:${new URL(t.url).port}`;
    expect([status, headers.get('cache-control'), body.issuer]).toEqual([200, 'public, max-age=3600', issuer]);
    const [key, ...others] = body.jwks.keys;
    expect(others).toEqual([]);
    expect(key).toMatchObject({ kty: 'EC', crv: 'P-256', use: 'sig', alg: 'ES256' });
    expect(Object.keys(key)).not.toContain('d');
    const members = JSON.stringify({ crv: 'P-256', kty: 'EC', x: key.x, y: key.y });
    expect(key.kid).toBe(createHash('sha256').update(members).digest('base64url'));
  });

  test('did.json has the same keys under assertionMethod alone, as Multikey', async () => {
    const [key] = await keysOf(t);
    const { body } = await t.call('GET /.well-known/did.json');
    const id = `${body.id}#${key?.kid}`;
    expect(body.assertionMethod).toEqual([id]);
    const method = body.verificationMethod.find((one: { id: string }) => one.id === id);
    const bytes = Base58.toBytes(method.publicKeyMultibase.slice(1));
    expect([method.type, method.controller, ...bytes.slice(0, 2)]).toEqual(['Multikey', body.id, 0x80, 0x24]);
    const point = p256.Point.fromBytes(bytes.slice(2)).toBytes(false);
    expect(Buffer.from(point.slice(1, 33)).toString('base64url')).toBe(key?.x ?? '');
    expect(Buffer.from(point.slice(33)).toString('base64url')).toBe(key?.y ?? '');
    const uses = ['authentication', 'keyAgreement', 'capabilityInvocation', 'capabilityDelegation'];
    expect(uses.flatMap((use) => body[use] ?? [])).not.toContain(id);
  });

  test('the next key is published a day before it signs, the old one until a week and a day after its last', async () => {
    const [first] = await keysOf(t);
    await t.clock.advance(90 * DAY_MS);
    const now = t.clock.now();
    await t.work();
    await t.clock.advance(1_000);
    expect(await keysOf(t)).toHaveLength(2);
    expect(await t.rows('SELECT kid, alg, signs_from, ends_at FROM signing_keys ORDER BY made_at')).toMatchObject([
      { kid: first?.kid, alg: 'ES256', ends_at: now + DAY_MS + 7 * DAY_MS + DAY_MS },
      { alg: 'ES256', signs_from: now + DAY_MS, ends_at: null },
    ]);
    const rotated = await t.rows("SELECT data FROM events WHERE type = 'key.rotated'");
    expect(rotated).toEqual([{ data: '{"key":"credentials"}' }]);
    // Then it leaves.
    await t.clock.advance(9 * DAY_MS - 2_000);
    expect(await keysOf(t)).toHaveLength(2);
    await t.clock.advance(2_000);
    const left = await keysOf(t);
    expect([left.length, left.some(({ kid }) => kid === first?.kid)]).toEqual([1, false]);
  });

  test('none is made before one is asked for, also by the operator who looks', async () => {
    await t.work();
    expect((await t.call('GET /v1/console/keys', {}, OPERATOR)).body.credential_keys).toEqual([]);
    expect(await t.rows('SELECT 1 FROM signing_keys')).toEqual([]);
  });

  test('the operator sees the one that signs, the next, the former, and one that this vault cannot open', async () => {
    const states = async (vault = t) => {
      const { body } = await vault.call('GET /v1/console/keys', {}, OPERATOR);
      return (body.credential_keys as { state: string; kid?: string }[]).map(({ kid, state }) => [kid, state]);
    };
    const [first] = await keysOf(t);
    expect(await states()).toEqual([[first?.kid, 'signing']]);
    await t.clock.advance(90 * DAY_MS);
    await t.work();
    await t.clock.advance(1_000);
    const [next] = (await keysOf(t)).filter(({ kid }) => kid !== first?.kid);
    expect(await states()).toEqual([
      [next?.kid, 'next'],
      [first?.kid, 'signing'],
    ]);
    await t.clock.advance(DAY_MS);
    expect(await states()).toEqual([
      [next?.kid, 'signing'],
      [first?.kid, 'former'],
    ]);
    const stranger = await beside({ VAULT_SECRET: VAULT_SECRET.replace('01', '10') });
    expect((await states(stranger)).map(([, state]) => state)).toEqual(['sealed', 'sealed']);
    await stranger.stop();
    const none = await beside({ CREDENTIAL_TTL_SECONDS: '0' });
    expect(await states(none)).toEqual([]);
    await none.stop();
  });

  test('two vaults on one database have one key; one with another VAULT_SECRET makes one of its own', async () => {
    const other = await beside();
    const [mine, theirs] = await Promise.all([keysOf(t), keysOf(other)]);
    expect(mine).toHaveLength(1);
    expect(theirs).toEqual(mine);
    await other.stop();
    const stranger = await beside({ VAULT_SECRET: VAULT_SECRET.replace('01', '10') });
    expect(await keysOf(stranger)).toHaveLength(2);
    await stranger.stop();
  });

  test('the types say which claims the holder may hide', async () => {
    const issuer = `http://localhost:${new URL(t.url).port}`;
    for (const [kind, hidden] of [
      ['email', ['email', 'email_domain', 'sub']],
      ['phone', ['phone_number', 'sub']],
    ] as const) {
      const { status, body } = await t.call(`GET /credentials/types/${kind}`);
      expect([status, body.vct]).toEqual([200, `${issuer}/credentials/types/${kind}`]);
      expect(body.display.map(({ locale }: { locale: string }) => locale)).toEqual(['en', 'de', 'es', 'fr']);
      const claims = body.claims as { path: string[]; sd: string }[];
      expect(claims.filter(({ sd }) => sd === 'always').flatMap(({ path }) => path)).toEqual([...hidden]);
    }
  });
});

test('evidence B: a credential ends after CREDENTIAL_TTL_SECONDS, which is a week at most', async () => {
  const hour = await startVault({ CREDENTIAL_TTL_SECONDS: '3600' });
  const { body } = await askByCode(hour, await createHolder());
  const { claims } = partsOfCredential(body.credential);
  expect(Number(claims['exp']) - Number(claims['iat'])).toBe(3_600);
  expect(Date.parse(body.expires_at)).toBe(Number(claims['exp']) * 1_000);
  await hour.stop();
  expect(await settled(startVault({ CREDENTIAL_TTL_SECONDS: '604801' }))).toThrow('CREDENTIAL_TTL_SECONDS');
});

test('evidence B: with CREDENTIAL_TTL_SECONDS=0 the routes are 404', async () => {
  const none = await startVault({ CREDENTIAL_TTL_SECONDS: '0' });
  for (const path of ['/.well-known/jwt-vc-issuer', '/credentials/types/email', '/credentials/types/phone'])
    expect([path, (await none.call(`GET ${path}`)).status]).toEqual([path, 404]);
  expect((await none.call('GET /.well-known/did.json')).body.assertionMethod).toBeUndefined();
  await none.stop();
});
