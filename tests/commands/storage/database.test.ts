import { expect, test } from 'bun:test';
import { existsSync } from 'node:fs';
import { join, relative } from 'node:path';
import { inspect } from 'node:util';
import { openDatabase } from '../../../commands/storage/database.ts';
import { DATABASE_TIMEOUT_MS } from '../../../commands/storage/server.ts';
import { startLibsql } from '../../../scripts/dev-stack/libsql.ts';
import { testClock } from '../../support/clock.ts';
import { temporaryFolder } from '../../support/databases.ts';

const ONE = { sql: 'SELECT 1 AS one', args: {} };
const failureOf = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    (error: unknown) => error as Error,
  );

test('a file: URL names a path, relative or absolute, percent-encoded', async () => {
  const folder = temporaryFolder();
  const path = join(folder.path, 'my vault.db');
  for (const url of [
    `file:${path}`,
    `file:${relative('.', path)}`,
    `file://${path.replace(' ', '%20')}`,
    `FILE:${path}`,
  ]) {
    const database = await openDatabase({ url, maxConnections: 1 });
    expect((await database.execute(ONE)).rows).toEqual([{ one: 1 }]);
    database.close();
  }
  expect(existsSync(path)).toBe(true);
  expect(await failureOf(openDatabase({ url: `file:${path}?mode=ro`, maxConnections: 1 }))).toMatchObject({
    message: expect.stringContaining('query'),
  });
  folder.remove();
});

test('a libSQL server is reached by http: and by ws: alike', async () => {
  const folder = temporaryFolder();
  const server = await startLibsql({ dir: folder.path });
  if (!server) return console.log('There is no libSQL server for this machine: its tests are left out.');
  const host = new URL(server.url).host;
  for (const url of [server.url, `ws://${host}`, `libsql://${host}?tls=0`]) {
    const database = await openDatabase({ url, authToken: 'any', maxConnections: 2 });
    expect({ ...(await database.execute(ONE)).rows[0] }).toEqual({ one: 1 });
    database.close();
  }
  await server.stop();
  folder.remove();
});

test('the token goes to the server and nowhere else', async () => {
  const seen: (string | null)[] = [];
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch(request) {
      seen.push(request.headers.get('authorization'));
      return new Response('no', { status: 401 });
    },
  });
  const url = `http://127.0.0.1:${server.port}`;
  const given = await openDatabase({ url, authToken: 'sesame', maxConnections: 1 });
  const inUrl = await openDatabase({ url: `${url}?authToken=sesame`, maxConnections: 1 });
  const refusals = [await failureOf(given.execute(ONE)), await failureOf(inUrl.execute(ONE))];
  expect(seen).toEqual(['Bearer sesame', 'Bearer sesame']);
  await server.stop(true);
  const away = await openDatabase({ url: `http://sesame:sesame@127.0.0.1:${server.port}`, maxConnections: 1 });
  const unreachable = await failureOf(away.execute(ONE));
  expect(unreachable?.message).toBe('The database server does not answer');
  const unusable = await Promise.all(
    ['sesame', 'http://a/?sesame=1', 'http://[sesame', 'redis://sesame'].map((url) =>
      failureOf(openDatabase({ url, maxConnections: 1 })),
    ),
  );
  for (const error of [...refusals, unreachable, ...unusable]) {
    expect(error).toBeInstanceOf(Error);
    expect(inspect(error, { depth: 5, showHidden: true })).not.toContain('sesame');
  }
});

test('a server that does not answer is given up in time', async () => {
  const silent = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => new Promise<Response>(() => {}) });
  const clock = testClock();
  const database = await openDatabase({ url: `http://127.0.0.1:${silent.port}`, maxConnections: 1, clock });
  let ended = false;
  const failure = failureOf(database.batch([ONE], 'write')).finally(() => {
    ended = true;
  });
  await clock.advance(DATABASE_TIMEOUT_MS - 1);
  expect(ended).toBe(false);
  await clock.advance(1);
  expect((await failure)?.cause).toMatchObject({ message: 'timeout' });
  await silent.stop(true);
});

test('an answer without end is given up', async () => {
  const endless = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: () =>
      new Response(new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(1 << 20)) })),
  });
  const database = await openDatabase({ url: `http://127.0.0.1:${endless.port}`, maxConnections: 1 });
  expect((await failureOf(database.execute(ONE)))?.cause).toMatchObject({ message: 'oversize' });
  await endless.stop(true);
});

test("a server's page about its trouble gets into no message whole, and an answer that is none is no answer", async () => {
  let status = 502;
  const page = `<html>${'trouble '.repeat(100_000)}</html>`;
  const proxy = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => new Response(page, { status }) });
  const database = await openDatabase({ url: `http://127.0.0.1:${proxy.port}`, maxConnections: 1 });
  const refused = await failureOf(database.execute(ONE));
  expect(refused?.message).toContain('502');
  expect(inspect(refused, { depth: 5 }).length).toBeLessThan(10_000);
  status = 200;
  expect(await failureOf(database.batch([ONE], 'write'))).toMatchObject({ code: 'NO_ANSWER' });
  await proxy.stop(true);
});
