import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqlite } from '../../../commands/storage/sqlite.ts';
import type { LogEntry } from '../../../lib/base/log.ts';
import { createMetrics } from '../../../lib/base/metrics.ts';
import { migrate } from '../../../lib/db/migrations.ts';
import { createStore } from '../../../lib/db/store.ts';
import { eventOf } from '../../../lib/events/catalogue.ts';
import { emitEvent } from '../../../lib/events/store.ts';
import { EVENTS_PAGE_MAX, STREAM_POLL_MS } from '../../../lib/streams/event-tail.ts';
import { createHub, type Hub, resumeAfter, type Subscription } from '../../../lib/streams/hub.ts';
import { EVENTS_SCANNED_MAX } from '../../../lib/streams/subscriber.ts';
import { insertRevocation } from '../../../lib/tokens/revocation-store.ts';
import { type TestClock, testClock } from '../../support/clock.ts';
import { parseFrame, type StreamFrame } from '../../support/events.ts';
import { tally } from '../../support/tally.ts';

let dir: string;
let database: ReturnType<typeof openSqlite>;
let clock: TestClock;
let one: Process;
let cids = 0;

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'vault-hub-'));
  database = openSqlite(join(dir, 'vault.db'));
  clock = testClock();
  await migrate(database, clock);
  one = startProcess();
});
afterEach(() => {
  one.hub.close();
  database.close();
  rmSync(dir, { recursive: true, force: true });
});

type Process = ReturnType<typeof startProcess>;

interface Delays {
  readonly queueMax?: number;
  readonly answersAfter?: (sql: string) => Promise<unknown>;
  readonly writtenAfter?: () => Promise<unknown>;
}

/**
 * A process with a hub on the database; its tail sees what the others commit. `answersAfter` and `writtenAfter` are how
 * long an answer is on its way, as from a libSQL server.
 */
function startProcess({ queueMax = 1_000, answersAfter = async () => {}, writtenAfter = async () => {} }: Delays = {}) {
  const metrics = createMetrics();
  const entries: LogEntry[] = [];
  const log = (entry: LogEntry) => void entries.push(entry);
  const trouble = { now: false };
  const engine = {
    async execute(statement: Parameters<typeof database.execute>[0]) {
      if (trouble.now) throw new Error('away');
      const result = await database.execute(statement);
      await answersAfter(statement.sql);
      return result;
    },
    async batch(...[statements, mode]: Parameters<typeof database.batch>) {
      if (trouble.now && mode === 'read') throw new Error('away');
      const results = await database.batch(statements, mode);
      if (mode !== 'read') await writtenAfter();
      return results;
    },
  };
  const schema = { isCurrent: true };
  const onEvents = () => hub.wake();
  const db = createStore({ database: engine, clock, metrics, maxConnections: 10, schema, onEvents });
  const config = { streamHeartbeatSeconds: 25, streamQueueEventsMax: queueMax };
  const hub: Hub = createHub({ db, clock, log, metrics, config, open: { streams: 0 } });
  return { db, hub, metrics, entries, trouble };
}

const happen = (n: number | string, { by = one, app = 'default', size = 0 } = {}) =>
  by.db.write(
    emitEvent(
      eventOf('code.sent', { app, at: clock.now() }, { channel: 'email', identifier: `${n}${'x'.repeat(size)}` }),
    ),
  );

async function happenAll(from: number, to: number): Promise<void> {
  const writes: Promise<unknown>[] = [];
  for (let n = from; n <= to; n++) writes.push(happen(n));
  await Promise.all(writes);
}

/** Lets promises and commits settle without moving time. */
const settle = () => clock.advance(0);

