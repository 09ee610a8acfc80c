import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { Hex } from 'ox';
import { type Chain, type ChainRpc, startChain } from '../../../scripts/dev-stack/chain.ts';
import { deployEntryPoints, ENTRY_POINTS } from '../../../scripts/dev-stack/entrypoints.ts';
import { mintUsdc, placeUsdc, USDC } from '../../../scripts/dev-stack/usdc.ts';
import type { Operation, SmartAccount } from '../../../scripts/dev-stack/user-operation.ts';
import { toRpc } from '../../../scripts/dev-stack/user-operation.ts';
import { createdAccount2, timeOf } from '../../support/account2.ts';
import { testClock } from '../../support/clock.ts';
import { type Forwarder, startForwarder } from '../../support/forwarder.ts';
import { handleOps } from '../../support/operations.ts';
import { freshNonce, type OrderTerms, paymentCall, signedOperation } from '../../support/payment-operations.ts';
import { echo, errorOf, resultOf, startUpstream, type Upstream } from '../../support/upstream.ts';
import { startVault, type TestVault } from '../../support/vault.ts';

const PAYEE = '0x00000000000000000000000000000000000a11ce';
const TEA: OrderTerms = { to: PAYEE, token: USDC, amount: 1_250_000n };
const ETHER: OrderTerms = { to: PAYEE, token: 'native', amount: 1_000n };
const entryPoint = ENTRY_POINTS['0.7'];
const FINALITY_BLOCKS = 2;

let chain: Chain;
let rpc: ChainRpc;
let node: Forwarder;
let bundler: Upstream;
let account: SmartAccount;
let t: TestVault;
beforeAll(async () => {
  chain = await startChain();
  ({ rpc } = chain);
  await deployEntryPoints(rpc, ['0.7', '0.8']);
  await placeUsdc(rpc);
  account = await createdAccount2(rpc);
  await mintUsdc(rpc, account.address, 1_000_000_000n);
});
afterAll(() => chain.stop());
beforeEach(async () => {
  node = startForwarder(chain.url);
  bundler = startUpstream();
  // What ends, ends by the chain's time.
  t = await startVault(vars(), { clock: testClock((await timeOf(rpc)) * 1000) });
  // The tables are made at first use.
  await t.call('GET /readyz');
});
afterEach(async () => {
  await t.stop();
  await node.stop();
  await bundler.stop();
});

const vars = () => ({
  RPC_URL: node.url,
  CHAIN_ID: '84532',
  BUNDLER_URL: bundler.url,
  ENTRY_POINT_ADDRESS: entryPoint,
  ACCOUNT_FACTORY_2_ADDRESS: account.factory,
  FINALITY_BLOCKS: String(FINALITY_BLOCKS),
  RATE_LIMIT_PROXY_PER_IP: '100000',
});

const mine = (blocks = FINALITY_BLOCKS) => rpc('anvil_mine', [Hex.fromNumber(blocks)]);
const post = (operation: Operation, vault = t) =>
  vault.call('POST /api/bundler', {
    jsonrpc: '2.0',
    id: 1,
    method: 'eth_sendUserOperation',
    params: [toRpc(operation), entryPoint],
  });
const sign = (terms: OrderTerms, nonce = freshNonce(), by = account) =>
  signedOperation(rpc, by, nonce, [paymentCall(terms)]);

/** The watch looks again: all that it waits for is over. */
async function look(vault: TestVault = t): Promise<void> {
  await vault.clock.advance(31_000);
  await vault.work();
}

async function settledEvents(vault: TestVault = t) {
  const rows = await vault.rows("SELECT channel, data FROM events WHERE type = 'payment.settled' ORDER BY id");
  return rows.map(({ channel, data }) => ({ channel, ...JSON.parse(String(data)) }));
}

const open = async (vault: TestVault = t) => {
  const [row] = await vault.rows("SELECT count(*) AS n FROM payments WHERE status = 'open'");
  return Number(row?.['n']);
};

describe.each([
  ['a token', TEA],
  ['ether', ETHER],
])('a payment of %s that went through the bundler', (_, terms) => {
  test('is payment.settled once it is final, exactly once', async () => {
    const { operation, userOpHash } = await sign(terms);
    expect((await post(operation)).status).toBe(200);
    await look();
    expect(await settledEvents()).toEqual([]);
    const { logs } = await handleOps(rpc, entryPoint, operation);
    await look();
    // In a block, but not final.
    expect(await settledEvents()).toEqual([]);
    await mine();
    for (let looks = 0; looks < 3; looks++) await look();
    expect(await settledEvents()).toEqual([
      {
        channel: 'payments',
        account: account.address.toLowerCase(),
        to: PAYEE,
        token: terms.token.toLowerCase(),
        amount: String(terms.amount),
        chain_id: 84532,
        user_op_hash: userOpHash,
        tx_hash: logs[0]?.transactionHash as string,
        block: Number(logs[0]?.blockNumber),
        nonce: Hex.fromNumber(operation.nonce),
      },
    ]);
    expect(await open()).toBe(0);
  });

  test('is no payment.settled when the call reverted', async () => {
    const { operation } = await sign({ ...terms, amount: 10n ** 30n });
    await post(operation);
    await handleOps(rpc, entryPoint, operation);
    await mine();
    await look();
    expect([await settledEvents(), await open()]).toEqual([[], 0]);
  });

  test('is found under another hash: re-priced, or from another device', async () => {
    const { operation } = await sign(terms);
    await post(operation);
    const other = await signedOperation(rpc, account, operation.nonce, [paymentCall(terms)], {
      preVerificationGas: 70_000n,
    });
    await handleOps(rpc, entryPoint, other.operation);
    await mine();
    await look();
    expect(await settledEvents()).toMatchObject([{ user_op_hash: other.userOpHash }]);
  });
});

describe('whatever the bundler says', () => {
  test.each([
    ['takes it', echo],
    ['refuses it', (call) => errorOf(call, { code: -32500, message: 'AA21' })],
    ['fails', () => new Response('', { status: 503 })],
  ] satisfies [string, Upstream['answer']][])('a bundler that %s, and includes it, settles it', async (_, answer) => {
    bundler.answer = answer;
    const { operation } = await sign(TEA);
    await post(operation);
    await handleOps(rpc, entryPoint, operation);
    await mine();
    await look();
    expect(await settledEvents()).toHaveLength(1);
  });

  test('M2: its receipts of other hashes settle nothing', async () => {
    const { operation } = await sign(TEA);
    const paid = await sign(TEA);
    const { logs } = await handleOps(rpc, entryPoint, paid.operation);
    bundler.answer = (call) => resultOf(call, { receipt: { transactionHash: logs[0]?.transactionHash } });
    await post(operation);
    await mine();
    await look();
    expect([await settledEvents(), await open()]).toEqual([[], 1]);
  });

  test('what is no payment is not watched: a batch, a call of something else, a nonce of no order', async () => {
    const nonce = freshNonce();
    const calls = [paymentCall(TEA)];
    const others = await Promise.all([
      signedOperation(rpc, account, nonce, []),
      signedOperation(rpc, account, nonce, [...calls, ...calls]),
      signedOperation(rpc, account, nonce, [{ target: USDC, data: '0x12345678' }]),
      signedOperation(rpc, account, nonce, [{ target: PAYEE, value: 0n }]),
      signedOperation(rpc, account, nonce + 1n, calls),
      signedOperation(rpc, account, 5n, calls),
    ]);
    for (const { operation } of others) expect((await post(operation)).status).toBe(200);
    expect(await open()).toBe(0);
  });
});
