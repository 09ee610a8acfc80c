import { afterEach, describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { whileTimePasses } from '../../support/clock.ts';
import { temporaryFolder, unreachable } from '../../support/databases.ts';
import { OPERATOR } from '../../support/events.ts';
import { startOther } from '../../support/process.ts';
import { startVault, type TestVault } from '../../support/vault.ts';

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

async function start(...args: Parameters<typeof startVault>): Promise<TestVault> {
  const vault = await startVault(...args);
  ends.push(vault.stop);
  return vault;
}

const hash = `0x${'1'.repeat(64)}`;
const did = 'did:key:zAlice';
const CID = 'bafyreib2rxk3rybk3aobmv5cjuql3bm2twh4jo5uxgf5kpqcsgz7soitae';
const email = { identifier: 'alice@example.com', channel: 'email' };

/** Every route that needs the database, with a request that it would serve. */
const NEEDING: readonly [string, Record<string, unknown>][] = [
  ['POST /api/sessions', { handle: 'alice', did }],
  ['GET /api/sessions/status', {}],
  ['GET /api/sessions/check?identifier=alice', {}],
  ['POST /api/verify/send', email],
  ['POST /api/verify/check', { ...email, code: '123456' }],
  ['GET /api/verify/status', email],
  ['POST /api/dids', { credentialId: 'A'.repeat(22), identifier: 'alice', channel: 'handle', did, txHash: hash }],
  ['GET /api/dids/lookup', { credentialId: 'A'.repeat(22) }],
  ['GET /api/indexer/stats', {}],
  ['GET /v1/console/registrations', { did }],
  ['GET /v1/console/limits', {}],
  ['GET /v1/console/webhooks', {}],
  ['POST /v1/console/token', { app: 'default' }],
  ['POST /v1/console/revoke', { cid: CID }],
  ['POST /v1/console/limits/clear', { kind: 'sends-per-ip', key: '203.0.113.7' }],
  ['POST /v1/console/webhooks/resend', { id: 1 }],
];

describe('§4 while the database is away', () => {
  const RPC_URL = 'http://127.0.0.1:1';

  test.each(NEEDING)('%s is 503 database_unavailable with Retry-After', async (line, fields) => {
    const vars = { FOLLOWER: 'true', RPC_URL, DID_REGISTRY_ADDRESS: `0x${'5b'.repeat(20)}` };
    const t = await start(vars, { database: unreachable });
    const reply = await t.call(line, fields, OPERATOR);
    expect([reply.status, reply.body.error]).toEqual([503, 'database_unavailable']);
    expect([reply.headers.get('retry-after'), reply.body.hint]).toEqual(['5', expect.stringContaining('Try again')]);
    expect(reply.text).not.toContain('unreachable');
  });

  test('the others are served, and a flood of requests leaves one line in the log for reads and one for writes', async () => {
    const t = await start({ RPC_URL, LOG_LEVEL: 'info' }, { database: unreachable });
    for (const path of ['/healthz', '/pay', '/pay/config', '/console', '/metrics', '/api/contracts', '/api/status'])
      expect([path, (await t.call(`GET ${path}`)).status]).toEqual([path, 200]);
    for (let n = 0; n < 300; n++) await t.call('GET /api/sessions/status', {}, { 'Idempotency-Key': `k${n}` });
    for (let n = 0; n < 3; n++) await t.call('POST /api/verify/send', email);
    await t.work();
    const lines = t.entries.map(({ level, event, operation }) => [level, event, operation]);
    expect(lines.filter(([level]) => level === 'error')).toEqual([]);
    expect(lines.filter(([, event]) => event === 'database_unavailable')).toEqual([
      ['warn', 'database_unavailable', 'read'],
      ['warn', 'database_unavailable', 'write'],
    ]);
    expect((await t.call('GET /readyz')).status).toBe(503);
  });

  test('a sponsorship, which is counted there, is a refusal in JSON-RPC that says when to try again', async () => {
    const sender = `0x${'5b'.repeat(20)}`;
    const factory = `0x${'fa'.repeat(20)}`;
    const word = `0x${sender.slice(2).padStart(64, '0')}`;
    /** A node and a bundler in one; every account of the factory is the sender. */
    const upstream = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      async fetch(request) {
        const calls = [await request.json()].flat() as { id: number; method: string }[];
        const answers = calls.map(({ id, method }) => ({
          jsonrpc: '2.0',
          id,
          result: { eth_chainId: '0x14a34', eth_getCode: '0x60' }[method] ?? word,
        }));
        return Response.json(answers.length === 1 ? answers[0] : answers);
      },
    });
    ends.push(() => upstream.stop(true));
    const url = `http://127.0.0.1:${upstream.port}`;
    const vars = { BUNDLER_URL: url, RPC_URL: url, HYPERAUTH_FACTORY_ADDRESS: factory, LOG_LEVEL: 'info' };
    const t = await start(vars, { database: unreachable });
    const factoryData = `0x4c1ed7f5${'11'.repeat(96)}`;
    const operation = { sender, nonce: '0x0', callData: '0x', factory, factoryData };
    const params = [operation, '0x0000000071727De22E5E9d8BAf0edAc6f37da032'];
    const call = { jsonrpc: '2.0', id: 1, method: 'pm_sponsorUserOperation', params };
    for (const body of [call, [call]]) {
      const { status, body: answer } = await t.call('POST /api/bundler', body as Record<string, unknown>);
      const error = [answer].flat()[0].error;
      expect([status, error.code, error.message]).toEqual([200, -32002, 'database_unavailable']);
      expect(error.data).toMatchObject({ kind: 'unavailable', retry_after: 5 });
    }
    expect(t.entries.filter(({ level }) => level === 'error')).toEqual([]);
  });
});

test('a database that another process keeps locked is 503 as well, and loses nothing', async () => {
  const folder = temporaryFolder();
  ends.push(folder.remove);
  const t = await start({}, { dir: folder.path });
  await t.call('POST /api/sessions', { handle: 'before', did });
  const other = startOther('lock', `file:${join(folder.path, 'vault.db')}`);
  ends.push(other.kill);
  expect(await other.line()).toBe('locked');
  const asked = t.from('203.0.113.7').call('POST /api/sessions', { handle: 'alice', did });
  const reply = await whileTimePasses(t.clock, asked, 500);
  expect([reply.status, reply.body.error]).toEqual([503, 'database_unavailable']);
  other.send('go');
  expect(await other.line()).toBe('free');
  // The end of the other's connection may keep it locked for a moment more: the vault waits on the test's clock.
  const again = t.from('203.0.113.7').call('POST /api/sessions', { handle: 'alice', did });
  expect((await whileTimePasses(t.clock, again)).status).toBe(200);
  expect((await t.call('GET /api/sessions/status')).body.total_registrations).toBe(2);
});
