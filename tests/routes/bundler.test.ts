import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { type AddressInfo, createServer } from 'node:net';
import fc from 'fast-check';
import { UPSTREAM_ANSWER_BYTES_MAX } from '../../lib/constants.ts';
import { answerFault, type Fault } from '../../scripts/dev-stack/fault.ts';
import { testClock } from '../support/clock.ts';
import { expectHoldsNone } from '../support/secrecy.ts';
import { SEED } from '../support/seed.ts';
import { echo, errorOf, resultOf, startUpstream, type Upstream } from '../support/upstream.ts';
import { startVault, type TestVault } from '../support/vault.ts';

const KEY = 'pim_3hT9vQ2mZk7WcXyR';
const ENTRY_POINT = '0x0000000071727De22E5E9d8BAf0edAc6f37da032';
const ADDRESS = `0x${'5b'.repeat(20)}`;
const HASH = `0x${'ab'.repeat(32)}`;
const OPERATION = {
  sender: ADDRESS,
  nonce: '0x0',
  callData: '0x',
  callGasLimit: '0x1',
  verificationGasLimit: '0x1',
  preVerificationGas: '0x1',
  maxFeePerGas: '0x1',
  maxPriorityFeePerGas: '0x1',
  signature: '0x00',
};

/** Each method that needs no sponsor, with parameters it takes. */
const CALLS: readonly (readonly [string, readonly unknown[]])[] = [
  ['eth_chainId', []],
  ['eth_supportedEntryPoints', []],
  ['eth_estimateUserOperationGas', [OPERATION, ENTRY_POINT]],
  ['eth_estimateUserOperationGas', [OPERATION, ENTRY_POINT.toLowerCase(), { [ADDRESS]: { balance: '0x1' } }]],
  ['eth_sendUserOperation', [OPERATION, ENTRY_POINT]],
  ['eth_getUserOperationByHash', [HASH]],
  ['eth_getUserOperationReceipt', [HASH]],
];

let upstream: Upstream;
let t: TestVault;
beforeAll(() => {
  upstream = startUpstream();
});
afterAll(() => upstream.stop());
beforeEach(async () => {
  upstream.received.length = 0;
  upstream.answer = echo;
  t = await startVault(settings());
});
afterEach(() => t.stop());

const settings = () => ({
  BUNDLER_URL: `${upstream.url}/v2/84532/rpc/${KEY}?apikey=${KEY}`,
  RPC_URL: 'http://127.0.0.1:1',
  RATE_LIMIT_PROXY_PER_IP: '100000',
});

const call = (method: string, params: unknown = [], id: unknown = 1) => ({ jsonrpc: '2.0', id, method, params });

async function send(body: unknown, { to = t, ...init }: RequestInit & { to?: TestVault } = {}) {
  const response = await fetch(`${to.url}/api/bundler`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: typeof body === 'string' ? body : JSON.stringify(body),
    ...init,
  });
  const text = await response.text();
  expect(response.headers.get('access-control-allow-origin')).toBe('*');
  return { status: response.status, headers: response.headers, text, body: JSON.parse(text) };
}

const failure = (id: unknown, code: number, message: string, data?: unknown) => ({
  jsonrpc: '2.0',
  id,
  error: { code, message, ...(data === undefined ? {} : { data }) },
});

/** What the vault answers when the bundler does not. */
const unanswered = (message: string) => failure(1, -32002, message, { kind: 'unanswered' });
const NOT_CONFIGURED = failure(1, -32002, 'bundler_not_configured', { kind: 'unavailable' });

