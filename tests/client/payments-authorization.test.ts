import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { AbiEvent, AbiFunction, type Address, Hex, Secp256k1, Signature } from 'ox';
import { AUTHORIZATION_USED } from '../../client/operations.ts';
import { type AuthorizationReceipt, type PaymentOrder, verifyPayment } from '../../client/payments.ts';
import { compileContracts } from '../../scripts/contracts.ts';
import { startChain } from '../../scripts/dev-stack/chain.ts';
import { create2 } from '../../scripts/dev-stack/create2.ts';
import { mintUsdc, placeUsdc } from '../../scripts/dev-stack/usdc.ts';
import { devAccount, sendTransaction, waitForReceipt } from '../../scripts/dev-stack/wallet.ts';
import {
  type Authorization,
  authorizationCall,
  authorizationDigest,
  authorizationOf,
  settleAuthorization,
  signAuthorization,
} from '../support/authorizations.ts';
import { createPayer, orderOf, PAYEE, paymentOf, payOrder, settle, USDC } from '../support/payers.ts';
import { paymentCall } from '../support/payment-operations.ts';
import { settled } from '../support/settled.ts';

const { rpc, url, stop } = await startChain();
afterAll(stop);
const { Tricks, FakePayer } = await compileContracts();
const alice = devAccount('alice');
const { privateKey: bob } = devAccount('bob');
const CAROL = '0x000000000000000000000000000000000000ca20';
let tricks: Address.Address;
beforeAll(async () => {
  await placeUsdc(rpc);
  await mintUsdc(rpc, alice.address, 100_000_000n);
  tricks = await create2(rpc, Tricks?.bytecode ?? '0x');
});

const teaFor = (more: Partial<PaymentOrder> = {}) => orderOf({ token: USDC, ...more });
const receiptOf = (account: string, txHash?: string): AuthorizationReceipt => ({
  ...{ by: 'authorization', account, txHash },
  chainId: 84532,
});
const verify = (receipt: AuthorizationReceipt, order: PaymentOrder, options = {}) =>
  verifyPayment(receipt, order, url, { finalityBlocks: 0, ...options });
const signedByAlice = (authorization: Authorization) =>
  Signature.toHex(Secp256k1.sign({ payload: authorizationDigest(authorization), privateKey: alice.privateKey }));

/** An order that an address paid, as a facilitator settles it. */
async function paidByAlice(order = teaFor()) {
  const authorization = await authorizationOf(alice.address, order);
  const call = authorizationCall(authorization, signedByAlice(authorization));
  const { transactionHash } = await sendTransaction(rpc, bob, call);
  return { order, authorization, call, receipt: receiptOf(alice.address, transactionHash) };
}

/** Calls in one transaction. */
async function together(...calls: readonly { readonly to: Address.Address; readonly data: Hex.Hex }[]) {
  const run = AbiFunction.from('function run(address[] targets, bytes[] data)');
  const data = AbiFunction.encodeData(run, [calls.map(({ to }) => to), calls.map((call) => call.data)]);
  return (await sendTransaction(rpc, bob, { to: tricks, data })).transactionHash;
}

async function callByAlice(order: PaymentOrder, more: Partial<Authorization> = {}) {
  const authorization = await authorizationOf(alice.address, order, more);
  return authorizationCall(authorization, signedByAlice(authorization));
}