/** A stream that is read only when it is asked. */
async function open(subscription: Partial<Subscription> = {}, by: Process = one) {
  const cid = subscription.cid ?? `cid${++cids}`;
  const stream = await by.hub.open({
    app: 'default',
    channels: ['audit'],
    cid,
    cids: [cid],
    expiresAt: clock.now() + 300_000,
    ...subscription,
  });
  const reader = stream.getReader();
  const frames: StreamFrame[] = [];
  const state = { ended: false };
  const decoder = new TextDecoder();
  let pending: ReturnType<typeof reader.read> | undefined;
  /** Takes all that is there now. */
  const take = async () => {
    for (;;) {
      const next = pending ?? reader.read();
      pending = undefined;
      const part = await Promise.race([next, settle().then(() => undefined)]);
      if (!part) {
        pending = next;
        break;
      }
      if (part.done) {
        state.ended = true;
        break;
      }
      addFrames(decoder.decode(part.value));
    }
    return frames;
  };
  const addFrames = (text: string) => {
    for (const part of text.split('\n\n').slice(0, -1)) frames.push(parseFrame(part));
  };
  /** Reads all the time from here on. */
  const flow = () => {
    const run = async () => {
      for (;;) {
        const part = await (pending ?? reader.read());
        pending = undefined;
        if (part.done) {
          state.ended = true;
          return;
        }
        addFrames(decoder.decode(part.value));
      }
    };
    run().catch(() => undefined);
  };
  const ids = () => frames.flatMap(({ event, id }) => (event === 'code.sent' ? [Number(id)] : []));
  const notices = () => frames.flatMap(({ event, data }) => (event && event !== 'code.sent' ? [[event, data]] : []));
  return { cid, frames, state, take, flow, ids, notices, cancel: () => reader.cancel() };
}

/** Waits for what has to come, however slow the machine is. */
async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await settle();
}

const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i);

test.each([1, 2, 5])('no event comes twice nor out of order where answers are %i turns on their way', async (turns) => {
  const away = startProcess({
    answersAfter: async () => {
      for (let i = 0; i < turns; i++) await new Promise(setImmediate);
    },
  });
  await happenAll(1, 30);
  const streams: Awaited<ReturnType<typeof open>>[] = [];
  let last = 30;
  for (let round = 0; round < 12; round++) {
    const opened = await Promise.all([0, 5, 29].map((after) => open({ after }, away)));
    for (const stream of opened) stream.flow();
    streams.push(...opened);
    for (let i = 0; i < 5; i++) await happen(++last, { by: away });
  }
  await until(() => streams.every((stream) => stream.ids().at(-1) === last));
  for (const stream of streams) {
    const [first = 0] = stream.ids();
    expect(stream.ids()).toEqual(range(first, last));
  }
  away.hub.close();
});

describe('a stream', () => {
  test('begins with the place it has in all events, and is told what comes then', async () => {
    await happenAll(1, 3);
    const stream = await open();
    stream.flow();
    await happenAll(4, 6);
    await until(() => stream.ids().length === 3);
    expect(stream.frames[0]).toEqual({ comment: 'vault events', id: '3' });
    expect(stream.ids()).toEqual([4, 5, 6]);
  });

  test('beats every 25 seconds, at the exact edge, whatever else comes', async () => {
    const stream = await open();
    stream.flow();
    const beats = () => stream.frames.filter(({ comment }) => comment === 'heartbeat').length;
    await clock.advance(24_999);
    expect(beats()).toBe(0);
    await clock.advance(1);
    expect(beats()).toBe(1);
    await happen(1);
    await clock.advance(24_999);
    expect(beats()).toBe(1);
    await clock.advance(1);
    expect(beats()).toBe(2);
  });

  test('beats in its own time, not in that of another', async () => {
    const early = await open();
    await clock.advance(10_000);
    const late = await open();
    for (const stream of [early, late]) stream.flow();
    const beats = () => [early, late].map(({ frames }) => frames.filter((one) => one.comment === 'heartbeat').length);
    await clock.advance(15_000);
    expect(beats()).toEqual([1, 0]);
    await clock.advance(9_999);
    expect(beats()).toEqual([1, 0]);
    await clock.advance(1);
    expect(beats()).toEqual([1, 1]);
  });

  test('beats and ends though the clock is set', async () => {
    const real = clock;
    let setBy = 0;
    clock = { ...real, now: () => real.now() + setBy };
    one.hub.close();
    one = startProcess();
    const stream = await open({ expiresAt: real.now() + 120_000 });
    stream.flow();
    const beats = () => stream.frames.filter(({ comment }) => comment === 'heartbeat').length;
    setBy = -3_600_000;
    await real.advance(50_000);
    expect([beats(), stream.state.ended]).toEqual([2, false]);
    setBy = 3_600_000;
    await real.advance(25_000);
    expect([stream.state.ended, stream.notices().map(([name]) => name)]).toEqual([true, ['token-expired']]);
  });

  test('ends with token-expired at the end of its token, at the exact edge', async () => {
    const expiresAt = clock.now() + 42_000;
    const stream = await open({ expiresAt });
    const other = await open({ expiresAt: expiresAt + 1_000 });
    for (const each of [stream, other]) each.flow();
    await clock.advance(41_999);
    expect([stream.state.ended, stream.notices()]).toEqual([false, []]);
    await clock.advance(1);
    expect([stream.state.ended, stream.notices()]).toEqual([true, [['token-expired', String(expiresAt / 1000)]]]);
    expect(other.state.ended).toBe(false);
    await clock.advance(1_000);
    expect(other.state.ended).toBe(true);
    expect(tally(one.metrics, 'vault_streams')).toEqual(['{} 0']);
  });

  test('is of one app and of the channels it asked for', async () => {
    const shop = await open({ app: 'shop' });
    const sessions = await open({ channels: ['sessions'] });
    for (const stream of [shop, sessions]) stream.flow();
    await happen(1);
    await happen(2, { app: 'shop' });
    await until(() => shop.ids().length === 1);
    expect([shop.ids(), sessions.ids()]).toEqual([[2], []]);
  });

  test('that nobody reads any more is forgotten', async () => {
    const stream = await open();
    expect(tally(one.metrics, 'vault_streams')).toEqual(['{} 1']);
    await stream.cancel();
    expect(tally(one.metrics, 'vault_streams')).toEqual(['{} 0']);
    await happen(1);
    await clock.advance(300_000);
  });

  test('ends at once when the vault closes, and none is opened then', async () => {
    const stream = await open();
    stream.flow();
    one.hub.close();
    await settle();
    // A browser would come back after a time of its own.
    expect([stream.state.ended, stream.frames.at(-1)]).toEqual([true, { retry: '5000' }]);
    const late = await open();
    await late.take();
    expect([late.state.ended, late.frames]).toEqual([true, [{ retry: '5000' }]]);
  });
});