describe('§4 bundler: a JSON-RPC proxy with an allowlist', () => {
  test.each(CALLS)('%s is forwarded once, rebuilt, and answered 200', async (method, params) => {
    const reply = await send(call(method, params, 'mine'));
    expect([reply.status, reply.body]).toEqual([200, { jsonrpc: '2.0', id: 'mine', result: method }]);
    expect(upstream.received.map(({ body }) => body)).toEqual([{ jsonrpc: '2.0', id: 1, method, params }]);
  });

  test('params may be left out where there are none', async () => {
    await send({ jsonrpc: '2.0', id: 1, method: 'eth_chainId' });
    expect(upstream.received[0]?.body).toEqual({ jsonrpc: '2.0', id: 1, method: 'eth_chainId', params: [] });
  });

  test('nothing of the client goes along, and the media type is exactly application/json', async () => {
    const headers = {
      'Content-Type': 'application/json; charset=utf-8',
      Authorization: 'Bearer mine',
      Cookie: 'session=mine',
      'User-Agent': 'mine',
      'X-Request-Id': 'mine',
      'X-Forwarded-For': '203.0.113.7',
      'Edge-Connecting-IP': '203.0.113.7',
      'Idempotency-Key': 'mine',
      Origin: 'https://mine.example',
    };
    await send({ ...call('eth_chainId', [], 'mine'), extra: 'mine' }, { headers });
    const [received] = upstream.received;
    expect(received?.headers.get('content-type')).toBe('application/json');
    expect(received?.path).toBe(`/v2/84532/rpc/${KEY}?apikey=${KEY}`);
    expect(JSON.stringify([[...(received?.headers ?? [])], received?.text])).not.toMatch(/mine|203\.0\.113/);
  });

  test.each(['', 'a', 'x'.repeat(1024), 'ü😀', 0, -1, 1.5, Number.MAX_SAFE_INTEGER, null])(
    "the caller's id %p comes back, the bundler sees a number of ours",
    async (id) => {
      expect((await send(call('eth_chainId', [], id))).body.id).toBe(id);
      expect(upstream.received[0]?.body.id).toBe(1);
    },
  );

  test.each(['true', '{}', '[1]', '1e400', '9007199254740993', `"${'x'.repeat(1025)}"`, '"\\u0000"', '"\\ud800"'])(
    'an id of %s, which could not come back as it was, is an invalid request',
    async (id) => {
      const reply = await send(`{"jsonrpc":"2.0","id":${id},"method":"eth_chainId","params":[]}`);
      expect([reply.status, reply.body]).toEqual([400, failure(null, -32600, 'Invalid Request')]);
      expect(upstream.received).toEqual([]);
    },
  );

  test.each([
    'eth_call',
    'eth_sendRawTransaction',
    'debug_bundler_dumpMempool',
    'admin_peers',
    'pimlico_getUserOperationGasPrice',
    'boost_sendUserOperation',
    'pm_validateSponsorshipPolicies',
    'ETH_CHAINID',
    'eth_chainId ',
    'eth_chainId\u0000',
    'constructor',
    '__proto__',
    'toString',
    '',
  ])('%p is off the list: 403', async (method) => {
    const reply = await send(call(method, [], 7));
    expect([reply.status, reply.body]).toEqual([403, failure(7, -32601, 'method_not_allowed', { method })]);
    expect(upstream.received).toEqual([]);
  });

  test('the list is judged before anything else, configured upstream or not', async () => {
    const without = await startVault({ RATE_LIMIT_PROXY_PER_IP: '1000' });
    for (const to of [t, without]) {
      const requests = [
        { method: 'eth_call' },
        { method: 'eth_call', id: {}, params: 7 },
        { jsonrpc: 1, method: 'eth_call' },
      ];
      for (const request of requests) {
        const reply = await send(request, { to });
        expect([reply.status, reply.body]).toEqual([
          403,
          failure(null, -32601, 'method_not_allowed', { method: 'eth_call' }),
        ]);
      }
    }
    await without.stop();
  });

  test('a name of any length is said back only in part', async () => {
    const { body } = await send(call('x'.repeat(100_000)));
    expect(body.error.data.method).toHaveLength(1024);
  });

  test('BUNDLER_EXTRA_METHODS are forwarded too', async () => {
    const own = await startVault({ ...settings(), BUNDLER_EXTRA_METHODS: 'pimlico_getUserOperationGasPrice' });
    const reply = await send(call('pimlico_getUserOperationGasPrice', [{ any: ['thing'] }]), { to: own });
    expect([reply.status, reply.body.result]).toEqual([200, 'pimlico_getUserOperationGasPrice']);
    expect(upstream.received[0]?.body.params).toEqual([{ any: ['thing'] }]);
    expect((await send(call('pimlico_getUserOperationGasPrice', { any: 1 }), { to: own })).body.error.code).toBe(
      -32602,
    );
    await own.stop();
  });

  test('−32002 bundler_not_configured without BUNDLER_URL', async () => {
    const without = await startVault();
    const reply = await send(call('eth_chainId'), { to: without });
    expect([reply.status, reply.body]).toEqual([200, NOT_CONFIGURED]);
    expect((await send(call('eth_chainId', 7), { to: without })).body.error.code).toBe(-32602);
    await without.stop();
  });
});

