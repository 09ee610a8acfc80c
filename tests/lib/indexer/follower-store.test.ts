import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { createMetrics } from '../../../lib/base/metrics.ts';
import { leaseHeld, takeLease } from '../../../lib/db/leases.ts';
import { createStore, type OwnedStore } from '../../../lib/db/store.ts';
import { type ChainEvent, selectAlias, selectDid, selectStatistics } from '../../../lib/indexer/event-store.ts';
import {
  advance,
  begin,
  clear,
  FOLLOWER_CLEAR_EVENTS,
  FOLLOWER_KEEP_BLOCKS,
  type FollowerPosition,
  recordPoll,
  rewind,
  selectClearStart,
  selectKnownBlocks,
  selectPosition,
  toPosition,
  whileUnmoved,
} from '../../../lib/indexer/follower-store.ts';
import { insertSession } from '../../../lib/sessions/open-store.ts';
import { testClock } from '../../support/clock.ts';
import { engines, type TestDatabase } from '../../support/databases.ts';
import { shareOf } from '../../support/shares.ts';

const clock = testClock();
const NOW = clock.now();
const LEASE = { name: 'follower', owner: 'me', now: NOW, until: NOW + 1_000 };
const START = { source: 'here', genesis: '0xg', start: 0, head: 0, seenAt: NOW };

let database: TestDatabase;
let db: OwnedStore;

const hashOf = (block: number) => `0x${block.toString(16).padStart(64, '0')}`;

/** A DID with an alias in each block. */
const eventsOf = (block: number): ChainEvent[] => {
  const place = { block, blockHash: hashOf(block), txHash: hashOf(block), metadataCid: null };
  return [
    { ...place, kind: 'DIDRegistered', subject: `did${block}`, object: '0xc', metadataCid: '', logIndex: 0 },
    { ...place, kind: 'AliasRegistered', subject: `alias${block}`, object: `did${block}`, logIndex: 1 },
  ];
};

const range = (from: number, to: number) => ({
  from,
  last: { number: to, hash: hashOf(to) },
  events: Array.from({ length: to - from + 1 }, (_, i) => eventsOf(from + i)).flat(),
});

async function position(): Promise<FollowerPosition> {
  const [row = {}] = await db.read(selectPosition());
  return toPosition(row);
}

const standing = async (lease = LEASE) => whileUnmoved(await position(), leaseHeld(lease));

/** Stores a range and tells whether that was done. */
async function read(from: number, to: number, condition = standing()): Promise<boolean> {
  const results = await db.write(...advance(range(from, to), to + 5, NOW, await condition));
  return results.at(-1)?.rowsAffected === 1;
}

async function count(table: string): Promise<number> {
  return Number((await db.read({ sql: `SELECT count(*) AS rows FROM ${table}`, args: {} }))[0]?.['rows']);
}

async function isLinked(identifier: string): Promise<boolean | undefined> {
  const [row] = await db.read({
    sql: 'SELECT linked FROM sessions WHERE identifier = :identifier',
    args: { identifier: `handle:${identifier}` },
  });
  return row && row['linked'] === 1;
}

const openSession = (identifier: string, block: number, expiresAt = NOW + 1) =>
  db.write(
    insertSession({
      identifier: `handle:${identifier}`,
      app: 'default',
      did: 'did:key:z',
      aliasHash: `alias${block}`,
      didHash: `did${block}`,
      ledTo: 'index',
      askAt: NOW,
      ip: identifier,
      now: NOW,
      expiresAt,
      share: shareOf(NOW),
      perIp: 3,
      windowSeconds: 0,
    }),
  );

/** A handle's registration that is settled. */
const registered = (block: number) => ({
  sql: `INSERT INTO registrations (identifier, channel, did, did_hash, alias_hash, credential_id, tx_hash, status,
      registered_at, unseen_since, controller, final)
    VALUES (:name, 'handle', :did, :did, :alias, :name, '0x', 'confirmed', :now, :now, '0xc', 1)`,
  args: { name: `${block}`, did: `did${block}`, alias: `alias${block}`, now: NOW },
});

