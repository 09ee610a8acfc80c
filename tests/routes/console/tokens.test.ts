import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { HOUR_MS } from '../../../lib/base/clock.ts';
import { settableClock } from '../../support/clock.ts';
import { dataOf, OPERATOR } from '../../support/events.ts';
import { startVault, type TestVault } from '../../support/vault.ts';

let t: TestVault;
beforeEach(async () => {
  t = await startVault({ APPS: 'shop' });
});
afterEach(() => t.stop());

const ask = (line: string, fields: Readonly<Record<string, unknown>> = {}) => t.call(line, fields, OPERATOR);

describe('POST /v1/console/token', () => {
  test('answers a token, its end and its name, and tells of it', async () => {
    const { status, body } = await ask('POST /v1/console/token', { app: 'shop', channel: 'audit' });
    expect([status, body.expires_at]).toEqual([200, '2025-01-01T00:05:00.000Z']);
    expect(body.token).toStartWith('C');
    expect(await dataOf(t, 'token.minted')).toEqual([
      { cid: body.cid, app: 'shop', channel: 'audit', expires_at: '2025-01-01T00:05:00.000Z' },
    ]);
  });

  test('a renewal of a token that is still good is no event; of any other it is', async () => {
    const minted = async () => (await dataOf(t, 'token.minted')).length;
    const mint = async (fields: object) => (await ask('POST /v1/console/token', { app: 'shop', ...fields })).body;
    const first = await mint({});
    const second = await mint({ renews: first.token });
    expect([await minted(), second.cid === first.cid, typeof second.token]).toEqual([1, false, 'string']);
    // Not its app, no token, a revoked one, an expired one.
    await mint({ app: 'default', renews: second.token });
    expect(await minted()).toBe(2);
    await mint({ renews: 'nonsense' });
    expect(await minted()).toBe(3);
    await ask('POST /v1/console/revoke', { cid: second.cid });
    const third = await mint({ renews: second.token });
    expect(await minted()).toBe(4);
    await t.clock.advance(301_000);
    await mint({ renews: third.token });
    expect(await minted()).toBe(5);
  });

  test('is answered while the clock is set again and again', async () => {
    const clock = settableClock();
    const leaping = {
      ...clock,
      now() {
        clock.set(26 * HOUR_MS);
        return clock.now();
      },
    };
    const other = await startVault({}, { clock: leaping });
    const { status, body } = await other.call('POST /v1/console/token', { app: 'default' }, OPERATOR);
    expect([status, body.token]).toEqual([200, expect.stringMatching(/^C/)]);
    await other.stop();
  });

  test.each([
    [{}, 'Missing required fields: app'],
    [{ app: 'Shop' }, 'Invalid app'],
    [{ app: 'shop', channel: 'all' }, 'Invalid channel. Must be of audit, sessions, credentials, payments, webhooks'],
  ])('%j is 400 %s', async (body, error) => {
    const answer = await ask('POST /v1/console/token', body);
    expect([answer.status, answer.body]).toEqual([400, { error }]);
  });
});

describe('POST /v1/console/revoke', () => {
  test('revokes once, tells of it once, and answers a second time as well', async () => {
    const { body } = await ask('POST /v1/console/token', { app: 'default' });
    const first = await ask('POST /v1/console/revoke', { cid: body.cid });
    const second = await ask('POST /v1/console/revoke', { cid: body.cid });
    expect([first.body, second.body]).toEqual([
      { ok: true, cid: body.cid, revoked: true },
      { ok: true, cid: body.cid, revoked: false },
    ]);
    expect(await dataOf(t, 'token.revoked')).toEqual([{ cid: body.cid }]);
  });

  test('of what is no CID is 400', async () => {
    expect((await ask('POST /v1/console/revoke', { cid: 'nothing' })).body).toEqual({ error: 'Invalid cid' });
  });
});