describe('what is no request', () => {
  test.each(['', '{', '{"a":1}}', "{'a':1}", '[', 'undefined', '\u0000', `${'['.repeat(100_000)}`])(
    'of no JSON is 400 −32700',
    async (text) => {
      const reply = await send(text);
      expect([reply.status, reply.body]).toEqual([400, failure(null, -32700, 'Parse error')]);
    },
  );

  test('bytes of no UTF-8 are 400 −32700, another media type 415', async () => {
    const reply = await send(call('eth_chainId'), { body: Uint8Array.from([0x22, 0xff, 0x22]) });
    expect([reply.status, reply.body]).toEqual([400, failure(null, -32700, 'Parse error')]);
    const text = await send(call('eth_chainId'), { headers: { 'Content-Type': 'text/plain' } });
    const error = 'Unsupported media type: send Content-Type: application/json';
    expect([text.status, text.body]).toEqual([415, { error }]);
  });

  test.each([
    '7',
    '"eth_chainId"',
    'null',
    'true',
    '{}',
    '{"id":1}',
    '{"jsonrpc":"2.0","id":1}',
    '{"jsonrpc":"2.0","id":1,"method":{"toString":"eth_chainId"}}',
    '{"jsonrpc":"2.0","id":1,"method":["eth_chainId"]}',
    '{"jsonrpc":"2.0","id":1,"method":null}',
    '{"jsonrpc":"1.0","id":1,"method":"eth_chainId"}',
    '{"jsonrpc":2.0,"id":1,"method":"eth_chainId"}',
    '{"id":1,"method":"eth_chainId"}',
    '{"jsonrpc":"2.0","id":1,"__proto__":{"method":"eth_chainId"}}',
    '{"__proto__":{"jsonrpc":"2.0","id":1},"method":"eth_chainId"}',
  ])('%s is 400 −32600', async (text) => {
    const reply = await send(text);
    const id = text.includes('"id":1') && !text.includes('{"__proto__":{"json') ? 1 : null;
    expect([reply.status, reply.body]).toEqual([400, failure(id, -32600, 'Invalid Request')]);
    expect(upstream.received).toEqual([]);
  });

  test('a notification is refused, never forwarded in silence', async () => {
    for (const method of ['eth_chainId', 'eth_sendUserOperation']) {
      const reply = await send({ jsonrpc: '2.0', method, params: [] });
      expect([reply.status, reply.body]).toEqual([400, failure(null, -32600, 'Invalid Request')]);
    }
    expect(upstream.received).toEqual([]);
  });
});

