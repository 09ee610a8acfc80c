import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import type { Hex } from 'ox';
import {
  type AskNode,
  NodeError,
  type PaymentOrder,
  type PaymentReceipt,
  verifyPayment,
} from '../../client/payments.ts';
import { signUntil } from '../../scripts/dev-stack/account2.ts';
import { startChain } from '../../scripts/dev-stack/chain.ts';
import type { SmartAccount } from '../../scripts/dev-stack/user-operation.ts';
import { devAccount } from '../../scripts/dev-stack/wallet.ts';
import { handleOpsData } from '../support/operations.ts';
import { createPayer, orderOf, paymentOf, payOrder, receiptFor, settle, USDC } from '../support/payers.ts';
import { settled } from '../support/settled.ts';

const { rpc, url, stop } = await startChain();
afterAll(stop);
let account: SmartAccount;
beforeAll(async () => {
  account = await createPayer(rpc, 2);
  await payOrder(rpc, account, orderOf());
});

const mine = (blocks: number) => rpc('anvil_mine', [`0x${blocks.toString(16)}`]);
const ask: AskNode = (method, params) => rpc(method, params);

describe('a payment in a block is final', () => {
  test("by the node's finalized block", async () => {
    const order = orderOf({ token: USDC });
    const receipt = await payOrder(rpc, account, order);
    expect(await verifyPayment(receipt, order, url)).toMatchObject({ status: 'paid', final: false });
    await mine(100);
    expect(await verifyPayment(receipt, order, url)).toMatchObject({ status: 'paid', final: true });
  });

  test('12 blocks deep where the node knows no such block', async () => {
    const old: AskNode = (method, params) =>
      params[0] === 'finalized' ? Promise.reject(new Error('unknown block tag')) : rpc(method, params);
    const none: AskNode = async (method, params) => (params[0] === 'finalized' ? null : rpc(method, params));
    const order = orderOf();
    const receipt = await payOrder(rpc, account, order);
    await mine(11);
    for (const node of [old, none])
      expect(await verifyPayment(receipt, order, node)).toMatchObject({ status: 'paid', final: false });
    await mine(1);
    for (const node of [old, none])
      expect(await verifyPayment(receipt, order, node)).toMatchObject({ status: 'paid', final: true });
  });

  test('not by one refusal of the tag: a node at its limit knows it all the same', async () => {
    const order = orderOf();
    const receipt = await payOrder(rpc, account, order);
    await mine(12);
    let times = 0;
    const limited: AskNode = (method, params) =>
      params[0] === 'finalized' && times++ === 0 ? Promise.reject(new Error('too many requests')) : rpc(method, params);
    expect(await verifyPayment(receipt, order, limited)).toMatchObject({ status: 'paid', final: false });
  });

  test('at the depth that the shop says', async () => {
    const order = orderOf();
    const receipt = await payOrder(rpc, account, order);
    const verify = (finalityBlocks: number) => verifyPayment(receipt, order, url, { finalityBlocks });
    expect(await verify(0)).toMatchObject({ status: 'paid', final: true });
    expect(await verify(1)).toMatchObject({ status: 'paid', final: false });
  });

  test('and what shows that it failed is not believed before', async () => {
    const order = orderOf({ token: USDC, amount: 10n ** 30n });
    const receipt = await payOrder(rpc, account, order);
    const verify = (finalityBlocks: number) => verifyPayment(receipt, order, url, { finalityBlocks });
    expect(await verify(1)).toEqual({ status: 'pending', reason: 'not_final' });
    expect(await verify(0)).toEqual({ status: 'unpaid', reason: 'reverted' });
  });
});

describe('a payment is pending', () => {
  afterEach(() => rpc('evm_setAutomine', [true]));

  test('while its transaction is in no block', async () => {
    await rpc('evm_setAutomine', [false]);
    const order = orderOf();
    const operation = await paymentOf(rpc, account, order);
    const call = {
      from: devAccount('bob').address,
      to: account.entryPoint,
      data: handleOpsData(operation),
      gas: '0x2dc6c0',
    };
    const txHash = (await rpc('eth_sendTransaction', [call])) as Hex.Hex;
    const receipt = receiptFor(account.entryPoint, operation, txHash);
    expect(await verifyPayment(receipt, order, url)).toEqual({ status: 'pending', reason: 'no_transaction' });
    await mine(1);
    expect(await verifyPayment(receipt, order, url)).toMatchObject({ status: 'paid' });
  });

  test.each(['native', USDC])(
    'when a re-org took it back, and paid again in another transaction: %s',
    async (token) => {
      const order = orderOf({ token });
      const operation = await paymentOf(rpc, account, order);
      const [receipt] = await settle(rpc, account, operation);
      expect(await verifyPayment(receipt, order, url)).toMatchObject({ status: 'paid', txHash: receipt.txHash });
      await rpc('anvil_reorg', [1, []]);
      expect(await verifyPayment(receipt, order, url)).toEqual({ status: 'pending', reason: 'no_transaction' });
      // Beside another operation, so that the transaction is another one.
      const besides = await paymentOf(rpc, account, orderOf());
      const [again] = await settle(rpc, account, operation, besides);
      expect(again.txHash).not.toBe(receipt.txHash);
      expect(await verifyPayment(receipt, order, url)).toMatchObject({ status: 'paid', txHash: again.txHash });
    },
  );

  test('when the node shows its receipt, and still holds its transaction as pending', async () => {
    const order = orderOf();
    const receipt = await payOrder(rpc, account, order);
    const behind: AskNode = async (method, params) => {
      const answer = (await rpc(method, params)) as object;
      return method === 'eth_getTransactionByHash' ? { ...answer, blockHash: null, blockNumber: null } : answer;
    };
    expect(await verifyPayment(receipt, order, behind)).toEqual({ status: 'pending', reason: 'not_canonical' });
  });

  test('when the node shows a receipt of a block that is not of its chain', async () => {
    const order = orderOf();
    const receipt = await payOrder(rpc, account, order);
    const behind: AskNode = async (method, params) => {
      const answer = (await rpc(method, params)) as object;
      const isBlock = method === 'eth_getBlockByNumber' && params[0] !== 'finalized';
      return isBlock ? { ...answer, hash: `0x${'12'.repeat(32)}` } : answer;
    };
    expect(await verifyPayment(receipt, order, behind)).toEqual({ status: 'pending', reason: 'not_canonical' });
  });
});

