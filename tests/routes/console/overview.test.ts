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
  expect([status, body.events.last_id, body.apps]).toEqual([200, 1, ['default', 'shop']]);
});