describe('a payment by authorization is paid', () => {
  test.each([1, 2] as const)('from an account of kind %d, before and after it exists', async (kind) => {
    const account = await createPayer(rpc, kind);
    for (const order of [teaFor(), teaFor()]) {
      const authorization = await authorizationOf(account.address, order);
      const txHash = await settleAuthorization(rpc, account, authorization);
      const { number, hash, timestamp } = (await rpc('eth_getBlockByNumber', ['latest', false])) as Record<
        'number' | 'hash' | 'timestamp',
        string
      >;
      const paid = { status: 'paid', by: 'authorization', final: true, nonce: authorization.nonce, txHash } as const;
      const at = { block: Number(number), blockHash: hash, time: Number(timestamp) };
      const verdict = { ...paid, ...at, account: account.address.toLowerCase() };
      expect(await verify(receiptOf(account.address, txHash), order)).toEqual(verdict);
      // Without the transaction the newest blocks are searched.
      expect(await verify(receiptOf(account.address), order)).toEqual(verdict);
    }
  });

  test('from an address, and by the first who sent it', async () => {
    const { order, call, receipt } = await paidByAlice();
    expect(await verify(receipt, order)).toMatchObject({ status: 'paid', account: alice.address.toLowerCase() });
    // The facilitator's own transaction comes second, and reverts.
    const from = devAccount('bob').address;
    const late = (await rpc('eth_sendTransaction', [{ from, gas: '0x7a120', ...call }])) as Hex.Hex;
    expect(await settled(waitForReceipt(rpc, late))).toThrow('reverted');
    expect(await verify(receiptOf(alice.address, late), order)).toMatchObject({ txHash: receipt.txHash });
  });

  test('from an account that runs other code by now: the token moved it, and the code is not looked at', async () => {
    const account = await createPayer(rpc, 2);
    await payOrder(rpc, account, orderOf());
    const upgradeTo = AbiFunction.from('function upgradeToAndCall(address to, bytes data)');
    const data = AbiFunction.encodeData(upgradeTo, [await create2(rpc, FakePayer?.bytecode ?? '0x'), '0x']);
    await settle(rpc, account, await paymentOf(rpc, account, orderOf(), [{ target: account.address, data }]));
    const order = teaFor();
    const authorization = await authorizationOf(account.address, order);
    const txHash = await settleAuthorization(rpc, account, authorization, '0x');
    expect(await verify(receiptOf(account.address, txHash), order)).toMatchObject({ status: 'paid', txHash });
  });

  test('the log is that of EIP-3009', () => {
    const event = 'event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)';
    expect(AUTHORIZATION_USED).toBe(AbiEvent.getSelector(AbiEvent.from(event)));
  });
});

describe('an authorization pays the order of its nonce, and no other', () => {
  const waiting = { status: 'pending', reason: 'no_operation' } as const;

  test('not order 2 of the same customer, nor that of another shop or frame', async () => {
    const { order, receipt } = await paidByAlice();
    for (const other of [{ id: 'order-2' }, { origin: 'https://other.example' }, { frame: 'https://frame.example' }])
      expect(await verify(receipt, { ...order, ...other })).toEqual(waiting);
  });

  test.each([
    ['another payee', { to: CAROL }],
    ['more', { amount: '1250001' }],
    ['less', { amount: '1249999' }],
  ])('not %s under the same id', async (_, other) => {
    const { order, receipt } = await paidByAlice();
    expect(await verify(receipt, { ...order, ...other })).toEqual({ status: 'unpaid', reason: 'no_transfer' });
    const early = { finalityBlocks: 1 };
    expect(await verify(receipt, { ...order, ...other }, early)).toEqual({ status: 'pending', reason: 'not_final' });
  });

  test('not in another token, nor by the log of another contract', async () => {
    const { order, receipt } = await paidByAlice();
    const foreign = '0x000000000000000000000000000000000000F04e';
    await placeUsdc(rpc, foreign);
    expect(await verify(receipt, { ...order, token: foreign })).toEqual(waiting);
    // The same code at an address of the payer's choice, in whose coin they are rich.
    await mintUsdc(rpc, alice.address, 100_000_000n, foreign);
    const tea = teaFor();
    const authorization = await authorizationOf(alice.address, tea);
    const payload = authorizationDigest(authorization, { verifyingContract: foreign });
    const signature = Signature.toHex(Secp256k1.sign({ payload, privateKey: alice.privateKey }));
    const call = authorizationCall(authorization, signature, foreign);
    const { transactionHash } = await sendTransaction(rpc, bob, call);
    expect(await verify(receiptOf(alice.address, transactionHash), tea)).toEqual(waiting);
  });

  test('not of another account than the receipt names', async () => {
    const { order, receipt } = await paidByAlice();
    expect(await verify({ ...receipt, account: PAYEE }, order)).toEqual(waiting);
  });

  test('not on another chain', async () => {
    const { order, receipt } = await paidByAlice();
    const elsewhere = { status: 'unverifiable', reason: 'other_chain' } as const;
    expect(await verify({ ...receipt, chainId: 8453 }, order)).toEqual(elsewhere);
    const asked = verify({ ...receipt, chainId: 8453 }, { ...order, chainId: 8453 });
    expect(await settled(asked)).toThrow('chain 84532, not 8453');
  });

  test('not to the payer themselves', async () => {
    const { order, receipt } = await paidByAlice(teaFor({ to: alice.address }));
    expect(await verify(receipt, order)).toEqual({ status: 'unpaid', reason: 'no_transfer' });
  });

  test('not an order of the same id a month later, by `since`', async () => {
    const { order, receipt } = await paidByAlice();
    const { time } = (await verify(receipt, order)) as { readonly time: number };
    expect(await verify(receipt, order, { since: time + 3_601 })).toEqual({ status: 'unpaid', reason: 'too_old' });
    expect(await verify(receipt, order, { since: time + 3_600 })).toMatchObject({ status: 'paid' });
  });

  test('and the token takes it once: a replay reverts, in one transaction too', async () => {
    const { call, order } = await paidByAlice();
    expect(await settled(sendTransaction(rpc, bob, call))).toThrow('authorization is used or canceled');
    // Another amount to another payee under the same nonce.
    const other = await callByAlice(order, { to: CAROL, value: 1n });
    expect(await settled(sendTransaction(rpc, bob, other))).toThrow('authorization is used or canceled');
    const twice = await callByAlice(teaFor());
    expect(await settled(together(twice, twice))).toThrow();
  });
});

