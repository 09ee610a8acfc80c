import { afterAll, afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { AbiFunction, type Address, type Hex } from 'ox';
import {
  ALIAS_KEPT_MS,
  ALIAS_OUTAGE_MS,
  ALIAS_PATIENCE_MS,
  ANOTHER_DID,
  createAliases,
  createAliasFacts,
} from '../../../lib/aliases/aliases.ts';
import { sourceOf } from '../../../lib/chain/followed-contracts.ts';
import { readConfig } from '../../../lib/config/config.ts';
import { createContext } from '../../../lib/context.ts';
import type { Row } from '../../../lib/db/database.ts';
import { aliasHash, didHash } from '../../../lib/identity/did.ts';
import { compileContracts } from '../../../scripts/contracts.ts';
import { create2 } from '../../../scripts/dev-stack/create2.ts';
import { answerFault } from '../../../scripts/dev-stack/fault.ts';
import { devAccount, sendTransaction } from '../../../scripts/dev-stack/wallet.ts';
import { testClock } from '../../support/clock.ts';
import { type Forwarder, startForwarder } from '../../support/forwarder.ts';
import { type Registrable, startTestChain } from '../../support/onchain.ts';
import { failureOf } from '../../support/secrecy.ts';
import { settled } from '../../support/settled.ts';
import { VAULT_SECRET } from '../../support/vault.ts';

const chain = await startTestChain({ edition: 1 });
afterAll(chain.stop);
const { ResolvingRegistry } = await compileContracts();
if (!ResolvingRegistry) throw new Error('contracts/test/ResolvingRegistry.sol is missing');
const resolving = await create2(chain.rpc, ResolvingRegistry.bytecode);
/** A contract that has none of the functions. */
const neither = await chain.deployHolder({ x: new Uint8Array(32), y: new Uint8Array(32) });

const alice: Registrable = { did: 'did:key:zAlice', handle: 'alice' };
const bob: Registrable = { did: 'did:key:zBob', handle: 'bob' };
await chain.register(alice);
for (const one of [alice, bob]) await chain.register(one, { registry: resolving });

const unused = { execute: () => Promise.reject(), batch: () => Promise.reject() };
const clock = testClock();
let node: Forwarder;
beforeEach(() => {
  node = startForwarder(chain.url);
});
afterEach(() => node.stop());

/** Aliases of a registry without an index, or with this row of one. */
function open(registry: Address.Address, indexed?: Row, finalityBlocks: number | undefined = 0) {
  const vars = { VAULT_SECRET, ...chain.vars, RPC_URL: node.url, DID_REGISTRY_ADDRESS: registry };
  const context = createContext({ vars, database: unused, clock });
  const db = { ...context.db, read: async () => (indexed ? [indexed] : []) };
  return createAliases({ ...context, config: { ...context.config, finalityBlocks }, db }, createAliasFacts());
}
const ask = (handle: string, did: string | null) => ({
  aliasHash: aliasHash(handle),
  didHash: did === null ? null : didHash(did),
});
const point = (handle: string, did: string) => {
  const data = AbiFunction.encodeData(AbiFunction.from('function point(bytes32, bytes32)'), [
    aliasHash(handle),
    didHash(did),
  ]);
  return sendTransaction(chain.rpc, devAccount('bob').privateKey, { to: resolving, data });
};
/** A row as a follower leaves it that has read everything. */
const current = (did: string | null, block = 7): Row => {
  return {
    did_hash: did === null ? null : didHash(did),
    alias_block: did === null ? null : block,
    source: sourceOf(readConfig({ VAULT_SECRET, ...chain.vars })),
    hash: '0x1',
    block: 9,
    head: 9,
    seen_at: clock.now(),
  };
};

describe('without an index', () => {
  test.each([
    ['with aliases(bytes32)', chain.registry],
    ['with resolveAlias(bytes32) alone', resolving],
  ])('a registry %s tells where an alias leads', async (_, registry) => {
    const aliases = open(registry);
    expect((await aliases.find(ask('alice', alice.did))).lead).toBe('own');
    expect((await aliases.find(ask('alice', bob.did))).lead).toBe('elsewhere');
    expect((await aliases.find(ask('alice', 'did:key:zNobody'))).lead).toBe('elsewhere');
    expect((await aliases.find(ask('alice', null))).lead).toBe('elsewhere');
    expect(await aliases.find(ask('carol', alice.did))).toEqual({ lead: 'none', ledTo: '' });
  });

  test('what neither function tells is no alias; without a registry nothing is asked', async () => {
    expect(await open(neither).find(ask('alice', alice.did))).toEqual({ lead: 'none', ledTo: '' });
    const empty = `0x${'12'.repeat(20)}` as const;
    expect(await open(empty).find(ask('alice', alice.did))).toEqual({ lead: 'none', ledTo: '' });
    const before = node.methods.length;
    expect((await open('none' as Address.Address).find(ask('alice', null))).lead).toBe('none');
    expect(node.methods.length).toBe(before);
  });

  test('an answer is kept for 10 seconds to the millisecond, "none" never', async () => {
    for (const registry of [chain.registry, resolving]) {
      const aliases = open(registry);
      let spent = 0;
      const asked = async (handle: string) => {
        const before = spent;
        await aliases.find(ask(handle, alice.did), { spend: () => void spent++ });
        return spent - before;
      };
      expect([await asked('alice'), await asked('alice')]).toEqual([1, 0]);
      await clock.advance(ALIAS_KEPT_MS - 1);
      expect(await asked('alice')).toBe(0);
      await clock.advance(1);
      expect(await asked('alice')).toBe(1);
      expect([await asked('nobody'), await asked('nobody')]).toEqual([1, 1]);
    }
  });

  test('an alias that moves leads to where it was pointed last', async () => {
    await point('moving', alice.did);
    const aliases = open(resolving);
    expect((await aliases.find(ask('moving', alice.did))).lead).toBe('own');
    await point('moving', bob.did);
    await clock.advance(ALIAS_KEPT_MS);
    expect((await aliases.find(ask('moving', alice.did))).lead).toBe('elsewhere');
    expect((await aliases.find(ask('moving', bob.did))).lead).toBe('own');
  });

  test.each([
    ['a gateway that fails', () => new Response('bad gateway', { status: 502 })],
    ['an answer of no hex', () => Response.json([])],
    [
      'a node that limits its callers',
      () => Response.json({ jsonrpc: '2.0', id: null, error: { code: -32005, message: 'limit' } }),
    ],
  ])('%s is 502 rpc_error, and no alias for what goes on without it', async (_, answer) => {
    const aliases = open(chain.registry);
    node.trouble = answer;
    expect((await failureOf(aliases.find(ask('alice', bob.did)))).code).toBe('rpc_error');
    expect((await failureOf(aliases.findFinal(ask('alice', bob.did)))).code).toBe('rpc_error');
    expect(await aliases.findSoon(ask('alice', bob.did))).toEqual({ lead: 'none', ledTo: '' });
  });

  test('a silent node holds up what goes on without it for 2 seconds, and the next 5 seconds not at all', async () => {
    const aliases = open(chain.registry);
    node.trouble = () => answerFault('silence', new Request('http://node'));
    const asking = aliases.findSoon(ask('alice', bob.did));
    await clock.advance(ALIAS_PATIENCE_MS);
    expect((await asking).lead).toBe('none');
    const before = node.methods.length;
    expect((await aliases.findSoon(ask('alice', bob.did))).lead).toBe('none');
    expect(node.methods.length).toBe(before);
    node.trouble = undefined;
    await clock.advance(ALIAS_OUTAGE_MS);
    expect((await aliases.findSoon(ask('alice', bob.did))).lead).toBe('elsewhere');
  });

  test('who may ask no more is refused before the node is asked', async () => {
    const spend = () => {
      throw new Error('limit');
    };
    expect(await settled(open(chain.registry).findSoon(ask('alice', null), { spend }))).toThrow('limit');
    expect(node.methods).toEqual([]);
  });
});

describe('with an index', () => {
  test('that is current the node is asked only about what it has not', async () => {
    const found = open(chain.registry, current(bob.did));
    expect(await found.find(ask('alice', alice.did))).toEqual({ lead: 'elsewhere', ledTo: 'index' });
    expect(await found.find(ask('alice', bob.did))).toEqual({ lead: 'own', ledTo: 'index' });
    const none = open(chain.registry, current(null));
    expect(node.methods).toEqual([]);
    // Its owner registered a second ago.
    expect(await none.find(ask('alice', alice.did))).toEqual({ lead: 'own', ledTo: didHash(alice.did) });
    expect(await none.find(ask('carol', alice.did))).toEqual({ lead: 'none', ledTo: 'index' });
    node.trouble = () => new Response('bad gateway', { status: 502 });
    expect((await none.find(ask('carol', alice.did))).lead).toBe('none');
  });

  test.each([
    ['silent for a minute', { seen_at: 0 }],
    ['behind', { head: 10 }],
    ['empty', { hash: '' }],
  ])('that is %s the node is asked, and the index answers only when the node does not', async (_, more) => {
    const behind = open(chain.registry, { ...current(bob.did), ...more });
    expect((await behind.find(ask('alice', alice.did))).lead).toBe('own');
    await clock.advance(ALIAS_KEPT_MS);
    node.trouble = () => new Response('bad gateway', { status: 502 });
    expect((await behind.find(ask('alice', alice.did))).lead).toBe('elsewhere');
    const knowsNothing = open(chain.registry, { ...current(null), ...more });
    expect((await failureOf(knowsNothing.find(ask('alice', alice.did)))).code).toBe('rpc_error');
  });

  test('of other contracts counts for nothing', async () => {
    const other = open(chain.registry, { ...current(bob.did), source: '84532 0xother' });
    expect((await other.find(ask('alice', alice.did))).lead).toBe('own');
  });
});

describe('finality', () => {
  test.each([
    ['with aliases(bytes32)', chain.registry, () => didHash(alice.did)],
    ['with resolveAlias(bytes32) alone', resolving, () => ANOTHER_DID],
  ])('an alias of a registry %s is final once the final block has it', async (_, registry, named) => {
    const deep = async (blocks: number) => open(registry, undefined, blocks).findFinal(ask('alice', bob.did));
    expect(await deep(0)).toEqual({ lead: 'elsewhere', ledTo: named(), isFinal: true });
    const head = Number(await chain.rpc('eth_blockNumber'));
    expect(await deep(head)).toEqual({ lead: 'elsewhere', ledTo: named(), isFinal: false });
    expect(await deep(head + 1)).toMatchObject({ isFinal: false });
    expect(await open(registry).findFinal(ask('carol', bob.did))).toEqual({ lead: 'none', ledTo: '', isFinal: false });
  });

  test('a final block that could not be read is read again by the next question', async () => {
    const aliases = open(chain.registry);
    node.trouble = (forward, methods) =>
      methods.some((method) => /^eth_(blockNumber|getBlockByNumber)$/.test(method))
        ? new Response('busy', { status: 503 })
        : forward();
    expect((await failureOf(aliases.findFinal(ask('alice', bob.did)))).code).toBe('rpc_error');
    node.trouble = undefined;
    expect(await aliases.findFinal(ask('alice', bob.did))).toMatchObject({ lead: 'elsewhere' });
  });

  test('an alias that moved a block ago is not final', async () => {
    await point('young', alice.did);
    await chain.mine(3);
    await point('young', bob.did);
    expect(await open(resolving, undefined, 1).findFinal(ask('young', alice.did))).toMatchObject({
      lead: 'elsewhere',
      isFinal: false,
    });
    await chain.mine(1);
    expect(await open(resolving, undefined, 1).findFinal(ask('young', alice.did))).toMatchObject({ isFinal: true });
  });

  test('where the node has no state that old, 12 blocks on top are enough', async () => {
    await chain.register({ did: 'did:key:zDan', handle: 'dan' });
    node.trouble = (forward, methods, body) => {
      const { id, params } = JSON.parse(body);
      const isOld = methods[0] === 'eth_getCode' && params[1] !== 'latest';
      return isOld
        ? Response.json({ jsonrpc: '2.0', id, error: { code: -32000, message: 'missing trie node' } })
        : forward();
    };
    const read = () => open(chain.registry, undefined, 100).findFinal(ask('dan', bob.did));
    await chain.mine(11);
    expect(await read()).toMatchObject({ lead: 'elsewhere', isFinal: false });
    await chain.mine(1);
    expect(await read()).toMatchObject({ lead: 'elsewhere', isFinal: true });
  });

  test('an index tells the block of the alias itself', async () => {
    const head = Number(await chain.rpc('eth_blockNumber'));
    const at = (block: number) => open(chain.registry, current(bob.did, block)).findFinal(ask('alice', alice.did));
    expect(await at(head)).toEqual({ lead: 'elsewhere', ledTo: didHash(bob.did) as Hex.Hex, isFinal: true });
    expect(await at(head + 1)).toMatchObject({ isFinal: false });
    expect(await open(chain.registry, current(null)).findFinal(ask('alice', alice.did))).toMatchObject({
      lead: 'none',
    });
  });
});
