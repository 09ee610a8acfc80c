import { expect, test } from 'bun:test';
import { staysPending } from '../support/under-way.ts';
import { startVault } from '../support/vault.ts';

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