describe('parameters are checked before anything is forwarded: −32602', () => {
  const invalid = { kind: 'invalid_params' };
  test.each<[string, unknown, string]>([
    ['eth_chainId', {}, 'expected an array'],
    ['eth_chainId', null, 'expected an array'],
    ['eth_chainId', 'x', 'expected an array'],
    ['eth_chainId', [1], 'expected none'],
    ['eth_supportedEntryPoints', [[]], 'expected none'],
    ['eth_getUserOperationByHash', [], 'expected the 32-byte hash of a user operation'],
    ['eth_getUserOperationByHash', [HASH.slice(0, -1)], 'expected the 32-byte hash of a user operation'],
    ['eth_getUserOperationReceipt', [HASH, HASH], 'expected the 32-byte hash of a user operation'],
    ['eth_getUserOperationReceipt', [[HASH]], 'expected the 32-byte hash of a user operation'],
    ['eth_sendUserOperation', [], 'no user operation'],
    ['eth_sendUserOperation', [[OPERATION], ENTRY_POINT], 'no user operation'],
    ['eth_sendUserOperation', [{ ...OPERATION, nonce: 0 }, ENTRY_POINT], 'nonce must be a 0x-hex number'],
    ['eth_sendUserOperation', [{ ...OPERATION, signature: null }, ENTRY_POINT], 'the user operation lacks signature'],
    [
      'eth_sendUserOperation',
      [{ ...OPERATION, factory: ADDRESS }, ENTRY_POINT],
      'factory, factoryData stand together or not at all',
    ],
    ['eth_sendUserOperation', [OPERATION], 'the EntryPoint is not the configured one'],
    ['eth_sendUserOperation', [OPERATION, ADDRESS], 'the EntryPoint is not the configured one'],
    ['eth_sendUserOperation', [OPERATION, [ENTRY_POINT]], 'the EntryPoint is not the configured one'],
    ['eth_sendUserOperation', [OPERATION, ENTRY_POINT, {}], 'more than 2'],
    ['eth_estimateUserOperationGas', [OPERATION, ENTRY_POINT, 'x'], 'the last one must be an object'],
    ['eth_estimateUserOperationGas', [OPERATION, ENTRY_POINT, {}, {}], 'more than 3'],
    ['pm_getPaymasterStubData', [OPERATION, ENTRY_POINT], 'the chain is not the configured one'],
    ['pm_getPaymasterStubData', [OPERATION, ENTRY_POINT, '0x1', {}], 'the chain is not the configured one'],
    ['pm_getPaymasterData', [OPERATION, ENTRY_POINT, 84532, {}], 'the chain is not the configured one'],
    ['pm_getPaymasterData', [OPERATION, ENTRY_POINT, '0x14a34', []], 'the last one must be an object'],
    ['pm_getPaymasterData', [OPERATION, ENTRY_POINT, '0x14a34', {}, 1], 'more than 4'],
    ['pm_sponsorUserOperation', [{ ...OPERATION, sender: 'x' }, ENTRY_POINT], 'sender must be a 20-byte address'],
    ['pm_sponsorUserOperation', [OPERATION, ADDRESS], 'the EntryPoint is not the configured one'],
  ])('%s %j: %s', async (method, params, words) => {
    const reply = await send(call(method, params));
    expect([reply.status, reply.body]).toEqual([200, failure(1, -32602, `Invalid params: ${words}`, invalid)]);
    expect(upstream.received).toEqual([]);
  });

  test('without a configured EntryPoint no user operation is forwarded', async () => {
    const own = await startVault({ ...settings(), ENTRY_POINT_ADDRESS: 'none' });
    expect((await send(call('eth_sendUserOperation', [OPERATION, ENTRY_POINT]), { to: own })).body.error.code).toBe(
      -32602,
    );
    expect((await send(call('eth_sendUserOperation', [OPERATION]), { to: own })).body.error.code).toBe(-32602);
    await own.stop();
  });
});

describe('what parsers disagree on reaches the bundler as the vault has read it', () => {
  test('a member given twice', async () => {
    const tail = '"jsonrpc":"2.0","id":1,"params":[]';
    const refused = await send(`{"method":"eth_chainId","method":"eth_call",${tail}}`);
    expect(refused.status).toBe(403);
    await send(`{"method":"eth_call","method":"eth_chainId",${tail}}`);
    await send(`{"m\\u0065thod":"eth_chainId",${tail}}`);
    expect(upstream.received.map(({ text }) => text)).toEqual([
      '{"jsonrpc":"2.0","id":1,"method":"eth_chainId","params":[]}',
      '{"jsonrpc":"2.0","id":2,"method":"eth_chainId","params":[]}',
    ]);
  });

  test("a prototype's name", async () => {
    await send('{"__proto__":{"method":"eth_call"},"constructor":1,"jsonrpc":"2.0","id":1,"method":"eth_chainId"}');
    expect(upstream.received[0]?.text).toBe('{"jsonrpc":"2.0","id":1,"method":"eth_chainId","params":[]}');
    const operation = JSON.stringify(OPERATION).replace('{', '{"__proto__":{"sender":"0x"},');
    const reply = await send(
      `{"jsonrpc":"2.0","id":1,"method":"eth_sendUserOperation","params":[${operation},"${ENTRY_POINT}"]}`,
    );
    expect([reply.status, reply.body.error.code]).toEqual([200, -32602]);
    expect(Object.keys(Object.prototype)).toEqual([]);
  });

  test('a member of the user operation given twice', async () => {
    const operation = JSON.stringify(OPERATION).replace('{', `{"sender":"0x${'66'.repeat(20)}",`);
    await send(`{"jsonrpc":"2.0","id":1,"method":"eth_sendUserOperation","params":[${operation},"${ENTRY_POINT}"]}`);
    expect(upstream.received[0]?.text).not.toContain('6666');
  });
});

