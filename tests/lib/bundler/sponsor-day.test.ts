// What a stranger has signed in a day, by a sponsor who signs all that he is asked for.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { DAY_MS } from '../../../lib/base/clock.ts';
import { type Chain, startChain } from '../../../scripts/dev-stack/chain.ts';
import { type Deployment, deployContracts } from '../../../scripts/dev-stack/deploy.ts';
import { createPasskey } from '../../../scripts/dev-stack/passkey.ts';
import { accountCallData, openAccount, type SmartAccount } from '../../../scripts/dev-stack/user-operation.ts';
import { chainVars } from '../../support/chain-vars.ts';
import { temporaryFolder } from '../../support/databases.ts';
import { WAYS, type Way } from '../../support/paymaster-thief.ts';
import { CHEAP_GAS, resultOf, startUpstream, type Upstream, willing } from '../../support/upstream.ts';
import { startVault, type TestVault } from '../../support/vault.ts';

const SPONSOR_DAILY_WEI = 2n * 10n ** 16n;
const SPONSOR_MAX_FEE = 5n * 10n ** 14n;
/** With `CHEAP_GAS` a little less than `SPONSOR_MAX_FEE`, and next to nothing. */
const DEAR = '0x2291d3c0';
const CHEAP = '0x1';
const { paymaster, paymasterData, paymasterVerificationGasLimit, paymasterPostOpGasLimit } = CHEAP_GAS;
const PAYMASTER = { paymaster, paymasterData, paymasterVerificationGasLimit, paymasterPostOpGasLimit };

let chain: Chain;
let contracts: Deployment;
let upstream: Upstream;
let accounts: readonly SmartAccount[];
beforeAll(async () => {
  chain = await startChain();
  contracts = await deployContracts(chain.rpc);
  const passkey = createPasskey();
  accounts = await Promise.all(
    Array.from({ length: 60 }, (_, salt) => openAccount(chain.rpc, contracts, passkey, BigInt(salt))),
  );
  upstream = startUpstream();
});
afterAll(async () => {
  await upstream.stop();
  await chain.stop();
});
/** What the sponsor says besides, of each answer in which it signs. */
let besides: object;
beforeEach(() => {
  besides = {};
  upstream.received.length = 0;
  upstream.answer = (call, request) => {
    switch (call.body.method) {
      case 'pm_getPaymasterStubData':
        return resultOf(call, { ...PAYMASTER, isFinal: true, ...besides });
      case 'pm_getPaymasterData':
      case 'pm_sponsorUserOperation':
        return resultOf(call, { ...PAYMASTER, ...besides });
      default:
        return willing(call, request);
    }
  };
});
const opened: TestVault[] = [];
afterEach(async () => {
  for (const one of opened.splice(0)) await one.stop();
});

async function open(vars: Readonly<Record<string, string>> = {}, dir?: string): Promise<TestVault> {
  const all = { ...chainVars(chain.url, contracts), BUNDLER_URL: upstream.url, RATE_LIMIT_PROXY_PER_IP: '100000' };
  const vault = await startVault({ ...all, ...vars }, dir === undefined ? {} : { dir });
  opened.push(vault);
  await vault.call('GET /readyz');
  return vault;
}

interface Asked {
  readonly account?: number;
  readonly nonce?: string;
  readonly way?: Way;
  readonly price?: string;
  readonly from?: string;
}

function draftOf(account: number, nonce: string, price: string) {
  const { address, factory, factoryData } = accounts[account] as SmartAccount;
  const fees = { maxFeePerGas: price, maxPriorityFeePerGas: CHEAP };
  const callData = accountCallData([{ target: address }]);
  return { sender: address, nonce, callData, factory, factoryData, ...CHEAP_GAS, ...fees };
}

