import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { ContractAddress, Hex } from 'ox';
import creationCode from '../../../contracts/creation-code.json' with { type: 'json' };
import type { LogEntry } from '../../../lib/base/log.ts';
import { createMetrics } from '../../../lib/base/metrics.ts';
import type { AccountKey, AccountKind } from '../../../lib/chain/account.ts';
import { createPredictAddress } from '../../../lib/chain/account-address.ts';
import { createFindCreation } from '../../../lib/chain/account-creation.ts';
import {
  createFactoryFacts,
  FOREIGN_KEPT_MS,
  OWN_KEPT_MS,
  PREDICTIONS_UNCHECKED_MAX,
} from '../../../lib/chain/own-factory.ts';
import { createRpc } from '../../../lib/chain/rpc.ts';
import { createWitness, createWitnessFacts } from '../../../lib/chain/witness.ts';
import { compileContracts } from '../../../scripts/contracts.ts';
import { type Chain, startChain } from '../../../scripts/dev-stack/chain.ts';
import { create2 } from '../../../scripts/dev-stack/create2.ts';
import { type Deployment, deployContracts } from '../../../scripts/dev-stack/deploy.ts';
import { devAccount } from '../../../scripts/dev-stack/wallet.ts';
import { testClock } from '../../support/clock.ts';
import { type Forwarder, startForwarder } from '../../support/forwarder.ts';
import { type Liar, type Lie, startLiar } from '../../support/liar.ts';
import { expectHoldsNone, failureOf } from '../../support/secrecy.ts';
import { tally } from '../../support/tally.ts';
import { idle } from '../../support/under-way.ts';

const KEY = 'a1b2c3d4e5f60718293a4b5c6d7e8f90';
const MALLORY = `0x${'ba'.repeat(20)}`;
const SOMEBODY = `0x${'5b'.repeat(20)}` as const;
/** Answers this address whatever it is asked, as another factory might. */
const FOREIGN_CODE = `0x73${SOMEBODY.slice(2)}5f5260205ff3`;

let chain: Chain;
let contracts: Deployment;
/** Our own code, for an EntryPoint of nobody's: at no known address. */
let unlisted: Readonly<Record<AccountKind, Hex.Hex>>;
let node: Forwarder;
/** A second node, and what it lies. */
let second: Liar;
beforeAll(async () => {
  chain = await startChain();
  contracts = await deployContracts(chain.rpc);
  const entryPoint = Hex.padLeft(devAccount('bob').address, 32);
  const deploy = (name: 'AccountFactory' | 'AccountFactory2') =>
    create2(chain.rpc, Hex.concat(creationCode[name] as Hex.Hex, entryPoint));
  unlisted = { 1: await deploy('AccountFactory'), 2: await deploy('AccountFactory2') };
  node = startForwarder(chain.url);
  second = startLiar({ target: chain.url, seed: 1 });
});
afterAll(async () => {
  await Promise.all([node.stop(), second.stop()]);
  await chain.stop();
});
beforeEach(() => {
  node.trouble = undefined;
  second.lies.length = 0;
});

interface Options {
  readonly kind?: AccountKind;
  readonly factory?: string | null;
  readonly predictLocally?: boolean;
  readonly url?: string;
  readonly witness?: string;
}

/** One vault's predictions; `calls` are the methods that the node was asked since the last look. */
function open({ kind = 1, factory = unlisted[kind], predictLocally = true, url = node.url, witness }: Options = {}) {
  const logs: LogEntry[] = [];
  const [clock, metrics] = [testClock(), createMetrics()];
  const outside = { fetch, clock, metrics, log: (entry: LogEntry) => logs.push(entry) };
  const of = (one: AccountKind) => (kind === one ? (factory as Hex.Hex | null) : null);
  const factories = { hyperauthFactoryAddress: of(1), accountFactory2Address: of(2), accountFactoriesFormer: [] };
  const config = { chainId: 84532, rpcWitnessUrl: witness, ...factories };
  const reader = {
    ...outside,
    config,
    rpc: createRpc({ ...outside, urls: { 84532: `${url}/v2/${KEY}` } }),
    witness: createWitness({ ...outside, config }, createWitnessFacts()),
  };
  const facts = createFactoryFacts({ predictLocally });
  const predictAny = createPredictAddress(reader, facts);
  let seen = node.methods.length;
  const calls = () => {
    const fresh = node.methods.slice(seen);
    seen += fresh.length;
    return fresh;
  };
  return {
    predict: (key: AccountKey) => predictAny(key, kind),
    findCreation: createFindCreation(reader, facts),
    logs,
    calls,
    clock,
    contradictions: () => tally(metrics, 'vault_node_contradictions_total'),
  };
}

