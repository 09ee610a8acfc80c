import { afterAll, describe, expect, test } from 'bun:test';
import { Hex } from 'ox';
import { type PaymentReceipt, verifyPayment } from '../../client/payments.ts';
import { startChain } from '../../scripts/dev-stack/chain.ts';
import { mintUsdc, placeUsdc } from '../../scripts/dev-stack/usdc.ts';
import { createdAccount2 } from '../support/account2.ts';
import { createPayer, orderOf, PAYEE, paymentOf, payOrder, settle, USDC } from '../support/payers.ts';
import { settled } from '../support/settled.ts';

const { rpc, url, stop } = await startChain();
afterAll(stop);

const verify = (receipt: PaymentReceipt, order = orderOf(), options = {}) =>
  verifyPayment(receipt, order, url, { finalityBlocks: 0, ...options });

describe.each([
  [1, '0.7'],
  [1, '0.8'],
  [2, '0.7'],
  [2, '0.8'],
] as const)('an account of kind %d at EntryPoint %s', (kind, entryPoint) => {
  test.each(['native', USDC])('that paid in %s has paid, in its first operation and in a later one', async (token) => {
    const account = await createPayer(rpc, kind, entryPoint);
    for (const order of [orderOf({ token }), orderOf({ token })]) {
      const { userOpHash, txHash } = await payOrder(rpc, account, order);
      const receipt = { userOpHash, txHash, account: account.address, chainId: 84532, token };
      const verdict = await verify(receipt, order);
      const block = Number(await rpc('eth_blockNumber'));
      const found = (await rpc('eth_getBlockByNumber', [Hex.fromNumber(block), false])) as Record<
        'hash' | 'timestamp',
        string
      >;
      const at = { block, blockHash: found.hash, time: Number(found.timestamp) };
      const about = { userOpHash, txHash, ...at, account: account.address.toLowerCase() };
      expect(verdict).toEqual({ status: 'paid', final: true, ...about });
    }
  });
});

test.each(['native', USDC])('an account of kind 2 at EntryPoint 0.9 that paid in %s has paid', async (token) => {
  const account = { ...(await createdAccount2(rpc, '0.9')), kind: 2 } as const;
  await placeUsdc(rpc);
  await mintUsdc(rpc, account.address, 100_000_000n);
  const order = orderOf({ token });
  const receipt = await payOrder(rpc, account, order);
  expect(await verify(receipt, order)).toMatchObject({ status: 'paid', userOpHash: receipt.userOpHash });
  expect(await verify(receipt, { ...order, id: 'order-2' })).toMatchObject({ reason: 'other_order' });
});

