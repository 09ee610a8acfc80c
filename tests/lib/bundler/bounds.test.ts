// What one operation may say of its gas and price, to the unit: in what is asked and in what the sponsor answers.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { VaultError } from '../../../lib/base/error.ts';
import { createMetrics } from '../../../lib/base/metrics.ts';
import { createAskedPrice } from '../../../lib/bundler/asked-price.ts';
import type { Bundler } from '../../../lib/bundler/client.ts';
import { callBundler } from '../../../lib/bundler/proxy.ts';
import { toQuantity } from '../../../lib/chain/contract-call.ts';
import { readConfig } from '../../../lib/config/config.ts';
import { createStore, type OwnedStore } from '../../../lib/db/store.ts';
import { accountCallData } from '../../../scripts/dev-stack/user-operation.ts';
import { testClock } from '../../support/clock.ts';
import { engines, type TestDatabase } from '../../support/databases.ts';
import { WAYS, type Way } from '../../support/paymaster-thief.ts';
import { VAULT_SECRET } from '../../support/vault.ts';

const at = (byte: string) => `0x${byte.repeat(20)}` as const;
const [SENDER, FACTORY, ENTRY_POINT, PAYEE, PAYMASTER] = [at('a1'), at('fa'), at('e9'), at('5b'), at('9a')];
const CREATION = `0x4c1ed7f5${`${'0'.repeat(63)}1`.repeat(3)}`;
/** The next block's base fee, and the median tip: pages offer 2 × the one and the other. */
const [BASE_FEE, TIP] = [5_000_000n, 1_000_000n];

/** What the bundler and the sponsor answer the vault itself, and the most of each member that follows (§7.1). */
const ESTIMATE = { preVerificationGas: 60_000n, callGasLimit: 1_000_000n };
const STUB = { paymasterVerificationGasLimit: 80_000n, paymasterPostOpGasLimit: 40_000n };
const MOST = {
  // Around the calls 300,000, and for a transfer of ether 60,000 (L13).
  callGasLimit: 360_000n,
  verificationGasLimit: 2_000_000n,
  preVerificationGas: 75_000n,
  paymasterVerificationGasLimit: 100_000n,
  paymasterPostOpGasLimit: 50_000n,
  maxFeePerGas: 22_000_000n,
  maxPriorityFeePerGas: 2_000_000n,
};
type Said = Partial<Record<keyof typeof MOST, bigint>>;
const USUAL: Required<Said> = {
  callGasLimit: 100_000n,
  verificationGasLimit: 400_000n,
  preVerificationGas: 60_000n,
  ...STUB,
  maxFeePerGas: 2n * BASE_FEE + TIP,
  maxPriorityFeePerGas: TIP,
};
const hex = (said: Said) =>
  Object.fromEntries(Object.entries(said).map(([name, amount]) => [name, toQuantity(amount)]));

let database: TestDatabase;
let db: OwnedStore;
const clock = testClock();
beforeAll(async () => {
  database = (await engines()[0]?.open()) as TestDatabase;
  db = createStore({ database, clock, metrics: createMetrics(), maxConnections: 10 });
});
afterAll(async () => {
  await db.idle();
  await database.close();
});

/** What upstreams answer by method; an absent one is an error. The draft is what the sponsor was asked for. */
type Answers = Record<string, (draft: Record<string, string>) => object | string>;
let answers: Answers;
let asked: string[];
/** What the sponsor says in the answer that signs, beside its address. */
let signed: (draft: Record<string, string>) => object;
beforeEach(async () => {
  asked = [];
  signed = () => hex(STUB);
  const stub = { paymaster: PAYMASTER, paymasterData: '0x' };
  const answer = (draft: Record<string, string>) => ({ ...stub, ...signed(draft) });
  answers = {
    // One who asks for gas is the client: the vault asks without.
    pm_getPaymasterStubData: (draft) =>
      draft['callGasLimit'] === undefined ? { ...stub, ...hex(STUB) } : { ...answer(draft), isFinal: true },
    pm_getPaymasterData: answer,
    pm_sponsorUserOperation: answer,
    eth_estimateUserOperationGas: () => hex(ESTIMATE),
  };
  await database.execute({ sql: 'DELETE FROM sponsorships', args: {} });
});

