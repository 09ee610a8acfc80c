import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { AbiFunction, type Address, Hex } from 'ox';
import { paymentNonce } from '../../../client/payment-nonce.ts';
import { DAY_MS } from '../../../lib/base/clock.ts';
import { OPEN_PER_ACCOUNT_MAX, OPEN_PER_CLIENT_MAX } from '../../../lib/payments/store.ts';
import { compileContracts } from '../../../scripts/contracts.ts';
import { create2 } from '../../../scripts/dev-stack/create2.ts';
import { deployEntryPoints, ENTRY_POINTS } from '../../../scripts/dev-stack/entrypoints.ts';
import { mintUsdc } from '../../../scripts/dev-stack/usdc.ts';
import type { Operation } from '../../../scripts/dev-stack/user-operation.ts';
import { devAccount, sendTransaction } from '../../../scripts/dev-stack/wallet.ts';
import { handleOps, handleOpsData } from '../../support/operations.ts';
import { createPayer, orderOf, paymentOf, settle } from '../../support/payers.ts';
import { freshNonce, type OrderTerms } from '../../support/payment-operations.ts';
import { startReceiver, WEBHOOK_SECRET } from '../../support/receiver.ts';
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
import { echo, errorOf } from '../../support/upstream.ts';
import type { TestVault } from '../../support/vault.ts';

const bob = devAccount('bob').privateKey;
const { FakePayer, TrickToken } = await compileContracts();

let world: SettlingWorld;
let t: TestVault;
/** A contract that takes every operation, and whose `execute` moves nothing. */
let fake: Address.Address;
beforeAll(async () => {
  world = await startSettling('0.8');
  await deployEntryPoints(world.rpc, ['0.7']);
  fake = await create2(world.rpc, FakePayer?.bytecode ?? '0x');
  await mintUsdc(world.rpc, fake, 100_000_000n);
  await world.rpc('anvil_setBalance', [fake, '0xde0b6b3a7640000']);
});
afterAll(() => world.stop());
beforeEach(async () => {
  world.bundler.answer = echo;
  t = await world.start();
});
afterEach(() => t.stop());

const encode = (text: string, ...args: readonly unknown[]) =>
  AbiFunction.encodeData(AbiFunction.from(text) as AbiFunction.AbiFunction, args as never);
const execute = ({ to, token, amount }: OrderTerms) =>
  encode(
    'function execute(address to, uint256 value, bytes data)',
    token === 'native' ? to : token,
    token === 'native' ? amount : 0n,
    token === 'native' ? '0x' : encode('function transfer(address to, uint256 amount)', to, amount),
  );
/** An operation of the contract above: nobody has to sign it, and it costs nothing. */
const unsigned = (callData: Hex.Hex, nonce = freshNonce()): Operation => ({
  sender: fake,
  nonce,
  callData,
  callGasLimit: 900_000n,
  verificationGasLimit: 500_000n,
  preVerificationGas: 60_000n,
  maxFeePerGas: 0n,
  maxPriorityFeePerGas: 0n,
  signature: '0x',
});
const outcomeOf = async ({ sender, nonce }: Operation, terms: OrderTerms) =>
  (await t.call('GET /pay/outcome', { account: sender, nonce: Hex.fromNumber(nonce), ...terms })).body.operation;
const handle = async (operation: Operation) => {
  await handleOps(world.rpc, ENTRY_POINTS['0.8'], operation);
  await world.mine();
};

