import { afterEach, beforeEach, expect, test } from 'bun:test';
import { type Receiver, startReceiver, WEBHOOK_SECRET } from '../support/receiver.ts';
import { expectHoldsNone } from '../support/secrecy.ts';
import { startVault, type TestVault } from '../support/vault.ts';

let receiver: Receiver;
let t: TestVault;
beforeEach(async () => {
  receiver = startReceiver();
  t = await startVault({
    EMAIL_PROVIDER: 'hook',
    EMAIL_HOOK_URL: `${receiver.url}/mail`,
    EMAIL_HOOK_SECRET: WEBHOOK_SECRET,
    SMS_PROVIDER: 'hook',
    SMS_HOOK_URL: `${receiver.url}/sms`,
    SMS_HOOK_SECRET: WEBHOOK_SECRET,
    SMS_COUNTRIES: '+1',
  });
});
afterEach(async () => {
  const codes = receiver.received.map(({ body }) => body.data.code).filter(Boolean);
  expectHoldsNone(t.entries, ...codes, 'alice@', '5005550006', WEBHOOK_SECRET);
  await t.stop();
  await receiver.stop();
});

const ALICE = { identifier: 'alice@example.com', channel: 'email' };
const PHONE = { identifier: '+15005550006', channel: 'sms' };

test.each([ALICE, PHONE])('a code that the hook got verifies, in the language that was asked for: %p', async (who) => {
  expect((await t.call('POST /api/verify/send', { ...who, lang: 'de' })).body).toMatchObject({ expires_in: 90 });
  const { data } = receiver.received[0]?.body ?? {};
  expect(data).toMatchObject({ to: who.identifier, channel: who.channel, language: 'de', app: 'default' });
  const checked = await t.call('POST /api/verify/check', { ...who, code: data.code });
  expect(checked.body).toMatchObject({ verified: true });
});

test('a hook that refuses the vault costs nothing, one that fails costs a send', async () => {
  const send = async () => (await t.call('POST /api/verify/send', ALICE)).status;
  receiver.answer = () => new Response(null, { status: 503 });
  for (let i = 0; i < 6; i++) expect(await send()).toBe(502);
  receiver.answer = () => new Response(null, { status: 500 });
  for (let i = 0; i < 3; i++) expect(await send()).toBe(502);
  expect(await send()).toBe(429);
  expect(receiver.received).toHaveLength(9);
});

test('a number of another country reaches no hook', async () => {
  expect((await t.call('POST /api/verify/send', { ...PHONE, identifier: '+4915123456789' })).status).toBe(429);
  expect(receiver.received).toEqual([]);
});
