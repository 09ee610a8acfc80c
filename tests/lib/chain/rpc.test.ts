import { afterAll, beforeEach, expect, test } from 'bun:test';
import { systemClock } from '../../../lib/base/clock.ts';
import { VaultError } from '../../../lib/base/error.ts';
import { describeError, type LogEntry } from '../../../lib/base/log.ts';
import { createMetrics } from '../../../lib/base/metrics.ts';
import { createRpc, RPC_BATCH_MAX, RPC_BATCH_RETRY_MS, RPC_PENDING_MAX, rpcErrorOf } from '../../../lib/chain/rpc.ts';
import { UPSTREAM_TIMEOUT_MS } from '../../../lib/constants.ts';
import { startChain } from '../../../scripts/dev-stack/chain.ts';
import { deployContracts } from '../../../scripts/dev-stack/deploy.ts';
import { answerFault } from '../../../scripts/dev-stack/fault.ts';
import { testClock } from '../../support/clock.ts';

interface Request {
  readonly jsonrpc: string;
  readonly id: number;
  readonly method: string;
  readonly params: unknown[];
}

type Answer = (body: Request | Request[], request: globalThis.Request) => unknown;

const KEY = 'a1b2c3d4e5f60718293a4b5c6d7e8f90';
const bodies: (Request | Request[])[] = [];
let answer: Answer;

/** Answers each request with its own method and parameters. */
const echo: Answer = (body) => (Array.isArray(body) ? body.map(echoOne) : echoOne(body));
const echoOne = ({ id, method, params }: Request) => ({ jsonrpc: '2.0', id, result: [method, ...params] });

const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  async fetch(request) {
    const body = (await request.clone().json()) as Request | Request[];
    bodies.push(body);
    const value = await answer(body, request);
    return value instanceof Response ? value : Response.json(value);
  },
});
afterAll(() => server.stop(true));

beforeEach(() => {
  bodies.length = 0;
  answer = echo;
});

function client(options: { clock?: typeof systemClock; url?: string } = {}) {
  const metrics = createMetrics();
  const logs: LogEntry[] = [];
  const { clock = systemClock, url = `${server.url}v2/${KEY}` } = options;
  const rpc = createRpc({ urls: { 1: url }, fetch, clock, metrics, log: (entry) => logs.push(entry) });
  return { call: (method = 'm', ...params: unknown[]) => rpc.call(1, method, params), rpc, metrics, logs };
}

/** What the log would say of a failed call. */
async function failure(call: Promise<unknown>): Promise<string> {
  const error: unknown = await call.then(
    () => undefined,
    (cause: unknown) => cause,
  );
  expect(error).toBeInstanceOf(VaultError);
  expect(error).toMatchObject({ code: 'rpc_error', message: 'rpc_error' });
  expect(JSON.stringify(describeError(error))).not.toMatch(new RegExp(`127\\.0\\.0\\.1:\\d|${KEY}`));
  return describeError(error).cause ?? '';
}

test('a call alone is a plain JSON-RPC request', async () => {
  const { call } = client();
  expect(await call('eth_call', { to: '0x' }, 'latest')).toEqual(['eth_call', { to: '0x' }, 'latest']);
  expect(bodies).toEqual([{ jsonrpc: '2.0', id: 1, method: 'eth_call', params: [{ to: '0x' }, 'latest'] }]);
});

test('calls of one turn travel as one batch, later ones as the next', async () => {
  const { call } = client();
  expect(await Promise.all([call('a'), call('b', 1), call('c')])).toEqual([['a'], ['b', 1], ['c']]);
  await Promise.all([call(), call()]);
  expect(bodies.map((body) => [body].flat().map(({ id }) => id))).toEqual([
    [1, 2, 3],
    [4, 5],
  ]);
});

test('a batch holds no more than its limit', async () => {
  const { call } = client();
  await Promise.all(Array.from({ length: RPC_BATCH_MAX + 1 }, () => call()));
  expect(bodies.map((body) => [body].flat().length).sort()).toEqual([1, RPC_BATCH_MAX]);
});

