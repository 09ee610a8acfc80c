import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { createWork } from '../../lib/background.ts';
import { DAY_MS, MINUTE_MS } from '../../lib/base/clock.ts';
import type { LogEntry } from '../../lib/base/log.ts';
import { SWEEP_ROWS_MAX } from '../../lib/constants.ts';
import { type Context, createContext } from '../../lib/context.ts';
import type { Database } from '../../lib/db/database.ts';
import { ROW_LEASE_MS, withRow } from '../../lib/db/row-lock.ts';
import { IDEMPOTENCY_LEASE_MS, takeKey } from '../../lib/idempotency/store.ts';
import { confirmRegistrations } from '../../lib/registration/confirm.ts';
import { KEY_LOOK_PAUSE_MS } from '../../lib/registration/look-again.ts';
import { SESSION_ASK_PAUSE_MS } from '../../lib/sessions/ask-chain.ts';
import { insertSession } from '../../lib/sessions/open-store.ts';
import { PASS_GRANT_MS } from '../../lib/verification/pass.ts';
import { insertCodes } from '../../lib/verification/send-store.ts';
import { ATTESTATION_USE_KEPT_MS } from '../../lib/verification/store.ts';
import { type TestClock, testClock } from '../support/clock.ts';
import { engines, type TestDatabase } from '../support/databases.ts';
import { shareOf } from '../support/shares.ts';
import { tally } from '../support/tally.ts';
import { idle } from '../support/under-way.ts';
import { timedBy, VAULT_SECRET } from '../support/vault.ts';

let database: TestDatabase;
let clock: TestClock;
let entries: LogEntry[];

function open(over: Partial<Database> = {}): Context {
  const engine: Database = {
    execute: (statement) => database.execute(statement),
    batch: (statements, mode) => database.batch(statements, mode),
    ...over,
  };
  return createContext({
    vars: { VAULT_SECRET },
    database: timedBy(clock, engine),
    clock,
    log: (entry) => entries.push(entry),
  });
}

async function count({ db }: Context, table: string): Promise<number> {
  return Number((await db.read({ sql: `SELECT count(*) AS rows FROM ${table}`, args: {} }))[0]?.['rows']);
}

/** Puts `rows` numbered rows into a table by the expression after SELECT. */
function fill({ db }: Context, into: string, select: string, rows: number) {
  const numbers = 'WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < :rows)';
  return db.write({ sql: `INSERT INTO ${into} ${numbers} SELECT ${select} FROM numbers`, args: { rows } });
}

const limits = { perIp: 9, perIdentifier: 9, perNumber: 9, perNumberFree: 9, perNumberDay: 9, perNumberDayFree: 9 };
const ANY = { sql: '1', args: {} };
const NO_PASS = { isBound: false, pass: null, givenPass: null, isByHolder: false };
const code = { id: 'c', identifier: 'email:a@b.de', channel: 'email', ip: '203.0.113.7', digest: null, ...NO_PASS };
const session = {
  identifier: 'handle:alice',
  app: 'default',
  did: 'did:key:z',
  aliasHash: '0x',
  didHash: '0x',
  ledTo: '',
  askAt: null,
  ip: '203.0.113.7',
  windowSeconds: 0,
  share: shareOf(0),
  perIp: 3,
};

/** One row of each kind, and how long it is kept. */
const KEPT: readonly (readonly [table: string, what: string, ms: number, put: (vault: Context) => Promise<unknown>])[] =
  [
    [
      'codes',
      'a send, for as long as a window counts it and its pass may let a client send',
      DAY_MS + PASS_GRANT_MS,
      ({ db, clock }) => {
        const now = clock.now();
        return db.write(insertCodes([{ ...code, purpose: 'registration', now, expiresAt: now + 90_000 }], limits, ANY));
      },
    ],
    [
      'sessions',
      'an unlinked session, until it lapses',
      7_000,
      ({ db, clock }) => {
        const now = clock.now();
        return db.write(insertSession({ ...session, now, expiresAt: now + 7_000 }));
      },
    ],
    [
      'idempotency',
      'an idempotency key, until its lease or its answer ends',
      IDEMPOTENCY_LEASE_MS,
      ({ db, clock }) => db.write(takeKey({ key: 'k', request: 'r', owner: 'o', erasure: '', now: clock.now() })),
    ],
    [
      'attestation_uses',
      'a used attestation, until ten minutes after it expires',
      300_000 + ATTESTATION_USE_KEPT_MS,
      ({ db, clock }) =>
        db.write({
          sql: 'INSERT INTO attestation_uses (signature, expires_at) VALUES (:signature, :at)',
          args: { signature: '0x00', at: clock.now() + 300_000 },
        }),
    ],
    [
      'budget_uses',
      'a use of a budget, for as long as its day counts it',
      DAY_MS,
      ({ db, clock }) =>
        db.write({
          sql: `INSERT INTO budget_uses (kind, bucket, slot, used) VALUES ('emails-per-day', '', :now, 1)`,
          args: { now: clock.now() },
        }),
    ],
    [
      'identifier_rows',
      'a row given back, until the clock has passed its fence',
      ROW_LEASE_MS,
      (vault) => withRow(vault, 'k', async () => {}),
    ],
    [
      'identifier_rows',
      'a row whose holder died, a lease after its lease',
      2 * ROW_LEASE_MS,
      ({ db, clock }) =>
        db.write({
          sql: 'INSERT INTO identifier_rows (key, fence, leased_until) VALUES (:key, :now, :until)',
          args: { key: 'k', now: clock.now(), until: clock.now() + ROW_LEASE_MS },
        }),
    ],
  ];

