import { afterAll, expect, test } from 'bun:test';
import { systemClock } from '../../../lib/base/clock.ts';
import { callUpstream, measureUpstream, UpstreamError } from '../../../lib/base/http-client.ts';
import { createMetrics } from '../../../lib/base/metrics.ts';
import { answerFault, type Fault } from '../../../scripts/dev-stack/fault.ts';

const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  async fetch(request) {
    const path = new URL(request.url).pathname.slice(1);
    if (path === 'echo')
      return new Response(`${request.headers.get('x-test')} ${await request.text()}`, { status: 418 });
    if (path === 'bomb') {
      const packed = Bun.gzipSync(new Uint8Array(100_000));
      return new Response(packed, { headers: { 'content-encoding': 'gzip' } });
    }
    return answerFault(path as Fault, request);
  },
});
afterAll(() => server.stop(true));

const host = { fetch, clock: systemClock };
const limits = { timeoutMs: 5_000, maxBytes: 1_000 };
const get = (path: string, bounds = limits) =>
  callUpstream(host, { url: `${server.url}${path}`, method: 'GET' }, bounds);

async function faultOf(call: Promise<unknown>): Promise<string> {
  const error = await call.then(
    () => undefined,
    (cause: unknown) => cause,
  );
  expect(error).toBeInstanceOf(UpstreamError);
  expect(String(error)).not.toContain('127.0.0.1');
  expect((error as UpstreamError).cause).toBeUndefined();
  return (error as UpstreamError).message;
}

test('an answer of any status is returned as text', async () => {
  const answer = await callUpstream(
    host,
    {
      url: `${server.url}echo`,
      method: 'POST',
      headers: { 'x-test': 'yes' },
      body: '{"ü":1}',
    },
    limits,
  );
  expect(answer).toEqual({ status: 418, text: 'yes {"ü":1}' });
});

test('a redirect is not followed', async () => {
  expect(await faultOf(get('redirect'))).toBe('redirect');
});

test('an answer that never ends is cut at the limit, as is one that unpacks to more', async () => {
  expect(await faultOf(get('endless'))).toBe('oversize');
  expect(await faultOf(get('bomb'))).toBe('oversize');
});

test('silence ends at the timeout', async () => {
  expect(await faultOf(get('silence', { timeoutMs: 20, maxBytes: 1_000 }))).toBe('timeout');
});

test('a fetch that ignores its signal is bounded too', async () => {
  const deaf = { fetch: () => new Promise<Response>(() => {}), clock: systemClock };
  const call = callUpstream(deaf, { url: 'http://localhost/', method: 'GET' }, { timeoutMs: 1, maxBytes: 1 });
  expect(await faultOf(call)).toBe('timeout');
});

test('a closed port and a broken connection are unreachable, and say so without the address', async () => {
  const key = 'http://127.0.0.1:1/v2/secret-key';
  const closed = callUpstream(host, { url: key, method: 'GET' }, limits);
  expect(await faultOf(closed)).toMatch(/^unreachable( \(\w+\))?$/);
  const listener = Bun.listen({
    hostname: '127.0.0.1',
    port: 0,
    socket: { data: (socket) => void socket.terminate() },
  });
  const broken = callUpstream(host, { url: `http://127.0.0.1:${listener.port}/`, method: 'GET' }, limits);
  expect(await faultOf(broken)).toMatch(/^unreachable( \(\w+\))?$/);
  listener.stop(true);
});

test('calls are counted by outcome and timed', async () => {
  const metrics = createMetrics();
  const meter = { metrics, clock: systemClock };
  await measureUpstream(meter, 'rpc', () => get('empty'));
  await measureUpstream(meter, 'rpc', () => get('redirect')).catch(() => {});
  await measureUpstream(meter, 'rpc', () => Promise.reject(new Error('bug'))).catch(() => {});
  const [requests, duration] = metrics.read();
  const outcomes = requests?.samples.map(({ labels: { outcome }, value }) => [outcome, value]);
  expect(outcomes).toEqual([
    ['ok', 1],
    ['redirect', 1],
    ['error', 1],
  ]);
  expect(duration?.samples[0]?.labels).toEqual({ upstream: 'rpc' });
  expect(duration?.samples[0]?.buckets?.at(-1)?.count).toBe(3);
});
