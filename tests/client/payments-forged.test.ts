import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { AbiFunction, AbiParameters, type Address, Hex } from 'ox';
import { USER_OPERATION_EVENT } from '../../client/operations.ts';
import { paymentNonce } from '../../client/payment-nonce.ts';
import { type PaymentOrder, type PaymentReceipt, verifyPayment } from '../../client/payments.ts';
import { compileContracts } from '../../scripts/contracts.ts';
import { signUntil } from '../../scripts/dev-stack/account2.ts';
import { startChain } from '../../scripts/dev-stack/chain.ts';
import { create2 } from '../../scripts/dev-stack/create2.ts';
import { ENTRY_POINTS } from '../../scripts/dev-stack/entrypoints.ts';
import { mintUsdc } from '../../scripts/dev-stack/usdc.ts';
import type { Operation, SmartAccount } from '../../scripts/dev-stack/user-operation.ts';
import { devAccount, sendTransaction, waitForReceipt } from '../../scripts/dev-stack/wallet.ts';
import { handleOpsData } from '../support/operations.ts';
import { createPayer, orderOf, PAYEE, paymentOf, payOrder, receiptFor, settle, USDC } from '../support/payers.ts';
import { paymentCall } from '../support/payment-operations.ts';
import { settled } from '../support/settled.ts';

const { rpc, url, stop } = await startChain();
afterAll(stop);
const { Tricks, FakePayer, TrickToken } = await compileContracts();
const bob = devAccount('bob').privateKey;
let tricks: Address.Address;
let fake: SmartAccount;
beforeAll(async () => {
  // Both EntryPoints, and the factories of their accounts.
  for (const version of ['0.7', '0.8'] as const) await createPayer(rpc, 1, version);
  tricks = await create2(rpc, Tricks?.bytecode ?? '0x');
  const address = await create2(rpc, FakePayer?.bytecode ?? '0x');
  fake = { address, entryPoint: ENTRY_POINTS['0.7'] } as unknown as SmartAccount;
  await mintUsdc(rpc, address, 100_000_000n);
  await rpc('anvil_setBalance', [address, '0xde0b6b3a7640000']);
});

const verify = (receipt: PaymentReceipt, order: PaymentOrder) =>
  verifyPayment(receipt, order, url, { finalityBlocks: 0 });
const encode = (text: string, ...args: readonly unknown[]) =>
  AbiFunction.encodeData(AbiFunction.from(text as string) as AbiFunction.AbiFunction, args as never);
const execute = (order: PaymentOrder) =>
  encode('function execute(address to, uint256 value, bytes data)', order.to, BigInt(order.amount), '0x');
const perform = (target: string, value: bigint, data = '0x') =>
  encode('function perform(address to, uint256 value, bytes data)', target, value, data);
/** An operation under an order's nonce that nobody has to sign, at no fee. */
async function unsigned(sender: Address.Address, order: PaymentOrder, callData: Hex.Hex): Promise<Operation> {
  const gas = { callGasLimit: 900_000n, verificationGasLimit: 500_000n, preVerificationGas: 60_000n };
  const fees = { maxFeePerGas: 0n, maxPriorityFeePerGas: 0n };
  return { sender, nonce: BigInt(await paymentNonce(order)), callData, ...gas, ...fees, signature: '0x' };
}

