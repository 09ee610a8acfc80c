import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { Hex } from 'ox';
import * as UserOperation from 'ox/erc4337/UserOperation';
import { systemClock } from '../../../lib/base/clock.ts';
import { inGwei } from '../../../lib/limits/gwei.ts';
import { type Chain, connectChain, startChain } from '../../../scripts/dev-stack/chain.ts';
import { type Deployment, deployContracts } from '../../../scripts/dev-stack/deploy.ts';
import { createPasskey } from '../../../scripts/dev-stack/passkey.ts';
import * as wallet from '../../../scripts/dev-stack/user-operation.ts';
import { type SponsoredBundler, startSponsoredBundler } from '../../support/bundler.ts';
import { chainVars } from '../../support/chain-vars.ts';
import { decoded, handleOps, OPERATION_EVENT } from '../../support/operations.ts';
import { freshNonce } from '../../support/payment-operations.ts';
import { startVault, type TestVault } from '../../support/vault.ts';

/** About what Base asks; the default limits of money are made for that. */
const BASE_FEE = 5_000_000n;
const PAYEE = `0x${'5b'.repeat(20)}` as const;

let chain: Chain;
let contracts: Deployment;
/** One with a price floor, and one without. */
let floored: SponsoredBundler;
let usual: SponsoredBundler;
beforeAll(async () => {
  chain = await startChain();
  contracts = await deployContracts(chain.rpc);
  usual = await startSponsoredBundler(chain, { tipGwei: '0.001' });
  floored = await startSponsoredBundler(chain, { tipGwei: '0.001', floorGwei: { maxFee: '0.05', tip: '0.02' } });
});
afterAll(async () => {
  await floored.stop();
  await usual.stop();
  await chain.stop();
});
const opened: TestVault[] = [];
afterEach(async () => {
  for (const one of opened.splice(0)) await one.stop();
});

async function open(bundler: SponsoredBundler): Promise<TestVault> {
  const clock = { ...systemClock, advance: () => Promise.reject(new Error('this clock is real')) };
  const vars = { ...chainVars(chain.url, contracts), BUNDLER_URL: bundler.url, FINALITY_BLOCKS: '1' };
  const vault = await startVault({ ...vars, RATE_LIMIT_PROXY_PER_IP: '100000' }, { clock });
  opened.push(vault);
  return vault;
}

/** In a block behind empty ones, so that the market's tip, a median of five blocks, is not one of earlier operations. */
async function setBaseFee(wei: bigint): Promise<void> {
  await chain.rpc('anvil_mine', ['0x4']);
  await chain.rpc('anvil_setNextBlockBaseFeePerGas', [Hex.fromNumber(wei)]);
  await chain.rpc('anvil_mine', ['0x1']);
}

type Prices = Pick<wallet.Operation, 'maxFeePerGas' | 'maxPriorityFeePerGas'>;

/** What the pages offer now. */
async function offered(t: TestVault): Promise<Prices> {
  const { body } = await t.call('GET /pay/fees');
  return { maxFeePerGas: BigInt(body.maxFeePerGas), maxPriorityFeePerGas: BigInt(body.maxPriorityFeePerGas) };
}

/** An eighth more, as the pages raise what they signed. */
const raised = ({ maxFeePerGas, maxPriorityFeePerGas }: Prices): Prices => ({
  maxFeePerGas: (maxFeePerGas * 9n + 7n) / 8n,
  maxPriorityFeePerGas: (maxPriorityFeePerGas * 9n + 7n) / 8n,
});

/** Has an operation of this nonce sponsored at a price; the error where it is refused. */
async function ask(
  t: TestVault,
  account: wallet.SmartAccount,
  { nonce, calls, prices }: { nonce: bigint; calls: readonly wallet.AccountCall[]; prices: Prices },
) {
  const prepared = await wallet.prepareOperation(chain.rpc, account, calls);
  const draft = wallet.toRpc({ ...prepared, nonce, ...prices, callData: wallet.accountCallData(calls) });
  const params = [draft, contracts.entryPoint];
  const { body } = await t.call('POST /api/bundler', {
    jsonrpc: '2.0',
    id: 1,
    method: 'pm_sponsorUserOperation',
    params,
  });
  if (body.error) return { error: body.error, operation: undefined };
  return { error: undefined, operation: UserOperation.fromRpc({ ...draft, ...body.result }) as wallet.Operation };
}

