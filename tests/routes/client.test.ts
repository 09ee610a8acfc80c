import { afterEach, beforeEach, expect, test } from 'bun:test';
import { fromHex } from '../../lib/base/bytes.ts';
import { DOCTOR_TOKEN_TTL_MS, isDoctorToken, makeDoctorToken } from '../../lib/identity/doctor-token.ts';
import { OPERATOR } from '../support/events.ts';
import { startVault, type TestVault, VAULT_SECRET } from '../support/vault.ts';

const secret = fromHex(VAULT_SECRET) as Uint8Array;
let t: TestVault;
beforeEach(async () => {
  t = await startVault();
});
afterEach(() => t.stop());

const ask = (token: string, headers: Record<string, string> = {}) =>
  t.call('GET /api/client', {}, { Authorization: `Bearer ${token}`, ...headers });

test('GET /api/client says what the vault saw, to a token of the doctor', async () => {
  const token = makeDoctorToken(secret, t.clock.now());
  expect((await ask(token)).body).toEqual({
    client: '127.0.0.1',
    peer: '127.0.0.1',
    trusted: true,
    named: null,
    forwarded: false,
  });
  const named = { 'Edge-Connecting-IP': '2001:db8::7', 'X-Forwarded-For': '203.0.113.1' };
  expect((await ask(token, named)).body).toEqual({
    client: '2001:db8:0:0::/64',
    peer: '127.0.0.1',
    trusted: true,
    named: '2001:db8::7',
    forwarded: true,
  });
});

test('GET /api/client: a token lives a minute, and no other opens it', async () => {
  const now = t.clock.now();
  const token = makeDoctorToken(secret, now);
  const others = [makeDoctorToken(fromHex('11'.repeat(32)) as Uint8Array, now), `${now + 9}.${'0'.repeat(64)}`];
  const later = makeDoctorToken(secret, now + 2 * DOCTOR_TOKEN_TTL_MS);
  const tampered = token.replace(/^\d+/, (digits) => String(Number(digits) + 1));
  for (const one of ['', 'x', '.', ...others, later, tampered, OPERATOR.Authorization.slice(7)])
    expect((await ask(one)).body.error).toBe('operator_unauthorized');
  expect((await t.call('GET /api/client')).status).toBe(401);
  await t.clock.advance(DOCTOR_TOKEN_TTL_MS - 1);
  expect((await ask(token)).status).toBe(200);
  await t.clock.advance(1);
  expect((await ask(token)).status).toBe(401);
  expect(isDoctorToken(secret, token, t.clock.now())).toBe(false);
});

test('the overview names the operator as the vault sees it', async () => {
  const { body } = await t.call('GET /v1/console/overview', {}, { ...OPERATOR, 'Edge-Connecting-IP': '203.0.113.9' });
  expect(body.client).toBe('203.0.113.9');
});
