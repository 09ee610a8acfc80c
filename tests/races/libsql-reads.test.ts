import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { openDatabase } from '../../commands/storage/database.ts';
import { type LibsqlServer, libsqlProgram, startLibsql } from '../../scripts/dev-stack/libsql.ts';
import { temporaryFolder } from '../support/databases.ts';
import { openDraw } from '../support/draw.ts';
import { type LibsqlFault, type LibsqlProxy, startLibsqlProxy } from '../support/hostile/libsql-proxy.ts';
import { isLong } from '../support/long.ts';
import { type Program, startProgram } from '../support/program.ts';
import { SEED } from '../support/seed.ts';
import { startVault, VAULT_SECRET } from '../support/vault.ts';

// Two vaults whose reads go to one libSQL server together with those of others.

const PEOPLE = 200;
const ROUNDS = isLong ? 200 : 5;
const PROBES = isLong ? 20_000 : 300;
const FLOODERS = 40;
/** Who registers the people before the tests. */
const REGISTRARS = 8;

const folder = temporaryFolder();
let server: LibsqlServer;
let proxy: LibsqlProxy;
let one: Program;
let two: Program;

describe.skipIf(libsqlProgram() === undefined)('reads that share a request', () => {
  beforeAll(async () => {
    server = (await startLibsql({ dir: `${folder.path}/libsql` })) as LibsqlServer;
    proxy = await startLibsqlProxy(server.url);
    const vars = {
      VAULT_SECRET,
      OPERATOR_SECRET: VAULT_SECRET.replace('00', 'ff'),
      DATABASE_URL: proxy.url,
      RATE_LIMIT_READS_PER_IP: '1000000000',
      RATE_LIMIT_WRITES_PER_IP: '1000000000',
      LOG_LEVEL: 'warn',
    };
    one = await startProgram(vars, { cwd: folder.path });
    two = await startProgram({ ...vars, DATABASE_MAX_CONNECTIONS: '1' }, { cwd: folder.path });
    // A few at once: this is no attack, and a busy machine answers 503 to what waits for ten seconds.
    let next = 0;
    const registrar = async () => {
      while (next < PEOPLE) await register(next++);
    };
    await Promise.all(Array.from({ length: REGISTRARS }, registrar));
  });
  beforeEach(() => {
    proxy.trouble = undefined;
  });
  afterAll(async () => {
    await Promise.all([one?.stop('SIGKILL'), two?.stop('SIGKILL')]);
    proxy?.stop();
    await server?.stop();
    folder.remove();
  });

  test('go to the server together, and each answer comes to who asked', async () => {
    const before = proxy.reads.count;
    const answers = await Promise.all(Array.from({ length: PEOPLE }, (_, n) => lookUp(one, n)));
    expect(answers).toEqual(answers.map((_, n) => ({ status: 200, did: didOf(n) })));
    // How many come together is the machine's matter; lib/db/read-batches counts them exactly.
    expect(proxy.reads.count - before).toBeLessThan(PEOPLE);
  });

  test('come to who asked, or fail, while requests are refused, cut, halved, garbled, late and lost', async () => {
    const draw = openDraw(SEED);
    const faults: LibsqlFault[] = ['refuse', 'cut', 'lose', 'halve', 'garble', 30, { holdMs: 30 }];
    proxy.trouble = () => (draw.below(4) === 0 ? faults[draw.below(faults.length)] : undefined);
    const seen = new Map<string, number>();
    for (let round = 0; round < ROUNDS; round++) {
      const asked = Array.from({ length: PEOPLE }, () => draw.below(PEOPLE));
      const answers = await Promise.all(asked.map((n, i) => lookUp(i % 2 ? one : two, n)));
      for (const [i, { status, did }] of answers.entries()) {
        const what = status === 503 ? '503' : `${status} ${did === didOf(asked[i] as number) ? 'own' : 'wrong'}`;
        seen.set(what, (seen.get(what) ?? 0) + 1);
      }
    }
    if (isLong) console.log(JSON.stringify({ seed: SEED, ...Object.fromEntries(seen) }));
    expect([...seen.keys()].toSorted()).toEqual(['200 own', '503']);
    proxy.trouble = undefined;
    expect(await lookUp(two, 7)).toEqual({ status: 200, did: didOf(7) });
  });

  test('are of one request alone where the runtime isolates requests', async () => {
    const database = await openDatabase({ url: proxy.url, maxConnections: 10 });
    const t = await startVault({}, { database, isolatesRequests: true });
    await t.call('GET /api/sessions/status');
    const before = proxy.reads.count;
    const asked = Array.from({ length: 20 }, () => t.call('GET /api/aliases/check', { alias: 'anybody' }));
    expect((await Promise.all(asked)).map(({ status }) => status)).toEqual(asked.map(() => 200));
    expect(proxy.reads.count - before).toBeGreaterThanOrEqual(asked.length);
    await t.stop();
    database.close();
  });

  test('leave each vault one write at a time, however many are asked for', async () => {
    proxy.writes.mostAtOnce = 0;
    const before = proxy.writes.count;
    const open = (n: number) =>
      post(n % 2 ? one : two, '/api/sessions', ipOf(2_000_000 + n), { handle: `opened${n}`, did: didOf(n) });
    const answers = await Promise.all(Array.from({ length: PEOPLE }, (_, n) => open(n)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(proxy.writes.mostAtOnce).toBeLessThanOrEqual(2);
    expect(proxy.writes.count - before).toBeLessThan(PEOPLE);
  });

  test('show what the other vault has acknowledged, beside a flood of them whose answers are held back', async () => {
    let turn = 0;
    proxy.trouble = ({ isWrite }) => (!isWrite && turn++ % 2 === 0 ? { holdMs: 40 } : undefined);
    let isOver = false;
    const flood = async () => {
      for (let n = 0; !isOver; n++) await lookUp(two, n % PEOPLE);
    };
    const flooding = Array.from({ length: FLOODERS }, flood);
    const stale: string[] = [];
    let acknowledged = 0;
    let asked = 0;
    const probe = async () => {
      while (asked < PROBES) {
        const n = asked++;
        const opened = await post(one, '/api/sessions', ipOf(n), { handle: `probe${n}`, did: 'did:key:z6MkProbe' });
        expect(opened.status).toBe(200);
        const least = ++acknowledged;
        const response = await fetch(`${two.url}/api/sessions/status`);
        const { total_registrations: found } = (await response.json()) as { total_registrations: number };
        if (found < least) stale.push(`${found} of ${least}`);
      }
    };
    await Promise.all(Array.from({ length: 4 }, probe)).finally(() => {
      isOver = true;
    });
    await Promise.all(flooding);
    expect(acknowledged).toBe(PROBES);
    expect(stale).toEqual([]);
  });
});

const didOf = (n: number) => `did:key:z6Mk${n}`;
const ipOf = (n: number) => `10.${(n >> 16) & 255}.${(n >> 8) & 255}.${n & 255}`;
const credentialOf = (n: number) => Buffer.from(n.toString(16).padStart(32, '0'), 'hex').toString('base64url');

function post(program: Program, path: string, ip: string, body: object): Promise<Response> {
  const headers = { 'Content-Type': 'application/json', 'Edge-Connecting-IP': ip };
  return fetch(`${program.url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
}

async function register(n: number): Promise<void> {
  const txHash = `0x${n.toString(16).padStart(64, '0')}`;
  const body = { credentialId: credentialOf(n), handle: `person${n}`, did: didOf(n), txHash };
  expect((await post(one, '/api/dids', ipOf(1_000_000 + n), body)).status).toBe(200);
}

async function lookUp(program: Program, n: number): Promise<{ status: number; did: unknown }> {
  const response = await fetch(`${program.url}/api/dids/lookup?credentialId=${credentialOf(n)}`);
  return { status: response.status, did: ((await response.json()) as Record<string, unknown>)['did'] };
}