/** Signs, sends through the vault, and waits until it is mined. */
async function send(t: TestVault, account: wallet.SmartAccount, operation: wallet.Operation) {
  const signed = await wallet.signOperation(chain.rpc, account, operation);
  return wallet.sendOperation(connectChain(`${t.url}/api/bundler`), account, signed);
}

const rich = async (kind: 1 | 2) => {
  const account = await wallet.openAccount(chain.rpc, contracts, createPasskey(), 0n, kind);
  await chain.rpc('anvil_setBalance', [account.address, '0x3e8']);
  return account;
};
const pay = [{ target: PAYEE, value: 1n }];

describe.each([1, 2] as const)('what an account of kind %i is sponsored for with the default limits', (kind) => {
  test.each(['usual', 'floored'] as const)(
    'first and later payments, at a bundler whose price is %s',
    async (which) => {
      const t = await open(which === 'usual' ? usual : floored);
      const account = await rich(kind);
      await setBaseFee(BASE_FEE);
      const prices = await offered(t);
      if (which === 'floored') expect(prices.maxPriorityFeePerGas).toBeGreaterThanOrEqual(20_000_000n);
      // The price of the page is some blocks old when it is used.
      for (const [n, baseFee] of [BASE_FEE, 2n * BASE_FEE, BASE_FEE / 2n].entries()) {
        await setBaseFee(baseFee);
        const { operation, error } = await ask(t, account, { nonce: freshNonce(), calls: pay, prices });
        expect([n, error]).toEqual([n, undefined]);
        expect((await send(t, account, operation as wallet.Operation)).success).toBe(true);
      }
    },
  );

  test('a payment, its raise, and a void of it, after the base fee has fallen to half', async () => {
    const t = await open(usual);
    const account = await rich(kind);
    await setBaseFee(2n * BASE_FEE);
    const nonce = freshNonce();
    let prices = await offered(t);
    expect((await ask(t, account, { nonce, calls: pay, prices })).error).toBeUndefined();
    await setBaseFee(BASE_FEE);
    for (const calls of [pay, [], []]) {
      prices = raised(prices);
      expect((await ask(t, account, { nonce, calls, prices })).error).toBeUndefined();
    }
    // Three times, and for this nonce alone.
    const data = { kind: 'paymaster_rejected', limit: 'price' };
    const fourth = await ask(t, account, { nonce, calls: [], prices: raised(raised(raised(prices))) });
    expect(fourth.error).toMatchObject({ code: -32501, data });
    const other = await ask(t, account, { nonce: freshNonce(), calls: pay, prices: raised(prices) });
    expect(other.error).toMatchObject({ code: -32501, data });
    expect(await t.rows('SELECT nonce, raises FROM sponsorships')).toEqual([
      { nonce: Hex.fromNumber(nonce), raises: 3 },
    ]);
  });

  const moves = [
    ['usual', 'doubled', 2n * BASE_FEE],
    ['floored', 'doubled', 2n * BASE_FEE],
    ['floored', 'fallen to half', BASE_FEE / 2n],
  ] as const;
  test.each(moves)(
    'a payment, its raise, and a void that is mined, at a bundler whose price is %s, after the base fee has %s',
    async (which, _, later) => {
      const t = await open(which === 'usual' ? usual : floored);
      const account = await rich(kind);
      await setBaseFee(BASE_FEE);
      const nonce = freshNonce();
      let prices = await offered(t);
      expect((await ask(t, account, { nonce, calls: pay, prices })).error).toBeUndefined();
      await setBaseFee(later);
      let last: wallet.Operation | undefined;
      for (const calls of [pay, pay, []]) {
        prices = raised(prices);
        const { operation, error } = await ask(t, account, { nonce, calls, prices });
        expect(error).toBeUndefined();
        last = operation;
      }
      expect((await send(t, account, last as wallet.Operation)).success).toBe(true);
    },
  );

  test.each(['usual', 'floored'] as const)(
    'a void of a payment that is watched, and of no other nonce, at a bundler whose price is %s',
    async (which) => {
      const t = await open(which === 'usual' ? usual : floored);
      const account = await rich(kind);
      await setBaseFee(BASE_FEE);
      const [nonce, prices] = [freshNonce(), await offered(t)];
      const refused = await ask(t, account, { nonce, calls: [], prices });
      expect(refused.error).toMatchObject({
        code: -32501,
        data: { reason: expect.stringContaining('no payment of this nonce') },
      });
      // One that waits for a block is watched.
      await chain.rpc('evm_setAutomine', [false]);
      const prepared = await wallet.prepareOperation(chain.rpc, account, pay);
      const draft = { ...prepared, nonce, ...prices, preVerificationGas: 100_000n };
      await chain.rpc('anvil_setBalance', [account.address, '0xde0b6b3a7640000']);
      const params = [wallet.toRpc(await wallet.signOperation(chain.rpc, account, draft)), contracts.entryPoint];
      const sent = { jsonrpc: '2.0', id: 1, method: 'eth_sendUserOperation', params };
      expect((await t.call('POST /api/bundler', sent)).body.result).toMatch(/^0x/);
      // Asked for again: each block until then has lowered the base fee, and the price bound with it.
      const now = await offered(t);
      expect((await ask(t, account, { nonce, calls: [], prices: now })).error).toBeUndefined();
      await chain.rpc('evm_setAutomine', [true]);
      await chain.rpc('anvil_mine', ['0x2']);
    },
  );
});

