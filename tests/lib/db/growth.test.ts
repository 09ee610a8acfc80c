import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { openDatabase } from '../../../commands/storage/database.ts';
import { selectIndexedAlias } from '../../../lib/aliases/store.ts';
import { createMetrics } from '../../../lib/base/metrics.ts';
import type { Config } from '../../../lib/config/config.ts';
import type { Statement } from '../../../lib/db/database.ts';
import { createStore, type OwnedStore } from '../../../lib/db/store.ts';
import { recheckDids, recheckHandles, recheckMoved } from '../../../lib/holders/store.ts';
import { selectAlias } from '../../../lib/indexer/event-store.ts';
import { clear, FOLLOWER_CLEAR_EVENTS, selectClearStart } from '../../../lib/indexer/follower-store.ts';
import { SLOT_MS, selectBudgetsUsed, slotOf } from '../../../lib/limits/budget-store.ts';
import { useForSend } from '../../../lib/limits/budgets.ts';
import { limitSpan, selectGuesses, selectLimitEnd, selectLimitRange } from '../../../lib/limits/store.ts';
import { undoRegistration } from '../../../lib/registration/change-store.ts';
import {
  selectAddressesOfDids,
  selectByCredential,
  selectByKey,
  selectControllersOf,
  selectFirstRows,
  selectFirstRowsOf,
} from '../../../lib/registration/lookup-store.ts';
import { selectContenders, selectRegistrationsOfDid } from '../../../lib/registration/store.ts';
import { registrationFailed } from '../../../lib/relay/registration-store.ts';
import { type RelayRow, selectRelaysOfRecovery } from '../../../lib/relay/store.ts';
import { ASKS, leaseDueSessions } from '../../../lib/sessions/link-store.ts';
import { emitReplaced, insertSession, selectRefusal } from '../../../lib/sessions/open-store.ts';
import { selectHolders, selectSessionCounts } from '../../../lib/sessions/store.ts';
import { insertCodes, selectSendRefusal } from '../../../lib/verification/send-store.ts';
import { selectDeliveries, selectWebhookState, startWebhooks } from '../../../lib/webhooks/store.ts';
import { startLibsql } from '../../../scripts/dev-stack/libsql.ts';
import { testClock } from '../../support/clock.ts';
import { temporaryFolder } from '../../support/databases.ts';
import { SHARES, shareOf } from '../../support/shares.ts';

const ROWS = 2_000;
/** Rows that one statement may read, its small tables included. */
const READ_MAX = 60;
/** A statement reads a day's slots of three budgets, up to four times where it tells when there is room again. */
const BUDGETS_READ_MAX = READ_MAX + 3 * 4 * 145;
const IP = '203.0.113.7';
const clock = testClock();
const now = clock.now();

const folder = temporaryFolder();
const server = await startLibsql({ dir: folder.path });
if (!server)
  console.log('no libSQL server for this machine, which would count the rows read: tests of growth are left out');
let db: OwnedStore;

beforeAll(async () => {
  if (!server) return;
  const database = await openDatabase({ url: server.url, maxConnections: 4 });
  db = createStore({ database, clock, metrics: createMetrics(), maxConnections: 4 });
  await db.write(startWebhooks());
});
afterAll(async () => {
  await server?.stop();
  folder.remove();
});

/** Puts so many rows into a table by the expression after SELECT, in which `n` counts. */
const fill = (into: string, select: string, rows = ROWS) =>
  db.write({
    sql: `INSERT INTO ${into} WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < :rows)
      SELECT ${select} FROM numbers`,
    args: { rows },
  });

