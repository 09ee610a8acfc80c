import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { Hex } from 'ox';
import { MINUTE_MS } from '../../../lib/base/clock.ts';
import { type Chain, startChain } from '../../../scripts/dev-stack/chain.ts';
import { type Deployment, deployContracts } from '../../../scripts/dev-stack/deploy.ts';
import { type Operation, toRpc } from '../../../scripts/dev-stack/user-operation.ts';
import { type SponsoredBundler, startSponsoredBundler } from '../../support/bundler.ts';
import { chainVars } from '../../support/chain-vars.ts';
import { isLong } from '../../support/long.ts';
import {
  type Ask,
  bundle,
  type Greed,
  greedyOperation,
  obtain,
  WAYS,
  type Way,
} from '../../support/paymaster-thief.ts';
import { type Reply, startVault, type TestVault } from '../../support/vault.ts';

const GWEI = 10n ** 9n;
/** About what Base asks, and so much more that few operations use up a day. */
const PRICE_OF_BASE = GWEI / 200n;
const DEAR = GWEI / 6n;
const SPONSOR_MAX_FEE = 5n * 10n ** 14n;
/** The default, or a quarter of it; bundler/sponsor-day has the default one signed until nothing is left. */
const [DAY, DAY_WEI] = isLong ? ['0.02', 2n * 10n ** 16n] : ['0.005', 5n * 10n ** 15n];
const SMALL_DAY = '0.003';
const SMALL_DAY_WEI = 3n * 10n ** 15n;

let chain: Chain;
let contracts: Deployment;
let sponsored: SponsoredBundler;
/** In front of the paymaster: a sponsor whose stub is all that an operation needs, if that says its gas. */
let finalizer: ReturnType<typeof Bun.serve>;
beforeAll(async () => {
  chain = await startChain();
  contracts = await deployContracts(chain.rpc);
  sponsored = await startSponsoredBundler(chain, { tipGwei: '0.001' });
  finalizer = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const call = await request.json();
      const isFinal = call.method === 'pm_getPaymasterStubData' && call.params[0].callGasLimit !== undefined;
      const method = isFinal ? 'pm_getPaymasterData' : call.method;
      const body = JSON.stringify({ ...call, method });
      const answer = await fetch(sponsored.url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body,
      });
      const message = await answer.json();
      return Response.json(
        isFinal && message.result ? { ...message, result: { ...message.result, isFinal } } : message,
      );
    },
  });
});
afterAll(async () => {
  await finalizer.stop(true);
  await sponsored.stop();
  await chain.stop();
});
const opened: TestVault[] = [];
afterEach(async () => {
  for (const one of opened.splice(0)) await one.stop();
});

/** A vault with its default limits of money; requests are not what is limited here. */
async function open(url: string, money: { readonly SPONSOR_DAILY_WEI?: string } = {}): Promise<TestVault> {
  const vault = await startVault({
    ...chainVars(chain.url, contracts),
    BUNDLER_URL: url,
    RATE_LIMIT_PROXY_PER_IP: '100000',
    FINALITY_BLOCKS: '1',
    ...money,
  });
  opened.push(vault);
  await vault.call('GET /readyz');
  return vault;
}

const world = () => ({
  node: chain.rpc,
  contracts: contracts as Deployment & { accountFactory2: Hex.Hex },
  paymaster: sponsored.paymaster.addresses[contracts.entryPoint] as Hex.Hex,
});

/** Sets the base fee; what it is in the next block. */
async function market(baseFee: bigint): Promise<bigint> {
  await chain.rpc('anvil_setNextBlockBaseFeePerGas', [Hex.fromNumber(baseFee)]);
  await chain.rpc('anvil_mine', ['0x1']);
  const block = (await chain.rpc('eth_getBlockByNumber', ['latest', false])) as { baseFeePerGas: Hex.Hex };
  return BigInt(block.baseFeePerGas);
}

/**
 * What he tries, the dearest first: gas that is charged in full, gas of which a tenth is charged where it is left over,
 * and tips. He knows the rules, and what the bundler estimates.
 */