test('what is reserved is replaced by what the operation cost in a final block, without a follower', async () => {
  const t = await startVault({ ...chainVars(chain.url, contracts), BUNDLER_URL: usual.url, FINALITY_BLOCKS: '1' });
  opened.push(t);
  await setBaseFee(BASE_FEE);
  const [account, other] = [await rich(2), await rich(1)];
  const prices = await offered(t);
  const { operation } = await ask(t, account, { nonce: freshNonce(), calls: pay, prices });
  const unsent = await ask(t, other, { nonce: freshNonce(), calls: pay, prices });
  const rows = () =>
    t.rows('SELECT sender, gwei, next_look_at IS NULL AS settled FROM sponsorships ORDER BY sponsored_at');
  const reserved = await rows();
  expect(reserved.map(({ settled }) => settled)).toEqual([0, 0]);
  const signed = await wallet.signOperation(chain.rpc, account, operation as wallet.Operation);
  const { logs } = await handleOps(chain.rpc, contracts.entryPoint, signed);
  const [event] = decoded(logs, OPERATION_EVENT);
  await chain.rpc('anvil_mine', ['0x2']);
  await t.clock.advance(60_000);
  await t.work();
  const settled = await rows();
  const of = (list: typeof settled, one: wallet.SmartAccount) =>
    list.find(({ sender }) => sender === one.address.toLowerCase());
  expect(of(settled, account)).toMatchObject({ gwei: inGwei(event?.actualGasCost as bigint), settled: 1 });
  expect(Number(of(settled, account)?.['gwei'])).toBeLessThan(Number(of(reserved, account)?.['gwei']));
  // What is never sent stays until it leaves the day.
  expect(of(settled, other)).toEqual(of(reserved, other) as Record<string, unknown>);
  expect(unsent.error).toBeUndefined();
  const again = await ask(t, account, { nonce: (operation as wallet.Operation).nonce, calls: pay, prices });
  expect(again.error).toMatchObject({ data: { reason: 'not sponsored: this nonce is spent' } });
});
