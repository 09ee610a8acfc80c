import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { Hex } from 'ox';
import { mintUsdc, USDC } from '../../../scripts/dev-stack/usdc.ts';
import type { SmartAccount } from '../../../scripts/dev-stack/user-operation.ts';
import { createdAccount2 } from '../../support/account2.ts';
import { handleOps } from '../../support/operations.ts';
import { freshNonce, type OrderTerms, paymentCall, signedOperation } from '../../support/payment-operations.ts';
import {
  ETHER,
  look,
  openPayments,
  PAYEE,
  type SettlingWorld,
  settledEvents,
  startSettling,
  TEA,
} from '../../support/settling.ts';
import { echo, errorOf, resultOf, type Upstream } from '../../support/upstream.ts';
import type { TestVault } from '../../support/vault.ts';

describe.each(['0.7', '0.8', '0.9'] as const)('with EntryPoint %s', (version) => {
  let world: SettlingWorld;
  let account: SmartAccount;
  let t: TestVault;
  beforeAll(async () => {
    world = await startSettling(version);
    account = await createdAccount2(world.rpc, version);
    await mintUsdc(world.rpc, account.address, 1_000_000_000n);
  });
  afterAll(() => world.stop());
  beforeEach(async () => {
    world.bundler.answer = echo;
    t = await world.start();
  });
  afterEach(() => t.stop());

  const sign = (terms: OrderTerms, nonce = freshNonce()) =>
    signedOperation(world.rpc, account, nonce, [paymentCall(terms)]);
  const handle = (...signed: Awaited<ReturnType<typeof sign>>[]) =>
    handleOps(world.rpc, account.entryPoint, ...signed.map(({ operation }) => operation));

  describe.each([
    ['a token', TEA],
    ['ether', ETHER],
  ])('a payment of %s that went through the bundler', (_, terms) => {
    test('is payment.settled once it is final, exactly once', async () => {
      const payment = await sign(terms);
      expect((await world.post(t, payment.operation)).status).toBe(200);
      expect(await t.rows('SELECT user_op_hash FROM payments')).toEqual([{ user_op_hash: payment.userOpHash }]);
      await look(t);
      expect(await settledEvents(t)).toEqual([]);
      const { logs } = await handle(payment);
      await look(t);
      // In a block, but not final.
      expect(await settledEvents(t)).toEqual([]);
      await world.mine();
      for (let looks = 0; looks < 3; looks++) await look(t);
      expect(await settledEvents(t)).toEqual([
        {
          channel: 'payments',
          app: 'default',
          account: account.address.toLowerCase(),
          to: PAYEE,
          token: terms.token.toLowerCase(),
          amount: String(terms.amount),
          chain_id: 84532,
          user_op_hash: payment.userOpHash,
          tx_hash: logs[0]?.transactionHash as string,
          block: Number(logs[0]?.blockNumber),
          nonce: Hex.fromNumber(payment.operation.nonce),
        },
      ]);
      expect(await openPayments(t)).toBe(0);
    });

    test('is no payment.settled when the call reverted', async () => {
      const payment = await sign({ ...terms, amount: 10n ** 30n });
      await world.post(t, payment.operation);
      await handle(payment);
      await world.mine();
      await look(t);
      expect([await settledEvents(t), await openPayments(t)]).toEqual([[], 0]);
    });

    test('is found under another hash: re-priced, or from another device', async () => {
      const payment = await sign(terms);
      await world.post(t, payment.operation);
      const more = { preVerificationGas: 70_000n };
      const calls = [paymentCall(terms)];
      const other = await signedOperation(world.rpc, account, payment.operation.nonce, calls, more);
      await handle(other);
      await world.mine();
      await look(t);
      expect(await settledEvents(t)).toMatchObject([{ user_op_hash: other.userOpHash }]);
    });
  });

  describe('whatever the bundler says', () => {
    test.each([
      ['takes it', echo],
      ['fails', () => new Response('', { status: 503 })],
    ] satisfies [string, Upstream['answer']][])('a bundler that %s, and includes it, settles it', async (_, answer) => {
      world.bundler.answer = answer;
      const payment = await sign(TEA);
      await world.post(t, payment.operation);
      await handle(payment);
      await world.mine();
      await look(t);
      expect(await settledEvents(t)).toHaveLength(1);
    });

    test('one that refuses it, and includes it, settles it once its page has found it', async () => {
      world.bundler.answer = (call) => errorOf(call, { code: -32500, message: 'AA21' });
      const payment = await sign(TEA);
      const { sender, nonce } = payment.operation;
      await world.post(t, payment.operation);
      await handle(payment);
      await world.mine();
      await look(t);
      expect([await settledEvents(t), await openPayments(t)]).toEqual([[], 0]);
      await t.call('GET /pay/outcome', { account: sender, nonce: `0x${nonce.toString(16)}`, ...TEA });
      await look(t);
      expect(await settledEvents(t)).toHaveLength(1);
    });

    test('M2: its receipts of other hashes settle nothing', async () => {
      const [payment, paid] = [await sign(TEA), await sign(TEA)];
      const { logs } = await handle(paid);
      world.bundler.answer = (call) => resultOf(call, { receipt: { transactionHash: logs[0]?.transactionHash } });
      await world.post(t, payment.operation);
      await world.mine();
      await look(t);
      expect([await settledEvents(t), await openPayments(t)]).toEqual([[], 1]);
    });
  });

  test('an operation that voids it ends the watch without an event', async () => {
    const payment = await sign(TEA);
    await world.post(t, payment.operation);
    await handle(await signedOperation(world.rpc, account, payment.operation.nonce, []));
    await look(t);
    expect(await openPayments(t)).toBe(1);
    await world.mine();
    await look(t);
    expect([await settledEvents(t), await openPayments(t)]).toEqual([[], 0]);
  });

  test('what is no payment is not watched: a batch, a call of something else, a nonce of no order', async () => {
    const nonce = freshNonce();
    const calls = [paymentCall(TEA)];
    const others = await Promise.all([
      signedOperation(world.rpc, account, nonce, []),
      signedOperation(world.rpc, account, nonce, [...calls, ...calls]),
      signedOperation(world.rpc, account, nonce, [{ target: USDC, data: '0x12345678' }]),
      signedOperation(world.rpc, account, nonce, [{ target: PAYEE, value: 0n }]),
      signedOperation(world.rpc, account, nonce + 1n, calls),
      signedOperation(world.rpc, account, 5n, calls),
    ]);
    for (const { operation } of others) expect((await world.post(t, operation)).status).toBe(200);
    expect(await openPayments(t)).toBe(0);
  });
});