/** The DIDs whose registrations are looked at again. */
async function due(): Promise<unknown[]> {
  const sql = 'SELECT did FROM registrations WHERE next_check_at IS NOT NULL';
  return (await db.read({ sql, args: {} })).map(({ did }) => did);
}

for (const engine of engines()) {
  describe(`the follower's tables on ${engine.name}`, () => {
    beforeEach(async () => {
      database = await engine.open();
      db = createStore({ database, clock, metrics: createMetrics(), maxConnections: 2 });
      await db.write(takeLease(LEASE), begin(START, leaseHeld(LEASE)));
    });
    afterEach(() => database.close());

    test('a range of thousands of events is stored in one write, and counted', async () => {
      expect(await read(0, 1_499)).toBe(true);
      expect(await position()).toMatchObject({ block: 1_499, hash: hashOf(1_499), head: 1_504, seenAt: NOW });
      const [row] = await db.read(selectStatistics());
      expect({ ...row }).toEqual({ dids: 1_500, deactivated: 0, aliases: 1_500, accounts: 0, block: 1_499 });
      expect((await db.read(selectDid('did7')))[0]).toMatchObject({ controller: '0xc', block: 7, active: 1 });
      expect((await db.read(selectAlias('alias7')))[0]).toMatchObject({ did_hash: 'did7', active: 1 });
    });

    test('events read twice are stored once', async () => {
      await read(0, 9);
      await read(5, 19);
      expect([await count('chain_events'), (await position()).block]).toEqual([40, 19]);
    });

    test('without the lease, after it, or from another position, nothing changes', async () => {
      await read(0, 9);
      const before = await position();
      const late = { ...LEASE, now: LEASE.until };
      expect(await read(10, 19, standing({ ...LEASE, owner: 'another' }))).toBe(false);
      expect(await read(10, 19, standing(late))).toBe(false);
      expect(await read(10, 19, Promise.resolve(whileUnmoved({ ...before, hash: '0xother' }, leaseHeld(LEASE))))).toBe(
        false,
      );
      const old = whileUnmoved({ ...before, block: 8 }, leaseHeld(LEASE));
      for (const statements of [
        rewind({ number: 3, hash: hashOf(3) }, NOW, 9, NOW, old),
        clear(0, NOW, NOW, leaseHeld(late)),
      ])
        await db.write(...statements);
      await db.write(begin(START, leaseHeld(late)), recordPoll({ head: 99, seenAt: 99 }, old));
      expect([await position(), await count('chain_events')]).toEqual([before, 20]);
    });

    test('what is rewound is gone, with its counts, and known blocks lead on from there', async () => {
      await read(0, 9);
      await read(10, 19);
      await db.write(...rewind({ number: 12, hash: hashOf(12) }, NOW, 30, NOW, await standing()));
      expect(await position()).toMatchObject({ block: 12, hash: hashOf(12), head: 30 });
      expect((await db.read(selectStatistics()))[0]).toMatchObject({ dids: 13, aliases: 13 });
      const known = await db.read(selectKnownBlocks(12, 3));
      expect(known.map(({ number, hash }) => [number, hash])).toEqual(
        [11, 10, 9].map((block) => [block, hashOf(block)]),
      );
    });

    test('old blocks are forgotten, but one to go back to', async () => {
      for (const to of [9, 19, 29, FOLLOWER_KEEP_BLOCKS + 25]) await read(to - 9, to);
      const rows = await db.read({ sql: 'SELECT number FROM chain_blocks ORDER BY number', args: {} });
      expect(rows.map(({ number }) => number)).toEqual([19, 29, FOLLOWER_KEEP_BLOCKS + 25]);
    });

    test('sessions are linked with their alias, unlinked with it, and given time to be linked again', async () => {
      await openSession('alice', 3);
      await openSession('lapsed', 4, NOW);
      await read(0, 2);
      expect(await isLinked('alice')).toBe(false);
      await read(3, 9);
      expect([await isLinked('alice'), await isLinked('lapsed')]).toEqual([true, false]);
      await openSession('late', 5);
      expect(await isLinked('late')).toBe(true);
      await db.write(...rewind({ number: 3, hash: hashOf(3) }, NOW + 9, 9, NOW, await standing()));
      expect([await isLinked('alice'), await isLinked('late')]).toEqual([true, false]);
      await db.write(...rewind({ number: 2, hash: hashOf(2) }, NOW + 9, 9, NOW, await standing()));
      expect(await isLinked('alice')).toBe(false);
      const [row] = await db.read({
        sql: `SELECT expires_at FROM sessions WHERE identifier = 'handle:alice'`,
        args: {},
      });
      expect(row?.['expires_at']).toBe(NOW + 9);
    });

    test.each([
      ['freed', 'AliasFreed', null],
      ['registered for another DID', 'AliasRegistered', 'did9'],
    ] as const)('a settled registration is looked at again once its alias is %s', async (_, kind, object) => {
      await db.write(registered(3), registered(4));
      await read(0, 9);
      expect(await due()).toEqual([]);
      const place = { block: 10, blockHash: hashOf(10), txHash: hashOf(10), logIndex: 0, metadataCid: null };
      const last = { number: 10, hash: hashOf(10) };
      const events = [{ ...place, kind, subject: 'alias3', object }];
      await db.write(...advance({ from: 10, last, events }, 15, NOW, await standing()));
      expect(await due()).toEqual(['did3']);
    });

    test.each(['DIDMoved', 'DIDDeactivated'] as const)(
      'a settled registration is looked at again once a re-org takes back its %s',
      async (kind) => {
        await db.write(registered(3), registered(4));
        await read(0, 9);
        const place = { block: 10, blockHash: hashOf(10), txHash: hashOf(10), logIndex: 0, metadataCid: null };
        const last = { number: 10, hash: hashOf(10) };
        const events = [{ ...place, kind, subject: 'did3', object: '0xd' }];
        await db.write(...advance({ from: 10, last, events }, 15, NOW, await standing()));
        await db.write({ sql: 'UPDATE registrations SET next_check_at = NULL', args: {} });
        await db.write(...rewind({ number: 9, hash: hashOf(9) }, NOW + 9, 9, NOW, await standing()));
        expect(await due()).toEqual(['did3']);
      },
    );

    test('everything is cleared in bounded parts, and belongs to nobody meanwhile', async () => {
      const blocks = FOLLOWER_CLEAR_EVENTS / 2 + 10;
      await openSession('old', 3);
      await openSession('new', blocks - 1);
      for (let from = 0; from < blocks; from += 1_000) await read(from, Math.min(from + 999, blocks - 1));
      expect([await isLinked('old'), await isLinked('new')]).toEqual([true, true]);
      const clearSome = async () => {
        const [left] = await db.read(selectClearStart());
        const from = left === undefined ? undefined : Number(left['block']);
        await db.write(...clear(from ?? 0, NOW + 9, NOW, leaseHeld(LEASE)));
        return from;
      };
      expect(await clearSome()).toBe(10);
      expect([(await position()).source, await count('chain_events'), await count('chain_blocks')]).toEqual([
        '',
        20,
        0,
      ]);
      expect([await isLinked('old'), await isLinked('new')]).toEqual([true, false]);
      expect(await clearSome()).toBeUndefined();
      expect([await isLinked('old'), await count('chain_events')]).toEqual([false, 0]);
      await db.write(begin({ ...START, start: 5 }, leaseHeld(LEASE)));
      expect(await position()).toEqual({ ...START, start: 5, block: 4, hash: '' });
      expect((await db.read(selectStatistics()))[0]).toMatchObject({ dids: 0, aliases: 0, block: 4 });
    });
  });
}