test('chains are asked apart, an unknown one not at all', async () => {
  const urls = { 1: `${server.url}one`, 2: `${server.url}two` };
  const rpc = createRpc({ urls, fetch, clock: systemClock, metrics: createMetrics(), log: () => {} });
  await Promise.all([rpc.call(1, 'a', []), rpc.call(2, 'b', [])]);
  expect(bodies.map((body) => [body].flat().map(({ method }) => method)).sort()).toEqual([['a'], ['b']]);
  expect(await failure(rpc.call(3, 'c', []))).toBe('Error: no RPC URL for chain 3');
});

test('answers find their calls by id, in whatever order they come', async () => {
  answer = (body) => [body].flat().map(echoOne).reverse();
  const { call } = client();
  expect(await Promise.all([call('a'), call('b'), call('c')])).toEqual([['a'], ['b'], ['c']]);
});

test('a missing or malformed answer fails only its own call', async () => {
  answer = (body) => {
    const [a, , c, d, e] = [body].flat().map(echoOne);
    return [
      a,
      { ...c, id: 99 },
      { id: d?.id },
      null,
      'x',
      { id: e?.id, error: { code: 'x' } },
      { ...a, result: 'twice' },
    ];
  };
  const { call } = client();
  const [first, ...others] = ['a', 'b', 'c', 'd', 'e'].map((method) => call(method));
  expect(await first).toEqual(['a']);
  expect(await Promise.all(others.map(failure))).toEqual(Array(4).fill('UpstreamError: malformed'));
});

test("a node's own error is told apart, with its code and what the call reverted with", async () => {
  const data = '0x08c379a0';
  answer = (body) => [
    { id: [body].flat()[0]?.id, error: { code: 3, message: 'execution reverted', data } },
    { id: [body].flat()[1]?.id, error: { code: -32015, message: 'reverted', data: { data } } },
    { id: [body].flat()[2]?.id, error: { code: -32000, message: 'x', data: 'Reverted' } },
  ];
  const { call } = client();
  const errors = await Promise.all([call(), call(), call()].map((one) => one.catch(rpcErrorOf)));
  expect(errors.map((error) => [(error as { code: number }).code, (error as { data?: string }).data])).toEqual([
    [3, data],
    [-32015, data],
    [-32000, undefined],
  ]);
});

test("a node's own words reach the log short and without what may be a key", async () => {
  const message = `no such project ${KEY}\n\u001b[31msee https://example.com/${KEY} ${'word '.repeat(100)}`;
  answer = (body) => ({ id: (body as Request).id, error: { code: -32001, message } });
  const cause = await failure(client().call());
  expect(cause).toStartWith('RpcError: -32001 no such project … [31msee … word word');
  expect(cause.length).toBeLessThan(160);
});

test('an error under the id null belongs to the one call sent, another id does not', async () => {
  answer = () => ({ id: null, error: { code: -32700, message: 'parse error' } });
  expect(await failure(client().call())).toBe('RpcError: -32700 parse error');
  answer = () => ({ id: 77, result: 1 });
  expect(await failure(client().call())).toBe('UpstreamError: malformed');
});

test('a null result is a result', async () => {
  answer = (body) => ({ id: (body as Request).id, result: null, error: null });
  expect(await client().call('eth_getTransactionReceipt')).toBeNull();
});

const refusals: Record<string, (batch: Request[]) => unknown> = {
  'one error object': () => ({ jsonrpc: '2.0', id: null, error: { code: -32602, message: 'expected object' } }),
  'one error under the first id': ([first]) => [{ id: first?.id, error: { code: -32600, message: 'batch too large' } }],
  'HTTP 400': () => new Response('{"message":"body must be object"}', { status: 400 }),
  'HTTP 413': () => new Response('too large', { status: 413 }),
};
for (const [name, refuse] of Object.entries(refusals)) {
  test(`a node that refuses a batch with ${name} is asked one by one, and after a while with a batch again`, async () => {
    answer = (body, request) => (Array.isArray(body) ? refuse(body) : echo(body, request));
    const clock = testClock();
    const { call, logs } = client({ clock });
    const two = () => Promise.all([call('a'), call('b')]);
    expect(await two()).toEqual([['a'], ['b']]);
    expect(await two()).toEqual([['a'], ['b']]);
    expect(bodies.map(Array.isArray)).toEqual([true, false, false, false, false]);
    expect(logs).toEqual([{ level: 'warn', event: 'rpc_batch_refused', chainId: '1' }]);
    await clock.advance(RPC_BATCH_RETRY_MS);
    answer = echo;
    expect(await two()).toEqual([['a'], ['b']]);
    expect(bodies.map(Array.isArray).slice(5)).toEqual([true]);
  });
}