describe('a reader that stands still', () => {
  /** Its reader holds the first event, and the stream itself the second: what comes then is queued. */
  async function standStill() {
    const stream = await open();
    await stream.take();
    const witness = await open();
    witness.flow();
    /** Writes events, and waits until all streams were offered them. */
    const happenTo = async (from: number, to: number) => {
      await happenAll(from, to);
      await until(() => witness.ids().at(-1) === to);
    };
    await happenTo(1, 2);
    return { ...stream, happenTo };
  }

  test('finds up to 1,000 events kept for it', async () => {
    const stream = await standStill();
    await stream.happenTo(3, 1_002);
    stream.flow();
    await until(() => stream.ids().length >= 1_002);
    expect([stream.ids(), stream.notices(), stream.state.ended]).toEqual([range(1, 1_002), [], false]);
  });

  test('is told to rewind at the 1,001st, and resumes without loss or doubling', async () => {
    const stream = await standStill();
    await stream.happenTo(3, 1_003);
    stream.flow();
    await until(() => stream.state.ended);
    expect([stream.ids(), stream.notices()]).toEqual([[1, 2], [['rewind-required', '2']]]);
    await stream.happenTo(1_004, 1_100);
    const resumed = await open({ after: 2 });
    resumed.flow();
    await stream.happenTo(1_101, 1_200);
    await until(() => resumed.ids().length >= 1_198);
    expect(resumed.ids()).toEqual(range(3, 1_200));
    expect(tally(one.metrics, 'vault_stream_rewinds_total')).toEqual(['{} 1']);
  });

  test('is told where it was, when it had read some', async () => {
    const stream = await standStill();
    await stream.take();
    await stream.happenTo(3, 40);
    await stream.take();
    await stream.happenTo(41, 1_200);
    stream.flow();
    await until(() => stream.state.ended);
    const last = stream.ids().at(-1) ?? 0;
    expect(last).toBeGreaterThan(2);
    expect(stream.ids()).toEqual(range(1, last));
    expect(stream.notices()).toEqual([['rewind-required', String(last)]]);
    const resumed = await open({ after: last });
    resumed.flow();
    await until(() => resumed.ids().at(-1) === 1_200);
    expect([...stream.ids(), ...resumed.ids()]).toEqual(range(1, 1_200));
  });

  test('holds nobody else up', async () => {
    const still = await standStill();
    const others = await Promise.all(Array.from({ length: 20 }, () => open()));
    for (const each of others) each.flow();
    for (let n = 3; n <= 1_502; n += 100) await still.happenTo(n, n + 99);
    await until(() => others.every((each) => each.ids().at(-1) === 1_502));
    for (const each of others) expect(each.ids()).toEqual(range(3, 1_502));
    still.flow();
    await until(() => still.state.ended);
    expect(still.notices()).toEqual([['rewind-required', '2']]);
  });

  test('gets one page of what it missed at a time', async () => {
    await happenAll(1, 3 * EVENTS_PAGE_MAX);
    const stream = await open({ after: 1 });
    await settle();
    await happenAll(3 * EVENTS_PAGE_MAX + 1, 3 * EVENTS_PAGE_MAX + 1_200);
    await settle();
    stream.flow();
    await until(() => stream.ids().at(-1) === 3 * EVENTS_PAGE_MAX + 1_200);
    // However much came meanwhile, it is read from the table: there is nothing to overflow.
    expect([stream.ids(), stream.notices()]).toEqual([range(2, 3 * EVENTS_PAGE_MAX + 1_200), []]);
  });
});