/** Asks for one operation: what was signed, or the error. */
async function ask(t: TestVault, { account = 0, nonce = '0x0', way = WAYS[0], price = DEAR, from }: Asked) {
  const draft = draftOf(account, nonce, price);
  const more = way.startsWith('pm_get') ? ['0x14a34', {}] : [];
  const call = { jsonrpc: '2.0', id: 1, method: way, params: [draft, contracts.entryPoint, ...more] };
  const { body } = await t.from(from ?? `198.51.${account >> 7}.${account & 127}`).call('POST /api/bundler', call);
  return { error: body.error, key: `${draft.sender} ${nonce}`, worst: body.error ? 0n : worstOf(draft) };
}

/** Written beside the vault's own sum, from the sheet of EntryPoint 0.7. */
function worstOf(operation: typeof CHEAP_GAS | Record<string, string>): bigint {
  const of = (name: string) => BigInt((operation as Record<string, string>)[name] ?? '0x0');
  const gas = ['callGasLimit', 'verificationGasLimit', 'preVerificationGas'].map(of);
  const ofPaymaster = ['paymasterVerificationGasLimit', 'paymasterPostOpGasLimit'].map(of);
  return [...gas, ...ofPaymaster].reduce((sum, one) => sum + one, 0n) * of('maxFeePerGas');
}

/** The sum of the largest of each nonce: an EntryPoint executes one. */
function sumOf(signed: readonly { readonly key: string; readonly worst: bigint }[]): bigint {
  const largest = new Map<string, bigint>();
  for (const { key, worst } of signed) if (worst > (largest.get(key) ?? 0n)) largest.set(key, worst);
  return [...largest.values()].reduce((sum, one) => sum + one, 0n);
}