/** How many rows the engine reads for a statement: a libSQL server says so of each. */
async function rowsRead({ sql, args }: Statement): Promise<number> {
  const named = Object.entries(args).map(([name, value]) => ({ name, value: toHrana(value) }));
  const stmt = { sql, named_args: named };
  const body = JSON.stringify({ requests: [{ type: 'execute', stmt }, { type: 'close' }] });
  const response = await fetch(`${server?.url}/v2/pipeline`, { method: 'POST', body });
  const { results } = (await response.json()) as { results: { response: { result: { rows_read: number } } }[] };
  return results[0]?.response.result.rows_read ?? Number.POSITIVE_INFINITY;
}

function toHrana(value: unknown) {
  if (value === null) return { type: 'null' };
  return typeof value === 'string' ? { type: 'text', value } : { type: 'integer', value: String(value) };
}

const session = (ip: string, perIp: number) => ({
  identifier: 'handle:alice',
  app: 'default',
  did: 'did:key:z',
  aliasHash: '0x',
  didHash: '0x',
  ledTo: '',
  askAt: null,
  ip,
  now,
  expiresAt: now + 1,
  windowSeconds: 0,
  share: shareOf(now),
  perIp,
});
/** A session whose statements read the index. */
const aliased = { ...session('198.51.100.9', 3), aliasHash: '0xalias', didHash: '0xdid1', ledTo: 'index' };
/** A session of a /48 that opens many. */
const IPV6 = '2001:db8:1:1::/64';
const ofSite = { ...session(IPV6, 3), share: shareOf(now, IPV6) };
const NO_PASS = { isBound: false, pass: null, givenPass: null, isByHolder: false };
const code = {
  id: 'c',
  identifier: 'email:a@b.de',
  channel: 'email',
  purpose: 'registration',
  ip: IP,
  digest: null,
  ...NO_PASS,
  now,
  expiresAt: now + 1,
} as const;
const limits = { perIp: 3, perIdentifier: 5, perNumber: 5, perNumberFree: 5, perNumberDay: 10, perNumberDayFree: 10 };
const ANY: Statement = { sql: '1', args: {} };
const stranger = { before: ANY, after: ANY };
const config = { ...SHARES, emailDailyMax: ROWS, maxVerifySendsPerIp: 3 } as Config;
/** The row of a send that the conditions of its budgets are about. */
const SEND = `SELECT 'email:nobody@example.com' AS identifier, '2001:db8:1:1::/64' AS ip, 1 AS nth`;
const budget = useForSend(config, { channel: 'email', client: '2001:db8:1:1::/64', now, isStranger: stranger });
const claim = { identifier: 'handle:reg', credentialId: 'credential', txHash: '0x' };
const DAY = limitSpan('sends-per-ip', 86_400, now);
const sessions = 'sessions (identifier, did, ip, created_at, expires_at, linked)';
const deliveries = `webhook_deliveries (event_id, app, channel, type, at, data, status, next_attempt_at, give_up_at, created_at)`;

const ALWAYS: Statement = { sql: 'true', args: {} };
/** The statements of a batch, each by its place. */
const named = (what: string, batch: readonly Statement[]) =>
  Object.fromEntries(batch.map((statement, i) => [`${what}, statement ${i + 1}`, statement]));