describe('a stream of a channel in which little happened', () => {
  test('finds it among much of others, a stretch at a time, and what comes meanwhile', async () => {
    const last = 3 * EVENTS_SCANNED_MAX;
    // Few, and at the end of a stretch more than a page.
    const isIts = (id: number) => id % 9_000 === 0 || Math.abs(id - EVENTS_SCANNED_MAX) <= EVENTS_PAGE_MAX;
    await database.execute({
      sql: `WITH RECURSIVE n (id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n WHERE id < ${last})
        INSERT INTO events (app, channel, type, at, data) SELECT 'default',
          CASE WHEN id % 9000 = 0 OR abs(id - ${EVENTS_SCANNED_MAX}) <= ${EVENTS_PAGE_MAX} THEN 'audit' ELSE 'webhooks' END,
          'code.sent', 0, '{}' FROM n`,
      args: {},
    });
    const stream = await open({ after: 1 });
    stream.flow();
    await happen(1);
    await until(() => stream.ids().at(-1) === last + 1);
    expect(stream.ids()).toEqual([...range(1, last).filter(isIts), last + 1]);
  });
});

describe('a stream that is opened while much happens', () => {
  test('loses nothing and doubles nothing', async () => {
    const streams: Awaited<ReturnType<typeof open>>[] = [];
    const other = startProcess();
    for (let n = 1; n <= 1_200; n += 40) {
      const writes = range(n, n + 39).map((id) => happen(id, { by: id % 2 ? one : other }));
      const opened = open({ after: n % 3 === 0 ? 0 : undefined }, n % 80 === 1 ? one : other);
      await Promise.all([...writes, opened]);
      const stream = await opened;
      stream.flow();
      streams.push(stream);
    }
    await clock.advance(STREAM_POLL_MS);
    await until(() => streams.every((stream) => stream.ids().at(-1) === 1_200 || stream.frames[0]?.id === '1200'));
    for (const stream of streams) {
      const first = Number(stream.frames[0]?.id) + 1;
      expect(stream.ids()).toEqual(range(first, 1_200));
    }
    other.hub.close();
  });
});

test('more events than are kept during the last page are read from the table', async () => {
  const read = Promise.withResolvers<void>();
  const ofPage = (sql: string) => (sql.includes('json_each(:channels)') ? read.promise : Promise.resolve());
  const slow = startProcess({ queueMax: 2, answersAfter: ofPage });
  const stream = await open({ after: 0 }, slow);
  stream.flow();
  await settle();
  await happenAll(1, 5);
  await clock.advance(2 * STREAM_POLL_MS);
  read.resolve();
  await clock.advance(2 * STREAM_POLL_MS);
  expect(stream.ids()).toEqual(range(1, 5));
  slow.hub.close();
});

describe('where a stream goes on', () => {
  test.each([
    ['without an id: at the newest', undefined, 50, 1, { cursor: 50, isRewound: false }],
    ['after the newest', 50, 50, 1, { cursor: 50, isRewound: false }],
    ['after one before', 49, 50, 1, { cursor: 49, isRewound: false }],
    ['from the beginning', 0, 50, 1, { cursor: 0, isRewound: false }],
    ['from the beginning, when that is gone: the oldest kept', 0, 50, 20, { cursor: 19, isRewound: false }],
    ['after the one before the oldest kept', 19, 50, 20, { cursor: 19, isRewound: false }],
    ['after one whose followers are gone', 18, 50, 20, { cursor: 19, isRewound: true }],
    ['after one, when all are gone', 18, 50, 51, { cursor: 50, isRewound: true }],
    ['after one that was never given', 51, 50, 20, { cursor: 50, isRewound: true }],
    ['after what is no id', 'unknown', 50, 20, { cursor: 50, isRewound: true }],
    ['in a vault without events', undefined, 0, 0, { cursor: 0, isRewound: false }],
    ['from the beginning of none', 0, 0, 0, { cursor: 0, isRewound: false }],
  ] as const)('%s', (_, after, newest, oldest, place) => {
    expect(resumeAfter(after, newest, oldest)).toEqual(place);
  });
});

