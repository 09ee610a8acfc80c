import { afterEach, beforeEach, expect, test } from 'bun:test';
import { OPERATOR } from '../../support/events.ts';
import { startVault, type TestVault } from '../../support/vault.ts';

let t: TestVault;
beforeEach(async () => {
  t = await startVault({ APPS: 'shop' });
});
afterEach(() => t.stop());

const ask = (line: string, fields: Readonly<Record<string, unknown>> = {}) => t.call(line, fields, OPERATOR);

test('GET /v1/console/overview names the newest event', async () => {
  await ask('POST /v1/console/token', { app: 'default' });
  const { status, body } = await ask('GET /v1/console/overview');
  // The first use of the secret is an event too.
  expect([status, body.events.last_id, body.apps]).toEqual([200, 2, ['default', 'shop']]);
});

test('mail and upstreams that fail are in the overview, with the reason and without an address', async () => {
  await t.stop();
  let isAway = true;
  const mail = {
    async send({ to }: { readonly to: string }) {
      if (isAway) throw new Error(`SMTP: no connection (ECONNREFUSED) for ${to}`);
    },
  };
  const settings = { EMAIL_PROVIDER: 'smtp', SMTP_URL: 'smtp://127.0.0.1:1', EMAIL_FROM: 'vault@example.com' };
  t = await startVault(settings, { mail });
  const quiet = (await ask('GET /v1/console/overview')).body;
  expect(quiet.calls).toEqual({});
  expect(quiet.delivery).toEqual({
    email: { provider: 'smtp', messages: {} },
    sms: { provider: 'log', messages: {} },
  });
  expect(quiet.configured).toEqual({ registry: false, indexer: false, follower: false, relay: false, webhooks: false });
  const ada = { identifier: 'ada@example.com', channel: 'email' };
  expect((await t.call('POST /api/verify/send', ada)).status).toBe(502);
  const failing = (await ask('GET /v1/console/overview')).body;
  expect(failing.delivery.email.messages).toEqual({ failed: 1 });
  expect(failing.calls.email).toEqual({
    ok_at: null,
    failed_at: new Date(t.clock.now()).toISOString(),
    fault: 'SMTP: no connection (ECONNREFUSED) for …',
  });
  isAway = false;
  await t.clock.advance(60_000);
  expect((await t.call('POST /api/verify/send', ada)).status).toBe(200);
  const back = (await ask('GET /v1/console/overview')).body;
  expect(back.delivery.email.messages).toEqual({ failed: 1, accepted: 1 });
  expect(back.calls.email.ok_at > back.calls.email.failed_at).toBe(true);
  expect(JSON.stringify(back)).not.toContain('ada@');
});

test('the overview says what the doctor found last: what fails, each check once', async () => {
  await t.stop();
  t = await startVault({ RPC_URL: 'http://127.0.0.1:1', SMS_PROVIDER: 'none', EMAIL_PROVIDER: 'log' });
  expect((await ask('GET /v1/console/overview')).body.doctor).toBeNull();
  const { checkedAt, checks } = (await ask('GET /v1/console/doctor')).body;
  const found: readonly { readonly name: string; readonly state: string }[] = checks;
  const failing = found.filter(({ state }) => state === 'fail').map(({ name }) => name);
  expect(failing).toContain('chain');
  expect((await ask('GET /v1/console/overview')).body.doctor).toEqual({
    checked_at: checkedAt,
    failures: failing.length,
    failing: [...new Set(failing)],
    warnings: found.filter(({ state }) => state === 'warn').length,
  });
});