describe('a receipt pays the order that it paid, and no other', () => {
  const paid = async (token: string) => {
    const account = await createPayer(rpc, 2);
    const order = orderOf({ token });
    return { account, order, receipt: await payOrder(rpc, account, order) };
  };

  test.each(['native', USDC])('in %s: not order 2 of the same customer, nor the order of a stranger', async (token) => {
    const { order, receipt } = await paid(token);
    expect((await verify(receipt, order)).status).toBe('paid');
    for (const id of ['order-2', 'order-3']) {
      expect(await verify(receipt, { ...order, id })).toEqual({ status: 'unpaid', reason: 'other_order' });
    }
  });

  test('not the same id at another shop, or in another frame of it', async () => {
    const { order, receipt } = await paid(USDC);
    for (const other of [{ origin: 'https://other.example' }, { frame: 'https://frame.example' }])
      expect(await verify(receipt, { ...order, ...other })).toMatchObject({ status: 'unpaid', reason: 'other_order' });
  });

  test.each([
    ['another payee', { to: '0x0000000000000000000000000000000000000B0b' }],
    ['more', { amount: '1250001' }],
    ['less', { amount: '1249999' }],
    ['another token', { token: '0x00000000000000000000000000000000000000aa' }],
  ])('not %s under the same id', async (_, other) => {
    for (const token of ['native', USDC]) {
      const { order, receipt } = await paid(token);
      expect(await verify(receipt, { ...order, ...other })).toEqual({
        status: 'unpaid',
        reason: 'no_transfer',
      });
    }
  });

  test.each(['native', USDC])('P5: not an order of the same id a month later, by `since`: %s', async (token) => {
    const { order, receipt } = await paid(token);
    const at = (await verify(receipt, order)) as { readonly time: number };
    const since = (seconds: number) => verify(receipt, order, { since: at.time + seconds });
    expect(await since(30 * 86_400)).toEqual({ status: 'unpaid', reason: 'too_old' });
    expect(await since(3_601)).toEqual({ status: 'unpaid', reason: 'too_old' });
    for (const seconds of [3_600, 0, -86_400]) expect(await since(seconds)).toMatchObject({ status: 'paid', ...at });
    // A re-org may put it into a newer block.
    const early = { since: at.time + 3_601, finalityBlocks: 1 };
    expect(await verify(receipt, order, early)).toEqual({ status: 'pending', reason: 'not_final' });
  });

  test.each([0, -1, 45_000_000, Date.now(), 1.5e9 + 0.5, '1700000000', null])(
    'since is a time in seconds, and not %p',
    async (since) => {
      const verdict = verify({ userOpHash: Hex.random(32) }, orderOf(), { since });
      expect(await settled(verdict)).toThrow('expected when the order was made, in seconds since 1970');
    },
  );

  test('not ether for a token, and a token for ether is not known', async () => {
    for (const [one, other] of [
      ['native', USDC],
      [USDC, 'native'],
    ] as const) {
      const { order, receipt } = await paid(one);
      const verdict = await verify(receipt, { ...order, token: other });
      // A call of a token may lead anywhere.
      const expected = one === USDC ? ['unverifiable', 'other_call'] : ['unpaid', 'no_transfer'];
      expect(verdict).toMatchObject({ status: expected[0], reason: expected[1] });
    }
  });

  test('not on another chain, and a node of another chain is no witness', async () => {
    const { order, receipt } = await paid('native');
    expect(await verify({ ...receipt, chainId: 8453 }, order)).toEqual({
      status: 'unverifiable',
      reason: 'other_chain',
    });
    expect(await settled(verify({ ...receipt, chainId: 8453 }, { ...order, chainId: 8453 }))).toThrow(
      'chain 84532, not 8453',
    );
  });

  test("the account is the operation's, whatever the receipt names", async () => {
    const { account, order, receipt } = await paid(USDC);
    const verdict = await verify({ ...receipt, account: PAYEE }, order);
    expect(verdict).toMatchObject({ status: 'paid', account: account.address.toLowerCase() });
  });

  test('however its origin is spelled', async () => {
    const { order, receipt } = await paid(USDC);
    for (const origin of ['https://shop.example/', 'HTTPS://Shop.Example', 'https://shop.example:443/cart'])
      for (const frame of [undefined, origin]) {
        expect(await verify(receipt, { ...order, origin, frame })).toMatchObject({ status: 'paid' });
      }
  });

  test('two orders in one transaction are paid by an operation each', async () => {
    const account = await createPayer(rpc, 1);
    await payOrder(rpc, account, orderOf());
    const [first, second, third] = [orderOf(), orderOf({ token: USDC }), orderOf()];
    const operations = [await paymentOf(rpc, account, first), await paymentOf(rpc, account, second)] as const;
    const receipts = await settle(rpc, account, ...operations);
    const [one, two = one] = receipts;
    expect(one.txHash).toBe(two.txHash);
    expect(one.userOpHash).not.toBe(two.userOpHash);
    expect(await verify(one, first)).toMatchObject({ status: 'paid', userOpHash: one.userOpHash });
    expect(await verify(two, second)).toMatchObject({ status: 'paid', userOpHash: two.userOpHash });
    for (const receipt of receipts) expect(await verify(receipt, third)).toMatchObject({ reason: 'other_order' });
    // The same money is not two orders', whichever hash is handed in.
    expect(await verify(one, second)).toMatchObject({ status: 'paid', userOpHash: two.userOpHash });
  });

  test('a batch that pays is a payment, one without it is none', async () => {
    const account = await createPayer(rpc, 1);
    const order = orderOf();
    const calls = [
      { target: PAYEE, value: 1n },
      { target: PAYEE, value: BigInt(order.amount) },
    ] as const;
    const [receipt] = await settle(rpc, account, await paymentOf(rpc, account, order, calls));
    expect(await verify(receipt, order)).toMatchObject({ status: 'paid' });
    const cancelled = orderOf();
    const nothing = [{ target: PAYEE }, { target: PAYEE }] as const;
    const [empty] = await settle(rpc, account, await paymentOf(rpc, account, cancelled, nothing));
    expect(await verify(empty, cancelled)).toMatchObject({ status: 'unpaid', reason: 'no_transfer' });
  });

  test.each(['native', USDC])('a call that reverted has paid nothing in %s', async (token) => {
    const account = await createPayer(rpc, 2);
    const order = orderOf({ token, amount: 10n ** 30n });
    const receipt = await payOrder(rpc, account, order);
    expect(await verify(receipt, order)).toEqual({ status: 'unpaid', reason: 'reverted' });
  });
});
