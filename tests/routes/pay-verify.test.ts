import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { AbiParameters, Hex } from 'ox';
import type { AuthorizationReceipt, PaymentOrder } from '../../client/payments.ts';
import creationCode from '../../contracts/creation-code.json' with { type: 'json' };
import { type Chain, type ChainRpc, startChain } from '../../scripts/dev-stack/chain.ts';
import { create2 } from '../../scripts/dev-stack/create2.ts';
import { createPasskey } from '../../scripts/dev-stack/passkey.ts';
import { openAccount, type SmartAccount } from '../../scripts/dev-stack/user-operation.ts';
import { authorizationOf, settleAuthorization } from '../support/authorizations.ts';
import { type Forwarder, startForwarder } from '../support/forwarder.ts';
import { createPayer, orderOf, payOrder, type TestReceipt, USDC } from '../support/payers.ts';
import { startVault, type TestVault } from '../support/vault.ts';

const FINALITY_BLOCKS = 3;
const DOCUMENT = new URL('../../docs/payments.md', import.meta.url);

let chain: Chain;
let rpc: ChainRpc;
let account: SmartAccount;
/** The vault's two nodes, whose answers a test changes. */
let node: Forwarder;
let witness: Forwarder;
let t: TestVault;
beforeAll(async () => {
  chain = await startChain();
  ({ rpc } = chain);
  account = await createPayer(rpc, 2);
});
afterAll(() => chain.stop());
beforeEach(async () => {
  [node, witness] = [startForwarder(chain.url), startForwarder(chain.url)];
  t = await startVault(varsOf());
});
afterEach(async () => {
  await t.stop();
  await Promise.all([node.stop(), witness.stop()]);
});

function varsOf(): Record<string, string> {
  return {
    RPC_URL: node.url,
    CHAIN_ID: '84532',
    ENTRY_POINT_ADDRESS: account.entryPoint,
    FINALITY_BLOCKS: String(FINALITY_BLOCKS),
  };
}

const ask = (
  receipt: Partial<TestReceipt> | Partial<AuthorizationReceipt>,
  order: Partial<PaymentOrder & { since: number }>,
  vault = t,
) => {
  const { chainId: _, ...hints } = receipt;
  return vault.call('GET /pay/verify', { ...order, ...hints });
};
const mine = (blocks: number) => rpc('anvil_mine', [Hex.fromNumber(blocks)]);
const withWitness = () => startVault({ ...varsOf(), RPC_WITNESS_URL: witness.url });

