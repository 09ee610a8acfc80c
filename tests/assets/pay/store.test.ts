import { beforeEach, describe, expect, test } from 'bun:test';
import { IDBFactory } from 'fake-indexeddb';
import {
  addPayment,
  addVersion,
  checkMemory,
  dropPayment,
  findLiveHash,
  findPayment,
  findPaymentOf,
  markSent,
  type StoredPayment,
  updatePayment,
  type Version,
} from '../../../assets/pay/store.ts';
import type { Operation } from '../../../client/wallet/operation.ts';
import { paymentRecord } from '../../support/payment-record.ts';

beforeEach(() => {
  globalThis.indexedDB = new IDBFactory();
});

const hash = (digit: string) => `0x${digit.repeat(64)}` as const;
const version = (digit: string, validUntil = 1_000): Version => ({
  kind: 'pay',
  userOpHash: hash(digit),
  validUntil,
  operation: { nonce: '0x10' } as unknown as Operation,
});
const payment = (more: Partial<StoredPayment> = {}) =>
  paymentRecord({ state: 'signed', versions: [version('a')], ...more });
const B = { ...payment().account, address: '0xbb' } as const;

describe('one order has one record, of one account', () => {
  test.each(['signed', 'unconfirmed', 'paid', 'failed'] as const)('%s: it does not give way', async (state) => {
    await addPayment(payment({ state }));
    const known = await addPayment(payment({ account: B, versions: [version('b')] }));
    expect(known).toMatchObject({ state, account: { address: '0xaa' }, versions: [version('a')] });
    expect(await findPayment('order')).toEqual(known);
  });

  test.each(['ended', 'voided'] as const)('%s: proved that nothing was paid, it does', async (state) => {
    await addPayment(payment({ state }));
    const known = await addPayment(payment({ account: B, versions: [version('b')], since: 99 }));
    // What the first account signed could be found from block 7 on.
    expect(known).toMatchObject({ state: 'signed', account: { address: '0xbb' }, versions: [version('b')], since: 7 });
  });
});

describe('tabs that write at the same time', () => {
  test('a version that another tab added stays, whatever is written later', async () => {
    const first = await addPayment(payment({ state: 'unconfirmed' }));
    await addVersion(first, version('b', 2_000));
    await updatePayment(first, { answer: { is: 'lost', words: '', aa: '' } });
    expect((await findPayment('order'))?.versions).toEqual([version('a'), version('b', 2_000)]);
  });

  test('a verdict about old versions does not close a record that has a new one', async () => {
    const judged = await addPayment(payment({ state: 'unconfirmed' }));
    await addVersion(judged, version('b', 2_000));
    expect(await updatePayment(judged, { state: 'ended' })).toMatchObject({ state: 'unconfirmed' });
  });

  test('nor does a verdict about the same hash with an earlier end', async () => {
    const judged = await addPayment(payment({ state: 'unconfirmed' }));
    await addVersion(judged, version('a', 2_000));
    expect(await updatePayment(judged, { state: 'ended' })).toMatchObject({ state: 'unconfirmed' });
  });

  test('nor one about a record that ended and was signed again, by the same account or another', async () => {
    const judged = await addPayment(payment({ state: 'unconfirmed' }));
    await updatePayment(judged, { state: 'ended' });
    const second = await addPayment(payment({ account: B }));
    await markSent(second);
    expect(await updatePayment(judged, { state: 'ended' })).toMatchObject({ state: 'unconfirmed', account: B });
  });

  test('what was dropped is not sent, nor what another account signed in its place', async () => {
    const first = await addPayment(payment());
    expect(await dropPayment('order')).toBeUndefined();
    expect(await markSent(first)).toEqual({ record: undefined, isOurs: false });
    await addPayment(payment({ account: B, versions: [version('b')] }));
    expect(await markSent(first)).toMatchObject({ record: { state: 'signed', account: B }, isOurs: false });
  });

  test('what was sent is not dropped', async () => {
    await markSent(await addPayment(payment()));
    expect(await dropPayment('order')).toMatchObject({ state: 'unconfirmed' });
    expect(await findPayment('order')).toMatchObject({ state: 'unconfirmed' });
  });

  test('nothing is added to what is decided', async () => {
    const first = await addPayment(payment({ state: 'failed' }));
    expect((await addVersion(first, version('b')))?.versions).toEqual([version('a')]);
  });
});

