import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { erasureDigest } from '../../../lib/identity/erasure.ts';
import { staysPending } from '../../support/under-way.ts';
import { startVault, type TestVault, VAULT_SECRET } from '../../support/vault.ts';

let t: TestVault;
beforeEach(async () => {
  t = await startVault();
});
afterEach(() => t.stop());

const session = { identifier: 'alice', channel: 'handle', did: 'did:key:zAlice' };
const open = (body: Record<string, unknown>, key: string) =>
  t.call('POST /api/sessions', body, { 'Idempotency-Key': key });

describe('Idempotency-Key', () => {
  test('a 2xx answer is kept 24 hours and replayed, at the exact edge', async () => {
    const first = await open(session, 'k1');
    expect(first.headers.get('idempotent-replayed')).toBeNull();
    await t.clock.advance(86_400_000 - 1);
    const again = await open(session, 'k1');
    expect([again.status, again.text]).toEqual([first.status, first.text]);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    await t.clock.advance(1);
    const fresh = await open(session, 'k1');
    expect([fresh.status, fresh.headers.get('idempotent-replayed')]).toEqual([200, null]);
  });

  test('the same key with another body is 422 idempotency_key_reused', async () => {
    await open(session, 'k1');
    const reply = await open({ ...session, did: 'did:key:zOther' }, 'k1');
    expect([reply.status, reply.body]).toEqual([422, { error: 'idempotency_key_reused', hint: expect.any(String) }]);
  });

  test('the key is scoped to route and identifier', async () => {
    await open(session, 'k1');
    expect((await open({ ...session, identifier: 'bob' }, 'k1')).status).toBe(200);
    const spelled = await open({ ...session, identifier: ' ALICE ' }, 'k1');
    expect(spelled.headers.get('idempotent-replayed')).toBe('true');
  });

  test('any other outcome releases the key', async () => {
    await t.call('POST /api/sessions', session);
    expect((await open(session, 'k1')).status).toBe(409);
    await t.clock.advance(86_400_000);
    expect((await open(session, 'k1')).status).toBe(200);
  });

  test('while the first is still running, 409 idempotency_key_in_use; of 20 at once one runs', async () => {
    const replies = await Promise.all(Array.from({ length: 20 }, () => open(session, 'k1')));
    const fresh = replies.filter(({ status, headers }) => status === 200 && !headers.has('idempotent-replayed'));
    expect(fresh).toHaveLength(1);
    for (const { status, body, headers } of replies) {
      if (status === 409) expect(body).toEqual({ error: 'idempotency_key_in_use' });
      else
        expect([status, headers.get('idempotent-replayed')]).toEqual([
          200,
          fresh.length === 1 ? headers.get('idempotent-replayed') : '',
        ]);
    }
  });

  test.each(['', 'a b', 'ä', 'x'.repeat(256)])('400 Invalid Idempotency-Key: %p', async (key) => {
    const reply = await t.call('POST /api/sessions', session, { 'Idempotency-Key': key });
    expect([reply.status, reply.body]).toEqual([400, { error: 'Invalid Idempotency-Key' }]);
  });

  test("a send's answer is kept until its code expires, and no second mail goes out", async () => {
    const send = () =>
      t.call('POST /api/verify/send', { identifier: 'a@example.com', channel: 'email' }, { 'Idempotency-Key': 'k' });
    const codes = () => t.entries.filter(({ event }) => event === 'code').length;
    await send();
    await t.clock.advance(89_999);
    expect((await send()).headers.get('idempotent-replayed')).toBe('true');
    expect(codes()).toBe(1);
    await t.clock.advance(1);
    expect((await send()).headers.get('idempotent-replayed')).toBeNull();
    expect(codes()).toBe(2);
  });

  test('the answer to a request that comes while its identifier is erased is not kept', async () => {
    await t.database.execute({
      sql: 'INSERT INTO erasures (digest, begun_at, was_registered) VALUES (:digest, :now, 0)',
      args: { digest: erasureDigest(Buffer.from(VAULT_SECRET, 'hex'), 'handle:alice'), now: BigInt(t.clock.now()) },
    });
    expect((await open(session, 'k1')).status).toBe(200);
    // It is looked at anew, and another session is there.
    expect((await open(session, 'k1')).status).toBe(409);
    expect(await t.rows('SELECT key FROM idempotency')).toEqual([]);
  });

  test("a session's answer is in the same commit as the session: a crash right after it cannot part the two", async () => {
    let writes = 0;
    const crashing = {
      execute: t.database.execute,
      // The third commit would note the outcome; the process is gone before it.
      batch: (...args: Parameters<typeof t.database.batch>) =>
        ++writes > 2 ? new Promise<never>(() => {}) : t.database.batch(...args),
    };
    await t.call('GET /api/sessions/status');
    const dying = await startVault({}, { database: crashing, clock: t.clock });
    await dying.call('GET /api/sessions/status');
    writes = 0;
    const unanswered = dying.call('POST /api/sessions', session, { 'Idempotency-Key': 'k1' });
    expect([await staysPending(unanswered), writes]).toEqual([true, 3]);
    const retried = await open(session, 'k1');
    expect([retried.status, retried.headers.get('idempotent-replayed')]).toEqual([200, 'true']);
    expect(await staysPending(unanswered)).toBe(true);
  });

  test('a holder that died before its change frees the key after its lease', async () => {
    await open(session, 'k1');
    const at = BigInt(t.clock.now() + 60_000);
    await t.database.execute({
      sql: 'UPDATE idempotency SET status = NULL, body = NULL, expires_at = :at',
      args: { at },
    });
    await t.database.execute({ sql: 'DELETE FROM sessions', args: {} });
    expect((await open(session, 'k1')).body).toEqual({ error: 'idempotency_key_in_use' });
    await t.clock.advance(60_000);
    expect((await open(session, 'k1')).status).toBe(200);
  });
});
