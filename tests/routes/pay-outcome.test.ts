import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { AbiFunction, type Address, Hex } from 'ox';
import { FRESH_BLOCKS, SEARCH_REQUESTS_MAX } from '../../lib/chain/entry-point.ts';
import { type Chain, type ChainRpc, startChain } from '../../scripts/dev-stack/chain.ts';
import { deployEntryPoints, ENTRY_POINTS } from '../../scripts/dev-stack/entrypoints.ts';
import { mintUsdc, placeUsdc, USDC } from '../../scripts/dev-stack/usdc.ts';
import type { SmartAccount } from '../../scripts/dev-stack/user-operation.ts';
import { createdAccount2, timeOf } from '../support/account2.ts';
import { type Forwarder, startForwarder } from '../support/forwarder.ts';
import { handleOps } from '../support/operations.ts';
import {
  freshNonce,
  handleCalls,
  type OrderTerms,
  paymentCall,
  signedOperation,
} from '../support/payment-operations.ts';
import { errorOf, resultOf, startUpstream, type Upstream } from '../support/upstream.ts';
import { startVault, type TestVault } from '../support/vault.ts';

const FINALITY_BLOCKS = 3;
const PAYEE: Address.Address = '0x00000000000000000000000000000000000a11ce';
const UNKNOWN = `0x${'ab'.repeat(32)}`;
const TEA: OrderTerms = { to: PAYEE, token: USDC, amount: 1_250_000n };
const ETHER: OrderTerms = { to: PAYEE, token: 'native', amount: 1_000n };

let chain: Chain;
let rpc: ChainRpc;
/** A node whose answers a test changes. */
let node: Forwarder;
let bundler: Upstream;
beforeAll(async () => {
  chain = await startChain();
  ({ rpc } = chain);
  await deployEntryPoints(rpc, ['0.7', '0.8', '0.9']);
  await placeUsdc(rpc);
});
afterAll(() => chain.stop());
beforeEach(() => {
  node = startForwarder(chain.url);
  bundler = startUpstream();
});
afterEach(async () => {
  await node.stop();
  await bundler.stop();
});

