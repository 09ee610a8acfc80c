import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { Hex } from 'ox';
import { systemClock } from '../../../lib/base/clock.ts';
import type { LogEntry } from '../../../lib/base/log.ts';
import { createMetrics } from '../../../lib/base/metrics.ts';
import type { AccountKey, AccountKind } from '../../../lib/chain/account.ts';
import {
  createFactoryFacts,
  createPredictAddress,
  PREDICTIONS_UNCHECKED_MAX,
} from '../../../lib/chain/account-address.ts';
import { createRpc } from '../../../lib/chain/rpc.ts';
import { compileContracts } from '../../../scripts/contracts.ts';
import { type Chain, startChain } from '../../../scripts/dev-stack/chain.ts';
import { type Deployment, deployContracts } from '../../../scripts/dev-stack/deploy.ts';
import { type Forwarder, startForwarder } from '../../support/forwarder.ts';
import { expectHoldsNone, failureOf } from '../../support/secrecy.ts';

const KEY = 'a1b2c3d4e5f60718293a4b5c6d7e8f90';
const SOMEBODY = `0x${'5b'.repeat(20)}` as const;
/** Answers this address whatever it is asked, as another factory might. */
const FOREIGN_CODE = `0x73${SOMEBODY.slice(2)}5f5260205ff3`;

let chain: Chain;
let contracts: Deployment;
let node: Forwarder;
beforeAll(async () => {
  chain = await startChain();
  contracts = await deployContracts(chain.rpc);
  node = startForwarder(chain.url);
});
afterAll(async () => {
  await node.stop();
  await chain.stop();
});
beforeEach(() => {
  node.trouble = undefined;
});

const ownFactory = (kind: AccountKind) => (kind === 1 ? contracts.accountFactory : contracts.accountFactory2);

/** One vault's predictions; `calls` are the methods that the node was asked since the last look. */
function open({ kind = 1 as AccountKind, factory = ownFactory(kind) as string | null, predictLocally = true } = {}) {
  const logs: LogEntry[] = [];
  const log = (entry: LogEntry) => logs.push(entry);
  const url = `${node.url}/v2/${KEY}`;
  const rpc = createRpc({ urls: { 84532: url }, fetch, clock: systemClock, metrics: createMetrics(), log });
  const of = (one: AccountKind) => (kind === one ? (factory as Hex.Hex | null) : null);
  const config = { chainId: 84532, hyperauthFactoryAddress: of(1), accountFactory2Address: of(2) };
  const predictAny = createPredictAddress({ config, rpc, log }, createFactoryFacts({ predictLocally }));
  const predict = (key: AccountKey) => predictAny(key, kind);
  let seen = node.methods.length;
  const calls = () => {
    const fresh = node.methods.slice(seen);
    seen += fresh.length;
    return fresh;
  };
  return { predict, logs, calls };
}

const words = (n: number, seed: number): AccountKey[] =>
  Array.from({ length: n }, (_, i) => {
    const word = (part: number) => BigInt(Hex.fromBytes(keccak_256(new TextEncoder().encode(`${seed}/${i}/${part}`))));
    return { x: word(0), y: word(1), salt: i % 3 === 0 ? 0n : word(2) >> BigInt(8 * (i % 32)) };
  });
const [alice, bob, carol] = words(3, 0) as [AccountKey, AccountKey, AccountKey];

