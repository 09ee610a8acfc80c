import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { TransactionReceipt } from 'ox';
import { authorizationNonce } from '../../client/payment-nonce.ts';
import type { AuthorizationVerdict } from '../../client/payments.ts';
import type { Chain } from '../../scripts/dev-stack/chain.ts';
import { mintUsdc, placeUsdc } from '../../scripts/dev-stack/usdc.ts';
import type { SmartAccount } from '../../scripts/dev-stack/user-operation.ts';
import { createPayer, orderOf, PAYEE, USDC } from '../support/payers.ts';
import {
  createAccount,
  FACILITATOR,
  importBlock,
  type PaidWorld,
  signerOf,
  startPaidWorld,
  usdcOf,
} from '../support/x402.ts';
import { payingFetch, paymentFor, settlementOf } from '../tools/x402.ts';

// `@x402/fetch`, `@x402/hono` and the facilitator of `@x402/core` and `@x402/evm`, unmodified, as docs/x402.md has them
// run: an account of this project pays the documented API by the documented facilitator, on a real chain.

const PRICE = 10_000n;
let chain: Chain;
let world: PaidWorld;
beforeAll(async () => {
  world = await startPaidWorld();
  chain = world.chain;
  // As a payee who was paid before: the first USDC of an address costs 17,100 gas more.
  await placeUsdc(chain.rpc);
  await mintUsdc(chain.rpc, PAYEE, 1n);
});
afterAll(() => world.stop());

const receiptOf = async (hash: unknown) =>
  (await chain.rpc('eth_getTransactionReceipt', [hash])) as TransactionReceipt.Rpc;
const codeOf = ({ address }: SmartAccount) => chain.rpc('eth_getCode', [address, 'latest']);

/** The gas of a settlement, and of the creation in the block before it. */
async function gasOf(hash: string, isUnborn: boolean) {
  const { gasUsed, blockNumber } = await receiptOf(hash);
  if (!isUnborn) return { settlement: Number(gasUsed), creation: 0 };
  const before = `0x${(BigInt(blockNumber) - 1n).toString(16)}`;
  const { transactions } = (await chain.rpc('eth_getBlockByNumber', [before, false])) as { transactions: string[] };
  const creation = await receiptOf(transactions[0]);
  expect(creation.from).toBe(FACILITATOR.address.toLowerCase() as `0x${string}`);
  return { settlement: Number(gasUsed), creation: Number(creation.gasUsed) };
}

/** The most gas of each; measured, and a little room. */
const BOUNDS = { 1: { settlement: 90_000, creation: 92_000 }, 2: { settlement: 111_000, creation: 102_000 } } as const;
const CASES = ([1, 2] as const).flatMap((kind) =>
  ['that exists', 'that does not exist yet'].map((is) => [kind, is] as const),
);

type Order = ReturnType<typeof orderOf> & { readonly since: number };
interface Signed {
  readonly authorization: object;
  readonly signature: string;
}
type SettleOrder = (answer: Signed & { readonly account: string }, order: Order) => Promise<AuthorizationVerdict>;

test.each(CASES)('an account of kind %d %s pays the documented API', async (kind, is) => {
  const account = await createPayer(chain.rpc, kind);
  const isUnborn = is !== 'that exists';
  if (!isUnborn) await createAccount(chain, account);
  const [earned, owned] = [await usdcOf(chain.rpc, PAYEE), await usdcOf(chain.rpc, account.address)];
  const answer = await payingFetch(signerOf(account, { isUnborn }))(world.weather);
  expect([answer.status, await answer.json()]).toEqual([200, { weather: 'sunny' }]);
  const { transaction, ...settlement } = settlementOf(answer);
  expect(settlement).toMatchObject({ success: true, network: 'eip155:84532', payer: account.address });
  expect((await usdcOf(chain.rpc, PAYEE)) - earned).toBe(PRICE);
  expect(owned - (await usdcOf(chain.rpc, account.address))).toBe(PRICE);
  expect(await codeOf(account)).not.toBe('0x');
  const gas = await gasOf(transaction, isUnborn);
  console.info(`kind ${kind}, ${is}: ${gas.settlement} gas, its creation ${gas.creation}`);
  expect(gas.settlement).toBeLessThanOrEqual(BOUNDS[kind].settlement);
  expect(gas.creation).toBeLessThanOrEqual(BOUNDS[kind].creation);
});

test('the documented shop has an order settled, which the token and the chain know as that order alone', async () => {
  const { settleOrder } = await importBlock<{ settleOrder: SettleOrder }>('settleOrder', {
    'vault/payments': Bun.fileURLToPath(new URL('../../client/payments.ts', import.meta.url)),
    'https://facilitator.example.com': world.facilitator,
    'https://rpc.example.com': chain.url,
  });
  const account = await createPayer(chain.rpc, 2);
  const [order, other] = [1, 2].map(() => ({
    ...orderOf({ token: USDC, amount: PRICE }),
    since: Math.floor(Date.now() / 1000) - 60,
  })) as [Order, Order];
  // As the vault's page signs for this order.
  const nonce = await authorizationNonce(order);
  const payment = await paymentFor(world.weather, signerOf(account, { isUnborn: true, message: { nonce } }));
  const { authorization, signature } = payment.paymentPayload.payload as unknown as Signed;
  const answer = { authorization: { ...authorization, nonce }, signature, account: account.address };
  const owned = await usdcOf(chain.rpc, account.address);
  const dearer = { ...order, amount: '20000' };
  expect(await settleOrder(answer, dearer)).toMatchObject({ status: 'pending' });
  for (let again = 0; again < 2; again++) {
    expect(await settleOrder(answer, order)).toMatchObject({
      status: 'paid',
      by: 'authorization',
      nonce,
      account: account.address.toLowerCase(),
    });
  }
  expect(await settleOrder(answer, other)).toMatchObject({ status: 'pending' });
  expect(owned - (await usdcOf(chain.rpc, account.address))).toBe(PRICE);
});

test('a page of another origin may ask the documented API, pay, and read what it says', async () => {
  const origin = 'https://app.example.com';
  const asks = { origin, 'access-control-request-method': 'GET' };
  // `@x402/fetch` sends the second as a header of its request.
  const wanted = 'payment-signature,access-control-expose-headers';
  const preflight = await fetch(world.weather, {
    method: 'OPTIONS',
    headers: { ...asks, 'access-control-request-headers': wanted },
  });
  const allowed = (preflight.headers.get('access-control-allow-headers') ?? '').toLowerCase().split(',');
  expect([preflight.status, preflight.headers.get('access-control-allow-origin'), allowed]).toEqual([
    204,
    origin,
    wanted.split(','),
  ]);
  const { status, headers } = await fetch(world.weather, { headers: { origin } });
  const shown = headers.get('access-control-expose-headers');
  expect([status, headers.get('access-control-allow-origin'), shown]).toEqual([
    402,
    origin,
    'PAYMENT-REQUIRED,PAYMENT-RESPONSE',
  ]);
});