/** What the factory itself says. */
async function getAddress(factory: string, { x, y, salt }: AccountKey): Promise<string> {
  const data = `0xe81b22ea${[x, y, salt].map((word) => word.toString(16).padStart(64, '0')).join('')}`;
  const word = (await chain.rpc('eth_call', [{ to: factory, data }, 'latest'])) as Hex.Hex;
  return Hex.slice(word, 12);
}

/** A node that says of a factory that it has this code, and that each account is this one. */
const lieAbout =
  (factory: string, { code = FOREIGN_CODE, address = MALLORY }: { code?: string; address?: string | null } = {}): Lie =>
  ({ method, params: [first] }) => {
    if (method === 'eth_getCode' && String(first).toLowerCase() === factory.toLowerCase()) return { result: code };
    const { to = '', data = '' } = (first ?? {}) as { to?: string; data?: string };
    const isAsked =
      method === 'eth_call' && to.toLowerCase() === factory.toLowerCase() && data.startsWith('0xe81b22ea');
    return isAsked && address !== null ? { result: `0x${address.slice(2).padStart(64, '0')}` } : undefined;
  };

const words = (n: number, seed: number): AccountKey[] =>
  Array.from({ length: n }, (_, i) => {
    const word = (part: number) => BigInt(Hex.fromBytes(keccak_256(new TextEncoder().encode(`${seed}/${i}/${part}`))));
    return { x: word(0), y: word(1), salt: i % 3 === 0 ? 0n : word(2) >> BigInt(8 * (i % 32)) };
  });
const [alice, bob, carol] = words(3, 0) as [AccountKey, AccountKey, AccountKey];

describe.each([1, 2] as const)('our own factory of the kind %d at its known address', (kind) => {
  const own = () => (kind === 1 ? contracts.accountFactory : contracts.accountFactory2);

  test('needs no node', async () => {
    const { predict, logs } = open({ kind, factory: own(), url: 'http://127.0.0.1:1' });
    for (const key of words(20, 4))
      expect<string>((await predict(key)).toLowerCase()).toBe(await getAddress(own(), key));
    expect(logs).toEqual([]);
  });

  test('the first prediction and one of every 1,000 are compared with the chain, on which no answer waits', async () => {
    const { predict, logs, calls } = open({ kind, factory: own() });
    await predict(alice);
    await idle();
    expect(calls()).not.toEqual([]);
    for (const key of words(PREDICTIONS_UNCHECKED_MAX - 1, 2)) await predict(key);
    expect(calls()).toEqual([]);
    await predict(bob);
    await idle();
    expect([calls().length > 0, logs]).toEqual([true, []]);
  });

  test('is answered rightly though the node lies about its code and its accounts, which is loud', async () => {
    second.lies.push(lieAbout(own()));
    const { predict, logs, contradictions } = open({ kind, factory: own(), url: second.url });
    expect<string>((await predict(alice)).toLowerCase()).toBe(await getAddress(own(), alice));
    await idle();
    expect(logs).toMatchObject([{ level: 'error', event: 'node_contradiction', about: 'prediction', factory: own() }]);
    expect(contradictions()).toEqual(['{about="prediction"} 1']);
    for (const key of words(3, 5))
      expect<string>((await predict(key)).toLowerCase()).toBe(await getAddress(own(), key));
  });

  test('creates what it predicts, without a question', async () => {
    const { findCreation, calls } = open({ kind, factory: own(), url: 'http://127.0.0.1:1' });
    const account = await getAddress(own(), alice);
    expect((await findCreation(account, alice))?.factory.toLowerCase()).toBe(own().toLowerCase());
    expect([await findCreation(MALLORY, alice), calls()]).toEqual([undefined, []]);
  });

  test('PREDICT_LOCALLY=false changes nothing', async () => {
    const { predict } = open({ kind, factory: own(), predictLocally: false, url: 'http://127.0.0.1:1' });
    expect<string>((await predict(alice)).toLowerCase()).toBe(await getAddress(own(), alice));
  });
});