describe('batches', () => {
  test('each item is judged alone, answered in its place, and forwarded as a request of its own', async () => {
    const reply = await send([
      call('eth_chainId', [], 'a'),
      call('eth_call', [], 'b'),
      { jsonrpc: '2.0', method: 'eth_chainId', params: [] },
      call('eth_getUserOperationByHash', ['x'], 'c'),
      7,
      [call('eth_chainId', [], 'd')],
      null,
      call('eth_supportedEntryPoints', [], 'a'),
    ]);
    expect([reply.status, reply.body]).toEqual([
      200,
      [
        { jsonrpc: '2.0', id: 'a', result: 'eth_chainId' },
        failure('b', -32601, 'method_not_allowed', { method: 'eth_call' }),
        failure(null, -32600, 'Invalid Request'),
        failure('c', -32602, 'Invalid params: expected the 32-byte hash of a user operation', {
          kind: 'invalid_params',
        }),
        failure(null, -32600, 'Invalid Request'),
        failure(null, -32600, 'Invalid Request'),
        failure(null, -32600, 'Invalid Request'),
        { jsonrpc: '2.0', id: 'a', result: 'eth_supportedEntryPoints' },
      ],
    ]);
    expect(upstream.received.map(({ body }) => body.method)).toEqual(['eth_chainId', 'eth_supportedEntryPoints']);
  });

  test('answers that come in another order find their items', async () => {
    const waiting: (() => void)[] = [];
    upstream.answer = async (received) => {
      await new Promise<void>((resolve) => {
        waiting.unshift(resolve);
        if (waiting.length === 10) for (const release of waiting) release();
      });
      return resultOf(received, received.body.params[0]);
    };
    const hashes = Array.from({ length: 10 }, (_, n) => `0x${String(n).repeat(64)}`);
    const { body } = await send(hashes.map((hash, n) => call('eth_getUserOperationByHash', [hash], n)));
    expect(body).toEqual(hashes.map((result, id) => ({ jsonrpc: '2.0', id, result })));
  });

  test('an empty one, and one of more than 10, is 400 −32600, and nothing of it is forwarded', async () => {
    for (const batch of [[], Array(11).fill(call('eth_chainId')), Array(80_000).fill(0)]) {
      const reply = await send(batch);
      expect([reply.status, reply.body]).toEqual([
        400,
        failure(null, -32600, 'Invalid Request: a batch holds 1 to 10'),
      ]);
    }
    expect(upstream.received).toEqual([]);
    expect((await send(Array(10).fill(call('eth_chainId')))).body).toHaveLength(10);
  });

  test('transport trouble of an item is an error of that item, and in the log', async () => {
    upstream.answer = (received) =>
      received.body.method === 'eth_chainId'
        ? new Response('<html>', { status: 502 })
        : echo(received, new Request('http://x'));
    const { status, body } = await send([call('eth_chainId', [], 1), call('eth_supportedEntryPoints', [], 2)]);
    expect([status, body]).toEqual([
      200,
      [unanswered('bundler_error'), { jsonrpc: '2.0', id: 2, result: 'eth_supportedEntryPoints' }],
    ]);
    expect(t.entries.find(({ event }) => event === 'bundler_call_failed')).toMatchObject({
      level: 'warn',
      cause: 'UpstreamError: refused (502)',
    });
    const without = await startVault();
    const unconfigured = await send([call('eth_chainId'), call('eth_call', [], 2)], { to: without });
    expect(unconfigured.body).toEqual([
      NOT_CONFIGURED,
      failure(2, -32601, 'method_not_allowed', { method: 'eth_call' }),
    ]);
    await without.stop();
  });
});