describe.each([1, 2] as const)('our own factory of the kind %d', (kind) => {
  const own = () => ownFactory(kind);
  const openOwn = (options: { predictLocally?: boolean } = {}) => open({ kind, ...options });

  test('is known by its code, which is what the compiler makes of it', async () => {
    const { AccountFactory, AccountFactory2 } = await compileContracts();
    const code = (await chain.rpc('eth_getCode', [own(), 'latest'])) as string;
    const implementation = Hex.slice(
      (await chain.rpc('eth_call', [{ to: own(), data: '0x5c60da1b' }, 'latest'])) as Hex.Hex,
      12,
    );
    expect<string>(code.replaceAll(implementation.slice(2), '0'.repeat(40))).toBe(
      (kind === 1 ? AccountFactory : AccountFactory2)?.deployedBytecode ?? '',
    );
    const { predict, logs } = openOwn();
    await predict(alice);
    expect(logs).toEqual([{ level: 'info', event: 'account_factory', factory: own(), kind, own: true }]);
  });

  test('on 500 random inputs the computed address is the one it answers', async () => {
    const local = openOwn();
    const keys = [
      ...words(498, 1),
      { x: 0n, y: 0n, salt: 0n },
      { x: 2n ** 256n - 1n, y: 2n ** 256n - 1n, salt: 2n ** 256n - 1n },
    ];
    await local.predict(alice);
    local.calls();
    const computed = await Promise.all(keys.map((key) => local.predict(key)));
    expect(local.calls()).toEqual([]);
    const remote = openOwn({ predictLocally: false });
    expect(await Promise.all(keys.map((key) => remote.predict(key)))).toEqual(computed);
    expect(remote.calls().filter((method) => method === 'eth_call')).toHaveLength(keys.length);
  });

  test('the first prediction is one request, those at the same time share the identification, later ones ask nobody', async () => {
    const { predict, calls } = openOwn();
    let requests = 0;
    node.trouble = (forward) => {
      requests++;
      return forward();
    };
    await Promise.all([predict(alice), predict(bob)]);
    expect([requests, calls().sort()]).toEqual([1, ['eth_call', 'eth_call', 'eth_call', 'eth_getCode']]);
    await predict(carol);
    expect(calls()).toEqual([]);
  });

  test('an unreachable chain holds up the first prediction only', async () => {
    const { predict, logs } = openOwn();
    node.trouble = () => new Response('down', { status: 503 });
    const failure = await failureOf(predict(alice));
    expect([failure.code, failure.message]).toEqual(['rpc_error', 'rpc_error']);
    expectHoldsNone([failure, logs], KEY, '127.0.0.1');
    node.trouble = undefined;
    const address = await predict(alice);
    node.trouble = () => new Response('down', { status: 503 });
    expect(await predict(alice)).toBe(address);
  });

  test('one that cannot be identified now is asked meanwhile, and identified later', async () => {
    const { predict, logs, calls } = openOwn();
    node.trouble = async (forward, methods) => {
      const answers = (await (await forward()).json()) as object[];
      return Response.json(
        answers.map((one, i) => (methods[i] === 'eth_getCode' ? { ...one, result: undefined } : one)),
      );
    };
    const address = await predict(alice);
    expect(logs.map(({ level, event }) => [level, event])).toEqual([['warn', 'account_factory_unread']]);
    node.trouble = undefined;
    await predict(bob);
    calls();
    expect(await predict(alice)).toBe(address);
    await predict(carol);
    expect([logs.at(-1)?.['own'], calls()]).toEqual([true, []]);
  });

  test(`one of every ${PREDICTIONS_UNCHECKED_MAX} predictions is compared with the chain, and the chain believed`, async () => {
    const { predict, logs, calls } = openOwn();
    const code = await chain.rpc('eth_getCode', [own(), 'latest']);
    await predict(alice);
    await chain.rpc('anvil_setCode', [own(), FOREIGN_CODE]);
    calls();
    const many = words(PREDICTIONS_UNCHECKED_MAX - 1, 2);
    for (const key of many) await predict(key);
    expect(calls()).toEqual([]);
    await predict(bob);
    while (logs.at(-1)?.event !== 'prediction_differs') await Bun.sleep(1);
    expect(logs.at(-1)).toMatchObject({ level: 'error', factory: own() });
    expect((await predict(bob)).toLowerCase()).toBe(SOMEBODY);
    await chain.rpc('anvil_setCode', [own(), code]);
  });

  test('a comparison that fails proves nothing wrong', async () => {
    const { predict, logs, calls } = openOwn();
    await predict(alice);
    calls();
    node.trouble = () => new Response('down', { status: 503 });
    for (const key of words(2 * PREDICTIONS_UNCHECKED_MAX, 3)) await predict(key);
    while (node.methods.length === 0 || calls().length === 0) await Bun.sleep(1);
    expect(logs.map(({ event }) => event)).toEqual(['account_factory']);
  });
});

describe('another factory', () => {
  const foreign = `0x${'f0'.repeat(20)}`;

  test('is asked, once a key: its answers never change', async () => {
    await chain.rpc('anvil_setCode', [foreign, FOREIGN_CODE]);
    const { predict, logs, calls } = open({ factory: foreign });
    expect((await predict(alice)).toLowerCase()).toBe(SOMEBODY);
    expect(logs).toEqual([{ level: 'info', event: 'account_factory', factory: foreign, kind: 1, own: false }]);
    calls();
    await predict(alice);
    expect(calls()).toEqual([]);
    await predict(bob);
    expect(calls()).toEqual(['eth_call']);
  });

  test('our own with other code in it is another', async () => {
    const code = (await chain.rpc('eth_getCode', [contracts.accountFactory, 'latest'])) as string;
    await chain.rpc('anvil_setCode', [foreign, `${code}00`]);
    const { predict, logs } = open({ factory: foreign });
    await predict(alice);
    expect(logs[0]?.['own']).toBe(false);
  });

  test('one that reverts is 502 rpc_error, as is one without code, which may still come', async () => {
    await chain.rpc('anvil_setCode', [foreign, '0x5f5ffd']);
    expect((await failureOf(open({ factory: foreign }).predict(alice))).code).toBe('rpc_error');
    await chain.rpc('anvil_setCode', [foreign, '0x']);
    const { predict, logs } = open({ factory: foreign });
    expect((await failureOf(predict(alice))).code).toBe('rpc_error');
    expect(logs).toEqual([]);
    await chain.rpc('anvil_setCode', [foreign, FOREIGN_CODE]);
    expect((await predict(alice)).toLowerCase()).toBe(SOMEBODY);
  });

  test('none at all is 502 rpc_error without a question', async () => {
    const { predict, calls } = open({ factory: null });
    expect((await failureOf(predict(alice))).code).toBe('rpc_error');
    expect(calls()).toEqual([]);
  });
});

test('a factory of the second kind is not taken for one of the first, nor the other way round', async () => {
  for (const [kind, factory] of [
    [1, contracts.accountFactory2],
    [2, contracts.accountFactory],
  ] as const) {
    const { predict, logs } = open({ kind, factory });
    const address = await predict(alice);
    expect(logs).toEqual([{ level: 'info', event: 'account_factory', factory, kind, own: false }]);
    expect(address).toBe(await open({ kind: kind === 1 ? 2 : 1 }).predict(alice));
  }
});

test('PREDICT_LOCALLY=false: our own factory is asked too, once a key', async () => {
  const { predict, logs, calls } = open({ predictLocally: false });
  const address = await predict(alice);
  expect([calls(), logs]).toEqual([['eth_call'], []]);
  expect(await predict(alice)).toBe(address);
  expect(calls()).toEqual([]);
});
