import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { SIGHT } from '../../../commands/doctor/host.ts';
import { ok } from '../../../lib/doctor/finding.ts';
import { DOCTOR_CACHE_MS } from '../../../lib/doctor/service.ts';
import { OPERATOR } from '../../support/events.ts';
import { startVault, type TestVault } from '../../support/vault.ts';

const NOWHERE = 'http://127.0.0.1:1';

describe('GET /v1/console/doctor', () => {
  let t: TestVault;
  let looks = 0;
  const run = async () => {
    looks++;
    await Bun.sleep(1);
    return [ok('disk', 'plenty')];
  };
  beforeAll(async () => {
    const doctor = async () => ({ ...SIGHT, checks: [{ name: 'disk', remedy: '', run } as const] });
    t = await startVault({ RPC_URL: `${NOWHERE}/hush-hush`, SMS_PROVIDER: 'none' }, { doctor });
  });
  afterAll(() => t.stop());
  const ask = () => t.call('GET /v1/console/doctor', {}, OPERATOR);

  test('checks once for all who ask at the same time, and shows that for a quarter of a minute', async () => {
    const [first, second] = await Promise.all([ask(), ask()]);
    expect(first.body).toEqual(second.body);
    expect(first.body.checks).toContainEqual({ area: 'storage', name: 'disk', state: 'ok', text: 'plenty' });
    expect(first.body.checks).toContainEqual({
      area: 'storage',
      name: 'database',
      state: 'ok',
      text: 'accepts writes',
    });
    await t.clock.advance(DOCTOR_CACHE_MS - 1);
    expect((await ask()).body.checkedAt).toBe(first.body.checkedAt);
    expect(looks).toBe(1);
    await t.clock.advance(1);
    expect((await ask()).body.checkedAt).not.toBe(first.body.checkedAt);
    expect(looks).toBe(2);
  });

  test('says what fails with its remedy, in the order of the areas, and shows no secret', async () => {
    const { body, text } = await ask();
    expect(body.checks).toContainEqual({
      ...{ area: 'chain', name: 'chain', state: 'fail', text: 'unreachable (ECONNREFUSED)' },
      remedy: 'check the node at RPC_URL, or set another one',
    });
    expect([...new Set(body.checks.map(({ area }: { area: string }) => area))]).toEqual([
      'storage',
      'chain',
      'delivery',
      'network',
    ]);
    expect(text).not.toContain('hush');
  });

  test('is for the operator alone', async () => {
    expect((await t.call('GET /v1/console/doctor')).status).toBe(401);
  });
});

test('GET /v1/console/doctor: a host that lends nothing is examined as far as Fetch reaches', async () => {
  const vars = {
    RPC_URL: NOWHERE,
    EMAIL_PROVIDER: 'smtp',
    EMAIL_FROM: 'a@tea.example',
    SMTP_URL: 'smtp://127.0.0.1:1',
  };
  const webhook = { WEBHOOK_URL: 'https://hooks.example.com/in', WEBHOOK_SECRET: `whsec_${btoa('k'.repeat(32))}` };
  const mail = { send: async () => undefined };
  const t = await startVault({ ...vars, ...webhook }, { mail });
  const { body } = await t.call('GET /v1/console/doctor', {}, OPERATOR);
  const unseen = { state: 'skipped', text: 'the host of this vault cannot check it' };
  expect(body.checks).toContainEqual({ area: 'network', name: 'webhooks', ...unseen });
  expect(body.checks).toContainEqual({ area: 'delivery', name: 'mail', ...unseen });
  await t.stop();
});