describe('what an operation only seems to pay', () => {
  test('ether of a contract whose execute does nothing: no event, ever', async () => {
    const operation = unsigned(execute(ETHER));
    await world.post(t, operation);
    await handle(operation);
    expect(await outcomeOf(operation, ETHER)).toMatchObject({ success: true, moved: null });
    await look(t);
    await t.clock.advance(3 * DAY_MS);
    await look(t);
    expect([await settledEvents(t), await openPayments(t)]).toEqual([[], 0]);
  });

  test.each([
    ['that keeps a fee', 1, null],
    ['that says true and moves nothing', 2, false],
    ['that says false', 3, false],
    ['that turns its event around', 4, false],
  ])('a token %s', async (_, trick, moved) => {
    const account = await createPayer(world.rpc, 2, '0.8');
    const token = await create2(world.rpc, TrickToken?.bytecode ?? '0x', Hex.random(32));
    await sendTransaction(world.rpc, bob, { to: token, data: encode('function set(uint8 to)', trick) });
    const mint = encode('function mint(address to, uint256 amount)', account.address, 10_000_000n);
    await sendTransaction(world.rpc, bob, { to: token, data: mint });
    const operation = await paymentOf(world.rpc, account, orderOf({ token }));
    await world.post(t, operation);
    expect(await openPayments(t)).toBe(1);
    await handle(operation);
    expect(await outcomeOf(operation, { ...TEA, token })).toMatchObject({ success: true, moved });
    await look(t);
    expect([await settledEvents(t), await openPayments(t)]).toEqual([[], 0]);
  });

  test('one transfer for two orders: an operation that carries another EntryPoint’s', async () => {
    const pay = encode('function transfer(address to, uint256 amount)', TEA.to, TEA.amount);
    const perform = (target: string, data: string) =>
      encode('function perform(address to, uint256 value, bytes data)', target, 0n, data);
    const inner = unsigned(perform(TEA.token, pay));
    const carry = perform(ENTRY_POINTS['0.7'], handleOpsData(inner));
    const outer = { ...unsigned(carry), callGasLimit: 4_000_000n };
    await handle(outer);
    expect(await outcomeOf(outer, TEA)).toMatchObject({ success: true, moved: false });
  });

  test('what an account pays to itself', async () => {
    const account = await createPayer(world.rpc, 2, '0.8');
    const operation = await paymentOf(world.rpc, account, orderOf({ to: account.address, token: TEA.token }));
    await world.post(t, operation);
    await handle(operation);
    await look(t);
    expect([await settledEvents(t), await openPayments(t)]).toEqual([[], 0]);
  });
});

describe('an operation that no EntryPoint takes goes on to the bundler, and is not watched', () => {
  test.each([
    ['gas of 256 bits', { callGasLimit: 2n ** 255n }],
    ['fees of 256 bits', { maxFeePerGas: 2n ** 255n }],
    ['call data that is cut off', { callData: execute(TEA).slice(0, -64) as Hex.Hex }],
    [
      'a payee of more than 20 bytes',
      {
        callData: execute(TEA)
          .replace('000a11ce', 'ff0a11ce')
          .replace(/^(.{74})../, '$1ff') as Hex.Hex,
      },
    ],
  ] as [string, Partial<Operation>][])('%s', async (_, more) => {
    const { status, body } = await world.post(t, { ...unsigned(execute(TEA)), ...more } as Operation);
    expect([status, body.result]).toEqual([200, 'eth_sendUserOperation']);
    expect(await openPayments(t)).toBe(0);
  });
});

