// A hundred thousand registrations, and as many sessions, on the embedded engine.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { didHash } from '../../../lib/identity/did.ts';
import { OPERATOR } from '../../support/events.ts';
import { isLong } from '../../support/long.ts';
import { FIRST_AT, ROW_EVERY_MS, writePeople } from '../../support/many-people.ts';
import { startVault, type TestVault } from '../../support/vault.ts';

const ROWS = 100_000;
/** How many of the oldest are paged to the end. */
const PAGED = isLong ? ROWS : 10_000;
/** What the issue asks for: processor time of one request, of all threads, its caller's share included. */
const PROCESSOR_MS_MAX = 100;
/** A request that takes longer is asked again: what the collector does meanwhile is no part of it. */
const TRIES = 5;

const LISTS = ['registrations', 'sessions'] as const;
const timeOf = (i: number) => new Date(FIRST_AT + i * ROW_EVERY_MS).toISOString();

let t: TestVault;
/** The longest request of each kind, in milliseconds of the processor. */
const longest = new Map<string, number>();

beforeAll(async () => {
  t = await startVault();
  await t.call('GET /readyz');
  await writePeople(t.database, ROWS);
});
afterAll(async () => {
  for (const [kind, ms] of longest) console.log(`${kind}: at most ${ms.toFixed(1)} ms of the processor`);
  await t.stop();
});

/** Asks, and fails if the least processor time of some tries is above the most allowed. */
async function ask(kind: string, list: string, query: Readonly<Record<string, unknown>>) {
  let least = Number.POSITIVE_INFINITY;
  for (let i = 0; i < TRIES; i++) {
    const before = process.cpuUsage();
    const { status, body, text } = await t.call(`GET /v1/console/${list}`, query, OPERATOR);
    const { user, system } = process.cpuUsage(before);
    if (status !== 200) throw new Error(`${status} ${text}`);
    least = Math.min(least, (user + system) / 1000);
    if (least >= PROCESSOR_MS_MAX && i + 1 < TRIES) continue;
    longest.set(kind, Math.max(longest.get(kind) ?? 0, least));
    expect(least).toBeLessThan(PROCESSOR_MS_MAX);
    return body;
  }
}

async function browse(kind: string, list: string, query: Readonly<Record<string, unknown>>): Promise<number> {
  let found = 0;
  for (let cursor: string | undefined; ; ) {
    const body = await ask(kind, list, { ...query, ...(cursor && { cursor }) });
    found += body[list].length;
    if (body.next === null) return found;
    cursor = body.next;
  }
}

test.each(LISTS)('%s are paged from the newest to the oldest', async (list) => {
  const newest = await ask(`${list}, the newest`, list, { limit: 1 });
  expect(newest[list]).toMatchObject([{ did: `did:key:z${ROWS}` }]);
  expect(await browse(`${list}, all pages`, list, { limit: 200, to: timeOf(PAGED + 1) })).toBe(PAGED);
});

test.each<[string, Record<string, string>, number]>([
  ['registrations', { app: 'shop' }, 1],
  ['registrations', { status: 'failed', channel: 'sms', limit: '200' }, ROWS / 30],
  ['registrations', { status: 'submitted' }, 0],
  ['registrations', { from: timeOf(100), to: timeOf(1_000), limit: '200' }, 900],
  ['sessions', { app: 'shop' }, 1],
  ['sessions', { status: 'open', limit: '200' }, ROWS / 10],
  ['sessions', { channel: 'handle', from: timeOf(100), to: timeOf(1_000), limit: '200' }, 300],
])('%s by %j are found to the last, looking at a bounded number of rows a time', async (list, query, count) => {
  expect(Math.abs((await browse(`${list}, filtered`, list, query)) - count)).toBeLessThan(1);
});

test('one is found by its identifier, its credential and its DID, and shown', async () => {
  await t.rows(`UPDATE registrations SET did_hash = :hash WHERE id = 99999`, { hash: didHash('did:key:z99999') });
  const queries = [
    { identifier: 'person99999@example.com' },
    { credentialId: 'AAAAAAAAAAAAAAAA00099999' },
    { did: 'did:key:z99999' },
  ];
  for (const query of queries) {
    expect((await ask('look-up', 'registrations', query)).registrations).toMatchObject([{ id: 99_999 }]);
  }
  expect((await ask('look-up', 'sessions', { identifier: 'person99999@example.com' })).sessions).toHaveLength(1);
  expect((await ask('detail', 'registrations/detail', { id: 99_999 })).registration.id).toBe(99_999);
});

test.each(LISTS)('%s leave in two files, the second from where the first ended', async (list) => {
  await t.rows(
    list === 'sessions'
      ? `INSERT INTO sessions (identifier, did, ip, created_at, expires_at) VALUES ('handle:first', 'did:key:z0', '', 1, 1)`
      : `INSERT INTO registrations (identifier, channel, did, did_hash, alias_hash, credential_id, tx_hash, status,
          registered_at, unseen_since) VALUES ('handle:first', 'handle', 'did:key:z0', '', '', 'AAAA', '', 'failed', 1, 1)`,
  );
  const answer = await fetch(`${t.url}/v1/console/${list}/export?format=jsonl`, { headers: OPERATOR });
  const lines = (await answer.text()).trimEnd().split('\n');
  expect(new Set(lines.map((line) => JSON.parse(line).did)).size).toBe(ROWS);
  const [, next = ''] = /^<(.*)>; rel="next"$/.exec(answer.headers.get('link') ?? '') ?? [];
  const rest = await fetch(`${t.url}${next}`, { headers: OPERATOR });
  expect([rest.headers.get('link'), JSON.parse(await rest.text()).did]).toEqual([null, 'did:key:z0']);
  await t.rows(`DELETE FROM ${list} WHERE did = 'did:key:z0'`);
});