describe("the bundler's own errors are 200 with error.data.kind", () => {
  test.each<[unknown, unknown]>([
    [
      { code: -32500, message: "AA21 didn't pay prefund" },
      { code: -32500, message: "AA21 didn't pay prefund", data: { kind: 'entrypoint_rejected', aa: 'AA21' } },
    ],
    [
      { code: -32521, message: 'reverted', data: '0x08c379a0' },
      { code: -32521, message: 'reverted', data: { kind: 'execution_reverted', data: '0x08c379a0' } },
    ],
    [
      { code: -32504, message: 'banned', data: { paymaster: ADDRESS } },
      { code: -32504, message: 'banned', data: { kind: 'throttled', paymaster: ADDRESS } },
    ],
    [{ message: 'disabled' }, { code: -32603, message: 'disabled', data: { kind: 'upstream' } }],
  ])('%j', async (error, expected) => {
    for (const status of [200, 400, 500]) {
      upstream.answer = (received) => Response.json(errorOf(received, error), { status });
      const reply = await send(call('eth_chainId', [], 'x'));
      expect([reply.status, reply.body]).toEqual([200, { jsonrpc: '2.0', id: 'x', error: expected }]);
    }
  });

  test('also when the bundler could not read whose request it was', async () => {
    upstream.answer = () => ({ jsonrpc: '2.0', id: null, error: { code: -32700, message: 'parse error' } });
    expect((await send(call('eth_chainId', [], 'x'))).body).toMatchObject({ id: 'x', error: { code: -32700 } });
  });

  test('a null result, as of an unknown hash, is a result', async () => {
    upstream.answer = (received) => ({ ...resultOf(received, null), error: null });
    expect((await send(call('eth_getUserOperationReceipt', [HASH]))).body).toEqual({
      jsonrpc: '2.0',
      id: 1,
      result: null,
    });
  });
});

describe('transport trouble', () => {
  const silent: Upstream['answer'] = (_, request) => answerFault('silence', request);

  test.each<Fault>(['garbage', 'empty', 'endless', 'redirect', 'error-page'])(
    '%s is −32002 bundler_error, asked once',
    async (fault) => {
      upstream.answer = (_, request) => answerFault(fault, request);
      const reply = await send(call('eth_sendUserOperation', [OPERATION, ENTRY_POINT]));
      expect([reply.status, reply.body]).toEqual([200, unanswered('bundler_error')]);
      expect(upstream.received).toHaveLength(1);
    },
  );

  test.each<[string, Upstream['answer']]>([
    ['another id', (received) => ({ ...resultOf(received, 1), id: received.body.id + 1 })],
    ['the id as text', (received) => ({ ...resultOf(received, 1), id: String(received.body.id) })],
    ['a result under null', (received) => ({ ...resultOf(received, 1), id: null })],
    ['no id', () => ({ jsonrpc: '2.0', result: 1 })],
    ['neither result nor error', (received) => ({ jsonrpc: '2.0', id: received.body.id })],
    ['an error that is none', (received) => errorOf(received, 'x')],
    ['a batch', (received) => [resultOf(received, 1)]],
    ['a text', () => JSON.stringify('x')],
  ])('an answer with %s is −32002 bundler_error', async (_, answer) => {
    upstream.answer = answer;
    const reply = await send(call('eth_chainId'));
    expect([reply.status, reply.body]).toEqual([200, unanswered('bundler_error')]);
  });

  test('a connection that breaks before the answer is bundler_error, and the call not made again', async () => {
    let requests = 0;
    const breaking = createServer((socket) => {
      socket.on('error', () => {});
      socket.on('data', (chunk) => {
        requests++;
        const body = JSON.stringify({ jsonrpc: '2.0', id: requests, result: 'kept alive' });
        if (chunk.includes('eth_sendUserOperation')) socket.destroy();
        else socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
      });
    });
    await new Promise<void>((resolve) => breaking.listen(0, '127.0.0.1', resolve));
    const own = await startVault({ BUNDLER_URL: `http://127.0.0.1:${(breaking.address() as AddressInfo).port}` });
    // On a connection used before, where clients are tempted to take a break for an idle one's end.
    expect((await send(call('eth_chainId'), { to: own })).body.result).toBe('kept alive');
    const reply = await send(call('eth_sendUserOperation', [OPERATION, ENTRY_POINT]), { to: own });
    expect([reply.status, reply.body, requests]).toEqual([200, unanswered('bundler_error'), 2]);
    await own.stop();
    breaking.close();
  });

  test('a redirect is not followed', async () => {
    const target = startUpstream();
    upstream.answer = () => Response.redirect(target.url, 307);
    expect((await send(call('eth_chainId'))).body).toEqual(unanswered('bundler_error'));
    expect(target.received).toEqual([]);
    await target.stop();
  });

  test('an answer of 2 MiB passes, of more is bundler_error', async () => {
    const empty = JSON.stringify({ jsonrpc: '2.0', id: 1, result: '' }).length;
    const room = UPSTREAM_ANSWER_BYTES_MAX - empty;
    upstream.answer = (received) => resultOf(received, 'x'.repeat(room));
    expect((await send(call('eth_chainId'))).body.result).toHaveLength(room);
    upstream.answer = (received) => resultOf(received, 'x'.repeat(room + 1));
    expect((await send(call('eth_chainId'))).body).toEqual(unanswered('bundler_error'));
  });

  test('an upstream that nobody listens at is bundler_error', async () => {
    const own = await startVault({ BUNDLER_URL: `http://127.0.0.1:1/${KEY}` });
    const reply = await send(call('eth_chainId'), { to: own });
    expect([reply.status, reply.body]).toEqual([200, unanswered('bundler_error')]);
    expectHoldsNone(own.entries, KEY, '127.0.0.1:1');
    await own.stop();
  });

  test.each(CALLS)(
    'a silent one is −32002 bundler_timeout after 10 s, or 20 s of a send or an estimate: %s',
    async (method, params) => {
      const clock = testClock();
      const own = await startVault(settings(), { clock });
      upstream.answer = silent;
      let status = 0;
      const reply = send(call(method, params), { to: own }).then((answered) => {
        status = answered.status;
        return answered.body;
      });
      const seconds = /send|estimate/.test(method) ? 20 : 10;
      await clock.advance(seconds * 1000 - 1);
      expect(status).toBe(0);
      await clock.advance(1);
      expect([await reply, status]).toEqual([unanswered('bundler_timeout'), 200]);
      expect(upstream.received).toHaveLength(1);
      await own.stop();
    },
  );
});