describe('one transfer is counted once', () => {
  test('two orders in one transaction are paid by an authorization each', async () => {
    const [first, second] = [teaFor(), teaFor()];
    const txHash = await together(await callByAlice(first), await callByAlice(second));
    for (const order of [first, second])
      expect(await verify(receiptOf(alice.address, txHash), order)).toMatchObject({ status: 'paid', txHash });
  });

  test('a transfer of a neighbour in the transaction is not the authorization’s own', async () => {
    const [paid, unpaid] = [teaFor(), teaFor()];
    const calls = [await callByAlice(unpaid, { to: CAROL }), await callByAlice(paid)] as const;
    for (const [one, other] of [calls, [...calls].reverse()] as const) {
      const txHash = await together(...([one, other] as typeof calls));
      const verdictOf = (order: PaymentOrder) => verify(receiptOf(alice.address, txHash), order);
      expect(await verdictOf(unpaid)).toEqual({ status: 'unpaid', reason: 'no_transfer' });
      expect(await verdictOf(paid)).toMatchObject({ status: 'paid' });
      await rpc('anvil_reorg', [1, []]);
    }
  });

  test('nor is a plain transfer that the payer makes before or behind it', async () => {
    const payer = await create2(rpc, FakePayer?.bytecode ?? '0x');
    await mintUsdc(rpc, payer, 100_000_000n);
    const perform = AbiFunction.from('function perform(address target, uint256 value, bytes data)');
    for (const isBefore of [true, false]) {
      const order = teaFor();
      const elsewhere = authorizationCall(await authorizationOf(payer, order, { to: CAROL }), '0x');
      const { target, data = '0x' } = paymentCall(order);
      const plain = { to: payer, data: AbiFunction.encodeData(perform, [target, 0n, data]) };
      const txHash = await together(...(isBefore ? [plain, elsewhere] : [elsewhere, plain]));
      const verdict = await verify(receiptOf(payer, txHash), order);
      expect(verdict).toEqual({ status: 'unpaid', reason: 'no_transfer' });
    }
  });

  test('an operation that carries an authorization has not paid its own order besides', async () => {
    const account = await createPayer(rpc, 2);
    const [carried, carrying] = [teaFor(), teaFor()];
    const authorization = await authorizationOf(account.address, carried);
    const { to: target, data } = authorizationCall(authorization, signAuthorization(account, authorization));
    const [receipt] = await settle(rpc, account, await paymentOf(rpc, account, carrying, [{ target, data }]));
    expect(await verify(receiptOf(account.address, receipt.txHash), carried)).toMatchObject({ status: 'paid' });
    const verdict = await verifyPayment(receipt, carrying, url, { finalityBlocks: 0 });
    expect(verdict).toEqual({ status: 'unpaid', reason: 'no_transfer' });
    // With a transfer of its own beside it, it has.
    const [other, both] = [teaFor(), teaFor()];
    const next = await authorizationOf(account.address, other);
    const carry = authorizationCall(next, signAuthorization(account, next));
    const calls = [{ target, data: carry.data }, paymentCall(both)] as const;
    const [paid] = await settle(rpc, account, await paymentOf(rpc, account, both, calls));
    expect(await verify(receiptOf(account.address, paid.txHash), other)).toMatchObject({ status: 'paid' });
    expect(await verifyPayment(paid, both, url, { finalityBlocks: 0 })).toMatchObject({ status: 'paid' });
  });

  test('an order that an operation paid is not paid by authorization', async () => {
    const account = await createPayer(rpc, 1);
    const order = teaFor();
    const { txHash } = await payOrder(rpc, account, order);
    const verdict = await verify(receiptOf(account.address, txHash), order);
    expect(verdict).toEqual({ status: 'pending', reason: 'no_operation' });
  });
});