describe.each(['0.7', '0.8', '0.9'] as const)('GET /pay/outcome of EntryPoint %s', (version) => {
  const entryPoint = ENTRY_POINTS[version];
  let account: SmartAccount;
  let nonce: bigint;
  let since: number;
  let t: TestVault;
  beforeAll(async () => {
    account = await createdAccount2(rpc, version);
    await mintUsdc(rpc, account.address, 100_000_000n);
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
  beforeEach(async () => {
    t = await startVault(vars());
    nonce = freshNonce();
    since = (await t.call('GET /pay/fees')).body.block;
  });
  afterEach(() => t.stop());

  const ask = (terms: OrderTerms = TEA, more: Record<string, unknown> = {}, vault = t) =>
    vault.call('GET /pay/outcome', {
      account: account.address,
      nonce: Hex.fromNumber(nonce),
      since,
      ...terms,
      ...more,
    });
  const mine = (blocks: number) => rpc('anvil_mine', [Hex.fromNumber(blocks)]);
  const pay = (terms: OrderTerms = TEA) => handleCalls(rpc, account, nonce, [paymentCall(terms)]);

  test('nothing is spent before, at the newest and at the final block, whose times are the chain’s', async () => {
    await mine(FINALITY_BLOCKS);
    const { status, body } = await ask();
    const head = Number(await rpc('eth_blockNumber'));
    const final = (await rpc('eth_getBlockByNumber', [Hex.fromNumber(head - FINALITY_BLOCKS), false])) as {
      timestamp: Hex.Hex;
    };
    expect([status, body]).toEqual([
      200,
      {
        chainId: 84532,
        entryPoint,
        head: { number: head, time: await timeOf(rpc) },
        final: { number: head - FINALITY_BLOCKS, time: Number(final.timestamp) },
        spent: false,
        spentFinal: false,
        next: head - FINALITY_BLOCKS + 1,
        operation: null,
      },
    ]);
  });

  test('a payment is found, in a block first and final later', async () => {
    const { userOpHash, txHash, block } = await pay();
    const operation = { userOpHash, txHash, block, success: true, moved: true };
    expect((await ask()).body).toMatchObject({
      spent: true,
      spentFinal: false,
      operation: { ...operation, final: false },
    });
    await mine(FINALITY_BLOCKS);
    expect((await ask()).body).toMatchObject({
      spent: true,
      spentFinal: true,
      operation: { ...operation, final: true },
    });
  });

  test('ether is found in the bytes of the transaction, alone and in a batch', async () => {
    const { userOpHash } = await pay(ETHER);
    expect((await ask(ETHER)).body.operation).toMatchObject({ userOpHash, success: true, moved: true });
    expect((await ask({ ...ETHER, amount: 999n })).body.operation.moved).toBe(false);
    expect((await ask({ ...ETHER, to: USDC })).body.operation.moved).toBe(false);
    expect((await ask({ ...ETHER, to: account.address })).body.operation.moved).toBeNull();
    nonce = freshNonce();
    await handleCalls(rpc, account, nonce, [paymentCall(TEA), paymentCall(ETHER)]);
    expect((await ask(ETHER)).body.operation.moved).toBe(true);
    expect((await ask(TEA)).body.operation.moved).toBe(true);
  });

  test('the neighbours of one bundle do not lend each other their transfers', async () => {
    const other = await createdAccount2(rpc, version);
    await mintUsdc(rpc, other.address, TEA.amount);
    const empty = await signedOperation(rpc, account, nonce, []);
    const paying = await signedOperation(rpc, other, freshNonce(), [paymentCall(TEA)]);
    for (const order of [
      [paying, empty],
      [empty, paying],
    ]) {
      const snapshot = await rpc('evm_snapshot');
      await handleOps(rpc, entryPoint, ...order.map(({ operation }) => operation));
      expect((await ask()).body.operation).toMatchObject({ userOpHash: empty.userOpHash, success: true, moved: false });
      await rpc('evm_revert', [snapshot]);
    }
  });

  // What follows depends on the node and the bundler, not on the EntryPoint.
  if (version !== '0.9') return;

  test('a call that reverted moved nothing', async () => {
    const all = { ...TEA, amount: 10n ** 30n };
    const { userOpHash } = await pay(all);
    expect((await ask(all)).body.operation).toMatchObject({ userOpHash, success: false, moved: false });
    nonce = freshNonce();
    await pay({ ...ETHER, amount: 10n ** 30n });
    expect((await ask({ ...ETHER, amount: 10n ** 30n })).body.operation).toMatchObject({
      success: false,
      moved: false,
    });
  });

  test('an operation of another hash has spent the nonce: void, or another device’s', async () => {
    const { userOpHash } = await handleCalls(rpc, account, nonce, []);
    expect((await ask()).body.operation).toMatchObject({ userOpHash, success: true, moved: false });
    expect((await ask(ETHER)).body.operation.moved).toBe(false);
  });

  test('a nonce that was spent without an operation is spent, and no operation is made up', async () => {
    const increment = AbiFunction.encodeData(AbiFunction.from('function incrementNonce(uint192 key)'), [nonce >> 64n]);
    await handleCalls(rpc, account, freshNonce(), [{ target: entryPoint, data: increment }]);
    await mine(FINALITY_BLOCKS);
    expect((await ask()).body).toMatchObject({ spent: true, spentFinal: true, operation: null });
  });

  test('M2: a bundler’s receipt of another hash pays nothing', async () => {
    const other = freshNonce();
    const lie = await handleCalls(rpc, account, other, [paymentCall(TEA)]);
    bundler.answer = (call) =>
      resultOf(call, { userOpHash: UNKNOWN, success: true, receipt: { transactionHash: lie.txHash } });
    const before = bundler.received.length;
    const { body } = await ask(TEA, { hint: UNKNOWN });
    expect(body).toMatchObject({ spent: false, operation: null });
    expect(bundler.received.slice(before)).toEqual([]);
    // Spent by another operation: the bundler names the payment of another order for it.
    const { userOpHash } = await handleCalls(rpc, account, nonce, []);
    expect((await ask(TEA, { hint: UNKNOWN })).body.operation).toMatchObject({ userOpHash, moved: false });
  });

  test('a node that refuses or empties eth_getLogs says nothing; a bundler’s hint shows where to look', async () => {
    const { userOpHash, txHash, block } = await pay();
    await mine(FINALITY_BLOCKS);
    for (const answer of [refusing, emptying]) {
      node.trouble = answer;
      expect((await ask()).body).toMatchObject({ spent: true, spentFinal: true, operation: null });
      bundler.answer = (call) => resultOf(call, { receipt: { transactionHash: txHash } });
      expect((await ask(TEA, { hint: userOpHash })).body.operation).toMatchObject({ userOpHash, block, moved: true });
      // What the bundler does not know or say is no matter.
      for (const nothing of [null, { receipt: null }, { receipt: { transactionHash: UNKNOWN } }, 'no']) {
        bundler.answer = (call) => resultOf(call, nothing);
        expect((await ask(TEA, { hint: userOpHash })).body).toMatchObject({ spent: true, operation: null });
      }
      bundler.answer = (call) => errorOf(call, { code: -32603, message: 'no' });
      expect((await ask(TEA, { hint: userOpHash })).body).toMatchObject({ spent: true, operation: null });
    }
  });

  test('a log is worth nothing without its receipt in a block of the chain', async () => {
    await pay();
    const lies: Record<string, (answer: Answer) => unknown> = {
      'no receipt': () => null,
      'a receipt of another block': (receipt) => ({ ...receipt, blockHash: UNKNOWN }),
      'a receipt of a failed transaction': (receipt) => ({ ...receipt, status: '0x0' }),
      'a receipt without the log': (receipt) => ({ ...receipt, logs: [] }),
    };
    for (const [name, lie] of Object.entries(lies)) {
      node.trouble = changing('eth_getTransactionReceipt', lie);
      const { body } = await ask();
      expect([name, body.spent, body.operation]).toEqual([name, true, null]);
    }
  });

  test('the state of the final block is read by its hash; where the node takes none, by its number', async () => {
    await mine(FINALITY_BLOCKS);
    await pay();
    const asked: unknown[] = [];
    node.trouble = async (forward, _methods, body) => {
      const calls = [JSON.parse(body)].flat();
      asked.push(...calls.filter(({ method }) => method === 'eth_call').map(({ params }) => params[1]));
      return forward();
    };
    expect((await ask()).body).toMatchObject({ spent: true, spentFinal: false });
    const hashes = asked.map((block) => (block as { blockHash?: string }).blockHash);
    expect(hashes.every((hash) => /^0x[0-9a-f]{64}$/.test(String(hash)))).toBe(true);
    node.trouble = failing((method, params) => method === 'eth_call' && typeof params[1] === 'object');
    expect((await ask()).body).toMatchObject({ spent: true, spentFinal: false });
    await mine(FINALITY_BLOCKS);
    expect((await ask()).body).toMatchObject({ spent: true, spentFinal: true });
  });

  test('a node without the state of the final block: the operation’s block tells, else nothing is said to be final', async () => {
    const { block } = await pay();
    const head = block + FINALITY_BLOCKS;
    const noState = failing((method, params) => {
      const at = params[1] as { blockHash?: string } | string;
      return method === 'eth_call' && (typeof at === 'object' ? at.blockHash !== headHash : Number(at) < head);
    });
    await mine(FINALITY_BLOCKS);
    const { hash: headHash } = (await rpc('eth_getBlockByNumber', ['latest', false])) as { hash: string };
    node.trouble = noState;
    expect((await ask()).body).toMatchObject({ spent: true, spentFinal: true, final: { number: block } });
    const both: Forwarder['trouble'] = async (forward, methods, body) =>
      methods.includes('eth_getLogs') ? emptying(forward, methods, body) : noState(forward, methods, body);
    node.trouble = both;
    expect((await ask()).body).toMatchObject({ spent: true, spentFinal: false, final: null, operation: null });
    nonce = freshNonce();
    expect((await ask()).body).toMatchObject({ spent: false, spentFinal: false, final: { number: block } });
  });

  test('a final block beyond the newest one, of a node that is behind another, is the newest', async () => {
    const own = await startVault({ ...vars(), FINALITY_BLOCKS: '0' });
    await pay();
    await mine(10);
    const behind = Number(await rpc('eth_blockNumber')) - 5;
    let isFirst = true;
    node.trouble = changing('eth_blockNumber', (head) => {
      const answer = isFirst ? Hex.fromNumber(behind) : head;
      isFirst = false;
      return answer;
    });
    const { status, body } = await ask(TEA, {}, own);
    expect([status, body.head.number, body.final]).toEqual([200, behind, body.head]);
    await own.stop();
  });

  test('a search goes on where the last one ended, and reads the fresh blocks again', async () => {
    const { block } = await pay();
    const blocks = 2 * FRESH_BLOCKS;
    await mine(blocks);
    let { body } = await ask(TEA, { since: block + 1 });
    expect(body).toMatchObject({ spent: true, spentFinal: true, operation: null, next: block + blocks - FRESH_BLOCKS });
    ({ body } = await ask(TEA, { since: body.next }));
    expect(body).toMatchObject({ operation: null, next: block + blocks - FRESH_BLOCKS });
    ({ body } = await ask(TEA, { since: block }));
    expect(body).toMatchObject({ operation: { block, moved: true }, next: block });
  });

  test('a node that refuses wide ranges is asked for narrow ones, a bounded number of times a poll', async () => {
    await mine(300);
    await pay();
    const ranges: number[] = [];
    node.trouble = watchingRanges(ranges, 50);
    // All that the vault may know is that the nonce is spent in the final block.
    await mine(FINALITY_BLOCKS);
    let { body } = await ask();
    for (let polls = 1; polls < 100 && body.operation === null; polls++) {
      const before = ranges.length;
      ({ body } = await ask(TEA, { since: body.next }));
      expect(ranges.length - before).toBeLessThanOrEqual(SEARCH_REQUESTS_MAX);
    }
    expect(body.operation).toMatchObject({ moved: true });
  });

  test('a payment that a re-org took back is no payment', async () => {
    await pay();
    expect((await ask()).body.operation).not.toBeNull();
    await rpc('anvil_reorg', [2, []]);
    expect((await ask()).body).toMatchObject({ spent: false, operation: null });
  });

  describe('with a second node', () => {
    let second: Forwarder;
    let w: TestVault;
    beforeEach(async () => {
      second = startForwarder(chain.url);
      w = await startVault({ ...vars(), RPC_WITNESS_URL: second.url });
    });
    afterEach(async () => {
      await w.stop();
      await second.stop();
    });

    test('what both show holds', async () => {
      const { userOpHash } = await pay();
      await mine(FINALITY_BLOCKS);
      expect((await ask(TEA, {}, w)).body).toMatchObject({ spentFinal: true, operation: { userOpHash, final: true } });
    });

    test.each([
      ['the node', () => node],
      ['the witness', () => second],
    ])('what %s alone shows is 502 nodes_disagree', async (_, liar) => {
      const unspent = `0x${Hex.fromNumber(nonce, { size: 32 }).slice(2)}`;
      await pay();
      await mine(FINALITY_BLOCKS);
      const lies = [
        changing('eth_call', () => unspent),
        changing('eth_getTransactionReceipt', () => null),
        changing('eth_getTransactionReceipt', (receipt) => ({ ...receipt, logs: [] })),
        changing('eth_getBlockByNumber', (block) => ({ ...block, timestamp: '0x7fffffff' })),
      ];
      for (const lie of lies) {
        liar().trouble = lie;
        const { status, body } = await ask(TEA, {}, w);
        expect([status, body]).toMatchObject([502, { error: 'rpc_error', reason: 'nodes_disagree' }]);
      }
      liar().trouble = () => new Response('', { status: 503 });
      expect((await ask(TEA, {}, w)).status).toBe(502);
    });
  });

  test('a chain that cannot be read, or has no EntryPoint there, is 502 rpc_error', async () => {
    node.trouble = () => new Response('', { status: 503 });
    expect([(await ask()).status, (await ask()).body]).toEqual([502, { error: 'rpc_error' }]);
    node.trouble = undefined;
    const bare = await startVault({ RPC_URL: chain.url, CHAIN_ID: '84532', ENTRY_POINT_ADDRESS: PAYEE });
    const query = { account: PAYEE, nonce: '0x0', since: 0, ...TEA };
    expect((await bare.call('GET /pay/outcome', query)).body).toEqual({ error: 'rpc_error' });
    await bare.stop();
  });
});

describe('what is asked of GET /pay/outcome', () => {
  let t: TestVault;
  beforeAll(async () => {
    t = await startVault({ RPC_URL: chain.url, CHAIN_ID: '84532', RATE_LIMIT_PROXY_PER_IP: '100000' });
  });
  afterAll(() => t.stop());
  const ask = (fields: Record<string, unknown>) =>
    t.call('GET /pay/outcome', { account: PAYEE, nonce: '0x0', since: 0, ...TEA, ...fields });

  test.each([
    ['account', { account: '0x12' }, 'Invalid account: expected 20-byte address'],
    ['nonce', { nonce: '12' }, 'Invalid nonce: expected uint256 hex string'],
    ['nonce of 257 bits', { nonce: `0x1${'0'.repeat(64)}` }, 'Invalid nonce: expected uint256 hex string'],
    ['since', { since: '-1' }, 'Invalid since: expected a block number'],
    ['since of too many digits', { since: '9'.repeat(20) }, 'Invalid since: expected a block number'],
    ['to', { to: 'bob' }, 'Invalid to: expected 20-byte address'],
    ['token', { token: 'usdc' }, 'Invalid token: expected native or a 20-byte address'],
    ['amount', { amount: '1.5' }, 'Invalid amount: expected uint256 decimal string'],
    ['hint', { hint: '0x12' }, 'Invalid hint: expected 32-byte hash'],
  ])('%s in another form is 400', async (_, fields, error) => {
    const { status, body } = await ask(fields);
    expect([status, body]).toEqual([400, { error }]);
  });

  test.each([
    [{ account: '' }, 'Missing query parameters: account, nonce', 'Missing or empty: account.'],
    [
      { to: PAYEE, token: 'native', amount: '' },
      'Missing query parameters: to, token, amount',
      'Missing or empty: amount.',
    ],
  ])('400 that names what is missing: %p', async (fields, error, hint) => {
    const { status, body } = await ask(fields);
    expect([status, body]).toEqual([400, { error, hint }]);
  });
});

type Answer = Record<string, unknown>;
type Batch = readonly { method: string; params: readonly unknown[]; id: number }[];

/** Changes what the node answers to one method. */
function changing(method: string, change: (result: Answer) => unknown): NonNullable<Forwarder['trouble']> {
  return async (forward, _methods, body) => {
    const calls: Batch = [JSON.parse(body)].flat();
    const answers = [(await (await forward()).json()) as { id: number; result: Answer }].flat();
    const changed = answers.map((answer) =>
      calls.find(({ id }) => id === answer.id)?.method === method && answer.result
        ? { ...answer, result: change(answer.result) }
        : answer,
    );
    return Response.json(Array.isArray(JSON.parse(body)) ? changed : changed[0]);
  };
}

/** A node's own error to some calls. */
function failing(
  isRefused: (method: string, params: readonly unknown[]) => boolean,
): NonNullable<Forwarder['trouble']> {
  return async (forward, _methods, body) => {
    const calls: Batch = [JSON.parse(body)].flat();
    const answers = [(await (await forward()).json()) as { id: number }].flat();
    const changed = answers.map((answer) => {
      const call = calls.find(({ id }) => id === answer.id);
      const isOff = call && isRefused(call.method, call.params);
      return isOff ? { jsonrpc: '2.0', id: answer.id, error: { code: -32000, message: 'refused' } } : answer;
    });
    return Response.json(Array.isArray(JSON.parse(body)) ? changed : changed[0]);
  };
}

const refusing = failing((method) => method === 'eth_getLogs');
const emptying = changing('eth_getLogs', () => []);

/** Notes the blocks of each range that is asked for, and refuses wider ones. */
function watchingRanges(ranges: number[], max = Number.POSITIVE_INFINITY): NonNullable<Forwarder['trouble']> {
  const size = (params: readonly unknown[]) => {
    const { fromBlock, toBlock } = params[0] as { fromBlock: string; toBlock: string };
    return Number(toBlock) - Number(fromBlock) + 1;
  };
  return failing((method, params) => {
    if (method !== 'eth_getLogs') return false;
    ranges.push(size(params));
    return size(params) > max;
  });
}
