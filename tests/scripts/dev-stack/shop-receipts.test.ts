import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { Hex } from 'ox';
import { startChain } from '../../../scripts/dev-stack/chain.ts';
import { startShop } from '../../../scripts/dev-stack/shop.ts';
import { createPayer, PAYEE, paymentOf, payOrder, receiptFor, settle } from '../../support/payers.ts';
import { paymentCall } from '../../support/payment-operations.ts';
import { type ShopServer, startShopServer } from '../../support/shop-server.ts';

const SOMEBODY = '0x00000000000000000000000000000000000B0b00';

let server: ShopServer;
beforeAll(async () => {
  server = await startShopServer();
});
afterAll(() => server.stop());
afterEach(() => server.chain.rpc('evm_setAutomine', [true]));

describe('a receipt at the shop of npm start', () => {
  test('of the order is counted: what was found, and the vault’s answer to see it', async () => {
    const order = await server.newOrder();
    const receipt = await payOrder(server.chain.rpc, await createPayer(server.chain.rpc, 2), order);
    expect(await server.look(order.id)).toMatchObject({ id: order.id, finding: { status: 'open' } });
    const { userOpHash, txHash, account } = receipt;
    const paid = await server.check(order.id, receipt);
    expect(paid).toMatchObject({ status: 'paid', userOpHash, txHash, account: account?.toLowerCase() });
    expect(paid).toMatchObject({ isExplorer: false, block: expect.any(Number), foundAt: expect.any(String) });
    expect(await (await fetch(paid.link)).json()).toMatchObject({ status: 'paid', userOpHash });
    expect(await server.look(order.id)).toMatchObject({ finding: paid });
    // In any case: a checksum is for people who type.
    const shouted = {
      userOpHash,
      txHash: txHash.toUpperCase().replace('X', 'x'),
      account: account?.toUpperCase().replace('X', 'x'),
    };
    expect(await server.check(order.id, shouted)).toEqual(paid);
    // Once more, and by the hash of the operation alone.
    expect(await server.check(order.id, { userOpHash })).toEqual(paid);
  });

  test('is found in the explorer, where the vault has one', async () => {
    const explored = await startShopServer({ EXPLORER_URL: 'https://explorer.example' });
    const order = await explored.newOrder();
    const receipt = await payOrder(explored.chain.rpc, await createPayer(explored.chain.rpc, 1), order);
    const link = `https://explorer.example/tx/${receipt.txHash}`;
    expect(await explored.check(order.id, receipt)).toMatchObject({ status: 'paid', link, isExplorer: true });
    await explored.stop();
  });

  test('of another order is refused, though its money came', async () => {
    const [mine, theirs] = [await server.newOrder(), await server.newOrder()];
    const receipt = await payOrder(server.chain.rpc, await createPayer(server.chain.rpc, 2), theirs);
    expect(await server.check(mine.id, receipt)).toEqual({ status: 'unpaid', reason: 'other_order' });
    expect(await server.look(mine.id)).toMatchObject({ finding: { status: 'open' } });
    expect(await server.check(theirs.id, receipt)).toMatchObject({ status: 'paid' });
  });

  test.each([
    ['a smaller amount', { amount: '1249999' }],
    ['a larger amount', { amount: '1250001' }],
    ['another payee', { to: SOMEBODY }],
    ['another token', { token: 'native' }],
  ])('whose operation moved %s is refused', async (_, change) => {
    const order = await server.newOrder();
    const account = await createPayer(server.chain.rpc, 2);
    const operation = await paymentOf(server.chain.rpc, account, order, [paymentCall({ ...order, ...change })]);
    const [receipt] = await settle(server.chain.rpc, account, operation);
    expect(await server.check(order.id, receipt)).toEqual({ status: 'pending', reason: 'not_final' });
    await server.chain.rpc('anvil_mine', ['0x3']);
    expect(await server.check(order.id, receipt)).toEqual({ status: 'unpaid', reason: 'no_transfer' });
    expect(await server.look(order.id)).toMatchObject({ finding: { status: 'open' } });
  });

  test('whose operation was made and reverted is refused', async () => {
    const order = await server.newOrder();
    const account = await createPayer(server.chain.rpc, 2);
    const tooMuch = paymentCall({ ...order, amount: '900000000' });
    const [receipt] = await settle(
      server.chain.rpc,
      account,
      await paymentOf(server.chain.rpc, account, order, [tooMuch]),
    );
    await server.chain.rpc('anvil_mine', ['0x3']);
    expect(await server.check(order.id, receipt)).toEqual({ status: 'unpaid', reason: 'reverted' });
  });

  test('of another chain is refused: by what it says, and by where the money is', async () => {
    const order = await server.newOrder();
    const receipt = await payOrder(server.chain.rpc, await createPayer(server.chain.rpc, 2), order);
    for (const chainId of [1, 8453]) {
      const refused = { status: 'unverifiable', reason: 'other_chain' };
      expect(await server.check(order.id, { ...receipt, chainId })).toEqual(refused);
    }
    const elsewhere = await startChain();
    const lost = await server.newOrder();
    const there = await payOrder(elsewhere.rpc, await createPayer(elsewhere.rpc, 2), lost);
    expect(await server.check(lost.id, there)).toEqual({ status: 'pending', reason: 'no_transaction' });
    await elsewhere.stop();
  });

  test('of a payment that is sent and in no block does not count yet', async () => {
    const order = await server.newOrder();
    const account = await createPayer(server.chain.rpc, 2);
    const operation = await paymentOf(server.chain.rpc, account, order);
    await server.chain.rpc('evm_setAutomine', [false]);
    const settling = settle(server.chain.rpc, account, operation);
    const pool = async () => Number(((await server.chain.rpc('txpool_status')) as { pending: string }).pending);
    while ((await pool()) === 0) await Bun.sleep(10);
    const hints = receiptFor(account.entryPoint, operation, Hex.random(32));
    expect(await server.check(order.id, hints)).toEqual({ status: 'pending', reason: 'no_transaction' });
    expect(await server.look(order.id)).toMatchObject({ finding: { status: 'open' } });
    await server.chain.rpc('anvil_mine', ['0x1']);
    const [receipt] = await settling;
    expect(await server.check(order.id, receipt)).toMatchObject({ status: 'paid' });
  });

  test('counts once, though two accounts paid the order', async () => {
    const order = await server.newOrder();
    const payers = [await createPayer(server.chain.rpc, 1), await createPayer(server.chain.rpc, 2)] as const;
    const [first, second] = [
      await payOrder(server.chain.rpc, payers[0], order),
      await payOrder(server.chain.rpc, payers[1], order),
    ];
    // At once: the server asks the vault for both before it has counted one.
    const answers = await Promise.all([server.check(order.id, first), server.check(order.id, second)]);
    expect(answers.map(({ status }) => status).sort()).toEqual(['paid', 'unpaid']);
    expect(answers.find(({ status }) => status === 'unpaid')).toEqual({ status: 'unpaid', reason: 'order_paid' });
  });

  test('that a re-org takes back counts no more, and another payment of the order does', async () => {
    const order = await server.newOrder();
    const [first, second] = [await createPayer(server.chain.rpc, 1), await createPayer(server.chain.rpc, 2)];
    const snapshot = await server.chain.rpc('evm_snapshot');
    const lost = await payOrder(server.chain.rpc, first, order);
    expect(await server.check(order.id, lost)).toMatchObject({ status: 'paid', final: false });
    await server.chain.rpc('evm_revert', [snapshot]);
    expect(await server.look(order.id)).toMatchObject({ finding: { status: 'pending', reason: 'no_transaction' } });
    const receipt = await payOrder(server.chain.rpc, second, order);
    expect(await server.check(order.id, receipt)).toMatchObject({ status: 'paid', userOpHash: receipt.userOpHash });
    // The first one again: two were paid, and one counts.
    await payOrder(server.chain.rpc, first, order);
    expect(await server.check(order.id, lost)).toEqual({ status: 'unpaid', reason: 'order_paid' });
    expect(await server.look(order.id)).toMatchObject({ finding: { userOpHash: receipt.userOpHash } });
  });

  test('is a hint of where to look: nothing else of it is read', async () => {
    const order = await server.newOrder();
    const words = {
      status: 'paid',
      final: true,
      id: order.id,
      amount: '1',
      to: SOMEBODY,
      origin: 'https://evil.example',
    };
    const invented = { ...words, userOpHash: Hex.random(32), txHash: Hex.random(32), account: PAYEE };
    expect(await server.check(order.id, invented)).toEqual({ status: 'pending', reason: 'no_transaction' });
    // A real transaction that is no payment.
    const { hash } = (
      (await server.chain.rpc('eth_getBlockByNumber', ['0x1', true])) as { transactions: [{ hash: string }] }
    ).transactions[0];
    const real = { userOpHash: Hex.random(32), txHash: hash };
    expect(await server.check(order.id, real)).toEqual({ status: 'pending', reason: 'no_operation' });
    for (const bad of [
      'paid',
      null,
      [],
      {},
      { userOpHash: 'paid' },
      { userOpHash: `0x${'12'.repeat(32)}&id=other` },
      { ...invented, account: '0x1' },
      { ...invented, txHash: 7 },
      { ...invented, chainId: '84532' },
    ])
      expect(await server.check(order.id, bad)).toEqual({ status: 'unverifiable', reason: 'bad_receipt' });
    expect(await server.look(order.id)).toMatchObject({ finding: { status: 'open' } });
  });

  test('is not judged while the vault is away', async () => {
    const away = await startShop({ vault: 'http://localhost:1', rpc: server.chain.rpc });
    const headers = { 'content-type': 'application/json' };
    const { id } = await (await fetch(`${away.url}/orders`, { method: 'POST', headers, body: '{}' })).json();
    const body = JSON.stringify({ userOpHash: Hex.random(32) });
    const answer = await fetch(`${away.url}/orders/${id}/receipt`, { method: 'POST', headers, body });
    expect([answer.status, await answer.json()]).toMatchObject([502, { error: 'vault_unreachable' }]);
    await away.stop();
  });
});
