import { afterAll, describe, expect, test } from 'bun:test';
import { ContractAddress, Hex } from 'ox';
import { type PaymentReceipt, verifyPayment } from '../../client/payments.ts';
import { ACCOUNT_FACTORIES, ENTRY_POINTS } from '../../client/pinned-accounts.ts';
import creationCode from '../../contracts/creation-code.json' with { type: 'json' };
import { planDeployment } from '../../lib/chain/deployment.ts';
import { startChain } from '../../scripts/dev-stack/chain.ts';
import * as known from '../../scripts/dev-stack/entrypoints.ts';
import { createPayer, orderOf, PAYEE, paymentOf, payOrder, settle, USDC } from '../support/payers.ts';

const { rpc, url, stop } = await startChain();
afterAll(stop);

const verify = (receipt: PaymentReceipt, order = orderOf(), options = {}) =>
  verifyPayment(receipt, order, url, { finalityBlocks: 0, ...options });

test('what is pinned is what the contracts of this tree are deployed as', () => {
  const owner = '0x0000000000000000000000000000000000000000';
  const computed = ENTRY_POINTS.flatMap((entryPoint) => {
    const [, first, , second] = planDeployment(creationCode, { entryPoint, owner });
    return [first, second].map(({ address: factory }, i) => {
      const implementation = ContractAddress.from({ from: factory, nonce: 1n }).toLowerCase();
      return { kind: i + 1, factory, implementation };
    });
  });
  expect(ACCOUNT_FACTORIES.map((one) => ({ ...one, implementation: one.implementation.toLowerCase() }))).toEqual(
    computed as never,
  );
  expect<readonly string[]>(ENTRY_POINTS).toEqual(['0.7', '0.8', '0.9'].map((v) => known.ENTRY_POINTS[v as '0.7']));
});

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
      const { hash: blockHash } = (await rpc('eth_getBlockByNumber', [Hex.fromNumber(block), false])) as {
        hash: string;
      };
      const about = { userOpHash, txHash, block, blockHash, account: account.address.toLowerCase() };
      expect(verdict).toEqual({ status: 'paid', final: true, ...about });
    }
  });
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
      expect(await verify(receipt, { ...order, id })).toEqual({ status: 'unpaid', reason: 'other_order', final: true });
    }
  });

  test('not the same id at another shop, or in another frame of it', async () => {
    const { order, receipt } = await paid(USDC);
    for (const other of [{ origin: 'https://other.example' }, { frame: 'https://frame.example' }])
      expect(await verify(receipt, { ...order, ...other })).toMatchObject({ status: 'unpaid', reason: 'other_order' });
  });

  test.each([
    ['another payee', { to: '0x0000000000000000000000000000000000000B0b' }],
    ['another amount', { amount: '1250001' }],
    ['less', { amount: '1249999' }],
    ['another token', { token: '0x00000000000000000000000000000000000000aa' }],
  ])('not %s under the same id', async (_, other) => {
    for (const token of ['native', USDC]) {
      const { order, receipt } = await paid(token);
      expect(await verify(receipt, { ...order, ...other })).toEqual({
        status: 'unpaid',
        reason: 'no_transfer',
        final: true,
      });
    }
  });

  test('not ether for a token, nor a token for ether', async () => {
    for (const [one, other] of [
      ['native', USDC],
      [USDC, 'native'],
    ] as const) {
      const { order, receipt } = await paid(one);
      expect(await verify(receipt, { ...order, token: other })).toMatchObject({ reason: 'no_transfer' });
    }
  });

  test('not on another chain, and a node of another chain is no witness', async () => {
    const { order, receipt } = await paid('native');
    expect(await verify({ ...receipt, chainId: 8453 }, order)).toMatchObject({ reason: 'other_chain' });
    await expect(verify({ ...receipt, chainId: 8453 }, { ...order, chainId: 8453 })).rejects.toThrow(
      'chain 84532, not 8453',
    );
  });

  test("not another's: the account is the operation's", async () => {
    const { order, receipt } = await paid(USDC);
    expect(await verify({ ...receipt, account: PAYEE }, order)).toMatchObject({ reason: 'other_account' });
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
    expect(await verify(receipt, order)).toEqual({ status: 'unpaid', reason: 'reverted', final: true });
  });
});