describe.each([1, 2] as const)('our own factory of the kind %d at another address', (kind) => {
  const own = () => unlisted[kind];

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
    const { predict, logs } = open({ kind });
    await predict(alice);
    expect(logs).toEqual([{ level: 'info', event: 'account_factory', factory: own(), kind, own: true }]);
  });

  test('on 500 random inputs the computed address is the one it answers', async () => {
    const local = open({ kind });
    const keys = [
      ...words(498, 1),
      { x: 0n, y: 0n, salt: 0n },
      { x: 2n ** 256n - 1n, y: 2n ** 256n - 1n, salt: 2n ** 256n - 1n },
    ];
    await local.predict(alice);
    local.calls();
    const computed = await Promise.all(keys.map((key) => local.predict(key)));
    expect(local.calls()).toEqual([]);
    const remote = open({ kind, predictLocally: false });
    expect(await Promise.all(keys.map((key) => remote.predict(key)))).toEqual(computed);
    expect(remote.calls().filter((method) => method === 'eth_call')).toHaveLength(keys.length);
  });

  test('the first prediction is one request, those at the same time share the identification, later ones ask nobody', async () => {
    const { predict, calls } = open({ kind });
    let requests = 0;
    node.trouble = (forward) => {
      requests++;
      return forward();
    };
    await Promise.all([predict(alice), predict(bob)]);
    expect([requests, calls().sort()]).toEqual([1, ['eth_call', 'eth_call', 'eth_getCode']]);
    await predict(carol);
    expect(calls()).toEqual([]);
  });

  test('an unreachable chain holds up the first prediction only', async () => {
    const { predict, findCreation, logs, clock } = open({ kind });
    node.trouble = () => new Response('down', { status: 503 });
    const failure = await failureOf(predict(alice));
    expect([failure.code, failure.message]).toEqual(['rpc_error', 'rpc_error']);
    expect((await failureOf(findCreation(MALLORY, alice))).code).toBe('rpc_error');
    expectHoldsNone([failure, logs], KEY, '127.0.0.1');
    node.trouble = undefined;
    const address = await predict(alice);
    node.trouble = () => new Response('down', { status: 503 });
    expect(await predict(alice)).toBe(address);
    await clock.advance(OWN_KEPT_MS);
    expect(await predict(alice)).toBe(address);
    await idle();
    expect(logs.at(-1)).toMatchObject({ level: 'warn', event: 'account_factory_unread' });
  });

  test('one that cannot be identified now is asked meanwhile, and identified later', async () => {
    const { predict, logs, calls } = open({ kind });
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

  test('a node that lies about it is not believed for good', async () => {
    const { predict, logs, contradictions, clock } = open({ kind, url: second.url });
    second.lies.push(lieAbout(own()));
    expect((await predict(alice)).toLowerCase()).toBe(MALLORY);
    expect(logs).toMatchObject([{ level: 'warn', event: 'account_factory', own: false }]);
    second.lies.length = 0;
    await clock.advance(FOREIGN_KEPT_MS);
    expect<string>((await predict(alice)).toLowerCase()).toBe(await getAddress(own(), alice));
    expect(logs.slice(1)).toMatchObject([{ level: 'error', event: 'node_contradiction', about: 'factory', own: true }]);
    expect(contradictions()).toEqual(['{about="factory"} 1']);
  });

  test('a comparison that differs is loud, the computed address answers, and the code is looked at again', async () => {
    const { predict, logs, contradictions } = open({ kind, url: second.url });
    const code = String(await chain.rpc('eth_getCode', [own(), 'latest']));
    second.lies.push(lieAbout(own(), { code }));
    expect<string>((await predict(alice)).toLowerCase()).toBe(await getAddress(own(), alice));
    await idle();
    expect(contradictions()).not.toEqual([]);
    second.lies.length = 0;
    expect<string>((await predict(bob)).toLowerCase()).toBe(await getAddress(own(), bob));
    expect(logs.map(({ level, event }) => `${level} ${event}`)).toEqual([
      'info account_factory',
      'error node_contradiction',
    ]);
  });

  test.each(['node', 'witness'])('a lie of the %s alone is never an answer', async (liar) => {
    const [honest, lying] = [node.url, second.url];
    const of = liar === 'node' ? { url: lying, witness: honest } : { url: honest, witness: lying };
    second.lies.push(lieAbout(own()));
    const { predict, findCreation, logs } = open({ kind, ...of });
    expect((await failureOf(predict(alice))).details.reason).toBe('nodes_disagree');
    expect((await failureOf(findCreation(MALLORY, alice))).details.reason).toBe('nodes_disagree');
    expect(logs).toContainEqual({ level: 'error', event: 'nodes_disagree', about: 'factory' });
    second.lies.length = 0;
    expect<string>((await predict(alice)).toLowerCase()).toBe(await getAddress(own(), alice));
  });
});