describe('a flood', () => {
  const refuse = () => {
    world.bundler.answer = (call) => errorOf(call, { code: -32500, message: 'AA24 signature error' });
  };
  const junk = (sender: Address.Address) => ({ ...unsigned(execute(TEA)), sender });

  /** A bundler that has none of it, as far as the vault knows. */
  const silence = () => {
    world.bundler.answer = () => new Response(null, { status: 500 });
  };

  test('of junk in an account’s name that the bundler refuses is not watched', async () => {
    refuse();
    const account = await createPayer(world.rpc, 2, '0.8');
    for (let i = 0; i < 3; i++) await world.post(t, junk(account.address));
    expect(await openPayments(t)).toBe(0);
  });

  test('of junk in an account’s name without an answer costs its payment nothing', async () => {
    const account = await createPayer(world.rpc, 2, '0.8');
    const payment = await paymentOf(world.rpc, account, orderOf({ token: TEA.token }));
    await world.post(t, payment);
    silence();
    for (let i = 0; i < 3 * OPEN_PER_ACCOUNT_MAX; i++) await world.post(t, junk(account.address), `198.51.100.${i}`);
    expect(await openPayments(t)).toBe(OPEN_PER_ACCOUNT_MAX);
    await handle(payment);
    await look(t);
    expect(await settledEvents(t)).toHaveLength(1);
  });

  test('of accounts from one client costs another client’s payment nothing', async () => {
    silence();
    const account = await createPayer(world.rpc, 2, '0.8');
    const payment = await paymentOf(world.rpc, account, orderOf({ token: TEA.token }));
    await world.post(t, payment, '198.51.100.1');
    const count = OPEN_PER_CLIENT_MAX + 16;
    for (let i = 0; i < count; i++) await world.post(t, junk(Hex.random(20)), '198.51.100.2');
    expect(await openPayments(t)).toBe(OPEN_PER_CLIENT_MAX + 1);
    await handle(payment);
    await look(t);
    await look(t);
    expect(await settledEvents(t)).toHaveLength(1);
  });
});

describe('several apps', () => {
  let vault: TestVault;
  beforeEach(async () => {
    vault = await world.start({ APPS: 'shop,evil,other' });
  });
  afterEach(() => vault.stop());

  const settledApps = async () => (await settledEvents(vault)).map(({ app }) => app);
  const send = (operation: Operation, app: string) => world.post(vault, operation, '203.0.113.7', app);

  test('M3: who names a payment first, in junk that is refused, takes no event from the shop', async () => {
    const account = await createPayer(world.rpc, 2, '0.8');
    const payment = await paymentOf(world.rpc, account, orderOf({ token: TEA.token }));
    world.bundler.answer = (call) => errorOf(call, { code: -32500, message: 'AA24 signature error' });
    await Promise.all([1, 2].map(() => send({ ...payment, signature: '0x' }, 'evil')));
    world.bundler.answer = echo;
    await send(payment, 'shop');
    await handle(payment);
    await look(vault);
    expect(await settledApps()).toEqual(['shop']);
  });

  test('each that named it in an operation that was accepted has an event of its own, once', async () => {
    const account = await createPayer(world.rpc, 2, '0.8');
    const payment = await paymentOf(world.rpc, account, orderOf({ token: TEA.token }));
    for (const app of ['other', 'shop', 'other']) await send(payment, app);
    await handle(payment);
    await look(vault);
    await send(payment, 'shop');
    await look(vault);
    expect((await settledApps()).toSorted()).toEqual(['other', 'shop']);
  });
});

describe('a shop', () => {
  test.each([1, 2] as const)(
    'hears of a payment of kind %i by webhook, and knows its order by the nonce',
    async (kind) => {
      const receiver = startReceiver();
      const hooks = { WEBHOOK_URL: receiver.url, WEBHOOK_SECRET, WEBHOOK_ALLOW_PRIVATE: 'true' };
      const vault = await world.start(hooks);
      const account = await createPayer(world.rpc, kind, '0.8');
      const order = orderOf({ token: TEA.token });
      const operation = await paymentOf(world.rpc, account, order);
      await world.post(vault, operation);
      const [{ userOpHash, txHash }] = await settle(world.rpc, account, operation);
      await world.mine();
      await look(vault);
      await look(vault);
      const told = receiver.received.filter(({ body }) => body.type === 'payment.settled');
      expect(told.map(({ body }) => body)).toMatchObject([
        {
          channel: 'payments',
          data: {
            nonce: await paymentNonce(order),
            to: PAYEE,
            token: order.token.toLowerCase(),
            amount: order.amount,
            chain_id: order.chainId,
            user_op_hash: userOpHash,
            tx_hash: txHash,
          },
        },
      ]);
      await vault.stop();
      await receiver.stop();
    },
  );
});