/** What grows, and the statements that must not read it from end to end. */
const CASES: readonly (readonly [what: string, grow: () => Promise<unknown>, statements: Record<string, Statement>])[] =
  [
    [
      'delivered webhooks',
      () => fill(deliveries, `n, 'a', 'c', 't', 0, '{}', 'delivered', NULL, 0, 0`),
      {
        'the state that is read every second': selectWebhookState(now),
        'GET /v1/console/webhooks?status=dead': selectDeliveries('dead', ROWS + 1, 50),
        'GET /v1/console/webhooks': selectDeliveries(null, ROWS + 1, 50),
      },
    ],
    [
      'unlinked sessions of many',
      () => fill(sessions, `'u' || n, 'd', 'ip' || n, ${now}, ${now + 1_000}, 0`),
      { 'GET /api/sessions/status': selectSessionCounts(IP, 0, now, 3) },
    ],
    [
      'sessions of one IP, half of them linked',
      () => fill(sessions, `'l' || n, 'd', '${IP}', ${now}, ${now + 1_000}, n % 2`),
      {
        'GET /api/sessions/status': selectSessionCounts(IP, 0, now, 3),
        'the write of POST /api/sessions': insertSession(session(IP, 3)),
        'the event of POST /api/sessions': emitReplaced(session(IP, 3)),
        'the refusal of POST /api/sessions': selectRefusal(session(IP, 3)),
      },
    ],
    [
      'identifiers that verified',
      () => fill('verifications (identifier, verified_at)', `'email:v' || n, ${now}`),
      { 'GET /v1/console/limits, of guesses': selectGuesses(undefined, 50) },
    ],
    [
      'sends of many clients, of which the console reads a step',
      () =>
        fill(
          'codes (id, identifier, channel, ip, sent_at, expires_at)',
          `'m' || n, 'email:m' || n, 'email', printf('10.0.%d.%d', n / 256, n % 256), ${now}, 0`,
        ),
      {
        'the end of a step': selectLimitEnd('sends-per-ip', '', 20),
        'a step of the clients': selectLimitRange('sends-per-ip', DAY, { after: '', last: '10.0.0.103', limit: 50 }),
        'a step of the addresses': selectLimitRange('sends-per-identifier', DAY, {
          after: '',
          last: 'email:m1004',
          limit: 50,
        }),
      },
    ],
    [
      'registrations of one alias, which moves',
      () =>
        fill(
          'chain_events (block, log_index, block_hash, tx_hash, kind, subject, object)',
          `n, 0, '0x', '0x', 'AliasRegistered', '0xalias', '0xdid' || n`,
        ),
      {
        'where it leads now': selectIndexedAlias('0xalias'),
        'GET /api/indexer/aliases': selectAlias('0xalias'),
        'GET /api/sessions/check': selectHolders('handle:alice', now),
        'the write of POST /api/sessions': insertSession(aliased),
        'the event of POST /api/sessions': emitReplaced(aliased),
        'the refusal of POST /api/sessions': selectRefusal(aliased),
      },
    ],
    [
      'sessions of handles that the chain is asked about later',
      () =>
        fill(
          'sessions (identifier, did, did_hash, ip, created_at, expires_at, ask_at)',
          `'handle:later' || n, 'd', 'd', 'ip' || n, ${now}, ${now + 1_000}, ${now + 1}`,
        ),
      {
        'whether any is due': ASKS.any(now),
        'the lease of those that are': leaseDueSessions(now, 1, 50),
      },
    ],
    [
      'sends of one IP to one identifier',
      () =>
        fill(
          'codes (id, identifier, channel, ip, sent_at, expires_at)',
          `'c' || n, 'email:a@b.de', 'email', '${IP}', ${now}, 0`,
        ),
      {
        'the write of POST /api/verify/send': insertCodes([code], limits, ANY),
        'the refusal of POST /api/verify/send': selectSendRefusal(code, limits),
      },
    ],
    [
      'SMS of a day',
      () =>
        fill(
          'codes (id, identifier, channel, ip, sent_at, expires_at)',
          `'s' || n, 'sms:+1', 'sms', 'ip' || n, ${now}, 0`,
        ),
      { 'the write of POST /api/verify/send': insertCodes([{ ...code, channel: 'sms', ip: 'other' }], limits, ANY) },
    ],
    [
      'uses of a day’s budgets, of the whole vault and of one network',
      async () => {
        for (const [kind, bucket] of [
          ['emails-per-day', ''],
          ['emails-per-network', '2001:db8:1::/48'],
          ['strangers-per-network', '2001:db8:1::/48'],
          ['sessions-per-network', '2001:db8:1::/48'],
        ])
          await fill(
            'budget_uses (kind, bucket, slot, used)',
            `'${kind}', '${bucket}', ${slotOf(now)} - (n - 1) * ${SLOT_MS}, 1`,
          );
      },
      {
        'room for a send': { ...budget.room, sql: `SELECT ${budget.room.sql} FROM (${SEND}) AS send` },
        'the refusal of a send': budget.state,
        'the use of the day': budget.spend[0] ?? ANY,
        'the use of the network': budget.spend[1] ?? ANY,
        'the use for strangers': budget.spend[2] ?? ANY,
        'a use given back': budget.refund(ANY)[1] ?? ANY,
        'the console': selectBudgetsUsed(now),
        'the write of POST /api/sessions': insertSession(ofSite),
        'the use of the /48': ofSite.share.spend()[0] ?? ANY,
        'the refusal of POST /api/sessions': selectRefusal(ofSite),
      },
    ],
    [
      'failed registrations of one identifier and credential',
      async () => {
        const columns = `identifier, channel, did, did_hash, alias_hash, credential_id, tx_hash, status, registered_at,
          unseen_since, holds`;
        const of = (id: string, status: string, holds: number) =>
          `'handle:reg', 'handle', 'd' || ${id}, '0xd', '0xa', 'credential', '0xt', '${status}', 1, 1, ${holds}`;
        await fill(`registrations (${columns})`, of('n', 'failed', 0));
        await fill(`registrations (${columns})`, of('0', 'confirmed', 1), 1);
        await fill(
          'credentials (credential_id, key, since, registration_id)',
          `'credential', '', id, id FROM registrations WHERE holds = 1 UNION SELECT 'other' || n, '', 1, 1`,
        );
      },
      {
        'GET /api/dids/lookup': selectFirstRows('credential'),
        'GET /api/dids/lookup of many at once': selectFirstRowsOf(['credential', 'other1', 'none']),
        'GET /api/dids/lookup of a contested credential': selectByCredential('credential'),
        'GET /api/dids/lookup with a key': selectByKey('credential', '0x1'),
        'the contenders of POST /api/dids': selectContenders(claim),
      },
    ],
    [
      'registrations of others, on-chain and relayed for recoveries',
      async () => {
        const columns = `identifier, channel, did, did_hash, alias_hash, credential_id, tx_hash, status, registered_at,
          unseen_since, holds, controller`;
        const handle = `'handle:many' || n, 'handle', 'did:x:' || n, '0xdid-many' || n, '0xalias-many' || n,
          'credential-many' || n, '0xt', 'confirmed', 1, 1, 1, '0xaccount' || n`;
        await fill(`registrations (${columns})`, handle);
        const events = 'chain_events (block, log_index, block_hash, tx_hash, kind, subject, object)';
        await fill(events, `100000 + n, 0, '0x', '0x', 'AliasRegistered', '0xalias-many' || n, '0xdid-many' || n`);
        await fill(events, `100000 + n, 1, '0x', '0x', 'DIDRegistered', '0xdid-many' || n, '0xaccount' || n`);
        const relays = 'relays (kind, role, recovery_id, chain_id, target, created_at)';
        await fill(relays, `'proposal', 'guardian', n, 1, '0x', 1`);
      },
      {
        ...named('the end of a registration', undoRegistration(1, now)),
        ...named('the end of a relayed one', registrationFailed({ id: 1, registrationId: 1 } as RelayRow, 'x', now)),
        'handles that an alias makes due': recheckHandles(100_000 + ROWS - 3, now, ALWAYS),
        'registrations that a new controller makes due': recheckDids(100_000 + ROWS - 3, now, ALWAYS),
        'registrations that a re-org makes due': recheckMoved(100_000 + ROWS - 3, now, ALWAYS),
        'the accounts of an address': selectControllersOf('email:nobody@example.com'),
        'the addresses of DIDs': selectAddressesOfDids(['did:x:nobody']),
        'GET /v1/console/registrations?did=': selectRegistrationsOfDid('did:x:1', 50),
        'the calls of a recovery': selectRelaysOfRecovery(1),
      },
    ],
  ];