async function greeds(t: TestVault, baseFee: bigint, calls: number): Promise<readonly Greed[]> {
  const base = await market(baseFee);
  const offered = 2n * base + TIP;
  const { operation } = await greedyOperation(world(), { ...NO_GREED, maxFeePerGas: offered }, 2, calls);
  const { paymasterVerificationGasLimit: _, paymasterPostOpGasLimit: __, ...unpaid } = toRpc(operation);
  const params = [unpaid, contracts.entryPoint, { [operation.sender]: { balance: Hex.fromNumber(10n ** 20n) } }];
  const estimate = { jsonrpc: '2.0', id: 1, method: 'eth_estimateUserOperationGas', params };
  const { result } = (await t.call('POST /api/bundler', estimate)).body;
  const [before, ofCalls] = [BigInt(result.preVerificationGas), BigInt(result.callGasLimit)];
  const all = [9_400_000n, 20n * before, (before * 5n) / 4n].flatMap((preVerificationGas) =>
    [100n * offered, 2n * offered, offered].flatMap((maxFeePerGas) =>
      [maxFeePerGas, 10n * TIP, 2n * TIP].flatMap((maxPriorityFeePerGas) =>
        [8_000_000n, 4n * ofCalls + 600_000n, 2n * ofCalls + 300_000n, 350_000n].map((callGasLimit) => ({
          preVerificationGas,
          callGasLimit,
          maxFeePerGas,
          maxPriorityFeePerGas,
        })),
      ),
    ),
  );
  const won = ({ preVerificationGas, callGasLimit, maxFeePerGas, maxPriorityFeePerGas: tip }: Greed) =>
    (preVerificationGas + callGasLimit / 10n) * (base + tip < maxFeePerGas ? base + tip : maxFeePerGas);
  return all.toSorted((one, other) => Number(won(other) - won(one)));
}

const TIP = 1_000_000n;
const PADDING: Hex.Hex = `0x${'ff'.repeat(40_000)}`;
const NO_GREED: Greed = { preVerificationGas: 0n, callGasLimit: 0n, maxFeePerGas: 0n, maxPriorityFeePerGas: TIP };
/** By which way, how many calls an operation makes, at which base fee, from which addresses, how many operations. */
interface Robbery {
  readonly way: Way;
  readonly calls: number;
  readonly baseFee: bigint;
  readonly from: readonly string[];
  readonly most?: number;
  /** What he has not tried yet, where he comes back; it gets shorter. */
  readonly left?: Greed[];
}

/** Asks for one operation after the other, from one address after the other, until the day refuses them all. */
async function rob(t: TestVault, { way, calls, baseFee, from, most = 1_000, left: known }: Robbery) {
  await market(baseFee);
  const left = known ?? [...(await greeds(t, baseFee, calls))];
  const taken: Operation[] = [];
  const open = [...from];
  const kindNow = () => (calls > 1 || taken.length % 2 === 1 ? 2 : 1);
  let next: Awaited<ReturnType<typeof greedyOperation>> | undefined;
  for (let turn = 0; open.length > 0 && left[0] && taken.length < most; turn++) {
    const at = turn % open.length;
    let [limit, reason] = ['', ''];
    const ask: Ask = async (method, operation) => {
      const body = await askOf(t.from(open[at] ?? ''), method, operation);
      ({ limit, reason = '' } = body.error?.data ?? {});
      return body;
    };
    next ??= await greedyOperation(world(), left[0], kindNow(), calls);
    const greedy = { ...next, operation: { ...next.operation, ...left[0] } };
    const got = await obtain(world(), greedy, way, ask);
    if (got) {
      taken.push(got);
      next = undefined;
    }
    // From no other address he would get more.
    else if (limit === 'sponsor-wei' || limit === 'sponsorships-per-day') break;
    else if (limit === 'sponsor-wei-per-network' || limit === 'sponsorships-per-network') open.splice(at, 1);
    else left.splice(0, left.length, ...withoutRefused(left, reason));
  }
  return taken;
}

/** What he has not tried yet, the first of it refused: in the usual form he believes which of its members is too much. */
function withoutRefused([refused, ...left]: readonly Greed[], reason: string): readonly Greed[] {
  if (isLong || !refused) return left;
  const [, member = '', most = '0'] = /(\w+) is above (\d+)$/.exec(reason) ?? [];
  if (member in refused) return left.filter((one) => one[member as keyof Greed] <= BigInt(most));
  const costOf = (one: Greed) => (one.preVerificationGas + one.callGasLimit) * one.maxFeePerGas;
  return reason.includes('SPONSOR_MAX_FEE') ? left.filter((one) => costOf(one) < costOf(refused)) : left;
}