describe('in a day is signed no more than SPONSOR_DAILY_WEI', () => {
  test('from 200 addresses, by every method in turn', async () => {
    const t = await open();
    const signed = [];
    for (let n = 0; n < 200; n++) {
      const where = { account: n % 60, nonce: n < 60 ? '0x0' : '0x1', way: WAYS[n % 3] as Way };
      const one = await ask(t, { ...where, from: `198.51.${n >> 7}.${n & 127}` });
      if (one.error) {
        expect(one.error).toMatchObject({ code: -32504, data: { limit: 'sponsor-wei', retry_after: DAY_MS / 1000 } });
        break;
      }
      signed.push(one);
    }
    expect(sumOf(signed)).toBeLessThanOrEqual(SPONSOR_DAILY_WEI);
    expect(sumOf(signed)).toBeGreaterThan(SPONSOR_DAILY_WEI - SPONSOR_MAX_FEE);
  });

  test('by 50 requests at the same time, at two vaults on one database', async () => {
    const folder = temporaryFolder();
    const vaults = [await open({}, folder.path), await open({}, folder.path)] as const;
    const signed = await Promise.all(
      Array.from({ length: 50 }, (_, n) => ask(vaults[n % 2] as TestVault, { account: n, way: WAYS[n % 3] as Way })),
    );
    expect(sumOf(signed)).toBeLessThanOrEqual(SPONSOR_DAILY_WEI);
    expect(sumOf(signed)).toBeGreaterThan(SPONSOR_DAILY_WEI - SPONSOR_MAX_FEE);
    for (const one of opened.splice(0)) await one.stop();
    folder.remove();
  });

  test.each([
    ['of one address', { from: '198.51.100.1' }],
    ['of one account', { account: 7 }],
  ] as const)('%s no more than its share, by 20 requests at the same time', async (_, of) => {
    const t = await open();
    const signed = await Promise.all(
      Array.from({ length: 20 }, (_, n) => ask(t, { account: n, nonce: `0x${n}`, from: `198.51.7.${n}`, ...of })),
    );
    expect(sumOf(signed)).toBeLessThanOrEqual(3n * SPONSOR_MAX_FEE);
    expect(sumOf(signed)).toBeGreaterThan(2n * SPONSOR_MAX_FEE);
  });

  test('of one address no more than its share, where another one’s request of the same nonce is faster', async () => {
    const t = await open();
    const answer = upstream.answer;
    const cheap = Promise.withResolvers<void>();
    const asked = Promise.withResolvers<void>();
    let held = 0;
    upstream.answer = async (call, request) => {
      const [operation] = call.body.params;
      if (call.body.method === WAYS[0] && operation.maxFeePerGas === DEAR) {
        if (++held === 10) asked.resolve();
        await cheap.promise;
      }
      return answer(call, request);
    };
    const all = Array.from({ length: 10 }, (_, account) => account);
    const dear = all.map((account) => ask(t, { account, from: '198.51.100.1' }));
    await asked.promise;
    for (const account of all) await ask(t, { account, price: CHEAP, from: '198.51.100.2' });
    cheap.resolve();
    expect(sumOf(await Promise.all(dear))).toBeLessThanOrEqual(3n * SPONSOR_MAX_FEE);
  });

  test('of one address no more than its share, where others ask for more of the nonces that it began', async () => {
    const t = await open();
    const all = Array.from({ length: 6 }, (_, account) => account);
    for (const account of all)
      expect((await ask(t, { account, price: CHEAP, from: '198.51.100.1' })).error).toBeUndefined();
    const grown = [];
    for (const account of all) grown.push(await ask(t, { account, from: `198.51.101.${account}` }));
    expect(sumOf(grown)).toBeLessThanOrEqual(3n * SPONSOR_MAX_FEE);
    expect(sumOf(grown)).toBeGreaterThan(2n * SPONSOR_MAX_FEE);
  });

  test('by nonces that were sponsored for next to nothing, and grow when they are nearly a day old', async () => {
    const t = await open();
    const all = Array.from({ length: 60 }, (_, account) => account);
    for (const account of all) expect((await ask(t, { account, price: CHEAP })).error).toBeUndefined();
    await t.clock.advance(DAY_MS - 1_000);
    const grown = [];
    for (const account of all) grown.push(await ask(t, { account }));
    // A second later the first ones are a day old: others must not have what they were signed.
    await t.clock.advance(2_000);
    for (const account of all) grown.push(await ask(t, { account, nonce: '0x1' }));
    expect(sumOf(grown)).toBeLessThanOrEqual(SPONSOR_DAILY_WEI);
    expect(sumOf(grown)).toBeGreaterThan(SPONSOR_DAILY_WEI - SPONSOR_MAX_FEE);
  });

  test('by nonces of which each grows in the last second of its day, one after the other', async () => {
    const t = await open({ SPONSOR_DAILY_WEI: '0.0005' });
    const all = Array.from({ length: 20 }, (_, account) => account);
    for (const account of all) {
      expect((await ask(t, { account, price: CHEAP })).error).toBeUndefined();
      await t.clock.advance(2_000);
    }
    await t.clock.advance(DAY_MS - 2_000 * all.length - 1_000);
    const grown = [];
    for (const account of all) {
      grown.push(await ask(t, { account }));
      await t.clock.advance(2_000);
    }
    expect(sumOf(grown)).toBeLessThanOrEqual(SPONSOR_MAX_FEE);
    expect(sumOf(grown)).toBeGreaterThan(0n);
  });

  test('by nonces that are signed again when they are nearly a day old', async () => {
    const t = await open();
    const all = Array.from({ length: 40 }, (_, account) => account);
    for (const account of all) expect((await ask(t, { account })).error).toBeUndefined();
    await t.clock.advance(DAY_MS - 1_000);
    const again = [];
    for (const account of all) again.push(await ask(t, { account }));
    await t.clock.advance(2_000);
    for (const account of all) again.push(await ask(t, { account, nonce: '0x1' }));
    expect(sumOf(again)).toBeLessThanOrEqual(SPONSOR_DAILY_WEI);
    expect(sumOf(again)).toBeGreaterThan(SPONSOR_DAILY_WEI - SPONSOR_MAX_FEE);
  });
});

