import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { createMetrics } from '../../../lib/base/metrics.ts';
import { SWEEP_ROWS_MAX } from '../../../lib/constants.ts';
import { createStore, type OwnedStore } from '../../../lib/db/store.ts';
import { eventOf } from '../../../lib/events/catalogue.ts';
import {
  channelOf,
  emitEvent,
  emitEvents,
  maskedIdentifier,
  selectEventSpan,
  selectEventsAfter,
  selectEventsOf,
  sweepEvents,
  toEvent,
} from '../../../lib/events/store.ts';
import { CHANNELS, maskIdentifier, parseIdentifier } from '../../../lib/identity/identifier.ts';
import { testClock } from '../../support/clock.ts';
import { engines, type TestDatabase } from '../../support/databases.ts';
import { SEED } from '../../support/seed.ts';
import { settled } from '../../support/settled.ts';

const KEEP_MS = 7 * 86_400_000;
const NOW = 1_735_689_600_000;
const sent = (identifier: string, app = 'default', at = NOW) =>
  eventOf('code.sent', { app, at }, { channel: 'email', identifier });
const change = (value: number) => ({
  sql: `UPDATE tallies SET value = :value WHERE name = 'linked_sessions' AND value <> :value`,
  args: { value },
});

for (const engine of engines()) {
  describe(`events on ${engine.name}`, () => {
    let database: TestDatabase;
    let db: OwnedStore;
    let told: number[];

    beforeEach(async () => {
      database = await engine.open();
      told = [];
      const woken = (count: number) => void told.push(count);
      db = createStore({ database, clock: testClock(), metrics: createMetrics(), maxConnections: 4, onEvents: woken });
    });
    afterEach(() => database.close());

    const all = async (after = 0) => (await db.read(selectEventsAfter(after, 100))).map(toEvent);
    const span = async () => Object.values((await db.read(selectEventSpan()))[0] ?? {}).map(Number);

    test('are written with the change they tell of, or not at all', async () => {
      await db.write(change(7), emitEvent(sent('a'), { ifChanged: true }));
      await db.write(change(7), emitEvent(sent('b'), { ifChanged: true }));
      await db.write(change(8), emitEvent(sent('c'), { when: { sql: ':yes = 1', args: { yes: 0 } } }));
      await db.write(change(9), emitEvent(sent('d')));
      expect((await all()).map(({ data }) => JSON.parse(data).identifier)).toEqual(['a', 'd']);
      expect(told).toEqual([1, 1]);
    });

    test('are undone with it', async () => {
      const wrong = { sql: `INSERT INTO tallies (name, value) VALUES ('linked_sessions', 1)`, args: {} };
      expect(await settled(db.write(emitEvent(sent('a')), wrong))).toThrow();
      expect([await all(), told]).toEqual([[], []]);
    });

    test('leave the count of changes to the statement behind them', async () => {
      const behind = (name: string) => ({
        sql: `INSERT INTO tallies (name, value) SELECT :name, 1 WHERE changes() > 0`,
        args: { name },
      });
      await db.write(change(7), emitEvent(sent('a'), { ifChanged: true }), behind('first'));
      await db.write(change(7), emitEvent(sent('a'), { ifChanged: true }), behind('second'));
      const names = await db.read({ sql: `SELECT name FROM tallies WHERE name IN ('first', 'second')`, args: {} });
      expect(names.map(({ name }) => name)).toEqual(['first']);
    });

    test('are read in the order of their ids, by app and channel', async () => {
      for (const app of ['default', 'shop', 'default', 'default']) await db.write(emitEvent(sent(app, app)));
      const minted = { cid: 'c', app: 'shop', channel: null, expires_at: 'then' };
      await db.write(emitEvent(eventOf('token.minted', { app: 'default', at: NOW }, minted)));
      await db.write(
        emitEvents([{ type: 'session.lapsed', app: `'default'`, data: { did: `'x'` }, from: '' }], { now: NOW }),
      );
      expect((await all(4)).map(({ id, channel }) => [id, channel])).toEqual([
        [5, 'audit'],
        [6, 'sessions'],
      ]);
      const of = async (app: string, channels: readonly string[], after = 0, limit = 10, bound = {}) =>
        (await db.read(selectEventsOf({ app, channels, after, ...bound }, limit))).map(({ id }) => Number(id));
      expect(await of('default', ['audit'])).toEqual([1, 3, 4, 5]);
      expect(await of('default', ['audit'], 1, 2)).toEqual([3, 4]);
      expect(await of('default', ['audit'], 0, 10, { until: 3 })).toEqual([1, 3]);
      expect(await of('default', ['sessions', 'credentials'])).toEqual([6]);
      expect(await of('shop', ['audit', 'sessions'])).toEqual([2]);
    });

    test('are kept for seven days, and no id is given out again', async () => {
      expect(await span()).toEqual([0, 0]);
      await db.write(emitEvent(sent('a')), emitEvent(sent('b', 'default', NOW + 1)));
      expect(await span()).toEqual([2, 1]);
      await db.write(sweepEvents(NOW + KEEP_MS - 1, 7));
      expect(await span()).toEqual([2, 1]);
      await db.write(sweepEvents(NOW + KEEP_MS, 7));
      expect(await span()).toEqual([2, 2]);
      await db.write(sweepEvents(NOW + KEEP_MS + 1, 7));
      expect(await span()).toEqual([2, 3]);
      await db.write(emitEvent(sent('c')));
      expect(await span()).toEqual([3, 3]);
    });

    test('identifiers are masked in SQL as everywhere else', async () => {
      const identifiers = [
        parseIdentifier('email', 'alice@example.com'),
        parseIdentifier('email', "a!#$%&'*+/=?^_`{|}~-.b@x.example"),
        parseIdentifier('email', 'x@y.z'),
        parseIdentifier('sms', '+4915112345678'),
        parseIdentifier('sms', '+6834002'),
        parseIdentifier('handle', 'a'),
        parseIdentifier('handle', 'alice.b-c_d'),
      ];
      const rows = await db.read({
        sql: `SELECT ${maskedIdentifier('value')} AS masked, ${channelOf('value')} AS channel FROM json_each(:keys)`,
        args: { keys: JSON.stringify(identifiers.map(({ key }) => key)) },
      });
      expect(rows.map(({ masked, channel }) => [masked, channel])).toEqual(
        identifiers.map((one) => [maskIdentifier(one), one.channel]),
      );
    });
  });
}

