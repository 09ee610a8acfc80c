import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqlite } from '../../commands/storage/sqlite.ts';
import { OPERATOR, openStream, type StreamClient } from '../support/events.ts';
import { type Program, startProgram } from '../support/program.ts';
import { until } from '../support/until.ts';
import { VAULT_SECRET } from '../support/vault.ts';

// Real programs on one database file, real sockets, real time.

const VARS = {
  VAULT_SECRET,
  OPERATOR_SECRET: OPERATOR.Authorization.slice(7),
  FOLLOWER: 'false',
  MAX_REGISTRATIONS_PER_IP: '1000000',
};

let cwd: string;
let one: Program;
let two: Program;
let clients: StreamClient[] = [];
let names = 0;

beforeAll(async () => {
  cwd = mkdtempSync(join(tmpdir(), 'vault-streams-'));
  one = await startProgram(VARS, { cwd });
  two = await startProgram(VARS, { cwd });
});
afterEach(() => {
  for (const client of clients) client.close();
  clients = [];
});
afterAll(async () => {
  await Promise.all([one.stop('SIGKILL'), two.stop('SIGKILL')]);
  rmSync(cwd, { recursive: true, force: true });
});

async function post(by: Program, path: string, body: object, headers: Readonly<Record<string, string>> = {}) {
  const init = {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify(body),
  };
  const response = await fetch(`${by.url}${path}`, init);
  return (await response.json()) as Record<string, string>;
}

const mint = async (by: Program) => post(by, '/v1/console/token', { app: 'default' }, OPERATOR);

/** A session of a new name, which its event shows the first letter of: so the event is told by its DID. */
async function happen(by: Program): Promise<string> {
  const did = `did:key:z${++names}`;
  expect(await post(by, '/api/sessions', { handle: `name${names}`, did })).toMatchObject({ ok: true });
  return did;
}

async function open(by: Program, query: Readonly<Record<string, string>> = {}): Promise<StreamClient> {
  const token = query['token'] ?? (await mint(by))['token'] ?? '';
  const client = await openStream(by.url, { channel: 'sessions', token, ...query });
  clients.push(client);
  return client;
}

const dids = (client: StreamClient) => client.events().map(({ data }) => String(data['did']));

describe('two processes on one database', () => {
  test('tell each other’s streams of what happened', async () => {
    const streams = [await open(one), await open(two)];
    const told = [await happen(one), await happen(two), await happen(one)];
    for (const stream of streams) {
      await stream.until(3);
      expect(dids(stream)).toEqual(told);
    }
  });

  test('have one stream a token between them', async () => {
    const { token = '' } = await mint(one);
    const first = await open(one, { token });
    const second = await open(two, { token });
    await first.ended;
    expect(first.frames.at(-1)).toMatchObject({ event: 'superseded', retry: '600000' });
    const did = await happen(one);
    await second.until(1);
    expect(dids(second)).toEqual([did]);
  });

  test('end the streams of a token that the other one revoked', async () => {
    const { token = '', cid = '' } = await mint(one);
    const stream = await open(one, { token });
    await post(two, '/v1/console/revoke', { cid }, OPERATOR);
    await stream.ended;
    expect(stream.frames.at(-1)).toEqual({ event: 'token-revoked', data: cid });
  });

  test('lose nothing of what both write while streams come and go', async () => {
    const stream = await open(one);
    const told: string[] = [];
    let last = '0';
    let rest = 4;
    const hop = async (client: StreamClient): Promise<string[]> => {
      await client.until(10);
      client.close();
      const seen = dids(client);
      last = client.frames.findLast(({ id }) => id)?.id ?? last;
      if (--rest === 0) return seen;
      return [...seen, ...(await hop(await open(rest % 2 ? two : one, { last_event_id: last })))];
    };
    const hopping = hop(stream);
    for (let i = 0; i < 60; i++) told.push(await happen(i % 3 ? one : two));
    const seen = await hopping;
    expect(seen).toEqual(told.slice(0, seen.length));
    expect(seen.length).toBeGreaterThanOrEqual(40);
  });
});

describe('a reader that stops reading its socket', () => {
  test('holds up nobody, and finds everything when it comes back', async () => {
    const { token = '' } = await mint(one);
    let received = '';
    const socket = await Bun.connect({
      hostname: '127.0.0.1',
      port: Number(new URL(one.url).port),
      socket: {
        open: (opened) =>
          void opened.write(`GET /v1/console/events?app=default&token=${token} HTTP/1.1\r\nHost: localhost\r\n\r\n`),
        data: (_, chunk) => {
          received += chunk.toString('latin1');
        },
      },
    });
    const others = await Promise.all([open(one), open(one), open(two)]);
    await until('the stream begins', () => received.includes(': vault events'));
    socket.pause();
    const told = await flood(4_000, (sent) => others.every(({ frames }) => frames.length >= sent - LAG_MAX));
    for (const other of others) {
      await until('the others have all', () => other.frames.length >= told);
      expect(other.events().length).toBe(told);
    }
    const asked = received.length;
    socket.resume();
    await until('it is told to rewind', () => received.includes('rewind-required'));
    expect(received.length).toBeGreaterThan(asked);
    socket.end();
    // What it was shown is whole, and where it is told to rewind to is what it was shown last.
    const ids = idsIn(received);
    const place = Number(/event: rewind-required\ndata: (\d+)/.exec(received)?.[1]);
    expect(ids.at(-1)).toBe(place);
    const resumed = await open(one, { last_event_id: String(place) });
    await until('it has the rest', () => resumed.events().length >= told - ids.length);
    const all = [...ids, ...resumed.events().map(({ id }) => id)];
    expect(all).toEqual(Array.from({ length: told }, (_, i) => (ids[0] ?? 0) + i));
  });

  /** Far below what a stream's queue holds, so that a busy machine leaves no other reader behind. */
  const LAG_MAX = 300;

  /** Many big events by a third process, more than sockets hold, as fast as the other readers follow. */
  async function flood(count: number, follow: (sent: number) => boolean): Promise<number> {
    const database = openSqlite(join(cwd, 'vault-data', 'vault.db'));
    const data = JSON.stringify({ identifier: 'x'.repeat(6_000) });
    for (let n = 0; n < count; n += 100) {
      const sql = `INSERT INTO events (app, channel, type, at, data) VALUES ('default', 'sessions', 'session.created', 1900000000000, :data)`;
      await database.batch(
        Array.from({ length: 100 }, () => ({ sql, args: { data } })),
        'write',
      );
      await until('the others follow', () => follow(n));
    }
    database.close();
    return count;
  }

  const idsIn = (text: string) => Array.from(text.matchAll(/id: (\d+)\nevent: session/g), ([, id]) => Number(id));
});

test('a process that is told to stop ends its streams at once', async () => {
  const three = await startProgram(VARS, { cwd });
  const stream = await open(three);
  const stopped = three.stop();
  await stream.ended;
  expect(await stopped).toBe(0);
  expect(three.output()).not.toContain('"level":"error"');
});