describe('sizes', () => {
  const padded = (bytes: number) => {
    const text = JSON.stringify(call('eth_chainId', [], 1));
    return text.padEnd(bytes, ' ');
  };

  test('a body of 256 KiB is read, of one byte more is 413 payload_too_large', async () => {
    expect((await send(padded(262_144))).status).toBe(200);
    const reply = await send(padded(262_145));
    expect([reply.status, reply.body]).toEqual([413, { error: 'payload_too_large' }]);
  });

  test('10 MB are 413, and so is a body without an end', async () => {
    expect((await send('x'.repeat(10_000_000))).status).toBe(413);
    const chunk = new Uint8Array(65_536).fill(0x20);
    let sent = 0;
    const endless = new ReadableStream({
      pull(controller) {
        if (++sent > 10_000) controller.close();
        else controller.enqueue(chunk);
      },
    });
    expect((await send('', { body: endless })).status).toBe(413);
    expect(sent).toBeLessThan(10_000);
  });
});

describe('whatever is sent', () => {
  const methods = fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(...CALLS.map(([method]) => method)) },
    fc.constantFrom('eth_call', 'debug_bundler_clearState', '__proto__', 'constructor', ''),
    fc.string(),
    fc.jsonValue(),
  );
  const params = fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom(...CALLS.map(([, some]) => some)) },
    fc.constant([]),
    fc.array(fc.oneof(fc.jsonValue(), fc.constantFrom(OPERATION, ENTRY_POINT, HASH))),
    fc.jsonValue(),
  );
  const ids = fc.oneof({ weight: 3, arbitrary: fc.nat() }, fc.string(), fc.constant(null), fc.jsonValue());
  const message = fc.oneof(
    { weight: 6, arbitrary: fc.record({ jsonrpc: fc.constant('2.0'), id: ids, method: methods, params }) },
    fc.record({ jsonrpc: fc.jsonValue(), id: ids, method: methods, params }, { requiredKeys: [] }),
    fc.jsonValue(),
  );
  const body = fc.oneof(
    message,
    fc.array(fc.oneof({ weight: 5, arbitrary: message }, fc.array(message)), { maxLength: 11 }),
  );
  const isIdOf = (item: unknown, id: unknown) =>
    id === null || (typeof item === 'object' && item !== null && (item as { id?: unknown }).id === id);

  test('only methods on the list go out, rebuilt, each alone under a number of ours; every item has its answer', async () => {
    const allowed = CALLS.map(([method]) => method);
    let forwarded = 0;
    await fc.assert(
      fc.asyncProperty(body, async (value) => {
        upstream.received.length = 0;
        const sent = JSON.parse(JSON.stringify(value)) as unknown;
        const reply = await send(sent);
        for (const { body: out } of upstream.received) {
          expect(Object.keys(out)).toEqual(['jsonrpc', 'id', 'method', 'params']);
          expect([out.jsonrpc, typeof out.id, allowed.includes(out.method), Array.isArray(out.params)]).toEqual([
            '2.0',
            'number',
            true,
            true,
          ]);
        }
        forwarded += upstream.received.length;
        const isBatch = Array.isArray(sent) && sent.length > 0 && sent.length <= 10;
        expect([200, 400, 403]).toContain(reply.status);
        expect(Array.isArray(reply.body)).toBe(isBatch);
        const items = (isBatch ? sent : [sent]) as readonly unknown[];
        const answers = [reply.body].flat() as Record<string, unknown>[];
        expect(answers).toHaveLength(items.length);
        for (const [i, answer] of answers.entries()) {
          expect([answer['jsonrpc'], 'result' in answer !== 'error' in answer]).toEqual(['2.0', true]);
          expect(isIdOf(items[i], answer['id'])).toBe(true);
        }
        expect(answers.filter((answer) => 'result' in answer)).toHaveLength(upstream.received.length);
      }),
      { numRuns: 400, seed: SEED },
    );
    expect(forwarded).toBeGreaterThan(50);
  });

  test('any bytes are refused', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), async (bytes) => {
        const reply = await send('', { body: bytes as unknown as BodyInit });
        expect(reply.status).toBe(400);
        expect([-32700, -32600]).toContain(reply.body.error.code);
      }),
      { numRuns: 100, seed: SEED },
    );
    expect(upstream.received).toEqual([]);
  });
});