test('no mask shows what it hides, whatever the identifier is', () => {
  const texts = {
    email: fc.emailAddress(),
    sms: fc.stringMatching(/^\+49[1-9]\d{6,10}$/),
    handle: fc.stringMatching(/^[a-z0-9][a-z0-9._-]{2,20}[a-z0-9]$/),
  };
  for (const channel of CHANNELS) {
    fc.assert(
      fc.property(texts[channel], (text) => {
        const identifier = parseIdentifier(channel, text);
        const local =
          channel === 'email' ? identifier.value.slice(0, identifier.value.lastIndexOf('@')) : identifier.value;
        const masked = maskIdentifier(identifier);
        // Of `a*` the mask `a***` shows no more than of `ab`.
        return /^.\**$/.test(local) || !masked.startsWith(local);
      }),
      { numRuns: 200, seed: SEED },
    );
  }
});

test('one sweep removes a bounded number of them', async () => {
  const [engine] = engines();
  const database = await engine?.open();
  if (!database) throw new Error('there is no engine');
  const db = createStore({ database, clock: testClock(), metrics: createMetrics(), maxConnections: 4 });
  const from = `FROM (WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${SWEEP_ROWS_MAX + 5}) SELECT i FROM n)`;
  await db.write(emitEvents([{ type: 'session.lapsed', app: `'default'`, data: { did: 'i' }, from }], { now: NOW }));
  const swept = async () => (await db.write(sweepEvents(NOW + KEEP_MS, 7)))[0]?.rowsAffected;
  expect([await swept(), await swept(), await swept()]).toEqual([SWEEP_ROWS_MAX, 5, 0]);
  await database.close();
});