describe('GET /pay/verify', () => {
  test.each(['native', USDC])('an order that was paid in %s, and final later', async (token) => {
    const order = orderOf({ token });
    const receipt = await payOrder(rpc, account, order);
    const { status, body } = await ask(receipt, order);
    const block = Number(await rpc('eth_blockNumber'));
    const { userOpHash, txHash } = receipt;
    const paid = { status: 'paid', block, userOpHash, txHash, account: account.address.toLowerCase() };
    expect([status, body]).toEqual([
      200,
      { ...paid, final: false, time: expect.any(Number), blockHash: expect.stringMatching(/^0x[0-9a-f]{64}$/) },
    ]);
    await mine(FINALITY_BLOCKS);
    expect((await ask(receipt, order)).body).toMatchObject({ ...paid, final: true });
  });

  test('one payment pays neither order 2 of the customer nor that of a stranger', async () => {
    const order = orderOf({ token: USDC });
    const receipt = await payOrder(rpc, account, order);
    for (const other of [{ id: 'order-2' }, { id: 'order-3' }, { origin: 'https://other.example' }])
      expect((await ask(receipt, { ...order, ...other })).body).toEqual({ status: 'unpaid', reason: 'other_order' });
    const dearer = { ...order, amount: '9999999' };
    expect((await ask(receipt, dearer)).body).toEqual({ status: 'pending', reason: 'not_final' });
    await mine(FINALITY_BLOCKS);
    expect((await ask(receipt, dearer)).body).toEqual({ status: 'unpaid', reason: 'no_transfer' });
  });

  test('an order that was paid by authorization, with and without its transaction', async () => {
    const order = orderOf({ token: USDC });
    const authorization = await authorizationOf(account.address, order);
    const txHash = await settleAuthorization(rpc, account, authorization);
    const payer = account.address.toLowerCase();
    const paid = { status: 'paid', by: 'authorization', txHash, account: payer, nonce: authorization.nonce };
    const by = { by: 'authorization', account: payer } as const;
    const { status, body } = await ask({ ...by, txHash }, order);
    expect([status, body]).toEqual([
      200,
      {
        ...paid,
        ...{ final: false, block: expect.any(Number), time: expect.any(Number), blockHash: expect.any(String) },
      },
    ]);
    await mine(FINALITY_BLOCKS);
    expect((await ask(by, order)).body).toMatchObject({ ...paid, final: true });
    expect((await ask(by, { ...order, amount: '1' })).body).toEqual({ status: 'unpaid', reason: 'no_transfer' });
    expect((await ask(by, orderOf())).body).toEqual({ status: 'unverifiable', reason: 'bad_receipt' });
    expect((await ask({ by: 'authorization' }, order)).body.error).toBe('Missing query parameters: account');
    expect((await ask({ ...by, by: 'card' } as never, order)).body.error).toBe('Invalid by: expected authorization');
  });

  test('P5: what paid an earlier order of the same id is too old by `since`', async () => {
    const order = orderOf({ token: USDC });
    const receipt = await payOrder(rpc, account, order);
    await mine(FINALITY_BLOCKS);
    const { time } = (await ask(receipt, order)).body;
    expect((await ask(receipt, { ...order, since: time })).body).toMatchObject({ status: 'paid', time });
    const later = { ...order, since: time + 30 * 86_400 };
    expect((await ask(receipt, later)).body).toEqual({ status: 'unpaid', reason: 'too_old' });
  });

  test('a frame is part of the order', async () => {
    const order = orderOf({ token: USDC, frame: 'https://till.example' });
    const receipt = await payOrder(rpc, account, order);
    expect((await ask(receipt, order)).body).toMatchObject({ status: 'paid' });
    const { frame: _, ...withoutFrame } = order;
    expect((await ask(receipt, withoutFrame)).body).toMatchObject({ reason: 'other_order' });
  });

  test('asked as docs/payments.md shows, a receipt changes nothing of the order', async () => {
    const [, asked = ''] = /```js\n(const \{ userOpHash[\s\S]*?)```/.exec(await Bun.file(DOCUMENT).text()) ?? [];
    const Documented = Object.getPrototypeOf(async () => undefined).constructor;
    const run = new Documented('vault', 'order', 'receipt', `${asked}\nreturn verdict;`);
    const [paid, wanted] = [orderOf({ token: USDC, amount: 1n }), orderOf({ token: USDC })];
    const receipt = await payOrder(rpc, account, paid);
    expect(await run(t.url, paid, receipt)).toMatchObject({ status: 'paid' });
    expect(await run(t.url, wanted, { ...receipt, ...paid })).toEqual({ status: 'unpaid', reason: 'other_order' });
  });

  test('an invented receipt is pending', async () => {
    const invented = { userOpHash: Hex.random(32), txHash: Hex.random(32), account: account.address };
    const { status, body } = await ask(invented, orderOf());
    expect([status, body]).toEqual([200, { status: 'pending', reason: 'no_transaction' }]);
  });

  test('ether of an account of a factory elsewhere, where it is configured and of our own code', async () => {
    // The same code at another address; and one that says it is a factory.
    const args = AbiParameters.encode([{ type: 'address' }], [account.entryPoint]);
    const code = Hex.concat(creationCode.AccountFactory as Hex.Hex, args);
    const accountFactory = await create2(rpc, code, Hex.random(32));
    const payer = await openAccount(rpc, { accountFactory, entryPoint: account.entryPoint }, createPasskey());
    await rpc('anvil_setBalance', [payer.address, '0xde0b6b3a7640000']);
    const order = orderOf();
    const receipt = await payOrder(rpc, payer, order);
    expect((await ask(receipt, order)).body).toEqual({ status: 'unverifiable', reason: 'other_account_code' });
    const verdictOf = async (factory: string) => {
      const vault = await startVault({ ...varsOf(), HYPERAUTH_FACTORY_ADDRESS: factory });
      const { body } = await ask(receipt, order, vault);
      await vault.stop();
      return body.status;
    };
    expect(await verdictOf(accountFactory)).toBe('paid');
    const other = await create2(rpc, Hex.concat(code, '0x00'), Hex.random(32));
    expect(await verdictOf(other)).toBe('unverifiable');
    expect(await verdictOf(USDC)).toBe('unverifiable');
  });

  test('without a transaction the newest blocks are searched', async () => {
    const order = orderOf();
    const { userOpHash, txHash } = await payOrder(rpc, account, order);
    const hint = { userOpHash, account: account.address };
    expect((await ask(hint, order)).body).toMatchObject({ status: 'paid', txHash });
  });

  test.each([
    [{ origin: 'shop' }, 'Invalid origin: expected an origin, such as https://shop.example'],
    [{ frame: 'null' }, 'Invalid frame: expected an origin, such as https://shop.example'],
    [{ to: '0x1' }, 'Invalid to: expected 20-byte address'],
    [{ token: 'usdc' }, 'Invalid token: expected native or a 20-byte address'],
    [{ amount: '1.5' }, 'Invalid amount: expected uint256 decimal string'],
    [{ amount: '0' }, 'Invalid amount: expected a number above 0'],
    [{ since: 1_700_000_000_000 }, 'Invalid since: expected seconds since 1970'],
    [{ since: 45_000_000 }, 'Invalid since: expected seconds since 1970'],
    [{ chainId: 8453 }, 'Invalid chainId: this vault is on chain 84532'],
  ])('400 for an order that is none: %p', async (wrong, message) => {
    const receipt = { userOpHash: Hex.random(32), account: account.address };
    const { status, body } = await ask(receipt, { ...orderOf(), ...wrong });
    expect([status, body.error]).toEqual([400, message]);
  });

  test('400 for a receipt that is none, and for a missing part', async () => {
    const good = { userOpHash: Hex.random(32), account: account.address };
    const wrong = async (receipt: object) => (await ask(receipt, orderOf())).body.error;
    expect(await wrong({ ...good, userOpHash: '0x1' })).toBe('Invalid userOpHash: expected 32-byte hash');
    expect(await wrong({ ...good, txHash: '0x1' })).toBe('Invalid txHash: expected 32-byte hash');
    expect(await wrong({ ...good, account: 'alice' })).toBe('Invalid account: expected 20-byte address');
    expect(await wrong({})).toBe('Missing query parameters: userOpHash');
  });

  test('502 rpc_error, and no verdict, when the node cannot be asked or answers nonsense', async () => {
    const order = orderOf();
    const receipt = await payOrder(rpc, account, order);
    const nonsense = () => Response.json({ jsonrpc: '2.0', id: 1, result: 'nonsense' });
    for (const trouble of [() => new Response('gone', { status: 503 }), nonsense]) {
      node.trouble = trouble;
      const { status, body } = await ask(receipt, order);
      expect([status, body.error]).toEqual([502, 'rpc_error']);
    }
  });
});

