import { afterAll, beforeEach, expect, test } from 'bun:test';
import { systemClock } from '../../../lib/base/clock.ts';
import { createMetrics } from '../../../lib/base/metrics.ts';
import { BUNDLER_PENDING_MAX, createBundler } from '../../../lib/bundler/client.ts';
import { expectHoldsNone, expectTellsNothing, failureOf } from '../../support/secrecy.ts';
import { tally } from '../../support/tally.ts';
import { echo, errorOf, startUpstream } from '../../support/upstream.ts';

const KEY = 'pim_3hT9vQ2mZk7WcXyR';
const upstream = startUpstream();
afterAll(() => upstream.stop());
beforeEach(() => {
  upstream.received.length = 0;
  upstream.answer = echo;
});

function open({ send = fetch as (url: string, init: RequestInit) => Promise<Response> } = {}) {
  const metrics = createMetrics();
  const bundler = createBundler({ fetch: send, clock: systemClock, metrics, url: `${upstream.url}/${KEY}` });
  return { metrics, call: (method = 'eth_chainId') => bundler.call(method, [], 10_000) };
}

test('every call has a number of its own, also those at the same time', async () => {
  const { call } = open();
  await Promise.all([call(), call(), call()]);
  expect(upstream.received.map(({ body }) => body.id).sort()).toEqual([1, 2, 3]);
});

test("requests are counted by their outcome, a bundler's own error being an answer; no label holds the URL", async () => {
  const { call, metrics } = open();
  await call();
  upstream.answer = (received) => errorOf(received, { code: -32500, message: 'AA21' });
  await call();
  upstream.answer = () => new Response(KEY, { status: 500 });
  const failure = await failureOf(call());
  expectTellsNothing(failure, KEY, upstream.url);
  expect(tally(metrics, 'vault_upstream_requests_total')).toEqual([
    '{upstream="bundler",outcome="ok"} 2',
    '{upstream="bundler",outcome="refused"} 1',
  ]);
  expectHoldsNone(metrics.read(), KEY, new URL(upstream.url).host);
});

test('too many calls under way are refused at once, and there is room again after them', async () => {
  const waiting: ((response: Response) => void)[] = [];
  const { call } = open({ send: () => new Promise((resolve) => waiting.push(resolve)) });
  const calls = Array.from({ length: BUNDLER_PENDING_MAX }, () => failureOf(call()));
  const refused = await failureOf(call());
  expect([refused.code, String(refused.cause)]).toEqual(['bundler_error', 'Error: too many calls are pending']);
  for (const resolve of waiting) resolve(new Response(''));
  await Promise.all(calls);
  const again = call();
  waiting.at(-1)?.(Response.json({ jsonrpc: '2.0', id: BUNDLER_PENDING_MAX + 1, result: 'again' }));
  expect(await again).toEqual({ result: 'again' });
});