describe('what never happened', () => {
  test('an invented hash is pending, for ever', async () => {
    const account = await createPayer(rpc, 2);
    const receipt = { userOpHash: Hex.random(32), txHash: Hex.random(32), account: account.address };
    expect(await verify(receipt, orderOf())).toEqual({ status: 'pending', reason: 'no_transaction' });
  });

  test("an invented hash in another's transaction is pending", async () => {
    const account = await createPayer(rpc, 2);
    const { txHash } = await payOrder(rpc, account, orderOf());
    const receipt = { userOpHash: Hex.random(32), txHash, account: account.address };
    expect(await verify(receipt, orderOf())).toEqual({ status: 'pending', reason: 'no_operation' });
  });

  test('an event that another contract emitted is none, beside a real transfer too', async () => {
    const order = orderOf({ token: USDC });
    const userOpHash = Hex.random(32);
    const sender = Hex.padLeft(fake.address, 32);
    const words = [await paymentNonce(order), Hex.fromNumber(1), '0x', '0x'] as Hex.Hex[];
    const data = Hex.concat(...words.map((word) => Hex.padLeft(word, 32)));
    const emit = encode(
      'function emitLog(bytes32[3] topics, bytes data)',
      [USER_OPERATION_EVENT, userOpHash, sender],
      data,
    );
    const before = encode('function emitLog(bytes32[3] topics, bytes data)', Array(3).fill(Hex.random(32)), '0x');
    const transfer = paymentCall(order);
    const pay = perform(transfer.target, 0n, transfer.data);
    const run = encode(
      'function run(address[] targets, bytes[] data)',
      [tricks, fake.address, tricks],
      [before, pay, emit],
    );
    const { transactionHash: txHash, logs } = await sendTransaction(rpc, bob, { to: tricks, data: run });
    expect(logs).toHaveLength(3);
    expect(logs[2]?.topics[0]).toBe(USER_OPERATION_EVENT);
    const receipt = { userOpHash, txHash, account: fake.address };
    expect(await verify(receipt, order)).toEqual({ status: 'pending', reason: 'no_operation' });
  });

  test.each<[string, unknown]>([
    ['nothing', null],
    ['a text', 'paid'],
    ['an empty one', {}],
    ['a hash that is too short', { userOpHash: '0x12', txHash: Hex.random(32), account: PAYEE }],
    ['a hash that is a list', { userOpHash: [Hex.random(32)], txHash: Hex.random(32), account: PAYEE }],
    ['an account that is none', { userOpHash: Hex.random(32), txHash: Hex.random(32), account: 'alice' }],
    ['a transaction that is none', { userOpHash: Hex.random(32), txHash: '0x', account: PAYEE }],
  ])('a receipt that is none is refused: %s', async (_, receipt) => {
    const verdict = await verify(receipt as PaymentReceipt, orderOf());
    expect(verdict).toEqual({ status: 'unverifiable', reason: 'bad_receipt' });
  });

  test.each([
    [{ id: '' }, 'order.id is ""; expected the order\'s id, a text'],
    [{ id: undefined }, "order.id is missing; expected the order's id, a text"],
    [{ origin: undefined }, /^order\.origin is missing; expected the origin of your page, such as /],
    [{ origin: 'shop.example' }, /^order\.origin is "shop\.example"; expected /],
    [{ origin: 'null' }, /^order\.origin is "null"/],
    [{ origin: 'data:text/html,shop' }, /^order\.origin is /],
    [{ frame: 'frame' }, /^order\.frame is "frame"/],
    [{ frame: null }, /^order\.frame is null/],
    [{ to: '0x' }, /^order\.to is "0x"; expected the payee's address, /],
    [{ token: 'USDC' }, 'order.token is "USDC"; expected "native" or the address of a token'],
    [{ amount: '0' }, /^order\.amount is "0"; expected a decimal string in the smallest unit, above 0, /],
    [{ amount: '-1' }, /^order\.amount is "-1"/],
    [{ amount: '1.25' }, /^order\.amount is "1\.25"; .* such as "1250000" for 1\.25 USDC$/],
    [{ amount: 1250000 }, /^order\.amount is the number 1250000/],
    [{ chainId: 0.5 }, /^order\.chainId is the number 0\.5/],
    [{ chainId: '84532' }, 'order.chainId is "84532"; expected the chain\'s number, such as 84532'],
  ])("an order that is none is the shop's own fault, and the error names what is wrong: %p", async (wrong, message) => {
    const receipt = { userOpHash: Hex.random(32), txHash: Hex.random(32), account: PAYEE };
    const asked = verify(receipt, { ...orderOf(), ...wrong } as PaymentOrder);
    const error = await asked.catch((cause: unknown) => cause);
    expect(error).toBeInstanceOf(TypeError);
    expect((error as TypeError).message).toMatch(message);
  });

  test('no order at all is one, too', async () => {
    const receipt = { userOpHash: Hex.random(32) };
    expect(await settled(verify(receipt, undefined as never))).toThrow('order.origin is missing');
  });
});

describe('tokens', () => {
  const paid = async (trick: number) => {
    const account = await createPayer(rpc, 2);
    const token = await create2(rpc, TrickToken?.bytecode ?? '0x', Hex.random(32));
    for (const data of [
      encode('function set(uint8 to)', trick),
      encode('function mint(address to, uint256 amount)', account.address, 10_000_000n),
    ])
      await sendTransaction(rpc, bob, { to: token, data });
    const order = orderOf({ token });
    return { order, account, receipt: await payOrder(rpc, account, order) };
  };

  test('an honest one', async () => {
    const { order, receipt } = await paid(0);
    expect(await verify(receipt, order)).toMatchObject({ status: 'paid' });
  });

  test.each([
    ['that keeps a fee', 1],
    ['that says true and moves nothing', 2],
    ['that says false', 3],
    ['that turns its event around', 4],
  ])('one %s has not paid, though the operation succeeded', async (_, trick) => {
    const { order, receipt } = await paid(trick);
    expect(await verify(receipt, order)).toEqual({ status: 'unpaid', reason: 'no_transfer' });
  });

  test('a contract that is no token at all', async () => {
    const token = await create2(rpc, '0x6a60065f5260205ff3600052600b6015f3', Hex.random(32));
    const account = await createPayer(rpc, 1);
    const order = orderOf({ token });
    expect(await verify(await payOrder(rpc, account, order), order)).toMatchObject({ reason: 'no_transfer' });
  });
});

describe('one transfer is counted once', () => {
  test("a transfer of a neighbour in the bundle is not the operation's own", async () => {
    const account = await createPayer(rpc, 2);
    await payOrder(rpc, account, orderOf());
    const [paid, empty] = [orderOf({ token: USDC }), orderOf({ token: USDC })];
    const operations = [await paymentOf(rpc, account, paid), await paymentOf(rpc, account, empty, [])] as const;
    const [, receipt] = await settle(rpc, account, ...operations);
    expect(await verify(receipt as PaymentReceipt, empty)).toMatchObject({ status: 'unpaid', reason: 'no_transfer' });
  });

  test('nor one that was made between two bundles of one transaction', async () => {
    const [first, second] = [orderOf({ token: USDC }), orderOf({ token: USDC })];
    const nothing = perform(PAYEE, 0n);
    const operations = [
      await unsigned(fake.address, first, nothing),
      await unsigned(fake.address, second, nothing),
    ] as const;
    const transfer = paymentCall(first);
    const run = encode(
      'function run(address[] targets, bytes[] data)',
      [fake.entryPoint, fake.address, fake.entryPoint],
      [handleOpsData(operations[0]), perform(transfer.target, 0n, transfer.data), handleOpsData(operations[1])],
    );
    const { transactionHash: txHash } = await sendTransaction(rpc, bob, { to: tricks, data: run });
    for (const [i, order] of [first, second].entries()) {
      const receipt = receiptFor(fake.entryPoint, operations[i] as Operation, txHash);
      expect(await verify(receipt, order)).toMatchObject({ status: 'unpaid', reason: 'no_transfer' });
    }
  });

  test('nor one of an operation that it carried to another EntryPoint', async () => {
    const [inner, outer] = [orderOf({ token: USDC }), orderOf({ token: USDC })];
    const transfer = paymentCall(inner);
    const carried = await unsigned(fake.address, inner, perform(transfer.target, 0n, transfer.data));
    const carry = perform(ENTRY_POINTS['0.7'], 0n, handleOpsData(carried));
    const carrying = { ...(await unsigned(fake.address, outer, carry)), callGasLimit: 4_000_000n };
    const [receipt] = await settle(rpc, { entryPoint: ENTRY_POINTS['0.8'] }, carrying);
    const innerReceipt = receiptFor(ENTRY_POINTS['0.7'], carried, receipt.txHash);
    expect(await verify(innerReceipt, inner)).toMatchObject({ status: 'paid' });
    expect(await verify(receipt, outer)).toMatchObject({ status: 'unpaid', reason: 'no_transfer' });
  });
});

describe('ether is unverifiable', () => {
  test("from a payer's own contract, whose execute does nothing", async () => {
    const order = orderOf();
    const [receipt] = await settle(rpc, fake, await unsigned(fake.address, order, execute(order)));
    expect(await verify(receipt, order)).toEqual({ status: 'unverifiable', reason: 'other_account_code' });
  });

  test('from a contract that had other code when it "paid", and has ours since', async () => {
    const order = orderOf();
    const code = '0x60003560e01c63b61d27f61460145760206000f35b33ff';
    const deployed = AbiFunction.from('function deployed() view returns (address)');
    const answer = await rpc('eth_call', [{ to: tricks, data: AbiFunction.encodeData(deployed) }, 'latest']);
    const sender = AbiFunction.decodeResult(deployed, answer as Hex.Hex);
    const factoryData = encode('function deploy(bytes code)', code);
    const operation = { ...(await unsigned(sender, order, execute(order))), factory: tricks, factoryData };
    const [receipt] = await settle(rpc, fake, operation);
    expect(await rpc('eth_getCode', [sender, 'latest'])).toBe('0x');
    const honest = await createPayer(rpc, 1);
    await payOrder(rpc, honest, orderOf());
    const ours = (await rpc('eth_getCode', [honest.address, 'latest'])) as Hex.Hex;
    await sendTransaction(rpc, bob, { to: tricks, data: encode('function deploy(bytes code)', ours) });
    expect(await rpc('eth_getCode', [sender, 'latest'])).toBe(ours);
    expect(await verify(receipt, order)).toEqual({ status: 'unverifiable', reason: 'other_account_code' });
  });

  test('in a bundle that another contract carried to the EntryPoint', async () => {
    const account = await createPayer(rpc, 1);
    const order = orderOf();
    const operation = await paymentOf(rpc, account, order);
    const run = encode(
      'function run(address[] targets, bytes[] data)',
      [account.entryPoint],
      [handleOpsData(operation)],
    );
    const { transactionHash: txHash } = await sendTransaction(rpc, bob, { to: tricks, data: run });
    const receipt = receiptFor(account.entryPoint, operation, txHash);
    expect(await verify(receipt, order)).toEqual({ status: 'unverifiable', reason: 'no_input' });
  });

  test('by a call of the account to itself', async () => {
    const account = await createPayer(rpc, 2);
    const order = orderOf();
    const calls = [{ target: account.address, data: execute(order) }];
    const [receipt] = await settle(rpc, account, await paymentOf(rpc, account, order, calls));
    expect(await verify(receipt, order)).toEqual({ status: 'unverifiable', reason: 'other_call' });
  });

  test('in an input that shows another call than the one that the EntryPoint got', async () => {
    const account = await createPayer(rpc, 1);
    const order = orderOf();
    const nothing = await paymentOf(rpc, account, order, [{ target: account.address }]);
    const kept = encode('function keep(address target, bytes data)', account.entryPoint, handleOpsData(nothing));
    await sendTransaction(rpc, bob, { to: tricks, data: kept });
    const shown = handleOpsData(await paymentOf(rpc, account, order));
    const { transactionHash: txHash } = await sendTransaction(rpc, bob, { to: tricks, data: shown });
    const receipt = receiptFor(account.entryPoint, nothing, txHash);
    expect(await verify(receipt, order)).toEqual({ status: 'unverifiable', reason: 'no_input' });
  });

  test('by another function of the account', async () => {
    const account = await createPayer(rpc, 2);
    const order = orderOf();
    const calls = AbiParameters.encode(AbiParameters.from(['(address to, uint256 value, bytes data)[]']), [
      [{ to: PAYEE, value: BigInt(order.amount), data: '0x' }],
    ]);
    const callData = encode('function execute(bytes32 mode, bytes data)', Hex.padRight('0x01', 32), calls);
    const operation = await paymentOf(rpc, account, order);
    const [receipt] = await settle(rpc, account, await signUntil(rpc, account, { ...operation, callData }));
    expect(await verify(receipt, order)).toEqual({ status: 'unverifiable', reason: 'other_call' });
  });
});

describe('a second account that was upgraded to what pays nothing', () => {
  const upgrade = async (account: SmartAccount) =>
    paymentOf(rpc, account, orderOf(), [
      {
        target: account.address,
        data: encode('function upgradeToAndCall(address to, bytes data)', fake.address, '0x'),
      },
    ]);
  const restore = (to: string) => encode('function restore(address implementation)', to);
  const NONE = '0x0000000000000000000000000000000000000000';

  test('and back within one block: unverifiable', async () => {
    const account = await createPayer(rpc, 2);
    await payOrder(rpc, account, orderOf());
    const order = orderOf();
    const upgraded = handleOpsData(await upgrade(account));
    const payment = await unsigned(account.address, order, execute(order));
    const block = [
      { to: account.entryPoint, data: upgraded },
      { to: account.entryPoint, data: handleOpsData(payment) },
      { to: account.address, data: restore(NONE) },
    ];
    await rpc('evm_setAutomine', [false]);
    const from = devAccount('bob').address;
    const hashes: Hex.Hex[] = [];
    for (const call of block)
      hashes.push((await rpc('eth_sendTransaction', [{ from, gas: '0x2dc6c0', ...call }])) as Hex.Hex);
    await rpc('anvil_mine', ['0x1']);
    await rpc('evm_setAutomine', [true]);
    const receipts = await Promise.all(hashes.map((hash) => waitForReceipt(rpc, hash)));
    expect(new Set(receipts.map(({ blockNumber }) => blockNumber)).size).toBe(1);
    const receipt = receiptFor(account.entryPoint, payment, hashes[1] as Hex.Hex);
    expect(await verify(receipt, order)).toEqual({ status: 'unverifiable', reason: 'upgraded' });
  });

  test('before, and restored without a word after: unverifiable, with and without the state of that time', async () => {
    const account = await createPayer(rpc, 2);
    await payOrder(rpc, account, orderOf());
    const order = orderOf();
    await settle(rpc, account, await upgrade(account));
    const [receipt] = await settle(rpc, account, await unsigned(account.address, order, execute(order)));
    await sendTransaction(rpc, bob, { to: account.address, data: restore(NONE) });
    await rpc('anvil_mine', ['0x10']);
    expect(await verify(receipt, order)).toEqual({ status: 'unverifiable', reason: 'upgraded' });
    const verdict = await verifyPayment(receipt, order, withoutState(), { finalityBlocks: 0 });
    expect(verdict).toEqual({ status: 'unverifiable', reason: 'upgraded' });
  });

  test('an account that never was needs no state of that time, but then all its logs', async () => {
    const account = await createPayer(rpc, 2);
    const order = orderOf();
    const receipt = await payOrder(rpc, account, order);
    const verdict = await verifyPayment(receipt, order, withoutState(), { finalityBlocks: 0 });
    expect(verdict).toMatchObject({ status: 'paid' });
    const nothing = await verifyPayment(receipt, order, withoutState('eth_getLogs'), { finalityBlocks: 0 });
    expect(nothing).toEqual({ status: 'unverifiable', reason: 'no_state' });
  });

  /** A node that keeps no state of old blocks, and refuses some methods. */
  function withoutState(...refused: readonly string[]) {
    return (method: string, params: readonly unknown[]) =>
      method === 'eth_getStorageAt' || refused.includes(method)
        ? Promise.reject(new Error('missing trie node'))
        : rpc(method, params);
  }
});
