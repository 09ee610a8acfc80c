import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { Hex } from 'ox';
import { DAY_MS, HOUR_MS } from '../../../lib/base/clock.ts';
import { FRESH_BLOCKS } from '../../../lib/chain/entry-point.ts';
import { WATCH_MS } from '../../../lib/payments/store.ts';
import { signUntil } from '../../../scripts/dev-stack/account2.ts';
import { mintUsdc } from '../../../scripts/dev-stack/usdc.ts';
import type { SmartAccount } from '../../../scripts/dev-stack/user-operation.ts';
import { createdAccount2, setTime, timeOf } from '../../support/account2.ts';
import { temporaryFolder, unreachable } from '../../support/databases.ts';
import { startForwarder, type Trouble } from '../../support/forwarder.ts';
import { handleOps } from '../../support/operations.ts';
import { freshNonce, handleCalls, paymentCall, signedOperation } from '../../support/payment-operations.ts';
import {
  ETHER,
  look,
  openPayments,
  type SettlingWorld,
  settledEvents,
  startSettling,
  TEA,
} from '../../support/settling.ts';
import { echo, errorOf } from '../../support/upstream.ts';
import type { TestVault } from '../../support/vault.ts';

let world: SettlingWorld;
let account: SmartAccount;
let t: TestVault;
beforeAll(async () => {
  world = await startSettling();
  account = await createdAccount2(world.rpc);
  await mintUsdc(world.rpc, account.address, 1_000_000_000n);
});
afterAll(() => world.stop());
beforeEach(async () => {
  world.node.trouble = undefined;
  world.bundler.answer = echo;
  t = await world.start();
});
afterEach(() => t.stop());

const sign = () => signedOperation(world.rpc, account, freshNonce(), [paymentCall(TEA)]);
const handle = ({ operation }: Awaited<ReturnType<typeof sign>>) => handleOps(world.rpc, account.entryPoint, operation);
/** A payment that a vault was given, handled and final. */
async function paid(vault: TestVault = t) {
  const payment = await sign();
  await world.post(vault, payment.operation);
  await handle(payment);
  await world.mine();
  return payment;
}

describe('several vaults', () => {
  test('on one database raise one event, however they race', async () => {
    const { path, remove } = temporaryFolder();
    const [one, two] = [await world.start({}, { dir: path }), await world.start({}, { dir: path })];
    for (let i = 0; i < 5; i++) await paid(i % 2 === 0 ? one : two);
    for (let looks = 0; looks < 2; looks++) await Promise.all([look(one), look(two)]);
    // The lease of the one that looked first is over.
    await look(two);
    expect(await settledEvents(one)).toHaveLength(5);
    expect(await openPayments(two)).toBe(0);
    await Promise.all([one.stop(), two.stop()]);
    remove();
  });

  test('one that ends between sending and settling is followed by the next', async () => {
    const { path, remove } = temporaryFolder();
    const first = await world.start({}, { dir: path });
    const payment = await sign();
    await world.post(first, payment.operation);
    await first.stop();
    await handle(payment);
    await world.mine(200);
    const second = await world.start({}, { dir: path });
    await look(second);
    expect(await settledEvents(second)).toMatchObject([{ user_op_hash: payment.userOpHash }]);
    await second.stop();
    remove();
  });

  test('one that ends while the bundler is asked has written it down before', async () => {
    const payment = await sign();
    let asked = -1;
    world.bundler.answer = async (call) => {
      asked = await openPayments(t);
      return echo(call, new Request('http://127.0.0.1'));
    };
    await world.post(t, payment.operation);
    expect(asked).toBe(1);
  });
});