describe('what a sponsor answers besides', () => {
  test('another price has the gas before verification estimated again, at that price', async () => {
    const t = await open();
    besides = { maxFeePerGas: CHEAP, maxPriorityFeePerGas: CHEAP };
    expect((await ask(t, { way: 'pm_sponsorUserOperation' })).error).toBeUndefined();
    const estimates = upstream.received.filter(({ body }) => body.method === 'eth_estimateUserOperationGas');
    const prices = estimates.map(({ body }) => (body.params as readonly Record<string, string>[])[0]?.['maxFeePerGas']);
    expect(prices).toEqual([DEAR, CHEAP]);
  });

  test('a price below the draft’s does not lower what is reserved: the draft is what it signs', async () => {
    const t = await open();
    besides = { maxFeePerGas: CHEAP, callGasLimit: CHEAP };
    const { worst, error } = await ask(t, {});
    expect(error).toBeUndefined();
    const [row] = await t.rows('SELECT gwei FROM sponsorships');
    expect(BigInt(Number(row?.['gwei'])) * 10n ** 9n).toBeGreaterThanOrEqual(worst);
  });

  test.each(WAYS)('%s in the form of EntryPoint 0.6, which may pack gas of its own, is not handed on', async (way) => {
    const t = await open();
    const packed = `${paymaster}${'ff'.repeat(32)}`;
    besides = { ...Object.fromEntries(Object.keys(PAYMASTER).map((name) => [name, null])), paymasterAndData: packed };
    const { error } = await ask(t, { way });
    expect(error).toMatchObject({ code: -32501, data: { reason: expect.stringContaining('paymasterAndData') } });
    expect(await t.rows('SELECT 1 FROM sponsorships')).toEqual([]);
  });

  test.each(['true', 1, 'yes', {}])('a stub whose isFinal is %j is judged as one that is final', async (isFinal) => {
    const t = await open();
    besides = { isFinal };
    expect((await ask(t, { way: 'pm_getPaymasterStubData', price: '0xffffffffff' })).error).toMatchObject({
      data: { limit: 'price' },
    });
    expect((await ask(t, { way: 'pm_getPaymasterStubData' })).error).toBeUndefined();
    expect(await t.rows('SELECT 1 FROM sponsorships')).toHaveLength(1);
  });
});