describe('a payment by authorization is pending', () => {
  test('when a re-org took it back, and paid again in another transaction', async () => {
    const { order, call, receipt } = await paidByAlice();
    expect(await verify(receipt, order)).toMatchObject({ status: 'paid', txHash: receipt.txHash });
    await rpc('anvil_reorg', [1, []]);
    expect(await verify(receipt, order)).toEqual({ status: 'pending', reason: 'no_transaction' });
    const txHash = await together(call);
    expect(await verify(receipt, order)).toMatchObject({ status: 'paid', txHash });
  });

  test('in a block that the chain does not have any more', async () => {
    const { order, receipt } = await paidByAlice();
    const ask = async (method: string, params: readonly unknown[]) => {
      const answer = await rpc(method, params as unknown[]);
      return method === 'eth_getBlockByNumber' ? { ...(answer as object), hash: Hex.random(32) } : answer;
    };
    const verdict = await verifyPayment(receipt, order, ask, { finalityBlocks: 0 });
    expect(verdict).toEqual({ status: 'pending', reason: 'not_canonical' });
  });

  test('and final where a payment by an operation is', async () => {
    const { order, receipt } = await paidByAlice();
    expect(await verifyPayment(receipt, order, url)).toMatchObject({ status: 'paid', final: false });
    await rpc('anvil_mine', ['0x64']);
    expect(await verifyPayment(receipt, order, url)).toMatchObject({ status: 'paid', final: true });
  });

  test('before anybody sent it, and where the node does not search', async () => {
    const order = teaFor();
    const unsent = { status: 'pending', reason: 'no_transaction' } as const;
    expect(await verify(receiptOf(alice.address), order)).toEqual(unsent);
    expect(await verify(receiptOf(alice.address, Hex.random(32)), order)).toEqual(unsent);
  });
});

test.each<[string, object, string]>([
  ['without an account', { account: undefined }, USDC],
  ['with an account that is none', { account: 'alice' }, USDC],
  ['with a transaction that is none', { txHash: '0x' }, USDC],
  ['for ether', {}, 'native'],
])('a receipt of an authorization %s is none', async (_, wrong, token) => {
  const receipt = { ...receiptOf(alice.address), ...wrong } as AuthorizationReceipt;
  expect(await verify(receipt, orderOf({ token }))).toEqual({ status: 'unverifiable', reason: 'bad_receipt' });
});