describe('the chain', () => {
  test('a re-org that takes it back, and one that puts it elsewhere, raise one event of the final place', async () => {
    const payment = await sign();
    await world.post(t, payment.operation);
    await handle(payment);
    await look(t);
    await world.rpc('anvil_reorg', [1, []]);
    await look(t);
    expect([await settledEvents(t), await openPayments(t)]).toEqual([[], 1]);
    await world.mine(3);
    const { logs } = await handle(payment);
    await world.mine();
    await look(t);
    expect(await settledEvents(t)).toMatchObject([{ block: Number(logs[0]?.blockNumber) }]);
  });

  test('one that was seen in a block costs no request until that is final; one in no block ever fewer', async () => {
    const [seen, waiting] = [await sign(), await sign()];
    await world.post(t, seen.operation);
    await handle(seen);
    await look(t);
    const asked = async (ms: number) => {
      const before = world.node.methods.length;
      await t.clock.advance(ms);
      await t.work();
      return world.node.methods.slice(before).filter((method) => method === 'eth_call').length;
    };
    for (let looks = 0; looks < 5; looks++) expect(await asked(11_000)).toBe(0);
    await world.post(t, waiting.operation);
    let looks = 0;
    for (let minute = 0; minute < 60; minute++) if ((await asked(60_000)) > 0) looks++;
    expect(looks).toBeLessThan(30);
    expect(await openPayments(t)).toBe(2);
    await world.mine();
    await look(t);
    expect(await settledEvents(t)).toHaveLength(1);
  });

  test('what was signed ends by the time of a final block, never by the clock', async () => {
    const draft = await sign();
    const validUntil = (await timeOf(world.rpc)) + 120;
    const operation = await signUntil(world.rpc, account, draft.operation, undefined, validUntil);
    await world.post(t, operation);
    await t.clock.advance(HOUR_MS);
    await look(t);
    expect(await openPayments(t)).toBe(1);
    await setTime(world.rpc, validUntil + 1);
    await look(t);
    // The block of that time is not final yet.
    expect(await openPayments(t)).toBe(1);
    await world.mine();
    await look(t);
    expect([await settledEvents(t), await openPayments(t)]).toEqual([[], 0]);
  });

  test('what never ends is watched for a day, whether the bundler took it or has not answered', async () => {
    await world.post(t, (await sign()).operation);
    world.bundler.answer = () => new Response(null, { status: 500 });
    await world.post(t, (await sign()).operation);
    // The time of a chain of its own is no reason.
    await world.rpc('evm_increaseTime', [30 * 86_400]);
    await world.mine();
    await look(t);
    expect(await openPayments(t)).toBe(2);
    await t.clock.advance(WATCH_MS);
    await look(t);
    expect([await settledEvents(t), await openPayments(t)]).toEqual([[], 0]);
  });

  test('a nonce that was spent without an operation is given up after two days, with no event', async () => {
    const payment = await sign();
    await world.post(t, payment.operation);
    const key = (payment.operation.nonce >> 64n).toString(16).padStart(64, '0');
    const data = `0x0bd28e3b${key}` as const;
    await handleCalls(world.rpc, account, freshNonce(), [{ target: account.entryPoint, data }]);
    await world.mine();
    const query = { account: account.address, nonce: `0x${payment.operation.nonce.toString(16)}` };
    expect((await t.call('GET /pay/outcome', query)).body).toMatchObject({ spentFinal: true, operation: null });
    await look(t);
    expect(await openPayments(t)).toBe(1);
    await t.clock.advance(2 * DAY_MS);
    await look(t);
    expect([await settledEvents(t), await openPayments(t)]).toEqual([[], 0]);
  });
});

