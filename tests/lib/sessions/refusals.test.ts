import { describe, expect, test } from 'bun:test';
import { engines } from '../../support/databases.ts';
import { startVault } from '../../support/vault.ts';

describe.each(engines().map((engine) => [engine.name, engine] as const))('on %s', (_, engine) => {
  test('a refused session says why, with an Idempotency-Key too, and one that is opened keeps its answer', async () => {
    const database = await engine.open();
    const t = await startVault({}, { database });
    const open = (handle: string, key: string) =>
      t.call('POST /api/sessions', { handle, did: 'did:key:z' }, { 'Idempotency-Key': key });
    expect((await open('a1', 'one')).status).toBe(200);
    expect((await open('a1', 'one')).headers.get('idempotent-replayed')).toBe('true');
    expect((await open('a1', 'two')).body).toMatchObject({ error: 'identifier_taken', reason: 'same_did' });
    for (const handle of ['a2', 'a3']) expect((await open(handle, handle)).status).toBe(200);
    const full = await open('a4', 'four');
    expect([full.status, full.body.error, full.headers.get('retry-after')]).toEqual([429, 'ip_limit_reached', '86400']);
    // A refusal keeps nothing under its key.
    await t.clock.advance(86_400_000);
    expect((await open('a4', 'four')).status).toBe(200);
    await t.stop();
    await database.close();
  });
});
