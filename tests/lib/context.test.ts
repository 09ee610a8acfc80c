import { describe, expect, test } from 'bun:test';
import type { Log } from '../../lib/base/log.ts';
import { createVault } from '../../routes/index.ts';
import { staysPending } from '../support/under-way.ts';
import { startVault, VAULT_SECRET } from '../support/vault.ts';

describe('a vault that is embedded', () => {
  test('without a log refuses to print codes: nobody would see them', () => {
    const database = { execute: neverAsked, batch: neverAsked };
    const open = (vars: Record<string, string>, log?: Log) =>
      createVault({ vars: { VAULT_SECRET, ...vars }, database, ...(log && { log }) });
    expect(() => open({})).toThrow(
      /^EMAIL_PROVIDER must not be log where createVault has no log: give createVault a log, such as console\.log, or set /,
    );
    expect(() => open({ EMAIL_PROVIDER: 'none' })).toThrow(/^SMS_PROVIDER must not be log [^\n]+ or none$/);
    expect(() => open({ EMAIL_PROVIDER: 'none', SMS_PROVIDER: 'none' })).not.toThrow();
    expect(() => open({}, () => undefined)).not.toThrow();
  });

  test('without its files says so where they are missing', async () => {
    const t = await startVault({}, { assets: undefined });
    const hint =
      'This vault was embedded without its files. Give createVault `assets`, such as packageAssets() of vault/node.';
    for (const path of [
      '/authorize/authorize.js',
      '/account',
      '/console',
      '/client.js',
      '/openapi.json',
      '/words/pay.json',
    ])
      expect([path, (await t.call(`GET ${path}`)).body]).toEqual([path, { error: 'not_found', hint }]);
    expect((await t.call('GET /nothing')).body).toEqual({ error: 'not_found' });
    await t.stop();
  });
});

const neverAsked = () => Promise.reject(new Error('not asked'));

const session = (handle: string) => ({ handle, did: 'did:key:z' });

test('where requests are isolated, one that hangs for ever holds up no other', async () => {
  const t = await startVault();
  await t.call('GET /api/sessions/status');
  let hangs = true;
  const database = {
    execute: t.database.execute,
    batch(...args: Parameters<typeof t.database.batch>) {
      if (!hangs) return t.database.batch(...args);
      hangs = false;
      return new Promise<never>(() => {});
    },
  };
  const isolated = await startVault({}, { database, isolatesRequests: true, clock: t.clock });
  const hanging = isolated.call('POST /api/sessions', session('first')).catch(() => 'cut off');
  expect([await staysPending(hanging), hangs]).toEqual([true, false]);
  expect((await isolated.call('POST /api/sessions', session('second'))).status).toBe(200);
  await isolated.stop();
  expect(await hanging).toBe('cut off');
  await t.stop();
});

test('where requests are isolated, an answer comes when all that its request started is done', async () => {
  const t = await startVault({}, { isolatesRequests: true });
  await t.call('POST /api/verify/send', { identifier: 'a@example.com', channel: 'email' });
  expect(await t.rows('SELECT delivery FROM codes')).toEqual([{ delivery: 'accepted' }]);
  await t.stop();
});
