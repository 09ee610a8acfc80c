import { afterEach, describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { openSqlite } from '../../../commands/storage/sqlite.ts';
import type { Database } from '../../../lib/db/database.ts';
import { ROUTES } from '../../../routes/index.ts';
import { temporaryFolder } from '../../support/databases.ts';
import { errorOf, resultOf, startUpstream, type Upstream } from '../../support/upstream.ts';
import { startVault, type TestVault } from '../../support/vault.ts';

/** A vault as the public sees it: no limit is wider for a developer. */
const PUBLIC = { BASE_URL: 'https://vault.example.com', TRUSTED_PROXIES: '127.0.0.0/8', ALLOW_LOG_DELIVERY: 'true' };
const txHash = `0x${'1'.repeat(64)}`;

const stops: (() => unknown)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

async function open(vars: Readonly<Record<string, string>> = {}, env: { database?: Database } = {}) {
  const t = await startVault({ ...PUBLIC, RPC_URL: startNode().url, ...vars }, env);
  stops.push(t.stop);
  return t;
}

/** A node on which nothing is mined; it counts the calls. */
function startNode(): Upstream {
  const node = startUpstream();
  stops.push(node.stop);
  const answer = (call: Parameters<Upstream['answer']>[0]) =>
    call.body.method === 'eth_getTransactionReceipt' ? resultOf(call, null) : errorOf(call, { code: 3, message: '' });
  node.answer = (call) =>
    Array.isArray(call.body) ? call.body.map((body: unknown) => answer({ ...call, body })) : answer(call);
  return node;
}

const handle = (n: number) => ({
  handle: `copy${n}`,
  did: 'did:key:z6MkAlice',
  txHash,
  credentialId: `${String(n).padStart(21, 'A')}A`,
});
const flood = (times: number, ask: (n: number) => ReturnType<TestVault['call']>) =>
  Promise.all(Array.from({ length: times }, (_, n) => ask(n)));

describe('RATE_LIMIT_WRITES_PER_IP', () => {
  test('3,000 POST /api/dids of one IP cause at most 60 calls of the node', async () => {
    const node = startNode();
    const t = await open({ RPC_URL: node.url, MAX_REGISTRATIONS_PER_IP: '5000' });
    const { call } = t.from('203.0.113.7');
    const replies = await flood(3_000, (n) => call('POST /api/dids', handle(n)));
    const calls = node.received.flatMap(({ body }) => body);
    expect(calls.length).toBeLessThanOrEqual(60);
    expect(replies.filter(({ status }) => status === 429)).toHaveLength(2_940);
    const refused = replies.find(({ status }) => status === 429);
    expect(refused?.body).toEqual({ error: 'rate_limited', limit: 'writes-per-ip', retry_after: 60 });
  });

  const bodies: Readonly<Record<string, (n: number) => Record<string, unknown>>> = {
    '/api/sessions': (n) => ({ handle: `user${n}`, did: 'did:key:z6MkAlice' }),
    '/api/verify/send': (n) => ({ identifier: `user${n}@example.com`, channel: 'email' }),
    '/api/dids': handle,
  };

  test.each(Object.keys(bodies))(
    'POST %s is refused before the database is asked, the body read or a code sent',
    async (path) => {
      const folder = temporaryFolder();
      stops.push(() => folder.remove());
      const database = openSqlite(join(folder.path, 'vault.db'));
      stops.push(() => database.close());
      let asked = 0;
      const counting: Database = {
        execute(statement) {
          asked++;
          return database.execute(statement);
        },
        batch(statements, mode) {
          asked++;
          return database.batch(statements, mode);
        },
      };
      const t = await open({}, { database: counting });
      const { call } = t.from('203.0.113.7');
      for (let n = 0; n < 60; n++)
        expect((await call(`POST ${path}`, bodies[path]?.(n))).body?.limit).not.toBe('writes-per-ip');
      await t.clock.advance(0);
      const before = asked;
      // The refusal's event is written once a minute; nothing else is.
      const refused = await flood(200, (n) =>
        call(`POST ${path}`, n % 2 === 0 ? bodies[path]?.(n) : { nonsense: true }),
      );
      expect(new Set(refused.map(({ status, body }) => `${status} ${body.limit}`))).toEqual(
        new Set(['429 writes-per-ip']),
      );
      expect(asked - before).toBeLessThanOrEqual(1);
      expect((await t.from('203.0.113.8').call(`POST ${path}`, bodies[path]?.(99))).body?.limit).not.toBe(
        'writes-per-ip',
      );
      await t.clock.advance(60_000);
      expect((await call(`POST ${path}`, bodies[path]?.(100))).body?.limit).not.toBe('writes-per-ip');
    },
  );

  test('is one budget for the three POSTs, counted by the /64', async () => {
    const t = await open({ RATE_LIMIT_WRITES_PER_IP: '3' });
    const ask = (path: string, last: number) =>
      t.from(`2001:db8:1:2::${last}`).call(`POST ${path}`, bodies[path]?.(last));
    for (const [last, path] of Object.keys(bodies).entries()) expect((await ask(path, last + 1)).status).not.toBe(429);
    expect((await ask('/api/sessions', 9)).body.limit).toBe('writes-per-ip');
    expect((await t.from('2001:db8:1:3::1').call('POST /api/sessions', bodies['/api/sessions']?.(9))).status).toBe(200);
  });

  test('is 6,000 with a loopback BASE_URL', async () => {
    const t = await open({ BASE_URL: 'http://localhost:8787' });
    const replies = await flood(300, (n) => t.call('POST /api/sessions', bodies['/api/sessions']?.(n)));
    expect(replies.filter(({ body }) => body.limit === 'writes-per-ip')).toEqual([]);
  });

  test('every public POST has a request limit', () => {
    // The first is judged in memory; the others count by client, and what they refuse by who sends it (token.test.ts).
    const others = ['/authorize', '/token', '/userinfo'];
    const open = ROUTES.filter(({ method, path }) => method === 'POST' && !path.startsWith('/v1/console'));
    expect(open.filter(({ limit }) => limit === undefined).map(({ path }): string => path)).toEqual(others);
  });
});
