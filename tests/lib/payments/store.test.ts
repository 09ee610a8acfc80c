import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { DAY_MS } from '../../../lib/base/clock.ts';
import { createMetrics } from '../../../lib/base/metrics.ts';
import { createStore, type OwnedStore } from '../../../lib/db/store.ts';
import {
  dropPayment,
  keepPayment,
  type NewPayment,
  OPEN_MAX,
  OPEN_PER_ACCOUNT_MAX,
  OPEN_PER_CLIENT_MAX,
  putOff,
  SETTLED_KEEP_MS,
  selectDuePayments,
  selectPaymentOf,
  settlePayment,
  sweepPayments,
  takeBack,
  toOpenPayment,
  WORD,
} from '../../../lib/payments/store.ts';
import { startVault, type TestVault } from '../../support/vault.ts';

let t: TestVault;
let db: OwnedStore;
beforeEach(async () => {
  t = await startVault();
  db = createStore({ database: t.database, clock: t.clock, metrics: createMetrics(), maxConnections: 4 });
  await db.ready();
});
afterEach(() => t.stop());

const PLACE = { chainId: 84532, entryPoint: '0xe' };
const payment = (more: Partial<NewPayment> = {}): NewPayment => ({
  ...PLACE,
  account: '0xac',
  nonce: '0x10',
  to: '0xa1',
  token: 'native',
  amount: '5',
  app: 'default',
  client: '203.0.113.7',
  userOpHash: '0x1',
  validUntil: 100,
  said: WORD.none,
  sinceBlock: null,
  now: 1_000,
  ...more,
});
const keep = (more: Partial<NewPayment> = {}) => db.write(...keepPayment(payment(more)));
const due = async (now = 10 * DAY_MS, max = 5_000) =>
  (await db.read(selectDuePayments(PLACE, now, max))).map(toOpenPayment);
const nonces = async () => (await due()).map(({ nonce }) => nonce);

test('a payment that is sent again is one row: its newest hash, its latest end, the best word', async () => {
  await keep({ said: WORD.accepted, validUntil: 300 });
  await keep({ userOpHash: '0x2', validUntil: 200, now: 2_000 });
  expect(await t.rows('SELECT user_op_hash, valid_until, said, created_at, next_check_at FROM payments')).toEqual([
    { user_op_hash: '0x2', valid_until: 300, said: WORD.accepted, created_at: 1_000, next_check_at: 2_000 },
  ]);
});

describe('an operation that the bundler refused', () => {
  const refuse = () => db.write(...takeBack(payment()));
  const open = async () => (await due()).length;

  test('leaves no row', async () => {
    await keep();
    await refuse();
    expect(await open()).toBe(0);
  });

  test('takes back nothing that another operation was told', async () => {
    await keep();
    await keep({ said: WORD.accepted });
    await keep();
    await refuse();
    await refuse();
    expect(await open()).toBe(1);
  });

  test('leaves the row of one that has no answer; the last refusal takes it', async () => {
    await keep();
    await keep({ userOpHash: '0x2' });
    await refuse();
    expect(await open()).toBe(1);
    await refuse();
    expect(await open()).toBe(0);
  });

  test('takes no other app’s', async () => {
    await keep({ app: 'shop' });
    await keep();
    await refuse();
    expect((await due()).map(({ app }) => app)).toEqual(['shop']);
  });
});

test('one that has ended stays watched if another that ends later was sent since', async () => {
  await keep();
  const [row] = await due();
  if (!row) throw new Error('nothing is due');
  await keep({ userOpHash: '0x2', validUntil: 700 });
  expect((await db.write(dropPayment(row)))[0]?.rowsAffected).toBe(0);
  const [newer] = await due();
  expect(newer).toMatchObject({ userOpHash: '0x2', validUntil: 700 });
  expect((await db.write(dropPayment(newer ?? row)))[0]?.rowsAffected).toBe(1);
});

test('a settled one is settled once, and never watched again', async () => {
  await keep();
  const [row] = await due();
  if (!row) throw new Error('nothing is due');
  const settle = () => db.write(...settlePayment(row, { userOpHash: '0x2', txHash: '0x3', block: 7 }, 5_000));
  expect((await settle())[0]?.rowsAffected).toBe(1);
  expect((await settle())[0]?.rowsAffected).toBe(0);
  await keep({ now: 6_000 });
  expect(await due()).toEqual([]);
  expect(await t.rows(`SELECT count(*) AS events FROM events WHERE type = 'payment.settled'`)).toEqual([{ events: 1 }]);
  expect(await t.rows('SELECT status, client, block FROM payments')).toEqual([
    { status: 'settled', client: null, block: 7 },
  ]);
});

test('only those of the configured chain and EntryPoint are due, the longest due first', async () => {
  await keep({ nonce: '0x20', now: 3_000 });
  await keep({ nonce: '0x30', now: 2_000 });
  await keep({ nonce: '0x40', chainId: 1 });
  await keep({ nonce: '0x50', entryPoint: '0xf' });
  expect(await nonces()).toEqual(['0x30', '0x20']);
  expect((await due(10 * DAY_MS, 1)).map(({ nonce }) => nonce)).toEqual(['0x30']);
  expect(await due(2_999)).toEqual([]);
});

