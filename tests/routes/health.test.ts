import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { unreachable } from '../support/databases.ts';
import { startVault, type TestVault } from '../support/vault.ts';

let t: TestVault;
beforeEach(async () => {
  t = await startVault();
});
afterEach(() => t.stop());

describe('supervisors', () => {
  test('/healthz tells that the process lives, /readyz that the database takes writes', async () => {
    expect((await t.call('GET /healthz')).body).toEqual({ ok: true });
    const ready = await t.call('GET /readyz');
    expect([ready.status, ready.body]).toEqual([200, { ok: true, database: 'writable' }]);
  });

  test('/readyz is 503 once the host stops', async () => {
    await t.call('GET /readyz');
    t.vault.endStreams();
    const reply = await t.call('GET /readyz');
    expect([reply.status, reply.body]).toEqual([503, { ok: false, database: 'writable', stopping: true }]);
  });

  test('/readyz is 503 without a writable database, and asks it at most every two seconds', async () => {
    let asked = 0;
    const batch = () => {
      asked++;
      return unreachable.batch();
    };
    const counting = { ...unreachable, batch };
    const broken = await startVault({}, { database: counting });
    for (let i = 0; i < 5; i++) {
      const reply = await broken.call('GET /readyz');
      expect([reply.status, reply.body]).toEqual([503, { ok: false, database: 'unavailable' }]);
    }
    const first = asked;
    await broken.clock.advance(2_000);
    await broken.call('GET /readyz');
    expect(asked).toBe(2 * first);
    await broken.stop();
  });
});