describe('two processes on one database', () => {
  test('tell their streams of each other’s events within a second', async () => {
    const other = startProcess();
    const here = await open({}, one);
    const there = await open({}, other);
    for (const stream of [here, there]) stream.flow();
    await happen(1, { by: one });
    await happen(2, { by: other });
    await clock.advance(STREAM_POLL_MS);
    await until(() => here.ids().length + there.ids().length === 4);
    expect(STREAM_POLL_MS).toBeLessThan(1_000);
    expect([here.ids(), there.ids()]).toEqual([
      [1, 2],
      [1, 2],
    ]);
    other.hub.close();
  });

  test('have one stream a token: the newer one ends the older one', async () => {
    const other = startProcess();
    const first = await open({ cid: 'token' }, one);
    first.flow();
    const second = await open({ cid: 'token' }, other);
    second.flow();
    await clock.advance(STREAM_POLL_MS);
    expect([first.state.ended, second.state.ended]).toEqual([true, false]);
    expect(first.frames.at(-1)).toEqual({ event: 'superseded', retry: '600000', data: 'token' });
    const third = await open({ cid: 'token' }, one);
    third.flow();
    await clock.advance(STREAM_POLL_MS);
    expect([second.state.ended, third.state.ended]).toEqual([true, false]);
    expect(tally(one.metrics, 'vault_streams_superseded_total')).toEqual(['{} 1']);
    other.hub.close();
  });

  test('opened at the same time with one token, exactly one stays', async () => {
    const processes = [one, startProcess(), startProcess()];
    const streams = await Promise.all(range(0, 8).map((n) => open({ cid: 'token' }, processes[n % 3] as Process)));
    for (const stream of streams) stream.flow();
    await clock.advance(2 * STREAM_POLL_MS);
    expect(streams.filter(({ state }) => !state.ended).length).toBe(1);
    for (const each of processes.slice(1)) each.hub.close();
  });

  test('have one stream a token, though the older one hears of the newer before it knows its own place', async () => {
    const written = Promise.withResolvers<void>();
    const slow = startProcess({ writtenAfter: () => written.promise });
    const opening = open({ cid: 'token' }, slow);
    await settle();
    const second = await open({ cid: 'token' });
    await clock.advance(2 * STREAM_POLL_MS);
    written.resolve();
    const first = await opening;
    for (const stream of [first, second]) stream.flow();
    await clock.advance(2 * STREAM_POLL_MS);
    expect([first.state.ended, second.state.ended]).toEqual([true, false]);
    slow.hub.close();
  });

  test('end the streams of a token, or of a link of its chain, that any of them revoked', async () => {
    const other = startProcess();
    const own = await open({ cid: 'own' });
    const linked = await open({ cid: 'linked', cids: ['linked', 'proof'] });
    const untouched = await open();
    for (const stream of [own, linked, untouched]) stream.flow();
    await other.db.write(...insertRevocation('own', clock.now()));
    await other.db.write(...insertRevocation('proof', clock.now()));
    await clock.advance(STREAM_POLL_MS);
    expect([own, linked, untouched].map(({ state }) => state.ended)).toEqual([true, true, false]);
    expect(linked.notices().at(-1)).toEqual(['token-revoked', 'linked']);
    other.hub.close();
  });
});

describe('a database that is away', () => {
  test('ends a stream that is being opened, whose client asks again', async () => {
    one.trouble.now = true;
    const stream = await open();
    await stream.take();
    expect([stream.state.ended, stream.frames]).toEqual([true, [{ retry: '5000' }]]);
    one.trouble.now = false;
    const again = await open();
    again.flow();
    await happen(1);
    await until(() => again.ids().length === 1);
    expect(again.ids()).toEqual([1]);
  });

  test('keeps open streams waiting, and is told of once', async () => {
    const stream = await open();
    stream.flow();
    await settle();
    one.trouble.now = true;
    await happen(1);
    await clock.advance(5 * STREAM_POLL_MS);
    expect([stream.ids(), stream.state.ended]).toEqual([[], false]);
    one.trouble.now = false;
    await clock.advance(STREAM_POLL_MS);
    expect(stream.ids()).toEqual([1]);
    await clock.advance(5 * STREAM_POLL_MS);
    expect(one.entries.map(({ event }) => event)).toEqual(['stream_tail_failed', 'stream_tail_recovered']);
  });
});