describe('GET /pay/verify of a vault with two nodes', () => {
  test('says paid where both show it, and final where it is for both', async () => {
    const vault = await withWitness();
    const order = orderOf();
    const receipt = await payOrder(rpc, account, order);
    await mine(FINALITY_BLOCKS);
    expect((await ask(receipt, order, vault)).body).toMatchObject({ status: 'paid', final: true });
    // A witness that is two blocks behind.
    witness.trouble = async (forward, methods) =>
      methods.includes('eth_blockNumber')
        ? changed(await forward(), (head) => Hex.fromNumber(Number(head) - 2))
        : forward();
    expect((await ask(receipt, order, vault)).body).toMatchObject({ status: 'paid', final: false });
    await vault.stop();
  });

  test('a payment that one of them does not show yet is pending', async () => {
    const vault = await withWitness();
    const order = orderOf();
    const receipt = await payOrder(rpc, account, order);
    for (const behind of [node, witness]) {
      behind.trouble = async (forward, methods) => {
        const hides = methods.some((method) => /Receipt|getLogs/.test(method));
        return hides ? changed(await forward(), () => null) : forward();
      };
      expect((await ask(receipt, order, vault)).body).toEqual({ status: 'pending', reason: 'no_transaction' });
      behind.trouble = undefined;
    }
    await vault.stop();
  });

  test('502 nodes_disagree where one of them shows a transfer that the other does not', async () => {
    const vault = await withWitness();
    const order = orderOf({ token: USDC });
    const receipt = await payOrder(rpc, account, order);
    await mine(FINALITY_BLOCKS);
    const dearer = { ...order, amount: '99000000' };
    const [honest, lie] = [1_250_000, 99_000_000].map((amount) => Hex.fromNumber(amount, { size: 32 }).slice(2)) as [
      string,
      string,
    ];
    node.trouble = async (forward) => new Response((await (await forward()).text()).replaceAll(honest, lie));
    const { status, body } = await ask(receipt, dearer, vault);
    expect([status, body.error, body.reason]).toEqual([502, 'rpc_error', 'nodes_disagree']);
    // One node alone is believed: the documents say so.
    expect((await ask(receipt, dearer)).body).toMatchObject({ status: 'paid' });
    await vault.stop();
  });

  /** An answer, or each of a batch, with another result. */
  async function changed(response: Response, change: (result: unknown) => unknown): Promise<Response> {
    const answer = await response.json();
    const one = (message: { result: unknown }) => ({ ...message, result: change(message.result) });
    return Response.json(Array.isArray(answer) ? answer.map(one) : one(answer));
  }
});
