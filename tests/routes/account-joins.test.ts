import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { startVault, type TestVault } from '../support/vault.ts';

let t: TestVault;
beforeEach(async () => {
  t = await startVault();
});
afterEach(() => t.stop());

const ID = 'ab'.repeat(16);
const ACCOUNT = `0x${'5a'.repeat(20)}`;
const KEY = { pubKeyX: '01', pubKeyY: '0x02', label: `0x${'61'.padEnd(62, '0')}01` };
const STORED = { x: `0x${'1'.padStart(64, '0')}`, y: `0x${'2'.padStart(64, '0')}`, label: KEY.label };

const open = (id = ID, smartAccount = ACCOUNT) => t.call('POST /api/accounts/joins', { id, smartAccount });
const leave = (more: object = {}) => t.call('POST /api/accounts/joins/keys', { id: ID, ...KEY, ...more });
const read = (id = ID) => t.call('GET /api/accounts/joins', { id });

test('a mailbox opens once, and closes after ten minutes', async () => {
  const opened = await open();
  const expiresAt = new Date(t.clock.now() + 600_000).toISOString();
  expect([opened.status, opened.body]).toEqual([201, { id: ID, expiresAt }]);
  await t.clock.advance(1_000);
  // An answer that was lost is asked for again.
  expect([(await open()).status, (await open()).body.expiresAt]).toEqual([201, expiresAt]);
  const other = await open(ID, ACCOUNT.replace('5a', '5b'));
  expect([other.status, other.body.error]).toEqual([409, 'join_taken']);
  await t.clock.advance(599_000);
  expect([(await read()).status, (await leave()).status]).toEqual([404, 404]);
  expect((await read()).body.hint).toContain('10 minutes');
  // Nor does its name open again.
  expect((await open()).status).toBe(409);
});

test('what is in the mailbox, before and after', async () => {
  const { body } = await open();
  const seen = { smartAccount: ACCOUNT, expiresAt: body.expiresAt };
  expect((await read()).body).toEqual({ ...seen, key: null });
  expect((await leave()).body).toEqual({ ...seen, key: STORED });
  expect((await read()).body).toEqual({ ...seen, key: STORED });
});

test('the first key stays: a later one is refused as too late', async () => {
  await open();
  expect((await leave()).status).toBe(200);
  expect((await leave()).status).toBe(200);
  for (const more of [{ pubKeyX: '03' }, { pubKeyY: '03' }, { label: `0x${'00'.repeat(32)}` }]) {
    const late = await leave(more);
    expect([late.status, late.body.error]).toEqual([409, 'join_taken']);
  }
  expect((await read()).body.key).toEqual(STORED);
  // The owner's own page cannot take a mailbox with a key in it for a fresh one.
  expect((await open()).status).toBe(409);
});

test('of many keys at the same moment one stays', async () => {
  await open();
  const replies = await Promise.all(Array.from({ length: 12 }, (_, i) => leave({ pubKeyX: `a${i.toString(16)}` })));
  expect(replies.map(({ status }) => status).sort()).toEqual([200, ...Array(11).fill(409)]);
});

describe('refused', () => {
  test.each([
    ['an id that is no digest', { id: 'AB' }, 'Invalid id: expected 32 hex digits'],
    ['a label of other length', { label: '0x61' }, 'Invalid label: expected 0x-hex of 32 bytes'],
    ['no key', { pubKeyX: '' }, 'Missing required fields: id, pubKeyX, pubKeyY, label', 'Missing or empty: pubKeyX.'],
    ['a key beyond 256 bits', { pubKeyX: 'f'.repeat(65) }, 'Invalid pubKeyX or pubKeyY: expected uint256 hex string'],
  ])('%s', async (_, more, error, ...[hint]) => {
    const { status, body } = await leave(more);
    expect([status, body]).toEqual([400, { error, ...(hint && { hint }) }]);
  });

  test('an account that is no address', async () => {
    const { status, body } = await open(ID, '0x12');
    expect([status, body]).toEqual([400, { error: 'Invalid smartAccount: expected 20-byte address' }]);
  });

  test('the 31st mailbox of a client in an hour, and not that of another', async () => {
    const idOf = (i: number) => i.toString(16).padStart(32, '0');
    for (let i = 0; i < 30; i++) expect((await open(idOf(i))).status).toBe(201);
    const late = await open(idOf(30));
    expect([late.status, late.body.limit, late.body.retry_after]).toEqual([429, 'joins-per-ip', 3600]);
    const other = t.from('203.0.113.9').call('POST /api/accounts/joins', { id: idOf(31), smartAccount: ACCOUNT });
    expect((await other).status).toBe(201);
    await t.clock.advance(3_600_000);
    await t.work();
    expect((await open(idOf(32))).status).toBe(201);
    expect(await t.rows('SELECT id FROM joins')).toHaveLength(1);
  });

  test('the 10,001st of all in an hour', async () => {
    const at = t.clock.now();
    await open();
    await t.database.execute({
      sql: `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 9999)
        INSERT INTO joins (id, account, ip, opened_at) SELECT 'j' || i, '0x', 'ip' || i, :at FROM n`,
      args: { at },
    });
    const late = await open('cd'.repeat(16));
    expect([late.status, late.body.limit]).toEqual([429, 'joins-per-hour']);
  });
});

test('no request about a mailbox reads the table from end to end', async () => {
  const { insertJoin, putJoinKey, selectJoin, selectJoinUse } = await import('../../lib/joins/store.ts');
  await open();
  const statements = [
    insertJoin({ id: ID, account: ACCOUNT, ip: 'a', network: 'b', now: 1, perIp: 1, perNetwork: 1, inAll: 1 }),
    putJoinKey(ID, STORED, 1),
    selectJoin(ID, 1),
    selectJoinUse({ ip: 'a', network: 'b', now: 1 }),
  ];
  for (const { sql, args } of statements) {
    const plan = await t.rows(`EXPLAIN QUERY PLAN ${sql}`, args as Record<string, string>);
    expect(plan.filter(({ detail }) => /^SCAN joins\b/.test(String(detail)))).toEqual([]);
  }
});
