import { afterEach, beforeEach, expect, test } from 'bun:test';
import { OPERATOR } from '../../support/events.ts';
import { startVault, type TestVault } from '../../support/vault.ts';

let t: TestVault;
beforeEach(async () => {
  t = await startVault();
});
afterEach(() => t.stop());

const ask = (what: string, fields: object) => t.call(`POST /v1/console/person/${what}`, { ...fields }, OPERATOR);

test('show says in words what is stored, export has it as it is stored, and events name nobody', async () => {
  await t.call('POST /api/verify/send', { identifier: 'ada@example.com', channel: 'email' });
  const code = t.codeFor('ada@example.com');
  await t.call('POST /api/verify/check', { identifier: 'ada@example.com', channel: 'email', code });
  const did = 'did:key:z6Mk';
  expect((await t.call('POST /api/sessions', { identifier: 'ada@example.com', channel: 'email', did })).status).toBe(
    200,
  );

  const { status, body } = await ask('show', { identifier: ' Ada@example.com ' });
  expect([status, body.identifiers, body.dids, body.next]).toEqual([200, ['email:ada@example.com'], [], null]);
  const shown = Object.fromEntries(body.tables.map((one: { table: string }) => [one.table, one]));
  expect(Object.keys(shown)).toEqual(['codes', 'verifications', 'sessions']);
  expect(shown['sessions']).toMatchObject({
    erasure: 'removed',
    rows: [{ identifier: 'email:ada@example.com', did, 'created at': '2025-01-01T00:00:00.000Z' }],
  });

  const exported = (await ask('export', { identifier: 'ada@example.com' })).body;
  const rows = Object.fromEntries(
    exported.tables.map((one: { table: string; rows: object[] }) => [one.table, one.rows]),
  );
  expect(rows['sessions']).toEqual(await t.rows('SELECT * FROM sessions'));
  expect(rows['codes']).toMatchObject([{ identifier: 'email:ada@example.com', attempts: 1 }]);
  expect(JSON.stringify(rows)).not.toContain('digest');

  const told = await t.rows(`SELECT type, data FROM events WHERE type GLOB 'person.*' ORDER BY id`);
  const data = JSON.stringify({ identifiers: 1, dids: 0 });
  expect(told).toEqual([
    { type: 'person.shown', data },
    { type: 'person.exported', data },
  ]);
  expect(JSON.stringify(t.entries.filter(({ event }) => event !== 'code'))).not.toContain('ada@');
});

test('goes on where a page ends, and tells of one look', async () => {
  const first = await ask('export', { identifier: 'ada@example.com', after: 'events:0' });
  expect(first.body).toMatchObject({ tables: [], next: null });
  expect(await t.rows(`SELECT 1 FROM events WHERE type GLOB 'person.*'`)).toEqual([]);
});

test('a registration names its person, whose address the lists mask', async () => {
  const did = 'did:key:z6Mk';
  const record = { handle: 'ada', did, credentialId: 'A'.repeat(22), txHash: `0x${'1'.repeat(64)}` };
  expect((await t.call('POST /api/dids', record)).status).toBe(200);
  const { body } = await ask('show', { registration: 1 });
  expect(body.identifiers).toEqual(['handle:ada']);
  expect((await ask('export', { registration: 2 })).body.error).toBe('not_found');
  expect((await ask('erase', { registration: 1, dryRun: true })).body).toMatchObject({ erased: false });
  expect((await ask('erase', { registration: 1 })).body).toMatchObject({ erased: true, identifiers: ['handle:ada'] });
  // Who was erased is nobody's row.
  expect((await ask('show', { registration: 1 })).status).toBe(404);
});

test.each([
  [{}, 'Expected one of: identifier, registration'],
  [{ identifier: 'ada', registration: 1 }, 'Expected one of: identifier, registration'],
  [{ identifier: 'did:' }, 'Invalid identifier'],
  [{ identifier: 'a@b@c' }, 'Invalid identifier'],
  [{ identifier: 'ada', after: 'tallies:0' }, 'Invalid after'],
])('%j is 400: %s', async (fields, error) => {
  expect((await ask('show', fields)).body.error).toBe(error);
});
