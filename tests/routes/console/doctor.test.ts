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

describe('POST /v1/console/doctor/send', () => {
  test('sends a test message by the provider in force, for 20 in a day, each an event', async () => {
    const t = await startVault({ EMAIL_PROVIDER: 'log' });
    const send = (to: string) => t.call('POST /v1/console/doctor/send', { to }, OPERATOR);
    expect((await send('ada@tea.example')).body.check).toEqual({
      ...{ area: 'delivery', name: 'mail', state: 'warn', text: 'EMAIL_PROVIDER is log: the test message was printed' },
      remedy: 'set EMAIL_PROVIDER to smtp, resend, hook or none',
    });
    expect(t.entries.find(({ event }) => event === 'notice')).toMatchObject({ to: 'ada@tea.example', notice: 'test' });
    for (let i = 1; i < 20; i++) expect((await send('+4915123456789')).status).toBe(200);
    const full = await send('ada@tea.example');
    expect([full.status, full.body.error, full.headers.get('retry-after')]).toEqual([429, 'rate_limited', '87000']);
    expect((await t.rows(`SELECT 1 FROM events WHERE type = 'message.tested'`)).length).toBe(20);
    const { limits } = (await t.call('GET /v1/console/limits', { kind: 'test-messages' }, OPERATOR)).body;
    expect(limits).toEqual([expect.objectContaining({ used: 20, max: 20, reached: true })]);
    await t.clock.advance(87_000_000);
    expect((await send('ada@tea.example')).status).toBe(200);
    await t.stop();
  });

  test('says why nothing was sent, and is for the operator alone', async () => {
    const failing = Object.assign(new Error('SMTP: the server refused the credentials (EAUTH)'), {
      reachedNobody: true,
    });
    const mail = { send: () => Promise.reject(failing) };
    const vars = { EMAIL_PROVIDER: 'smtp', EMAIL_FROM: 'a@tea.example', SMTP_URL: 'smtp://127.0.0.1:1' };
    const t = await startVault(vars, { mail });
    const send = (to: string, headers = OPERATOR) => t.call('POST /v1/console/doctor/send', { to }, headers);
    expect((await send('ada@tea.example')).body.check).toMatchObject({
      state: 'fail',
      text: 'the test message to a***@tea.example was not sent: SMTP: the server refused the credentials (EAUTH)',
      remedy: expect.stringContaining('set user and password'),
    });
    expect((await send('ada')).status).toBe(400);
    expect((await send('ada@tea.example', {} as typeof OPERATOR)).status).toBe(401);
    await t.stop();
  });
});