describe('another factory', () => {
  const foreign = `0x${'f0'.repeat(20)}`;

  test('is asked, once a key and minute', async () => {
    await chain.rpc('anvil_setCode', [foreign, FOREIGN_CODE]);
    const { predict, logs, calls, clock } = open({ factory: foreign });
    expect((await predict(alice)).toLowerCase()).toBe(SOMEBODY);
    expect(logs).toEqual([{ level: 'warn', event: 'account_factory', factory: foreign, kind: 1, own: false }]);
    calls();
    await predict(alice);
    expect(calls()).toEqual([]);
    await predict(bob);
    expect(calls()).toEqual(['eth_call']);
    await clock.advance(FOREIGN_KEPT_MS);
    await predict(bob);
    expect([calls().sort(), logs.length]).toEqual([['eth_call', 'eth_getCode'], 1]);
  });

  test('that a node gave out as our own is asked once it is honest', async () => {
    const code = String(await chain.rpc('eth_getCode', [unlisted[1], 'latest']));
    const [ours, theirs] = [unlisted[1], foreign].map((from) =>
      ContractAddress.fromCreate({ from: from as Hex.Hex, nonce: 1n })
        .slice(2)
        .toLowerCase(),
    ) as [string, string];
    await chain.rpc('anvil_setCode', [foreign, FOREIGN_CODE]);
    second.lies.push(lieAbout(foreign, { code: code.replaceAll(ours, theirs), address: null }));
    const { predict, logs } = open({ factory: foreign, url: second.url });
    expect((await predict(alice)).toLowerCase()).not.toBe(SOMEBODY);
    await idle();
    expect(logs.at(-1)?.event).toBe('node_contradiction');
    second.lies.length = 0;
    // It was doubted, so the next prediction looks at the code again, and the one after knows.
    await predict(bob);
    await idle();
    expect((await predict(alice)).toLowerCase()).toBe(SOMEBODY);
  });

  test('our own with other code in it is another', async () => {
    const code = (await chain.rpc('eth_getCode', [unlisted[1], 'latest'])) as string;
    for (const other of [`${code}00`, code]) {
      await chain.rpc('anvil_setCode', [foreign, other]);
      const { predict, logs } = open({ factory: foreign });
      await predict(alice);
      expect(logs[0]?.['own']).toBe(false);
    }
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
    expect(logs).toEqual([{ level: 'warn', event: 'account_factory', factory, kind, own: false }]);
    expect<string>(address.toLowerCase()).toBe(await getAddress(factory, alice));
  }
});

test('PREDICT_LOCALLY=false: our own factory at no known address is asked too, once a key and minute', async () => {
  const { predict, logs, calls } = open({ predictLocally: false });
  const address = await predict(alice);
  expect([calls(), logs]).toEqual([['eth_call'], []]);
  expect(await predict(alice)).toBe(address);
  expect(calls()).toEqual([]);
});