describe("the upstream's URL and key", () => {
  test('are in no answer, whatever the bundler says, and in no log', async () => {
    const url = settings().BUNDLER_URL;
    const words = `no such project ${KEY} at ${url}, see ${upstream.url} and http://node.internal:8545/${KEY}`;
    const answers: Upstream['answer'][] = [
      (received) => errorOf(received, { code: -32000, message: words, data: { [KEY]: words, nested: [{ url }] } }),
      (received) => errorOf(received, { code: -32000, message: words, data: words }),
      (received) => resultOf(received, { words, [KEY]: [url] }),
      () => new Response(words, { status: 401, headers: { 'x-key': KEY } }),
      () => new Response(words, { status: 302, headers: { location: url } }),
    ];
    for (const answer of answers) {
      upstream.answer = answer;
      for (const body of [call('eth_chainId'), [call('eth_chainId')]]) {
        const reply = await send(body);
        expectHoldsNone([reply.text, [...reply.headers]], KEY, new URL(upstream.url).host);
        if (reply.text.includes('error')) expectHoldsNone(reply.text, 'node.internal');
      }
    }
    expectHoldsNone(t.entries, KEY, new URL(upstream.url).host, 'node.internal');
  });

  test("a caller's own id is left alone, even if it is the same", async () => {
    expect((await send(call('eth_chainId', [], KEY))).body.id).toBe(KEY);
  });
});

describe('RATE_LIMIT_PROXY_PER_IP', () => {
  test('counts a batch by its items', async () => {
    const own = await startVault({ ...settings(), RATE_LIMIT_PROXY_PER_IP: '12' });
    expect((await send(Array(10).fill(call('eth_chainId')), { to: own })).status).toBe(200);
    expect((await send(call('eth_chainId'), { to: own })).status).toBe(200);
    const reply = await send([call('eth_chainId'), call('eth_chainId')], { to: own });
    expect([reply.status, reply.body]).toEqual([
      429,
      { error: 'rate_limited', limit: 'proxy-per-ip', retry_after: 60 },
    ]);
    expect(reply.headers.get('retry-after')).toBe('60');
    expect(upstream.received).toHaveLength(11);
    await own.stop();
  });

  test('counts what is refused too', async () => {
    const own = await startVault({ ...settings(), RATE_LIMIT_PROXY_PER_IP: '1' });
    expect((await send(call('eth_call'), { to: own })).status).toBe(403);
    expect((await send(call('eth_call'), { to: own })).status).toBe(429);
    await own.stop();
  });
});