describe('what may still be paid', () => {
  test.each([
    ['signed', undefined],
    ['unconfirmed', hash('a')],
    ['paid', hash('a')],
    ['failed', undefined],
    ['voided', undefined],
    ['ended', undefined],
  ] as const)('%s', async (state, expected) => {
    await addPayment(payment({ state }));
    expect(await findLiveHash('order')).toBe(expected);
  });

  test('is kept for good, and the rest for 90 days', async () => {
    const old = Date.now() - 91 * 86_400_000;
    const realNow = Date.now;
    try {
      Date.now = () => old;
      await addPayment(payment({ name: 'open', state: 'unconfirmed' }));
      await addPayment(payment({ name: 'paid', state: 'paid' }));
    } finally {
      Date.now = realNow;
    }
    await checkMemory();
    expect([await findPayment('open'), await findPayment('paid')]).toMatchObject([
      { state: 'unconfirmed' },
      undefined,
    ] as object[]);
  });

  test('of several on a page, the newest is found', async () => {
    await addPayment(payment({ name: 'one', state: 'unconfirmed' }));
    await Bun.sleep(2);
    await addPayment(payment({ name: 'two', state: 'unconfirmed' }));
    await addPayment(payment({ name: 'three', state: 'failed' }));
    expect(await findPaymentOf(payment().page, ['unconfirmed'])).toMatchObject({ name: 'two' });
  });
});

describe('records of earlier pages', () => {
  const signature = `0x00${(1_700_000_000).toString(16).padStart(12, '0')}beef`;
  const old = (state: string, account: object) => ({
    name: state,
    terms: '84532 native 5 0xb0b',
    page: 'https://vault.example/pay/confirm',
    asker: payment().asker,
    state,
    account,
    token: 'native',
    chainId: 84532,
    entryPoint: '0xee',
    operation: { nonce: '0x10', signature },
    userOpHash: hash('a'),
    endsAt: 5,
    txHash: hash('f'),
    changedAt: Date.now(),
  });

  /** A database as version 2 left it. */
  async function storeOld(payments: readonly object[]): Promise<void> {
    const request = indexedDB.open('vault-pay', 2);
    request.onupgradeneeded = () => {
      request.result.createObjectStore('accounts', { keyPath: 'address' });
      const store = request.result.createObjectStore('payments', { keyPath: 'name' });
      for (const one of payments) store.put(one);
    };
    await new Promise((resolve) => {
      request.onsuccess = resolve;
    });
    request.result.close();
  }

  test.each([
    ['sent', 'unconfirmed'],
    ['refused', 'unconfirmed'],
    ['settled', 'unconfirmed'],
    ['failed', 'unconfirmed'],
    ['signed', 'signed'],
  ] as const)('%s by a bundler’s word is %s', async (state, expected) => {
    await storeOld([old(state, { address: '0xaa', kind: 2 })]);
    const known = await findPayment(state);
    expect(known).toMatchObject({
      state: expected,
      nonce: '0x10',
      versions: [{ kind: 'pay', userOpHash: hash('a'), validUntil: 1_700_000_000 }],
    });
    expect(known?.paid).toBeUndefined();
    expect(known?.since).toBeUndefined();
  });

  test.each([
    ['the first kind', { address: '0xaa', kind: 1 }],
    ['the first version of this page', { address: '0xaa' }],
  ])('what an account of %s signed does not end', async (_, account) => {
    await storeOld([old('sent', account)]);
    const known = await findPayment('sent');
    expect(known?.account.kind).toBe(1);
    expect(known?.versions[0]).not.toHaveProperty('validUntil');
  });
});
