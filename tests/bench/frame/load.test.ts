import { afterEach, expect, test } from 'bun:test';
import { settled } from '../../support/settled.ts';
import { load, offer, repeat, request } from './load.ts';

const servers: Bun.Server<undefined>[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop(true);
});

function serve(fetch: (request: Request) => Response | Promise<Response>) {
  const server = Bun.serve({ port: 0, hostname: '127.0.0.1', development: false, fetch });
  servers.push(server);
  return { port: server.port ?? 0, pid: process.pid };
}

const get = () => request('GET', '/');

test('a load sends its requests once each, counted by what was answered', async () => {
  const seen: string[] = [];
  const server = serve(async (asked) => {
    const { n } = (await asked.json()) as { n: number };
    seen.push(`${n} ${asked.headers.get('edge-connecting-ip')}`);
    return Response.json({ ok: n !== 3 }, { status: n === 4 ? 500 : 200 });
  });
  const one = (n: number) => request('POST', '/', { body: { n }, ip: `10.0.0.${n}` });
  const { statuses } = await load(server, one, { ms: 60_000, connections: 3, count: 6, holds: '"ok":true' });
  expect(seen.sort()).toEqual(['0 10.0.0.0', '1 10.0.0.1', '2 10.0.0.2', '3 10.0.0.3', '4 10.0.0.4', '5 10.0.0.5']);
  expect(statuses).toEqual({ '200': 4, '200 wrong': 1, '500': 1 });
});

test('a form goes as it stands, with its type', async () => {
  const server = serve(async (asked) => new Response(`${asked.headers.get('content-type')} ${await asked.text()}`));
  const holds = 'application/x-www-form-urlencoded code=a%20b';
  const post = () => request('POST', '/', { body: 'code=a%20b' });
  expect((await load(server, post, { ms: 60_000, count: 1, holds })).statuses).toEqual({ '200': 1 });
});

test('work of several requests is done so often, and its failure ends the load', async () => {
  const server = serve(() => new Response('ok'));
  const done: number[] = [];
  const work = async (n: number) => void done.push(n);
  const span = { ms: 60_000, connections: 2, count: 5 };
  expect((await repeat(server, work, span)).statuses).toEqual({ '200': 5 });
  expect(done.sort()).toEqual([0, 1, 2, 3, 4]);
  expect(await settled(repeat(server, () => Promise.reject(new Error('refused')), span))).toThrow('refused');
});

test('an answer in chunks is whole at its last chunk', async () => {
  const body = () =>
    new ReadableStream({
      async start(controller) {
        controller.enqueue('first ');
        await Bun.sleep(5);
        controller.enqueue('last');
        controller.close();
      },
    });
  const { statuses } = await load(
    serve(() => new Response(body())),
    get,
    { ms: 60_000, count: 3, holds: 'last' },
  );
  expect(statuses).toEqual({ '200': 3 });
});

test('a connection that ends before its answer is counted, and the load goes on', async () => {
  let asked = 0;
  const listener = Bun.listen({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      data(socket) {
        if (asked++ === 1) socket.terminate();
        else socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
      },
    },
  });
  const { statuses } = await load({ port: listener.port, pid: process.pid }, get, {
    ms: 60_000,
    connections: 1,
    count: 4,
  });
  listener.stop(true);
  expect(statuses).toEqual({ '200': 3, lost: 1 });
});

test('an offered request counts from when it was due, so that a server that stands still is seen', async () => {
  let asked = 0;
  const server = serve(async () => {
    if (asked++ === 0) await Bun.sleep(300);
    return new Response('ok');
  });
  const found = await offer(server, get, { ms: 100, perSecond: 100, connections: 1 });
  expect(found.statuses).toEqual({ '200': 10 });
  // All ten were due within 90 ms and wait for the first.
  expect(found.p50Ms).toBeGreaterThan(200);
});
