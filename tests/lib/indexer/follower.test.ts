import { afterAll, afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { openSqlite } from '../../../commands/storage/sqlite.ts';
import { toBase64url, utf8 } from '../../../lib/base/bytes.ts';
import { DAY_MS } from '../../../lib/base/clock.ts';
import { UPSTREAM_TIMEOUT_MS } from '../../../lib/constants.ts';
import { createContext } from '../../../lib/context.ts';
import type { Database } from '../../../lib/db/database.ts';
import {
  createFollower,
  FOLLOWER_FORK_BLOCKS_MAX,
  FOLLOWER_LEASE_MS,
  FOLLOWER_RETRY_MAX_MS,
} from '../../../lib/indexer/follower.ts';
import { FOLLOWER_CLEAR_EVENTS } from '../../../lib/indexer/follower-store.ts';
import { proveRegistration } from '../../../scripts/dev-stack/passkey-proof.ts';
import { type Acted, type Actors, prepareActors } from '../../support/actors.ts';
import { temporaryFolder } from '../../support/databases.ts';
import { type Forwarder, startForwarder, type Trouble } from '../../support/forwarder.ts';
import { startTestChain } from '../../support/onchain.ts';
import { createPasskey } from '../../support/passkey.ts';
import { SEED } from '../../support/seed.ts';
import { tally } from '../../support/tally.ts';
import { startVault, type TestVault, VAULT_SECRET } from '../../support/vault.ts';

/** The pause between two looks at a chain on loopback. */
const POLL_MS = 1_000;

const chain = await startTestChain();
const actors = await prepareActors(chain, 1_000);
afterAll(chain.stop);

let node: Forwarder;
let t: TestVault;
beforeEach(async () => {
  node = startForwarder(chain.url);
  t = await start();
});
afterEach(async () => {
  await t.stop();
  await node.stop();
});

const start = (vars: Record<string, string> = {}, options: NonNullable<Parameters<typeof startVault>[1]> = {}) =>
  startVault({ ...actors.vars, RPC_URL: node.url, ...vars }, options);

/** Lets a look be due, and looks. */
async function look(by = t, ms = POLL_MS): Promise<void> {
  await by.clock.advance(ms);
  await by.work();
}

async function stored(by = t) {
  return (await by.rows('SELECT * FROM chain_events ORDER BY block, log_index')).map((row) => ({ ...row }));
}

/** Fails unless exactly the chain's events are stored, and counted. */
async function expectAll(by = t, of: Actors = actors): Promise<void> {
  const events = await of.events();
  expect(await stored(by)).toEqual(events);
  const count = (kind: unknown) => events.filter((event) => event['kind'] === kind).length;
  const counts = await by.rows(
    `SELECT name, value FROM tallies WHERE name NOT IN ('sessions', 'linked_sessions', 'readiness_checks', 'known_time')`,
  );
  expect(counts.map(({ name, value }) => [name, value])).toEqual(counts.map(({ name }) => [name, count(name)]));
}

const headOf = async () => Number(await chain.rpc('eth_blockNumber'));
const positionOf = async (by = t) => Number((await by.rows('SELECT block FROM follower'))[0]?.['block']);
const told = (event: string, by = t) => by.entries.filter((entry) => entry.event === event);

interface Ask {
  readonly id: number;
  readonly method: string;
  readonly params: readonly unknown[];
}

/** A node that answers some calls in its own way. */
function instead(own: (call: Ask) => Promise<object | undefined> | object | undefined): Trouble {
  return async (_, __, body) => {
    const asks = JSON.parse(body);
    const answers = await Promise.all(
      [asks]
        .flat()
        .map(async (call: Ask) => ({ jsonrpc: '2.0', id: call.id, ...((await own(call)) ?? (await real(call))) })),
    );
    return Response.json(Array.isArray(asks) ? answers : answers[0]);
  };
}

const real = ({ method, params }: Ask) =>
  chain.rpc(method, params).then(
    (result) => ({ result }),
    (failure) => ({ error: failure.cause }),
  );

/** How many blocks a question for events is about; 0 for any other. */
function rangeOf({ method, params: [filter] }: Ask): number {
  const { fromBlock, toBlock } = (filter ?? {}) as { fromBlock?: string; toBlock?: string };
  return method === 'eth_getLogs' ? Number(toBlock) - Number(fromBlock) + 1 : 0;
}

describe('the follower', () => {
  test('reads every event of both contracts, once', async () => {
    const [alice, bob] = [await actors.register(), await actors.register(null)];
    await look();
    await actors.update(alice, 'ipfs://bafy');
    await actors.deactivate(bob);
    await actors.createAccount();
    await look();
    await expectAll();
    expect(await positionOf()).toBe(await headOf());
  });

  test('asks for nothing new while nothing is new, and not before its pause is over', async () => {
    await look();
    const before = node.methods.length;
    await t.work();
    expect(node.methods.length).toBe(before);
    await look();
    expect(node.methods.slice(before).toSorted()).toEqual(['eth_getBlockByNumber', 'eth_getBlockByNumber']);
  });

  test('notes a poll again that a clock ahead has dated later than now', async () => {
    await look();
    await t.rows('UPDATE follower SET seen_at = seen_at + 3600000');
    await look();
    const [row] = await t.rows('SELECT seen_at FROM follower');
    expect(row?.['seen_at']).toBe(t.clock.now());
  });

  test('goes on where it was after a restart', async () => {
    await actors.register();
    await look();
    await t.clock.advance(FOLLOWER_LEASE_MS);
    await actors.register();
    const questions: Ask[] = [];
    node.trouble = instead((call) => void questions.push(call));
    const next = await start({}, { database: t.database, clock: t.clock });
    await next.work();
    await expectAll(next);
    const ranges = questions.map(rangeOf).filter((blocks) => blocks > 0);
    expect(ranges.length).toBe(1);
    expect(ranges[0]).toBeLessThan(await headOf());
    await next.stop();
  });

  test('ends its catching up at the deadline of the turn, and goes on at the next', async () => {
    node.trouble = instead(async (call) => {
      if (rangeOf(call) > 5) return { error: { code: -32005, message: 'limit exceeded' } };
      if (rangeOf(call) > 0) await t.clock.advance(250);
      return undefined;
    });
    await t.vault.work(t.clock.now() + 1_000);
    const after = await positionOf();
    expect(after).toBeLessThan(40);
    await look();
    expect(await positionOf()).toBeGreaterThan(after);
  });

  test('is off by default on the public endpoint, with an indexer, and without a registry', async () => {
    const on = (vars: Record<string, string>) =>
      createContext({ vars: { VAULT_SECRET, ...vars }, database: t.database }).config.follower;
    const [own, factory] = [{ RPC_URL: node.url }, { HYPERAUTH_FACTORY_ADDRESS: actors.factory }];
    expect(on({})).toBe(false);
    expect(on({ RPC_URL: 'https://sepolia.base.org' })).toBe(false);
    expect(on(own)).toBe(true);
    expect(on({ ...own, INDEXER_URL: 'https://indexer.example.com' })).toBe(false);
    expect(on({ ...own, ...factory, DID_REGISTRY_ADDRESS: 'none' })).toBe(false);
    expect(() => on({ FOLLOWER: 'true', DID_REGISTRY_ADDRESS: 'none' })).toThrow('FOLLOWER must not be true');
  });
});

describe('a re-org', () => {
  test.each([1, 2, 3, 4, 5, 6, 7, 8, 40])(
    'of depth %i takes back its events, and those mined again are read again',
    async (depth) => {
      const acted: Acted[] = [];
      for (let i = 0; i < depth; i++) {
        acted.push(await actors.register());
        if (i % 3 === 0) await look();
      }
      await look();
      await chain.reorg(depth);
      await look();
      await expectAll();
      for (const one of acted.filter((_, i) => i % 2 === 0)) await actors.registerAgain(one);
      await look();
      await expectAll();
      expect(told('follower_went_back').length).toBe(1);
    },
  );

  test('is found from a single block that was looked at, by the blocks that hold events', async () => {
    const before = await headOf();
    await actors.register();
    await chain.mine(20);
    await actors.register();
    await actors.register();
    await look();
    await chain.reorg(2);
    await look();
    await expectAll();
    expect(told('follower_went_back')[0]).toMatchObject({ to: before + 1 });
  });

  test('deeper than what is asked at once is found too', async () => {
    const depth = 2 * FOLLOWER_FORK_BLOCKS_MAX + 3;
    for (let i = 0; i < depth; i++) {
      await chain.mine();
      await look();
    }
    await actors.register();
    await look();
    await chain.reorg(depth);
    await look();
    await expectAll();
    expect(told('follower_went_back').length).toBe(1);
  });

  test('that takes very many events back does so in turns, each of few', async () => {
    await actors.register();
    await look();
    const from = await headOf();
    const [blocks, perBlock] = [50, FOLLOWER_CLEAR_EVENTS / 10];
    await chain.mine(blocks);
    // Blocks that are not on the chain, each with events.
    await t.rows(`WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ${blocks * perBlock - 1})
      INSERT INTO chain_events (block, log_index, block_hash, tx_hash, kind, subject, object, metadata_cid)
      SELECT ${from + 1} + i / ${perBlock}, i % ${perBlock}, '0x' || (i / ${perBlock}), '0x', 'DIDRegistered', '0x' || i, '0x', ''
      FROM n`);
    await t.rows(`UPDATE follower SET block = ${from + blocks}, hash = '0x${blocks - 1}'`);
    await t.rows('CREATE TABLE turns (events INTEGER NOT NULL, block INTEGER NOT NULL)');
    await t.rows(`CREATE TRIGGER turn AFTER UPDATE OF block ON follower WHEN new.block < old.block BEGIN
      INSERT INTO turns SELECT count(*), new.block FROM chain_events; END`);
    const before = (await stored()).length;
    await look();
    await expectAll();
    const turns = (await t.rows('SELECT events, block FROM turns')).map(({ events }) => Number(events));
    const taken = turns.map((left, i) => (turns[i - 1] ?? before) - left);
    expect(taken.reduce((sum, one) => sum + one)).toBe(blocks * perBlock);
    expect(taken).toHaveLength(5);
    for (const one of taken) expect(one).toBeLessThanOrEqual(FOLLOWER_CLEAR_EVENTS + perBlock);
    expect(told('follower_went_back')).toMatchObject([{ from: from + blocks, to: from }]);
  });

  test('deeper than anything read starts over at the beginning', async () => {
    const first = (await headOf()) - 2;
    const late = await start({ FOLLOWER_START_BLOCK: String(first) });
    await actors.register();
    await look(late);
    await chain.reorg(10);
    await actors.register();
    await look(late);
    expect(await stored(late)).toEqual((await actors.events()).filter(({ block }) => Number(block) >= first));
    expect(told('follower_begins', late).length).toBe(2);
    await late.stop();
  });

  test.each([
    ['before', 'the new'],
    ['after', 'the old'],
  ])('%s a node gathers the events, so that they are of %s chain, is noticed at the next look', async (when) => {
    await look();
    const [alice] = [await actors.register(), await actors.register()];
    let isDone = false;
    node.trouble = instead(async (call) => {
      if (rangeOf(call) === 0 || isDone) return undefined;
      isDone = true;
      const old = await real(call);
      await chain.reorg(2);
      await actors.registerAgain(alice);
      return when === 'after' ? old : undefined;
    });
    await look();
    await look();
    await expectAll();
  });

  test('in several looks, one on top of the other, leaves nothing behind', async () => {
    for (let i = 0; i < 12; i++) {
      await actors.register();
      if (i % 2 === 1) await chain.reorg(1 + (i % 4));
      await look();
    }
    await look();
    await expectAll();
  });
});

describe('a node in trouble', () => {
  test('that is behind the one asked before is waited for', async () => {
    await actors.register();
    await look();
    const old = (await headOf()) - 3;
    const position = await positionOf();
    node.trouble = instead(({ method, params: [number] }) => {
      if (method !== 'eth_getBlockByNumber') return undefined;
      if (number === 'latest')
        return chain.rpc(method, [`0x${old.toString(16)}`, false]).then((result) => ({ result }));
      return Number(number) > old ? { result: null } : undefined;
    });
    await look();
    expect([await positionOf(), told('follower_went_back').length]).toEqual([position, 0]);
    await actors.register();
    node.trouble = undefined;
    await look();
    await expectAll();
  });

  test('that has newer blocks and not the last one that was read is waited for', async () => {
    await look();
    const last = await positionOf();
    await actors.register();
    node.trouble = instead(({ method, params: [block] }) =>
      method === 'eth_getBlockByNumber' && block !== 'latest' && Number(block) === last ? { result: null } : undefined,
    );
    await look();
    expect(await positionOf()).toBe(last);
    node.trouble = undefined;
    await look();
    await expectAll();
  });

  test('that knows the newest block and not yet its events loses none of them', async () => {
    await look();
    await actors.register();
    node.trouble = instead((call) => (rangeOf(call) > 0 ? { result: [] } : undefined));
    await look();
    expect(await positionOf()).toBe(await headOf());
    node.trouble = undefined;
    await actors.register();
    await look();
    await expectAll();
  });

  const tooMany = { error: { code: -32005, message: 'query returned more than 3 results' } };
  const tooLong = { error: { code: -32600, message: 'up to a 10 block range' } };
  const refusals: [string, Trouble][] = [
    ['refuses ranges over 10 blocks', instead((call) => (rangeOf(call) > 10 ? tooLong : undefined))],
    [
      'refuses answers of over 3 events',
      instead(async (call) => {
        const { result } = (await real(call)) as { result?: unknown[] };
        return rangeOf(call) > 0 && (result?.length ?? 0) > 3 ? tooMany : undefined;
      }),
    ],
    [
      'answers long ranges with more than can be taken',
      instead((call) => (rangeOf(call) > 100 ? { result: 'x'.repeat(3_000_000) } : undefined)),
    ],
    [
      'answers long ranges with an error page',
      (forward, _, body) =>
        [JSON.parse(body)].flat().some((call) => rangeOf(call) > 100) ? new Response('', { status: 504 }) : forward(),
    ],
  ];

  test.each(refusals)('that %s is asked for less, and everything is read', async (_, trouble) => {
    node.trouble = trouble;
    await look();
    await expectAll();
    expect(told('follower_failed')).toEqual([]);
  });

  test('that takes too long for a long range is asked for less', async () => {
    node.trouble = instead((call) => (rangeOf(call) > 100 ? new Promise(() => {}) : undefined));
    // The tables are made at first use.
    await t.call('GET /readyz');
    while ((await t.rows('SELECT hash FROM follower')).every(({ hash }) => hash === '')) {
      let isOver = false;
      const working = t.work().then(() => {
        isOver = true;
      });
      while (!isOver) await t.clock.advance(UPSTREAM_TIMEOUT_MS);
      await working;
    }
    await look();
    await expectAll();
  });

  const troubles: [string, Trouble][] = [
    ['answers 503', () => new Response('busy', { status: 503 })],
    ['answers a page', () => new Response('<html>', { headers: { 'content-type': 'text/html' } })],
    ['answers its own errors', instead(() => ({ error: { code: -32000, message: 'database closed' } }))],
    [
      'limits its callers',
      instead((call) => (rangeOf(call) > 0 ? { error: { code: -32016, message: 'over rate limit' } } : undefined)),
    ],
    ['answers logs without a place', instead((call) => (rangeOf(call) > 0 ? { result: [{}, null] } : undefined))],
    ['answers no blocks', instead(({ method }) => (method === 'eth_getBlockByNumber' ? { result: {} } : undefined))],
  ];

  test.each(troubles)('that %s is asked again, each time later, and told of once', async (_, trouble) => {
    await look();
    await actors.register();
    node.trouble = trouble;
    const before = node.methods.length;
    let looks = 0;
    for (let seconds = 0; seconds < 300; seconds++) {
      const asked = node.methods.length;
      await t.clock.advance(1_000);
      await t.work();
      if (node.methods.length > asked) looks++;
    }
    expect(node.methods.length).toBeGreaterThan(before);
    expect(looks).toBeLessThan(30);
    expect(told('follower_failed').length).toBe(1);
    expect(JSON.stringify(t.entries)).not.toContain(new URL(node.url).port);
    node.trouble = undefined;
    await look(t, FOLLOWER_RETRY_MAX_MS);
    await expectAll();
    expect(told('follower_recovered').length).toBe(1);
  });

  test('that fails once more after it has answered is told of again, and asked again as soon', async () => {
    const busy = () => new Response('busy', { status: 503 });
    node.trouble = busy;
    for (let i = 0; i < 9; i++) await look(t, FOLLOWER_RETRY_MAX_MS);
    node.trouble = undefined;
    await look(t, FOLLOWER_RETRY_MAX_MS);
    node.trouble = busy;
    await look();
    const before = node.methods.length;
    await look();
    expect([told('follower_failed').length, node.methods.length > before]).toEqual([2, true]);
  });

  test('that cannot be reached is asked again until it can', async () => {
    await look();
    await actors.register();
    const port = Number(new URL(node.url).port);
    await node.stop();
    for (let i = 0; i < 5; i++) await look();
    node = startForwarder(chain.url, port);
    await look(t, FOLLOWER_RETRY_MAX_MS);
    await expectAll();
  });
});

describe('another chain at the same endpoint', () => {
  const replaceBy = async (url: string) => {
    const port = Number(new URL(node.url).port);
    await node.stop();
    node = startForwarder(url, port);
  };

  test('of the same id is a chain begun anew: all is read again', async () => {
    const other = await startTestChain();
    const others = await prepareActors(other, 5);
    await actors.register();
    await look();
    await others.register();
    await replaceBy(other.url);
    await look();
    await expectAll(t, others);
    await replaceBy(chain.url);
    await look();
    await expectAll();
    await other.stop();
  });

  test('of another id is refused, and nothing that was read is lost', async () => {
    const other = await startTestChain({ chainId: 8453 });
    await look();
    await replaceBy(other.url);
    await look();
    await expectAll();
    expect(told('follower_failed')[0]).toMatchObject({ cause: expect.stringContaining('chain 8453') });
    await other.stop();
  });
});

describe('where it starts', () => {
  const counted = () => node.methods.filter((method) => method === 'eth_getCode').length;

  test('is the first block on a short chain, and FOLLOWER_START_BLOCK where it is set', async () => {
    await actors.register();
    const first = await headOf();
    const late = await start({ FOLLOWER_START_BLOCK: String(first) });
    await look(late);
    expect(await stored(late)).toEqual((await actors.events()).filter(({ block }) => block === first));
    expect(counted()).toBe(0);
    await late.stop();
  });

  test('is never after FOLLOWER_START_BLOCK: an earlier one reads all again, a later one changes nothing', async () => {
    const [first, second] = [await actors.register(), await actors.register()];
    expect(first).not.toEqual(second);
    const head = await headOf();
    const options = { database: t.database, clock: t.clock };
    const at = async (block: number) => {
      const one = await start({ FOLLOWER_START_BLOCK: String(block) }, options);
      await look(one);
      const rows = await stored(one);
      await one.stop();
      return rows.every((row) => Number(row['block']) >= block) ? 'since then' : 'since before';
    };
    const lapse = () => t.clock.advance(FOLLOWER_LEASE_MS);
    expect(await at(head)).toBe('since then');
    await lapse();
    expect(await at(head - 1)).toBe('since then');
    await lapse();
    expect(await at(head)).toBe('since before');
  });

  test('on a long chain is the block in which the first contract was deployed, found by bisection', async () => {
    const deployed = 123_456_789;
    node.trouble = longChain(deployed);
    await t.vault.work(t.clock.now() + 1);
    expect(told('follower_begins')[0]).toMatchObject({ block: deployed, head: deployed + 20_000 });
    expect(counted()).toBeLessThanOrEqual(2 * 28);
  });

  test('is the first block when the node has forgotten the states of old blocks', async () => {
    node.trouble = longChain(0, { error: { code: -32000, message: 'missing trie node' } });
    await t.vault.work(t.clock.now() + 1);
    expect(told('follower_begins')[0]).toMatchObject({ block: 0 });
  });

  /** Blocks without events; the registry has code from `deployed` on, the factory a hundred blocks later. */
  const longChain = (deployed: number, forgotten?: object) =>
    instead(({ method, params: [first, second] }) => {
      if (method === 'eth_getLogs') return { result: [] };
      if (method === 'eth_chainId') return undefined;
      if (method === 'eth_getBlockByNumber') {
        const number = first === 'latest' ? `0x${(deployed + 20_000).toString(16)}` : first;
        return { result: { number, hash: `0x${String(number).slice(2).padStart(64, '0')}` } };
      }
      const since = String(first).toLowerCase() === chain.registry.toLowerCase() ? deployed : deployed + 100;
      return forgotten ?? { result: Number(second) >= since ? '0x00' : '0x' };
    });
});

test('other contracts in the settings mean that all is read again', async () => {
  await actors.createAccount();
  const without = await start({ HYPERAUTH_FACTORY_ADDRESS: 'none' }, { database: t.database, clock: t.clock });
  await look(without);
  const kinds = (await stored()).map(({ kind }) => kind);
  expect([kinds.includes('DIDRegistered'), kinds.includes('AccountCreated')]).toEqual([true, false]);
  await without.stop();
  await look();
  await expectAll();
});

describe('two processes on one database', () => {
  let shared: Database & { close(): void };
  let folder: ReturnType<typeof temporaryFolder>;
  let first: TestVault;
  let second: TestVault;
  let other: Forwarder;
  beforeEach(async () => {
    folder = temporaryFolder();
    shared = openSqlite(join(folder.path, 'vault.db'));
    other = startForwarder(chain.url);
    first = await start({}, { database: shared });
    second = await start({ RPC_URL: other.url }, { database: shared, clock: first.clock });
  });
  afterEach(async () => {
    await Promise.all([first.stop(), second.stop(), other.stop()]);
    shared.close();
    folder.remove();
  });

  test('only one follows, and the other answers and reports the same', async () => {
    await actors.register();
    for (let i = 0; i < 40; i++) {
      await look(first);
      await second.work();
    }
    expect(other.methods).toEqual([]);
    await expectAll(second);
    expect((await second.call('GET /readyz')).body.follower).toEqual({ block: await headOf(), lag: 0 });
  });

  test('the other takes over when the lease has lapsed, at the exact edge', async () => {
    await look(first);
    await actors.register();
    await look(second, FOLLOWER_LEASE_MS - 1);
    expect(other.methods).toEqual([]);
    await look(second, POLL_MS);
    expect(other.methods.length).toBeGreaterThan(0);
    await expectAll(second);
    const before = node.methods.length;
    await look(first);
    expect(node.methods.length).toBe(before);
  });

  test('the other takes over at once when the first one ends in order', async () => {
    await look(first);
    await actors.register();
    await first.vault.close();
    await look(second);
    await expectAll(second);
  });

  test('one that overslept its lease changes nothing', async () => {
    await look(first);
    await actors.register();
    const [hung, proceed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    node.trouble = instead(async (call) => {
      if (rangeOf(call) === 0) return undefined;
      hung.resolve();
      await proceed.promise;
      return { result: [] };
    });
    await first.clock.advance(FOLLOWER_LEASE_MS / 2 - 1);
    const oversleeping = first.work();
    await hung.promise;
    await first.clock.advance(UPSTREAM_TIMEOUT_MS - 1);
    await second.work();
    await expectAll(second);
    await actors.register();
    await look(second, 0);
    const position = await positionOf(second);
    proceed.resolve();
    await oversleeping;
    expect(await positionOf(second)).toBe(position);
    await look(second);
    await expectAll(second);
  });
});

describe('a process that dies', () => {
  /** A database whose process dies at the `calls`-th write: before it is committed, or just after. */
  function mortal(database: Database, calls: number, isAfter: boolean): Database {
    let left = calls;
    return {
      execute: (statement) => (left > 0 ? database.execute(statement) : Promise.reject(new Error('dead'))),
      async batch(statements, mode) {
        if (--left > 0) return database.batch(statements, mode);
        if (left === 0 && isAfter) await database.batch(statements, mode);
        throw new Error('dead');
      },
    };
  }

  test.each([false, true])('at any write (kept: %p) loses and doubles nothing', async (isAfter) => {
    node.trouble = instead((call) =>
      rangeOf(call) > 40 ? { error: { code: -32005, message: 'limit exceeded' } } : undefined,
    );
    await t.work();
    for (let calls = 1; calls < 9; calls++) {
      await actors.register();
      if (calls % 3 === 0) await chain.reorg(calls);
      const dying = await start({}, { database: mortal(t.database, calls, isAfter), clock: t.clock });
      await look(dying, FOLLOWER_LEASE_MS);
      await dying.stop();
    }
    await look(t, FOLLOWER_LEASE_MS);
    await expectAll();
  });
});

describe('sessions', () => {
  let people = 0;
  const person = () => {
    const name = `person${++people}of${SEED}`;
    return { handle: name, did: `did:key:z${name}` };
  };
  const open = (who: { handle: string; did: string }) => t.call('POST /api/sessions', who);
  const isFree = async (handle: string) =>
    (await t.rows('SELECT 1 FROM sessions WHERE linked = 1 AND identifier = :key', { key: `handle:${handle}` }))
      .length === 0;
  const isAvailable = async (handle: string) =>
    (await t.call('GET /api/sessions/check', { identifier: handle })).body.available as boolean;
  /** Registers a DID and its handle on-chain, and tells the depth of a re-org that takes it back. */
  const register = (who: { handle: string; did: string }, by?: { holder: `0x${string}` }) => chain.register(who, by);

  test('are linked when their handle is registered for their DID', async () => {
    const alice = person();
    await open(alice);
    await look();
    expect(await isFree(alice.handle)).toBe(true);
    await register(alice);
    await look();
    expect(await isFree(alice.handle)).toBe(false);
    await t.clock.advance(2 * DAY_MS);
    expect((await open({ ...alice, did: 'did:key:zother' })).body).toEqual({ error: 'identifier_taken' });
    expect((await t.call('GET /api/sessions/status')).body).toMatchObject({
      ip_registrations: 1,
      total_registrations: 1,
    });
  });

  test('are linked at once when the chain had the handle before', async () => {
    const alice = person();
    await register(alice);
    await look();
    await open(alice);
    expect(await isFree(alice.handle)).toBe(false);
  });

  test('are not linked by the handle of another DID, by another handle, or after they have lapsed', async () => {
    const [alice, bob, carol] = [person(), person(), person()];
    for (const one of [alice, bob, carol]) await open(one);
    await register({ ...alice, did: `${alice.did}x` });
    await register({ ...bob, handle: `${bob.handle}x` });
    await look();
    await t.clock.advance(DAY_MS);
    await register(carol);
    await look();
    for (const { handle } of [alice, bob, carol]) expect(await isFree(handle)).toBe(true);
    // The alias is what counts for others.
    expect(await Promise.all([alice, bob, carol].map(({ handle }) => isAvailable(handle)))).toEqual([
      false,
      true,
      false,
    ]);
    expect((await t.call('GET /api/sessions/status')).body.total_registrations).toBe(0);
  });

  test('are unlinked by a re-org, live for another day, and are linked again when it is mined again', async () => {
    const alice = person();
    await open(alice);
    const { raw } = await register(alice);
    await look();
    await t.clock.advance(2 * DAY_MS);
    await look();
    await chain.reorg(1);
    await look();
    expect(await isFree(alice.handle)).toBe(true);
    await t.clock.advance(DAY_MS - 2 * POLL_MS);
    expect((await t.call('GET /api/sessions/status')).body.total_registrations).toBe(1);
    await chain.sendAgain(raw);
    await look();
    expect(await isFree(alice.handle)).toBe(false);
    await t.clock.advance(2 * DAY_MS);
    expect((await t.call('GET /api/sessions/status')).body.total_registrations).toBe(1);
  });

  test('stay linked through a re-org by the registration that was recorded, and through its failure by the chain', async () => {
    const [alice, bob] = [person(), person()];
    const claim = (who: { handle: string; did: string }, txHash: string) =>
      t.call('POST /api/dids', { ...who, txHash, credentialId: toBase64url(utf8(who.handle.padEnd(16, '.'))) });
    const { txHash } = await register(alice);
    await claim(alice, txHash);
    await look();
    await chain.reorg(1);
    await look();
    expect(await isFree(alice.handle)).toBe(false);
    await claim(bob, `0x${'00'.repeat(31)}02`);
    await register(bob);
    await look();
    for (let minute = 0; minute <= 15; minute++) await look(t, 60_000);
    const failed = await t.rows(`SELECT identifier FROM registrations WHERE status = 'failed'`);
    expect(failed.map(({ identifier }) => identifier).toSorted()).toEqual(
      [`handle:${alice.handle}`, `handle:${bob.handle}`].toSorted(),
    );
    expect([await isFree(alice.handle), await isFree(bob.handle)]).toEqual([true, false]);
  });

  test('that the chain links yield to no claim, not even one that a passkey proves', async () => {
    const [alice, passkey] = [person(), createPasskey()];
    await register(alice);
    await look();
    await t.call('POST /api/dids', { ...alice, txHash: `0x${'00'.repeat(31)}03`, credentialId: 'A'.repeat(22) });
    const holder = await chain.deployHolder(passkey.key);
    const mallory = { handle: alice.handle, did: `${alice.did}mallory` };
    const credentialId = toBase64url(utf8(mallory.did));
    const { txHash } = await chain.register({ did: mallory.did }, { holder });
    const { body: vault } = await t.call('GET /api/contracts');
    const claim = { did: mallory.did, identifier: alice.handle, channel: 'handle', credentialId, smartAccount: holder };
    const proof = proveRegistration(passkey, vault, claim, { now: t.clock.now() });
    const reply = await t.call('POST /api/dids', { ...claim, ...proof, txHash });
    expect([reply.status, reply.body]).toEqual([409, { error: 'identifier_taken' }]);
  });
});

test('its block and lag are measured, and its events and re-orgs counted', async () => {
  await t.clock.advance(FOLLOWER_LEASE_MS);
  const vars = { VAULT_SECRET, ...actors.vars, RPC_URL: node.url, LOG_LEVEL: 'error' };
  const vault = createContext({ vars, database: t.database, clock: t.clock });
  const follow = createFollower();
  node.trouble = instead((call) => (rangeOf(call) > 64 ? { error: { code: -32005, message: '' } } : undefined));
  do await follow(vault);
  while ((await positionOf()) < 0);
  const [position, head] = [await positionOf(), await headOf()];
  expect(position).toBeLessThan(head);
  expect(tally(vault.metrics, 'vault_follower_block')).toEqual([`{} ${position}`]);
  expect(tally(vault.metrics, 'vault_follower_lag_blocks')).toEqual([`{} ${head - position}`]);
  while (await follow(vault));
  expect(tally(vault.metrics, 'vault_follower_lag_blocks')).toEqual(['{} 0']);
  expect(tally(vault.metrics, 'vault_follower_events_total')).toEqual([`{} ${(await actors.events()).length}`]);
  await chain.reorg(1);
  await t.clock.advance(POLL_MS);
  while (await follow(vault));
  expect(tally(vault.metrics, 'vault_follower_reorgs_total')).toEqual(['{} 1']);
});

test('whatever happens in whatever order, in the end exactly the chain is stored', async () => {
  const random = generator(SEED);
  const under = (max: number) => Math.floor(random() * max);
  let acted: Acted[] = [];
  let current = t;
  const one = () => acted[under(acted.length)];
  const steps: (() => Promise<unknown>)[] = [
    async () => acted.push(await actors.register()),
    async () => acted.push(await actors.register(null)),
    async () => {
      const who = one();
      if (who) await actors.update(who, `cid${under(9)}`);
    },
    async () => {
      const who = one();
      if (!who) return;
      acted = acted.filter((other) => other !== who);
      await actors.deactivate(who);
    },
    () => actors.createAccount(),
    () => chain.mine(1 + under(5)),
    async () => {
      await chain.reorg(1 + under(8));
      // What was taken back is not known here.
      acted = [];
    },
    () => look(current),
    () => look(current),
    async () => {
      const next = await start({}, { database: t.database, clock: t.clock });
      if (current !== t) await current.stop();
      current = next;
      if (under(2) === 0) await t.clock.advance(FOLLOWER_LEASE_MS);
    },
    async () => {
      const most = 1 + under(30);
      node.trouble = instead((call) => (rangeOf(call) > most ? { error: { code: -32005, message: '' } } : undefined));
    },
    async () => {
      node.trouble = () => new Response('', { status: 503 });
      await look(current);
      node.trouble = undefined;
    },
  ];
  for (let i = 0; i < 150; i++) await steps[under(steps.length)]?.();
  node.trouble = undefined;
  await look(current, FOLLOWER_RETRY_MAX_MS);
  await look(current, FOLLOWER_LEASE_MS);
  await look(current);
  await expectAll(current);
  if (current !== t) await current.stop();
});

/** Numbers below 1 that follow from the seed (mulberry32). */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

console.log(`the follower's tests: SEED=${SEED}`);
