import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { dataOf, OPERATOR } from '../../support/events.ts';
import { startVault, type TestVault } from '../../support/vault.ts';

let t: TestVault;
beforeEach(async () => {
  t = await startVault({ APPS: 'shop' });
});
afterEach(() => t.stop());

const ask = (line: string, fields: Readonly<Record<string, unknown>> = {}) => t.call(line, fields, OPERATOR);

const ROUTES = [
  'POST /v1/console/token',
  'POST /v1/console/revoke',
  'GET /v1/console/registrations',
  'GET /v1/console/limits',
  'POST /v1/console/limits/clear',
  'GET /v1/console/overview',
];

describe('the operator’s routes', () => {
  test.each(ROUTES)('%s is for the operator alone, whatever else is wrong with the request', async (route) => {
    const wrong = [
      {},
      { Authorization: 'Bearer x' },
      { Authorization: `${OPERATOR.Authorization}0` },
      { Authorization: 'Basic YTpi' },
    ];
    for (const headers of wrong) {
      const { status, body } = await t.call(route, { nonsense: true }, headers);
      expect([status, body]).toEqual([401, { error: 'operator_unauthorized' }]);
    }
    expect((await ask(route)).status).not.toBe(401);
  });

  test('ten wrong secrets do not lock out the right one from the same address', async () => {
    const { call } = t.from('203.0.113.7');
    // What a page does in the browser of an operator: requests without the secret.
    for (let i = 0; i < 30; i++) await call('GET /v1/console/overview');
    for (const route of ROUTES) {
      expect([401, 429]).toContain((await call(route)).status);
      expect([401, 429]).not.toContain((await call(route, {}, OPERATOR)).status);
    }
  });

  test('refuse a client’s wrong secrets after ten in a minute, with the limit and the wait, and no other client’s', async () => {
    const { call } = t.from('203.0.113.7');
    for (let i = 0; i < 10; i++) expect((await call('GET /v1/console/limits')).status).toBe(401);
    const refused = await call('GET /v1/console/limits');
    expect([refused.status, refused.body, refused.headers.get('retry-after')]).toEqual([
      429,
      { error: 'rate_limited', limit: 'operator-failures-per-ip', retry_after: 60 },
      '60',
    ]);
    expect((await t.from('203.0.113.8').call('GET /v1/console/limits')).status).toBe(401);
    await t.clock.advance(59_999);
    expect((await call('GET /v1/console/limits')).status).toBe(429);
    await t.clock.advance(1);
    expect((await call('GET /v1/console/limits')).status).toBe(401);
  });

  test('tell of who failed, once a minute', async () => {
    const { call } = t.from('203.0.113.7');
    for (let i = 0; i < 5; i++) await call('GET /v1/console/limits');
    await t.from('203.0.113.8').call('GET /v1/console/limits');
    expect(await dataOf(t, 'operator.refused')).toEqual([{ client: '203.0.113.***' }, { client: '203.0.113.***' }]);
    await t.clock.advance(60_000);
    await call('GET /v1/console/limits');
    expect((await dataOf(t, 'operator.refused')).length).toBe(3);
  });

  test('write one event for 200 /64 of one /48 that fail once each', async () => {
    for (let i = 0; i < 200; i++) await t.from(`2001:db8:1:${i.toString(16)}::1`).call('GET /v1/console/limits');
    await t.from('2001:db8:2::1').call('GET /v1/console/limits');
    expect((await dataOf(t, 'operator.refused')).length).toBe(2);
  });

  test('never fail who knows the secret', async () => {
    for (let i = 0; i < 30; i++) expect((await ask('GET /v1/console/limits')).status).toBe(200);
  });
});