for (const engine of engines()) {
  describe(`background work on ${engine.name}`, () => {
    beforeEach(async () => {
      database = await engine.open();
      clock = testClock();
      entries = [];
    });
    afterEach(() => database.close());

    test.each(KEPT)('in %s keeps %s (%i ms), and not a millisecond longer', async (table, _, ms, put) => {
      const vault = open();
      await put(vault);
      await clock.advance(ms - 1);
      await createWork(vault).run(clock.now() + 1);
      expect(await count(vault, table)).toBe(1);
      await clock.advance(1);
      await createWork(vault).run(clock.now() + 1);
      expect(await count(vault, table)).toBe(0);
    });

    test('never removes what counts for good: linked sessions and verifications', async () => {
      const vault = open();
      await fill(
        vault,
        'sessions (identifier, did, ip, created_at, expires_at, linked)',
        `'i' || n, 'd', 'ip', 0, 0, 1`,
        2,
      );
      await fill(vault, 'verifications (identifier, verified_at)', `'i' || n, 0`, 2);
      await clock.advance(3_650 * DAY_MS);
      await createWork(vault).run(clock.now() + 1);
      expect([await count(vault, 'sessions'), await count(vault, 'verifications')]).toEqual([2, 2]);
    });

    test('removes a bounded number of rows a turn, and looks at its deadline between turns', async () => {
      const vault = open({
        async batch(statements, mode) {
          const results = await database.batch(statements, mode);
          if (mode === 'write') await clock.advance(10);
          return results;
        },
      });
      await fill(
        vault,
        'idempotency (key, request, owner, expires_at)',
        `'k' || n, '', '', 0`,
        2 * SWEEP_ROWS_MAX + 50,
      );
      const { run: work } = createWork(vault);
      await work(clock.now());
      expect(await vault.clocks.mayWork()).toBe(true);
      expect(await count(vault, 'idempotency')).toBe(2 * SWEEP_ROWS_MAX + 50);
      await work(clock.now() + 1);
      expect(await count(vault, 'idempotency')).toBe(SWEEP_ROWS_MAX + 50);
      await work(clock.now() + 21);
      // The turn that the deadline met goes on to its end.
      await idle();
      expect(await count(vault, 'idempotency')).toBe(0);
    });

    test('counts every lost code in one go, however many there are', async () => {
      const vault = open();
      const columns = 'codes (id, identifier, channel, ip, sent_at, expires_at)';
      await fill(
        vault,
        columns,
        `'c' || n, 'i' || n, 'email', 'ip', ${clock.now()}, ${clock.now()}`,
        2 * SWEEP_ROWS_MAX + 1,
      );
      await createWork(vault).run(clock.now() + 1);
      expect(tally(vault.metrics, 'vault_codes_lost_total')).toEqual([`{} ${2 * SWEEP_ROWS_MAX + 1}`]);
    });

    test('asks the database for nothing once its deadline has passed, and writes once a minute', async () => {
      const asked: string[] = [];
      const vault = open({
        async execute(statement) {
          asked.push('read');
          return database.execute(statement);
        },
        async batch(statements, mode) {
          asked.push(...(mode === 'read' ? statements.map(() => 'read') : [mode]));
          return database.batch(statements, mode);
        },
      });
      await vault.db.ready();
      const { run: work } = createWork(vault);
      const during = async (deadlineMs: number) => {
        asked.length = 0;
        await work(deadlineMs);
        return asked.join(' ');
      };
      expect(await during(clock.now())).toBe('');
      // Once a day it also forgets what the settings say.
      await work(clock.now() + 1);
      await clock.advance(MINUTE_MS);
      // The first is the database's clock, as each fifth second.
      expect(await during(clock.now() + 1)).toBe('read read read read read read read read read write');
      await clock.advance(KEY_LOOK_PAUSE_MS - 1);
      expect(await during(clock.now() + 1)).toBe('read');
      await clock.advance(SESSION_ASK_PAUSE_MS - KEY_LOOK_PAUSE_MS);
      expect(await during(clock.now() + 1)).toBe('read read read read');
      await clock.advance(MINUTE_MS - SESSION_ASK_PAUSE_MS);
      expect(await during(clock.now() + 1)).toBe('read read read read read read');
      await clock.advance(1);
      expect(await during(clock.now() + 1)).toBe('read read read read write');
    });

    test('a task that fails is logged and holds up no other, now or the next time', async () => {
      let isBroken = true;
      type Asked = Parameters<Database['execute']>[0];
      const broken = (one: Asked): Asked =>
        isBroken && one.sql.startsWith('SELECT')
          ? { ...one, sql: one.sql.replace('FROM registrations', 'FROM no_such') }
          : one;
      const vault = open({
        execute: (statement) => database.execute(broken(statement)),
        batch: (statements, mode) => database.batch(mode === 'read' ? statements.map(broken) : statements, mode),
      });
      await withRow(vault, 'k', async () => {});
      await clock.advance(ROW_LEASE_MS);
      const { run: work } = createWork(vault);
      await work(clock.now() + 1);
      expect(await count(vault, 'identifier_rows')).toBe(0);
      const failed = () =>
        // Tasks run side by side: their order is the database's.
        entries.map(({ event, task, message }) => [event, task, String(message).includes('no_such')]).toSorted();
      expect(failed()).toEqual(
        ['backups', 'confirmations', 'moves', 'retention'].map((task) => ['work_failed', task, true]),
      );
      isBroken = false;
      await work(clock.now() + 1);
      expect(failed()).toHaveLength(4);
    });

    test('a task that waits holds up no other, at this turn or the next, and is not started twice', async () => {
      const answer = Promise.withResolvers<void>();
      let looks = 0;
      const vault = open();
      const waits: typeof vault.run = async (task) => {
        if (Object.is(task, confirmRegistrations)) {
          looks++;
          await answer.promise;
        }
        return task(vault);
      };
      const { run } = createWork({ ...vault, run: waits });
      const turn = async () => {
        await withRow(vault, 'k', async () => {});
        await clock.advance(MINUTE_MS);
        const work = run(clock.now() + 1_000);
        await idle();
        expect(await count(vault, 'identifier_rows')).toBe(0);
        await clock.advance(1_000);
        await work;
      };
      await turn();
      await turn();
      expect(looks).toBe(1);
      answer.resolve();
      await idle();
      await run(clock.now() + 1);
      expect(looks).toBe(2);
      expect(entries).toEqual([]);
    });

    test('ends with its turn once it is stopped, and begins nothing more', async () => {
      const vault = open();
      await fill(vault, 'idempotency (key, request, owner, expires_at)', `'k' || n, '', '', 0`, 3 * SWEEP_ROWS_MAX);
      const work = createWork(vault);
      const turn = work.run(clock.now() + 1);
      work.stop();
      await turn;
      expect(await count(vault, 'idempotency')).toBeGreaterThanOrEqual(2 * SWEEP_ROWS_MAX);
      await work.run(clock.now() + 1);
      expect(await count(vault, 'idempotency')).toBeGreaterThanOrEqual(2 * SWEEP_ROWS_MAX);
    });

    test('a clean-up that failed is tried again at the next turn, not after its minute', async () => {
      let isBroken = true;
      const vault = open({
        async batch(statements, mode) {
          if (isBroken && mode === 'write') throw Object.assign(new Error('disk I/O error'), { code: 'SQLITE_IOERR' });
          return database.batch(statements, mode);
        },
      });
      isBroken = false;
      await withRow(vault, 'k', async () => {});
      await clock.advance(ROW_LEASE_MS);
      isBroken = true;
      const { run: work } = createWork(vault);
      await work(clock.now() + 1);
      expect(entries.map(({ event }) => event)).toEqual(['database_unavailable']);
      isBroken = false;
      await work(clock.now() + 1);
      expect(await count(vault, 'identifier_rows')).toBe(0);
      expect(entries.map(({ event }) => event)).toEqual(['database_unavailable', 'database_recovered']);
    });

    test('while the database is away it waits quietly: the log says it once, however long that takes', async () => {
      let isAway = false;
      const answer = <T>(ask: () => Promise<T>) => (isAway ? Promise.reject(new TypeError('fetch failed')) : ask());
      const vault = open({
        execute: (statement) => answer(() => database.execute(statement)),
        batch: (statements, mode) => answer(() => database.batch(statements, mode)),
      });
      const { run: work } = createWork(vault);
      await work(clock.now() + 1);
      isAway = true;
      for (let turn = 0; turn < 200; turn++) {
        await clock.advance(1_000);
        await work(clock.now() + 1);
      }
      // While the database's clock cannot be read, no task asks.
      expect(entries.map(({ event, operation }) => [event, operation])).toEqual([['database_unavailable', 'read']]);
      isAway = false;
      await clock.advance(60_000);
      await work(clock.now() + 1);
      expect(entries.filter(({ event }) => event === 'database_recovered')).toHaveLength(1);
    });
  });
}
