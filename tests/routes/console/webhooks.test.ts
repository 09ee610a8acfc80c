import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { WEBHOOK_LIST_MAX } from '../../../lib/webhooks/deliveries.ts';
import { type Receiver, startReceiver, WEBHOOK_SECRET } from '../../support/receiver.ts';
import { startVault, type TestVault, VAULT_SECRET } from '../../support/vault.ts';

const OPERATOR = { Authorization: `Bearer ${VAULT_SECRET.replace('00', 'ff')}` };

let receiver: Receiver;
let t: TestVault;
beforeEach(async () => {
  receiver = startReceiver();
  t = await startVault({ WEBHOOK_URL: receiver.url, WEBHOOK_SECRET, WEBHOOK_ALLOW_PRIVATE: 'true' });
  await t.work();
});
afterEach(async () => {
  await t.stop();
  await receiver.stop();
});

async function tell(count: number): Promise<void> {
  await t.database.execute({
    sql: `INSERT INTO events (app, channel, type, at, data) WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < :count)
      SELECT 'default', 'audit', 'token.revoked', :at, json_object('cid', i) FROM n`,
    args: { count: BigInt(count), at: BigInt(t.clock.now()) },
  });
  await t.work();
}

describe('the webhooks of the console', () => {
  test('are the operator’s alone', async () => {
    for (const line of ['GET /v1/console/webhooks', 'POST /v1/console/webhooks/resend'])
      for (const headers of [{}, { Authorization: `Bearer ${VAULT_SECRET}` }]) {
        const { status, body } = await t.call(line, { id: 1 }, headers);
        expect([status, body]).toEqual([401, { error: 'operator_unauthorized' }]);
      }
  });

  test('are listed by status, the newest first, a page at a time', async () => {
    receiver.answer = ({ body }) => new Response(null, { status: body.data.cid === 2 ? 410 : 204 });
    await tell(WEBHOOK_LIST_MAX + 5);
    const ids = async (query: Record<string, unknown>) =>
      (await t.call('GET /v1/console/webhooks', query, OPERATOR)).body.webhooks.map(({ id }: { id: number }) => id);
    const all = await ids({});
    expect([all.length, all[0], all.at(-1)]).toEqual([WEBHOOK_LIST_MAX, WEBHOOK_LIST_MAX + 5, 6]);
    expect(await ids({ before: 6 })).toEqual([5, 4, 3, 2, 1]);
    expect(await ids({ status: 'dead' })).toEqual([2]);
    expect(await ids({ status: 'queued' })).toEqual([]);
    expect(await ids({ status: 'delivered', before: 4 })).toEqual([3, 1]);
  });

  test('that are dead are sent again', async () => {
    receiver.answer = () => new Response(null, { status: 410 });
    await tell(1);
    receiver.answer = () => new Response(null, { status: 204 });
    const { status, body } = await t.call('POST /v1/console/webhooks/resend', { id: 1 }, OPERATOR);
    expect(status).toBe(200);
    expect(body).toMatchObject({ ok: true, webhook: { id: 1, status: 'queued', attempts: 0, type: 'token.revoked' } });
    await t.work();
    const { webhook } = body.webhook;
    expect(receiver.received.filter(({ id }) => id === webhook)).toHaveLength(2);
    expect((await t.call('POST /v1/console/webhooks/resend', { id: 1 }, OPERATOR)).body).toEqual({
      error: 'not_found',
    });
  });

  test('what cannot be asked for is named', async () => {
    const list = async (query: Record<string, unknown>) =>
      (await t.call('GET /v1/console/webhooks', query, OPERATOR)).body;
    expect(await list({ status: 'lost' })).toEqual({ error: 'Invalid status. Must be "queued", "delivered", "dead"' });
    for (const before of ['0', '-1', '1.5', 'x', '99999999999999999'])
      expect(await list({ before })).toEqual({ error: 'Invalid before' });
    const resend = async (id: unknown) => (await t.call('POST /v1/console/webhooks/resend', { id }, OPERATOR)).body;
    for (const id of ['1', 0, -1, 1.5, 2 ** 53, true]) expect(await resend(id)).toEqual({ error: 'Invalid id' });
    expect(await resend(null)).toEqual({ error: 'Missing required fields: id' });
  });
});