describe.skipIf(!server)('rows read do not grow with', () => {
  test.each(CASES)('%s', async (_, grow, statements) => {
    await grow();
    for (const [name, statement] of Object.entries(statements)) {
      const read = await rowsRead(statement);
      const most = statement.sql.includes('budget_uses') ? BUDGETS_READ_MAX : READ_MAX;
      expect(`${name}: ${read <= most ? 'few' : read} rows`).toBe(`${name}: few rows`);
    }
  });
});

test.skipIf(!server)('lapsed sessions that wait for the sweep are counted up to a bound', async () => {
  const lapsed = 12_000;
  await fill(sessions, `'lapsed' || n, 'd', 'ip' || n, 0, 1, 0`, lapsed);
  expect(await rowsRead(selectSessionCounts('198.51.100.77', 0, now, 3))).toBeLessThan(lapsed / 2);
  await db.write({ sql: `DELETE FROM sessions WHERE identifier LIKE 'lapsed%'`, args: {} });
});

test.skipIf(!server)('the tally of sessions follows every way in which they come and go', async () => {
  const counted = async () => {
    const [row] = await db.read({
      sql: `SELECT count(*) AS n, (SELECT value FROM tallies WHERE name = 'sessions') AS tally FROM sessions`,
      args: {},
    });
    return [row?.['n'], row?.['tally']];
  };
  const alice = { ...session('198.51.100.1', 9), now: now + 5_000, expiresAt: now + 9_000 };
  await db.write(insertSession(alice));
  const [rows, tally] = await counted();
  expect(tally).toBe(rows);
  // A lapsed row that is taken over is no new one.
  await db.write(insertSession({ ...alice, now: now + 9_000, expiresAt: now + 19_000 }));
  expect(await counted()).toEqual([rows, rows]);
  await db.write({ sql: `UPDATE sessions SET linked = 1 WHERE identifier = 'handle:alice'`, args: {} });
  expect(await counted()).toEqual([rows, rows]);
  await db.write({ sql: `DELETE FROM sessions WHERE identifier LIKE 'u%'`, args: {} });
  const [left, tallied] = await counted();
  expect([left, tallied]).toEqual([Number(rows) - ROWS, Number(rows) - ROWS]);
});