describe('the order is found by its account and nonce', () => {
  test('before the page knew a transaction', async () => {
    const order = orderOf();
    const { userOpHash, txHash } = await payOrder(rpc, account, order);
    for (const receipt of [{ userOpHash, account: account.address }, { userOpHash }, { userOpHash, txHash }])
      expect(await verifyPayment(receipt, order, url)).toMatchObject({ status: 'paid', userOpHash, txHash });
  });

  test('when it was re-priced, and so has another hash than the shop was told', async () => {
    const order = orderOf();
    const first = await paymentOf(rpc, account, order);
    const dearer = await signUntil(rpc, account, { ...first, maxFeePerGas: first.maxFeePerGas * 2n });
    const [{ userOpHash, txHash }] = await settle(rpc, account, dearer);
    const told = receiptFor(account.entryPoint, first, txHash);
    expect(told.userOpHash).not.toBe(userOpHash);
    for (const receipt of [told, { ...told, txHash: undefined }])
      expect(await verifyPayment(receipt, order, url)).toMatchObject({ status: 'paid', userOpHash, txHash });
  });

  test('but by the named transaction alone, where the node does not search', async () => {
    const order = orderOf();
    const receipt = await payOrder(rpc, account, order);
    const plain: AskNode = (method, params) =>
      method === 'eth_getLogs' && JSON.stringify(params).includes('fromBlock')
        ? Promise.reject(new Error('range too wide'))
        : rpc(method, params);
    expect(await verifyPayment(receipt, order, plain)).toMatchObject({ status: 'paid' });
    const hint = { ...receipt, txHash: undefined };
    expect(await verifyPayment(hint, order, plain)).toEqual({ status: 'pending', reason: 'no_transaction' });
  });
});

describe('a node that cannot be asked is an error, and no verdict', () => {
  const serve = async (answer: () => Response, expected: string) => {
    const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: answer });
    const order: PaymentOrder = orderOf();
    const receipt: PaymentReceipt = { userOpHash: `0x${'1'.repeat(64)}`, account: order.to };
    const failure = await verifyPayment(receipt, order, `${server.url}secret-key`).catch((error) => error);
    await server.stop(true);
    expect(failure).toBeInstanceOf(NodeError);
    expect(failure.message).toContain(expected);
    expect(`${failure.message} ${failure.stack} ${String(failure.cause)}`).not.toContain('secret-key');
  };
  const error = (message: string) => ({ jsonrpc: '2.0', id: 1, error: { code: -32000, message } });

  test.each<[string, () => Response, string]>([
    ['a status', () => new Response('gone', { status: 503 }), 'answered 503'],
    ['a page', () => new Response('<html>'), 'makes no sense'],
    ['no result', () => Response.json({}), 'makes no sense'],
    ['its own error', () => Response.json(error('no'), { status: 429 }), 'refused eth_chainId: -32000 no'],
    ['a long one', () => Response.json(error('x'.repeat(9_999))), `${'x'.repeat(120)}`],
    ['too much', () => new Response('x'.repeat(17 * 1024 * 1024)), 'too much'],
    ['another type', () => Response.json({ result: {} }), 'no number'],
  ])('that answers %s', (_, answer, expected) => serve(answer, expected));

  test.each([[undefined], [''], ['node.example/secret-key'], ['file:///node']])(
    'that is none, %j: said before it is asked',
    async (node) => {
      const receipt = { userOpHash: `0x${'1'.repeat(64)}`, account: orderOf().to };
      const failure = await verifyPayment(receipt, orderOf(), node as string).catch((error) => error);
      expect(failure).toBeInstanceOf(TypeError);
      expect(failure.message).toBe(
        `node is ${node === undefined ? 'missing' : 'no http or https URL'}; expected the URL of your node's JSON-RPC, such as "https://node.example"`,
      );
    },
  );

  test('that does not answer', async () => {
    const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response() });
    const at = `${server.url}secret-key`;
    await server.stop(true);
    const receipt = { userOpHash: `0x${'1'.repeat(64)}`, account: orderOf().to };
    const failure = await verifyPayment(receipt, orderOf(), at).catch((error) => error);
    expect(failure).toBeInstanceOf(NodeError);
    expect(failure.message).toBe('the node cannot be reached');
  });

  test("that answers another transaction's receipt", async () => {
    const [one, other] = [orderOf(), orderOf()];
    const paid = await payOrder(rpc, account, one);
    const { txHash } = await payOrder(rpc, account, other);
    const lying: AskNode = (method, params) =>
      ask(method, method === 'eth_getTransactionReceipt' ? [paid.txHash] : params);
    expect(await settled(verifyPayment({ ...paid, txHash }, one, lying))).toThrow('another transaction');
  });
});