describe('a node', () => {
  const calls = (body: string) => [JSON.parse(body)].flat() as { id: number; method: string; params: unknown[] }[];
  /** Answers some methods with something else. */
  const instead =
    (method: string, answer: object): Trouble =>
    async (forward, _, body) => {
      const off = new Set(calls(body).flatMap((call) => (call.method === method ? [call.id] : [])));
      const answers = [(await (await forward()).json()) as { id: number }].flat();
      const all = answers.map((one) => (off.has(one.id) ? { jsonrpc: '2.0', id: one.id, ...answer } : one));
      return Response.json(Array.isArray(JSON.parse(body)) ? all : all[0]);
    };

  test.each<[string, Trouble]>([
    ['is away', () => new Response('', { status: 503 })],
    ['refuses eth_getLogs', instead('eth_getLogs', { error: { code: -32601, message: 'no' } })],
    ['shows no logs', instead('eth_getLogs', { result: [] })],
    ['shows no receipt', instead('eth_getTransactionReceipt', { result: null })],
    ['answers nonsense', instead('eth_call', { result: '0x12' })],
    ['is on another chain’s block', instead('eth_getBlockByNumber', { result: null })],
  ])('that %s ends no watch, and raises no event; one that mends is believed', async (_, trouble) => {
    world.node.trouble = trouble;
    await paid();
    // What was looked for in vain is looked for again.
    await world.mine(2 * FRESH_BLOCKS);
    for (let looks = 0; looks < 8; looks++) await look(t);
    expect([await settledEvents(t), await openPayments(t)]).toEqual([[], 1]);
    world.node.trouble = undefined;
    await look(t);
    await look(t);
    expect(await settledEvents(t)).toHaveLength(1);
  });

  test('that does not show at first whether ether moved is asked again, however long a final block was waited for', async () => {
    const payment = await signedOperation(world.rpc, account, freshNonce(), [paymentCall(ETHER)]);
    await world.post(t, payment.operation);
    await handle(payment);
    for (let looks = 0; looks < 30; looks++) await look(t);
    world.node.trouble = instead('eth_getTransactionByHash', { result: null });
    await world.mine();
    await look(t);
    expect([await settledEvents(t), await openPayments(t)]).toEqual([[], 1]);
    world.node.trouble = undefined;
    await look(t);
    expect(await settledEvents(t)).toMatchObject([{ user_op_hash: payment.userOpHash }]);
  });

  test('that never shows whether ether moved is asked for hours, not for days', async () => {
    const payment = await signedOperation(world.rpc, account, freshNonce(), [paymentCall(ETHER)]);
    await world.post(t, payment.operation);
    world.node.trouble = instead('eth_getTransactionByHash', { result: null });
    await handle(payment);
    await world.mine();
    for (let looks = 0; looks < 20; looks++) await look(t);
    expect(await openPayments(t)).toBe(1);
    for (let looks = 0; looks < 10; looks++) await look(t);
    expect([await settledEvents(t), await openPayments(t)]).toEqual([[], 0]);
  });

  test('that did not show whether ether moved to the page that found it is asked again, though the bundler refused it', async () => {
    world.bundler.answer = (call) => errorOf(call, { code: -32500, message: 'AA21' });
    const payment = await signedOperation(world.rpc, account, freshNonce(), [paymentCall(ETHER)]);
    await world.post(t, payment.operation);
    await handle(payment);
    world.node.trouble = instead('eth_getTransactionByHash', { result: null });
    const { sender, nonce } = payment.operation;
    const found = await t.call('GET /pay/outcome', { account: sender, nonce: Hex.fromNumber(nonce), ...ETHER });
    expect(found.body.operation).toMatchObject({ userOpHash: payment.userOpHash, success: true, moved: null });
    world.node.trouble = undefined;
    await world.mine();
    await look(t);
    expect(await settledEvents(t)).toMatchObject([{ user_op_hash: payment.userOpHash }]);
  });

  test('a second one must show it too', async () => {
    const second = startForwarder(world.chain.url);
    const vault = await world.start({ RPC_WITNESS_URL: second.url });
    second.trouble = instead('eth_getTransactionReceipt', { result: null });
    await paid(vault);
    for (let looks = 0; looks < 3; looks++) await look(vault);
    expect([await settledEvents(vault), await openPayments(vault)]).toEqual([[], 1]);
    second.trouble = undefined;
    await look(vault);
    expect(await settledEvents(vault)).toHaveLength(1);
    await vault.stop();
    await second.stop();
  });

  test('that invents a payment is found out by the second one', async () => {
    const second = startForwarder(world.chain.url);
    const vault = await world.start({ RPC_WITNESS_URL: second.url });
    const { operation } = await sign();
    await world.post(vault, operation);
    const spent = `0x${(operation.nonce + 1n).toString(16).padStart(64, '0')}`;
    world.node.trouble = instead('eth_call', { result: spent });
    await look(vault);
    expect([await settledEvents(vault), await openPayments(vault)]).toEqual([[], 1]);
    expect(vault.entries.some(({ event }) => event === 'nodes_disagree')).toBe(true);
    await vault.stop();
    await second.stop();
  });
});

describe('a vault', () => {
  test('that isolates requests watches too', async () => {
    const vault = await world.start({}, { isolatesRequests: true });
    await paid(vault);
    await look(vault);
    expect(await settledEvents(vault)).toHaveLength(1);
    await vault.stop();
  });

  test('whose database is away still sends, and says that nothing was written down', async () => {
    const vault = await world.start({}, { database: unreachable });
    const { operation } = await sign();
    const { status, body } = await world.post(vault, operation);
    expect([status, body]).toEqual([200, { jsonrpc: '2.0', id: 1, result: 'eth_sendUserOperation' }]);
    expect(vault.entries.some(({ event }) => event === 'payment_not_recorded')).toBe(true);
    await vault.stop();
  });

  test('that was asked for an outcome watches what it found, under the app that asked; an old one raises nothing again', async () => {
    const vault = await world.start({ APPS: 'shop' });
    const nonce = freshNonce();
    const since = Number(await world.rpc('eth_blockNumber'));
    const { userOpHash, block } = await handleCalls(world.rpc, account, nonce, [paymentCall(TEA)]);
    const query = { account: account.address, nonce: `0x${nonce.toString(16)}`, since, ...TEA };
    const ask = () => vault.call('GET /pay/outcome', query, { 'X-Vault-App': 'shop' });
    expect((await ask()).body.operation).toMatchObject({ userOpHash, moved: true });
    await world.mine();
    await look(vault);
    expect(await settledEvents(vault)).toMatchObject([{ app: 'shop', user_op_hash: userOpHash, block }]);
    // It answers by what it stored, without a search.
    const before = world.node.methods.length;
    expect((await ask()).body.operation).toMatchObject({ userOpHash, final: true });
    expect(world.node.methods.slice(before)).not.toContain('eth_getLogs');
    await vault.rows('DELETE FROM payments');
    await vault.clock.advance(2 * DAY_MS);
    await ask();
    expect(await openPayments(vault)).toBe(1);
    await look(vault);
    expect(await openPayments(vault)).toBe(0);
    expect(await settledEvents(vault)).toHaveLength(1);
    await vault.stop();
  });
});