describe('a request of another form', () => {
  const GREEDY = '0xffffffffff';
  const HUGE = `0x${'f'.repeat(64)}`;
  type Member = string | number | null | object;
  /** What is asked instead of a draft at 100 times the price, or at the price with 10 times the gas. */
  const members: Readonly<Record<string, Readonly<Record<string, Member>>>> = {
    'a price with leading zeros': { maxFeePerGas: `0x00${GREEDY.slice(2)}` },
    'a price in upper case': { maxFeePerGas: `0x${GREEDY.slice(2).toUpperCase()}` },
    'a price beyond every number': { maxFeePerGas: HUGE },
    'gas beyond every number': { maxFeePerGas: DEAR, preVerificationGas: HUGE },
    'gas beyond every number at no price': { maxFeePerGas: '0x0', preVerificationGas: HUGE },
    'gas of the paymaster beyond every number': { maxFeePerGas: '0x0', paymasterPostOpGasLimit: HUGE },
    'a price as a number': { maxFeePerGas: 1_000_000_000 },
    'a price of nothing, and a tip': { maxFeePerGas: '0x0', maxPriorityFeePerGas: GREEDY },
    'no price': { maxFeePerGas: null },
    'no gas': { maxFeePerGas: DEAR, preVerificationGas: null },
    'members of EntryPoint 0.6': { maxFeePerGas: DEAR, initCode: '0x', paymasterAndData: '0x' },
    'packed members': { maxFeePerGas: DEAR, accountGasLimits: HUGE, gasFees: HUGE },
    'an authorization in place of the factory': {
      maxFeePerGas: GREEDY,
      factory: '0x7702',
      factoryData: null,
      eip7702Auth: { chainId: '0x14a34', address: `0x${'5b'.repeat(20)}`, nonce: '0x0' },
    },
  };
  const cases = WAYS.flatMap((way) => Object.keys(members).map((name) => [way, name] as const))
    // There the answer says the paymaster's gas, and that is signed.
    .filter(([way, name]) => way !== 'pm_sponsorUserOperation' || !name.includes('of the paymaster'));
  test.each(cases)('by %s, %s, is not signed', async (way, name) => {
    const t = await open();
    const more = way.startsWith('pm_get') ? ['0x14a34', {}] : [];
    const draft = { ...draftOf(1, '0x0', GREEDY), ...members[name] };
    const call = { jsonrpc: '2.0', id: 1, method: way, params: [draft, contracts.entryPoint, ...more] };
    const alone = (await t.call('POST /api/bundler', call)).body;
    const [inBatch] = (await t.call('POST /api/bundler', [call] as never)).body;
    expect([alone.result, inBatch.result]).toEqual([undefined, undefined]);
    expect(alone.error.message).toMatch(/^sponsorship_refused$|^Invalid params/);
    expect(await t.rows('SELECT 1 FROM sponsorships')).toEqual([]);
  });

  test('around the operation reaches no sponsor, or is judged all the same', async () => {
    const t = await open();
    const greedy = draftOf(1, '0x0', GREEDY);
    const method = 'pm_sponsorUserOperation';
    const at = contracts.entryPoint;
    const override = { [greedy.sender]: { balance: HUGE } };
    for (const call of [
      { method: 'PM_sponsorUserOperation', params: [greedy, at] },
      { method: ' pm_sponsorUserOperation', params: [greedy, at] },
      { method: [method], params: [greedy, at] },
      { method, params: { userOperation: greedy, entryPoint: at } },
      { method, params: [[greedy], at] },
      { method, params: [greedy, at, { ...CHEAP_GAS, userOperation: greedy }] },
      { method, params: [greedy, at, {}, override] },
      { method, params: [greedy, at.toUpperCase().replace('0X', '0x'), null] },
      { method: 'pm_getPaymasterData', params: [greedy, at, '0x014a34', { isFinal: true }] },
      { method: 'pm_getPaymasterData', params: [greedy, at, '0x1', {}] },
      { method: 'eth_estimateUserOperationGas', params: [greedy, at, override, { paymaster: true }] },
    ]) {
      for (const id of [1, 'one', null, -1.5]) {
        const { body } = await t.call('POST /api/bundler', { jsonrpc: '2.0', id, ...call });
        expect([call, body.result]).toEqual([call, undefined]);
      }
    }
    const asked = new Set(upstream.received.map(({ body }) => body.method));
    expect(asked.has(method)).toBe(false);
    expect(await t.rows('SELECT 1 FROM sponsorships')).toEqual([]);
  });

  test('of one nonce is one reservation, however sender and nonce are written', async () => {
    const t = await open();
    const { sender } = draftOf(1, '0x0', DEAR);
    for (const [by, nonce] of [
      [sender, '0xa'],
      [sender.toLowerCase(), '0x0A'],
      [`0x${sender.slice(2).toUpperCase()}`, `0x${'a'.padStart(64, '0')}`],
    ] as const) {
      const params = [{ ...draftOf(1, nonce, DEAR), sender: by }, contracts.entryPoint];
      const call = { jsonrpc: '2.0', id: 1, method: 'pm_sponsorUserOperation', params };
      expect((await t.call('POST /api/bundler', call)).body.error).toBeUndefined();
    }
    expect(await t.rows('SELECT sender, nonce FROM sponsorships')).toEqual([
      { sender: sender.toLowerCase(), nonce: '0xa' },
    ]);
  });
});