const call: Bundler['call'] = async (method, [draft]) => {
  asked.push(method);
  const answer = answers[method]?.(draft as Record<string, string>);
  return answer === undefined
    ? { error: { code: -32601, message: 'no answer', data: { kind: 'upstream' } } as never }
    : { result: answer };
};

const NODE: Record<string, unknown> = {
  eth_feeHistory: { baseFeePerGas: [toQuantity(BASE_FEE)], reward: [[toQuantity(TIP)]] },
  eth_getCode: '0x',
};

/** Asks a vault for a signature; undefined if it came, else the word of the refusal and its reason. */
async function ask(way: Way, said: Said = USUAL, { calls = 1, vars = {} } = {}) {
  const config = readConfig({
    VAULT_SECRET,
    CHAIN_ID: '84532',
    RPC_URL: 'http://127.0.0.1:1',
    ENTRY_POINT_ADDRESS: ENTRY_POINT,
    HYPERAUTH_FACTORY_ADDRESS: FACTORY,
    BUNDLER_URL: 'http://127.0.0.1:1',
    SPONSOR_DAILY_MAX: '1000000',
    ...vars,
  });
  const ctx = {
    config,
    clock,
    db,
    metrics: createMetrics(),
    log: () => undefined,
    rpc: { call: async (_: number, method: string) => NODE[method] },
    predict: async () => SENDER,
    bundler: { call, price: createAskedPrice(call, clock) },
  };
  const operation = {
    sender: SENDER,
    nonce: '0x0',
    factory: FACTORY,
    factoryData: CREATION,
    callData: accountCallData(Array.from({ length: calls }, () => ({ target: PAYEE, value: 1n }))),
    paymaster: PAYMASTER,
    paymasterData: '0x',
    ...hex(said),
  };
  const params = [operation, ENTRY_POINT, ...(way.startsWith('pm_get') ? ['0x14a34', {}] : [])];
  try {
    const outcome = await callBundler(ctx as never, { jsonrpc: '2.0', id: 1, method: way, params }, '203.0.113.7');
    return 'error' in outcome ? outcome.error.message : undefined;
  } catch (refusal) {
    if (!(refusal instanceof VaultError)) throw refusal;
    return `${refusal.details.extra?.['limit']}: ${refusal.details.extra?.['reason']}`;
  } finally {
    reserved = (await database.execute({ sql: 'SELECT gwei FROM sponsorships', args: {} })).rows.length;
  }
}
let reserved = 0;

const MEMBERS = Object.keys(MOST) as (keyof typeof MOST)[];
const limitOf = (name: string) => (name.endsWith('PerGas') ? 'price' : 'gas');