test('a batch whose answers are together too large is asked again one by one', async () => {
  const large = 'x'.repeat(1024 * 1024);
  answer = (body) =>
    Array.isArray(body) ? body.map(({ id }) => ({ id, result: large })) : { id: body.id, result: large };
  const { call } = client();
  const results = await Promise.all([call(), call(), call()]);
  expect(results.map((result) => String(result).length)).toEqual(Array(3).fill(large.length));
});

test('a redirect, an endless answer, an error page, no JSON and nothing at all fail the call', async () => {
  const causes = {
    redirect: 'redirect',
    endless: 'oversize',
    'error-page': 'refused (502)',
    garbage: 'malformed',
    empty: 'malformed',
  };
  for (const [fault, cause] of Object.entries(causes)) {
    answer = (_, request) => answerFault(fault as keyof typeof causes, request);
    const { call } = client();
    expect(await failure(call())).toBe(`UpstreamError: ${cause}`);
    expect(new Set(await Promise.all([call(), call()].map(failure)))).toEqual(new Set([`UpstreamError: ${cause}`]));
  }
});

test('a rate limit or a refused key is no opinion on batches and is not multiplied', async () => {
  for (const status of [401, 429]) {
    bodies.length = 0;
    answer = () => Response.json({ error: { message: `bad key ${KEY}` } }, { status });
    const { call } = client();
    const causes = await Promise.all([call(), call()].map(failure));
    expect(causes).toEqual(Array(2).fill(`UpstreamError: refused (${status})`));
    expect(bodies).toHaveLength(1);
  }
});

test('a silent node fails every call at the timeout, also those that wait their turn', async () => {
  answer = (body, request) =>
    Array.isArray(body) ? new Response(null, { status: 400 }) : answerFault('silence', request);
  const clock = testClock();
  const { call } = client({ clock });
  const causes = Promise.all(Array.from({ length: RPC_BATCH_MAX }, () => call()).map(failure));
  await clock.advance(UPSTREAM_TIMEOUT_MS);
  expect(new Set(await causes)).toEqual(new Set(['UpstreamError: timeout']));
  expect(bodies).toHaveLength(9);
});

test('a node that cannot be reached fails the call without telling where it is', async () => {
  expect(await failure(client({ url: `http://127.0.0.1:1/v2/${KEY}` }).call())).toStartWith(
    'UpstreamError: unreachable',
  );
});

test('too many calls under way are refused at once, and there is room again after them', async () => {
  const { call } = client();
  const calls = Array.from({ length: RPC_PENDING_MAX }, () => call());
  expect(await failure(call())).toBe('Error: too many calls are pending');
  await Promise.all(calls);
  expect(await call('again')).toEqual(['again']);
});

test('every HTTP request is counted by its outcome and timed', async () => {
  const { call, metrics } = client();
  await Promise.all([call(), call()]);
  answer = () => new Response('');
  await failure(call());
  const [requests, duration] = metrics.read();
  expect(requests?.name).toBe('vault_upstream_requests_total');
  expect(requests?.samples).toEqual([
    { labels: { upstream: 'rpc', outcome: 'ok' }, value: 1 },
    { labels: { upstream: 'rpc', outcome: 'malformed' }, value: 1 },
  ]);
  expect(duration?.name).toBe('vault_upstream_duration_seconds');
  expect(duration?.samples[0]?.buckets?.at(-1)?.count).toBe(2);
});

test('a real node answers a batch of reads, and a revert with its data', async () => {
  const chain = await startChain();
  try {
    const { didRegistry } = await deployContracts(chain.rpc);
    const { call } = client({ url: chain.url });
    const zero = '0'.repeat(64);
    const read = (data: string) => call('eth_call', { to: didRegistry, data }, 'latest');
    const [chainId, alias, update] = await Promise.all([
      call('eth_chainId'),
      read(`0xe7511873${zero}`),
      read(`0x22eee84c${zero}`).catch(rpcErrorOf),
    ]);
    expect(chainId).toBe('0x14a34');
    expect(alias).toBe(`0x${zero}`);
    expect(update).toMatchObject({ code: 3, data: expect.stringMatching(/^0x[0-9a-f]{72}$/) });
  } finally {
    await chain.stop();
  }
});