test.skipIf(!server)('a turn of starting over reads the events that it deletes, not those that are left', async () => {
  const events = 'chain_events (block, log_index, block_hash, tx_hash, kind, subject, object)';
  const rows = 8 * FOLLOWER_CLEAR_EVENTS;
  const lease = { sql: 'true', args: {} };
  const readInTurn = async () => {
    const [left] = await db.read(selectClearStart());
    let read = await rowsRead(selectClearStart());
    for (const statement of clear(Number(left?.['block']), now, now, lease)) read += await rowsRead(statement);
    return read;
  };
  await fill(events, `900000 + n, 0, '0x', '0x', 'AliasRegistered', '0xcleared' || n, '0xdid-cleared' || n`, rows);
  const columns = 'sessions (identifier, did, did_hash, alias_hash, ip, created_at, expires_at, linked)';
  await fill(columns, `'handle:c' || n, 'd', '0xdid-cleared' || n, '0xcleared' || n, 'ip' || n, 1, 1, 1`, rows);
  const reads = [await readInTurn(), await readInTurn(), await readInTurn()];
  const [{ linked } = {}] = await db.read({
    sql: `SELECT count(*) AS linked FROM sessions WHERE identifier LIKE 'handle:c%' AND linked = 1`,
    args: {},
  });
  expect(linked).toBe(rows - 3 * FOLLOWER_CLEAR_EVENTS);
  // For each event: its row, its session, and the look-ups of both.
  for (const read of reads) expect(read).toBeLessThan(FOLLOWER_CLEAR_EVENTS * 30);
});