describe('where too many are open', () => {
  /** So many payments, of accounts and clients of their own unless named. */
  const fill = async (count: number, more: Partial<NewPayment>) => {
    for (let i = 0; i < count; i++)
      await keep({ account: `0x${i}`, client: `c${i}`, nonce: `0x1${i}0`, now: 10 + i, ...more });
  };

  test.each([
    ['an account', OPEN_PER_ACCOUNT_MAX, { account: '0xac' }],
    ['a client', OPEN_PER_CLIENT_MAX, { client: '203.0.113.7' }],
  ])('of %s, its oldest of no better word goes', async (_, max, scope) => {
    await keep({ account: '0xother', client: 'other', nonce: '0x9', now: 1 });
    await fill(max, { ...scope, said: WORD.none });
    await keep({ nonce: '0xff', ...scope, ...(max === OPEN_PER_ACCOUNT_MAX ? { client: 'x' } : { account: '0xx' }) });
    const open = await nonces();
    expect(open).toHaveLength(max + 1);
    expect(open).toContain('0xff');
    expect(open).not.toContain('0x100');
    // Another's is none of theirs.
    expect(open).toContain('0x9');
  });

  test('one that is watched already takes no place', async () => {
    await fill(OPEN_PER_ACCOUNT_MAX, { account: '0xac', client: 'c' });
    const full = await nonces();
    await keep({ nonce: '0x1150', client: 'c' });
    expect((await nonces()).toSorted()).toEqual(full.toSorted());
  });

  test('junk that a stranger sends in an account’s name drops none that the bundler took', async () => {
    await fill(OPEN_PER_ACCOUNT_MAX, { account: '0xac', said: WORD.accepted });
    const taken = await nonces();
    for (let i = 0; i < 50; i++) {
      await keep({ nonce: `0x9${i}0`, client: `stranger${i}` });
    }
    expect(await nonces()).toEqual(taken);
  });

  test('of the whole vault, those without an answer go before those that were taken', async () => {
    const many = Array.from({ length: OPEN_MAX }, (_, i) =>
      keepPayment(
        payment({
          account: `0x${i}`,
          client: `c${i}`,
          nonce: `0x1${i}0`,
          now: 10 + i,
          said: i === 0 ? WORD.accepted : WORD.none,
        }),
      ).at(-1),
    ).flatMap((statement) => (statement ? [statement] : []));
    for (let i = 0; i < many.length; i += 100) await db.write(...many.slice(i, i + 100));
    const results = await keep({ nonce: '0xff' });
    expect(results.slice(0, -1).map(({ rowsAffected }) => rowsAffected)).toEqual([0, 0, 1]);
    const open = await nonces();
    expect([open.length, open.includes('0xff'), open.includes('0x100'), open.includes('0x110')]).toEqual([
      OPEN_MAX,
      true,
      true,
      false,
    ]);
  });
});

test('the clean-up removes settled ones after 90 days, and open ones that nothing looks at', async () => {
  await keep({ nonce: '0x20' });
  await keep({ nonce: '0x30', chainId: 1 });
  const [row] = await due();
  if (row) await db.write(...settlePayment(row, { userOpHash: '0x2', txHash: '0x3', block: 7 }, 5_000));
  const left = async (now: number) => {
    await db.write(...sweepPayments(now));
    return (await t.rows('SELECT nonce FROM payments ORDER BY nonce')).map(({ nonce }) => nonce);
  };
  expect(await left(2_000 + 3 * DAY_MS - 1)).toEqual(['0x20', '0x30']);
  expect(await left(2_000 + 3 * DAY_MS)).toEqual(['0x20']);
  expect(await left(4_999 + SETTLED_KEEP_MS)).toEqual(['0x20']);
  expect(await left(5_000 + SETTLED_KEEP_MS)).toEqual([]);
});

test('no statement reads settled payments from end to end, or sorts', async () => {
  await keep();
  const [row] = await due();
  if (!row) throw new Error('nothing is due');
  const statements = [
    ...keepPayment(payment()),
    ...takeBack(payment()),
    selectDuePayments(PLACE, 1, 1),
    selectPaymentOf(payment(), 'settled'),
    putOff(row, { sinceBlock: 1, nextBlock: 1, block: null, checks: 1, nextCheckAt: 1 }),
    settlePayment(row, { userOpHash: '0x2', txHash: '0x3', block: 7 }, 1)[0],
    dropPayment(row),
    ...sweepPayments(1),
  ];
  const plans = await Promise.all(
    statements.map(
      async ({ sql, args }) => (await t.database.execute({ sql: `EXPLAIN QUERY PLAN ${sql}`, args })).rows,
    ),
  );
  const steps = plans.flat().map(({ detail }) => String(detail));
  expect(steps.length).toBeGreaterThan(statements.length);
  // Open ones are few.
  expect(steps.filter((step) => /SCAN payments(?! USING (?:COVERING )?INDEX payments_open)/.test(step))).toEqual([]);
  expect(steps.filter((step) => step.includes('TEMP B-TREE'))).toEqual([]);
});