describe.each(WAYS)('by %s, an operation', (way) => {
  test('at every bound is signed, and reserved', async () => {
    signed = () => hex(MOST);
    expect([await ask(way, MOST), reserved]).toEqual([undefined, 1]);
  });

  test.each(MEMBERS)('whose draft says one more of %s is not', async (name) => {
    signed = (draft) => ({ [name]: draft[name] });
    const refusal = `${limitOf(name)}: not sponsored: ${name} is above ${MOST[name]}`;
    expect([await ask(way, { ...USUAL, [name]: MOST[name] + 1n }), reserved]).toEqual([refusal, 0]);
    expect([await ask(way, { ...USUAL, [name]: MOST[name] }), reserved]).toEqual([undefined, 1]);
  });

  test.each(MEMBERS)('of which the sponsor answers one more of %s is not', async (name) => {
    signed = () => hex({ ...STUB, [name]: MOST[name] + 1n });
    const refusal = `${limitOf(name)}: not sponsored: ${name} is above ${MOST[name]}`;
    expect([await ask(way), reserved]).toEqual([refusal, 0]);
    signed = () => hex({ ...STUB, [name]: MOST[name] });
    expect([await ask(way), reserved]).toEqual([undefined, 1]);
  });

  test('may take 60,000 of gas for each transfer of ether, and no more than twice the estimate and 300,000', async () => {
    for (const [calls, most, estimated] of [
      [2, 420_000n, 1_000_000n],
      [1, 320_000n, 10_000n],
    ] as const) {
      answers['eth_estimateUserOperationGas'] = () => hex({ ...ESTIMATE, callGasLimit: estimated });
      const above = `gas: not sponsored: callGasLimit is above ${most}`;
      expect([await ask(way, { ...USUAL, callGasLimit: most + 1n }, { calls }), reserved]).toEqual([above, 0]);
      expect([await ask(way, { ...USUAL, callGasLimit: most }, { calls }), reserved]).toEqual([undefined, 1]);
      await database.execute({ sql: 'DELETE FROM sponsorships', args: {} });
    }
  });

  test('may take 150,000 and 100,000 of the paymaster’s gas where the stub is silent', async () => {
    const final = answers['pm_getPaymasterStubData'];
    answers['pm_getPaymasterStubData'] = (draft) =>
      draft['callGasLimit'] === undefined ? { paymaster: PAYMASTER, paymasterData: '0x' } : (final?.(draft) ?? '');
    signed = () => ({});
    const most = { paymasterVerificationGasLimit: 150_000n, paymasterPostOpGasLimit: 100_000n };
    for (const name of Object.keys(most) as (keyof typeof most)[]) {
      const above = `gas: not sponsored: ${name} is above ${most[name]}`;
      expect([await ask(way, { ...USUAL, ...most, [name]: most[name] + 1n }), reserved]).toEqual([above, 0]);
    }
    expect([await ask(way, { ...USUAL, ...most }), reserved]).toEqual([undefined, 1]);
  });

  test('may cost SPONSOR_MAX_FEE, and not one unit of gas more, as it is asked for and as it is answered', async () => {
    const vars = { SPONSOR_MAX_FEE: '0.00005687' };
    const less = { SPONSOR_MAX_FEE: '0.000056869999' };
    const words = 'price: not sponsored: it may cost 56870000000000 wei, and the operator’s SPONSOR_MAX_FEE is ';
    for (const [said, answered] of [
      [MOST, {}],
      [USUAL, MOST],
    ] as const) {
      signed = () => hex(answered);
      expect([await ask(way, said, { vars: less }), reserved]).toEqual([expect.stringContaining(words), 0]);
      expect([await ask(way, said, { vars }), reserved]).toEqual([undefined, 1]);
      await database.execute({ sql: 'DELETE FROM sponsorships', args: {} });
    }
  });

  test('whose estimate alone fails, or is unreadable, is not', async () => {
    for (const answer of [undefined, () => ({}), () => ({ preVerificationGas: '60000', callGasLimit: 1 })]) {
      if (answer) answers['eth_estimateUserOperationGas'] = answer;
      else delete answers['eth_estimateUserOperationGas'];
      expect([await ask(way), reserved]).toEqual([answer ? 'no estimate of its gas' : 'no answer', 0]);
      expect(asked).toContain('eth_estimateUserOperationGas');
      if (way !== 'pm_getPaymasterStubData') expect(asked).not.toContain(way);
    }
  });
});

describe('a bundler with a method for its price', () => {
  const price = { maxFeePerGas: '0x3938700', maxPriorityFeePerGas: '0x1312d00' };
  test.each([
    ['pimlico_getUserOperationGasPrice', { slow: {}, standard: {}, fast: price }, 120_000_000n],
    ['skandha_getGasPrice', price, 120_000_000n],
    // A tip alone: beside it stands what the market asks.
    ['rundler_maxPriorityFeePerGas', price.maxPriorityFeePerGas, 60_000_000n],
  ])('is paid twice of what %s says, and no more', async (method, answer, maxFeePerGas) => {
    answers[method] = () => answer;
    const most = { ...USUAL, maxFeePerGas, maxPriorityFeePerGas: 40_000_000n };
    const way = WAYS[0];
    const above = (name: keyof typeof most) => `price: not sponsored: ${name} is above ${most[name]}`;
    expect(await ask(way, { ...most, maxFeePerGas: maxFeePerGas + 1n })).toBe(above('maxFeePerGas'));
    expect(await ask(way, { ...most, maxPriorityFeePerGas: 40_000_001n })).toBe(above('maxPriorityFeePerGas'));
    expect(await ask(way, most)).toBeUndefined();
  });
});