async function askOf(t: Pick<TestVault, 'call'>, method: Way, operation: unknown): Promise<Reply['body']> {
  const chainId = method.startsWith('pm_get') ? ['0x14a34', {}] : [];
  const params = [operation, contracts.entryPoint, ...chainId];
  return (await t.call('POST /api/bundler', { jsonrpc: '2.0', id: 1, method, params })).body;
}

test(
  `from 200 addresses he gets no more than SPONSOR_DAILY_WEI, ${DAY}; in the long form he comes back until it is gone`,
  async () => {
    const t = await open(sponsored.url, isLong ? {} : { SPONSOR_DAILY_WEI: DAY });
    const left = [...(await greeds(t, DEAR, 1))];
    const way = 'pm_sponsorUserOperation';
    let lost = 0n;
    let taken: readonly Operation[];
    do {
      taken = await rob(t, { way, calls: 1, baseFee: DEAR, from: addresses(200), left });
      if (lost === 0n) expect(taken.length).toBeGreaterThan(Number(DAY_WEI / SPONSOR_MAX_FEE));
      if (taken.length > 0) lost += (await bundle(world(), taken)).lost;
      expect(lost).toBeLessThanOrEqual(DAY_WEI);
      // What was reserved and not used has room again.
      await chain.rpc('anvil_mine', ['0x3']);
      await t.clock.advance(2 * MINUTE_MS);
      await t.work();
    } while (isLong && taken.length > 0);
    if (isLong) expect(lost).toBeGreaterThan(DAY_WEI - SPONSOR_MAX_FEE);
  },
  isLong ? 5 * MINUTE_MS : undefined,
);

const urlOf = (way: Way) => (way === 'pm_getPaymasterStubData' ? finalizer.url.href : sponsored.url);
const addresses = (count: number) => Array.from({ length: count }, (_, n) => `198.51.${n >> 7}.${n & 127}`);

describe.each(WAYS)('a stranger who pads, overprices and bundles his operations himself (H1), by %s', (way) => {
  test('gets at most four times what each costs, with 1 and with 16 calls, and has no long signature estimated', async () => {
    const t = await open(urlOf(way));
    for (const [n, calls] of [1, 16].entries()) {
      const from = [`198.51.100.${n}`];
      const taken = await rob(t, { way, calls, baseFee: PRICE_OF_BASE, from, most: 2 });
      expect(taken).toHaveLength(2);
      const { lost, won, gas } = await bundle(world(), taken);
      expect(won).toBe(lost);
      expect(Number(lost) / Number(gas)).toBeLessThan(4);
    }
    const base = await market(PRICE_OF_BASE);
    const gas = { preVerificationGas: 600_000n, callGasLimit: 300_000n };
    const greed = { ...gas, maxFeePerGas: 2n * base + TIP, maxPriorityFeePerGas: TIP };
    const { operation } = await greedyOperation(world(), greed, 1);
    const padded = toRpc({ ...operation, signature: Hex.concat(operation.signature, PADDING) });
    const { error } = await askOf(t, way, { ...padded, paymaster: world().paymaster, paymasterData: '0x' });
    expect(error).toMatchObject({ code: -32501, data: { limit: 'gas' } });
    const ofSender = `SELECT 1 FROM sponsorships WHERE sender = '${operation.sender.toLowerCase()}'`;
    expect(await t.rows(ofSender)).toEqual([]);
  });

  test('gets no more than a share of the day from 1 address, and than SPONSOR_DAILY_WEI from 20 more', async () => {
    const t = await open(urlOf(way), { SPONSOR_DAILY_WEI: SMALL_DAY });
    // What one operation may not have it may not have later: he comes back with the rest.
    const left = [...(await greeds(t, DEAR, 1))];
    let lost = 0n;
    for (const [from, most] of [
      [addresses(1), 3n * SPONSOR_MAX_FEE],
      // What was reserved and not used has room again: he comes back.
      [addresses(1), 3n * SPONSOR_MAX_FEE],
      [addresses(21), SMALL_DAY_WEI],
    ] as const) {
      const taken = await rob(t, { way, calls: 1, baseFee: DEAR, from, left });
      if (lost === 0n || from.length > 1) expect(taken.length).toBeGreaterThan(1);
      if (taken.length > 0) lost += (await bundle(world(), taken)).lost;
      expect(lost).toBeLessThanOrEqual(most);
      await chain.rpc('anvil_mine', ['0x3']);
      await t.clock.advance(2 * MINUTE_MS);
      await t.work();
    }
  });
});
