import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { Route } from '../../routes/http/route.ts';
import { ROUTES } from '../../routes/index.ts';
import { OPERATOR } from '../support/events.ts';
import { isLong } from '../support/long.ts';
import { SEED } from '../support/seed.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';
import { startVault, type TestVault } from '../support/vault.ts';

const RUNS = isLong ? 150 : 30;

/** What the specification lets a caller see go wrong because of the request alone. */
const REFUSALS = [400, 401, 403, 404, 405, 409, 413, 415, 422, 429];

let t: TestVault;
/** A node for the rare query that leads to a chain; it answers zeros. */
let node: Upstream;
beforeAll(async () => {
  node = startUpstream();
  const zeros = ({ id }: { id: number }) => ({ jsonrpc: '2.0', id, result: `0x${'0'.repeat(64)}` });
  node.answer = ({ body }) => (Array.isArray(body) ? body.map(zeros) : zeros(body));
  t = await startVault({
    RPC_URL: node.url,
    RPC_URL_8453: node.url,
    // So that a request about recoveries is judged, not refused as not offered.
    ACCOUNT_FACTORY_2_ADDRESS: `0x${'2f'.repeat(20)}`,
    GUARDIAN_PRIVATE_KEY: '2a'.repeat(32),
    RATE_LIMIT_READS_PER_IP: '1000000',
    RATE_LIMIT_PROXY_PER_IP: '1000000',
  });
  // The tables are made at first use.
  await t.call('GET /api/sessions/status');
});
afterAll(async () => {
  await t.stop();
  await node.stop();
});

/** Tables a refused request must leave as they were. */
async function stored(): Promise<string> {
  const counts = ['codes', 'verifications', 'sessions', 'registrations', 'attestation_uses', 'idempotency'].map(
    (table) => `(SELECT count(*) FROM ${table}) AS ${table}`,
  );
  return JSON.stringify(await t.rows(`SELECT ${counts.join(', ')}`));
}

async function expectRefusal(response: Response): Promise<void> {
  const text = await response.text();
  expect({ text, ok: REFUSALS.includes(response.status) }).toEqual({ text, ok: true });
  const body = JSON.parse(text) as Record<string, unknown>;
  expect(typeof body['error']).toBe('string');
  const members = ['error', 'reason', 'hint', 'limit', 'retry_after'];
  expect(Object.keys(body).filter((name) => !members.includes(name))).toEqual([]);
  // The longest lists the kinds of limits.
  expect(String(body['error']).length).toBeLessThan(700);
}

const ALL: readonly Route[] = ROUTES;
/** Some of the bodies are such an order: an invite needs no field, and one of those is then revoked by its number. */
const ORDERS: Readonly<Record<string, object>> = {
  '/v1/console/invites': { ok: true },
  '/v1/console/invites/revoke': { ok: true },
  // `all: true` ends every operator's token: here there is none.
  '/v1/console/operators/revoke': { ok: true, revoked: 0 },
  // `fresh: true` is what asks for a nonce.
  '/authorize/code': { expires_in: 300 },
};
/** Routes whose body has fields; the bundler's is tested with its own properties. */
const posts = ALL.filter(({ body }) => body === 'object');
// DID Resolution has errors of its own form, and 501 for an unknown option: its own tests ask for them.
const gets = ALL.filter(
  ({ method, path, fields }) => method === 'GET' && !path.startsWith('/1.0/') && Object.keys(fields).length > 0,
);

/** What is for the operator alone is asked as the operator: anybody else learns nothing of a request's faults. */
const rightsOf = (path: string): Record<string, string> =>
  path.startsWith('/v1/console/') && path !== '/v1/console/events' ? OPERATOR : {};

/** Values that no field takes: wrong types, huge, deep, with lone surrogates and controls. */
const wrongValue = fc.oneof(
  fc.integer(),
  fc.boolean(),
  fc.array(fc.string(), { maxLength: 3 }),
  fc.dictionary(fc.string(), fc.string(), { maxKeys: 3 }),
  fc.constant('x'.repeat(5_000)),
  fc.constant('\ud800'),
  fc.string({ minLength: 1, maxLength: 20 }).map((text) => `\u0000${text}`),
  fc.constant(JSON.parse('{"__proto__":{"identifier":"alice"}}')),
  fc.integer({ min: 1, max: 400 }).map((depth) => JSON.parse('['.repeat(depth) + ']'.repeat(depth))),
);

describe.each(posts.map(({ path, fields }) => [path, fields] as const))('POST %s', (path, fields) => {
  const names = Object.keys(fields);
  const expectAnswer = async (response: Response) => {
    const order = ORDERS[path];
    if (order && response.status === 200) expect(await response.json()).toMatchObject(order);
    else await expectRefusal(response);
  };
  const post = (body: BodyInit, type = 'application/json') =>
    fetch(t.url + path, { method: 'POST', body, headers: { 'Content-Type': type, ...rightsOf(path) } });

  test('any object with a wrong value in every field is refused, and nothing is stored', async () => {
    const before = await stored();
    const bodies = fc.record(Object.fromEntries(names.map((name) => [name, wrongValue])), { requiredKeys: [] });
    await fc.assert(
      fc.asyncProperty(bodies, async (body) => expectAnswer(await post(JSON.stringify(body)))),
      { numRuns: RUNS, seed: SEED },
    );
    expect(await stored()).toBe(before);
  });

  test('any JSON and any bytes are refused, and nothing is stored', async () => {
    const before = await stored();
    const anything = fc.oneof(
      fc.json({ maxDepth: 6 }).map((text) => new TextEncoder().encode(text)),
      fc.uint8Array({ maxLength: 300 }),
      fc.constant(new TextEncoder().encode(`{"__proto__":{"identifier":"a","channel":"handle","did":"did:a:b"}}`)),
      fc.constant(new TextEncoder().encode(`{"constructor":{"prototype":{"identifier":"a"}}}`)),
      fc.constant(new TextEncoder().encode(`${'{"a":'.repeat(9_000)}1${'}'.repeat(9_000)}`)),
    );
    await fc.assert(
      fc.asyncProperty(anything, async (bytes) => expectAnswer(await post(bytes as unknown as BodyInit))),
      { numRuns: RUNS, seed: SEED },
    );
    expect(await stored()).toBe(before);
  });

  test('any content type but JSON is refused', async () => {
    const types = fc.stringMatching(/^[a-z]{1,10}\/[a-z]{1,10}$/).filter((type) => type !== 'application/json');
    await fc.assert(
      fc.asyncProperty(types, async (type) => expectRefusal(await post('{}', type))),
      { numRuns: 20, seed: SEED },
    );
  });
});

/** Any code point but surrogates. `unit: 'binary'` makes a table of all of them, which takes half a second. */
const codePoint = fc
  .integer({ min: 0, max: 0x10_ffff - 0x800 })
  .map((n) => String.fromCodePoint(n < 0xd800 ? n : n + 0x800));

describe.each(gets.map((route) => [route.path, route] as const))('GET %s', (path, route) => {
  const names = Object.keys(route.fields);

  test('any query is answered 200 or refused, never 5xx', async () => {
    const values = fc.oneof(
      fc.string({ unit: codePoint, maxLength: 30 }),
      // Names such as __proto__ are among these.
      fc.string({ maxLength: 30 }),
      fc.constantFrom('', ' ', '+', '%00', '%ff', '%', 'x'.repeat(4_000)),
    );
    const pairs = fc.array(fc.tuple(fc.oneof(fc.constantFrom(...names), fc.string({ maxLength: 8 })), values), {
      maxLength: 4,
    });
    await fc.assert(
      fc.asyncProperty(pairs, fc.boolean(), async (entries, isRaw) => {
        const encode = isRaw
          ? (text: string) => text.replace(/[^\x21-\x7e]|[#&=]/g, '')
          : (text: string) => encodeURIComponent(text.toWellFormed());
        const query = entries.map(([name, value]) => `${encode(name)}=${encode(value)}`).join('&');
        const response = await fetch(`${t.url}${path}?${query}`, { headers: rightsOf(path) });
        if (response.status !== 200) await expectRefusal(response);
        else if (response.headers.get('content-type')?.startsWith('application/json')) await response.json();
        else await response.text();
      }),
      { numRuns: RUNS, seed: SEED },
    );
  });

  test('a parameter given twice is refused by its name', async () => {
    for (const name of names) {
      const response = await fetch(`${t.url}${path}?${name}=a&${name}=a`, { headers: rightsOf(path) });
      expect([response.status, await response.json()]).toEqual([400, { error: `Duplicate query parameter: ${name}` }]);
    }
  });
});

test('any header value leaves the answer well-formed', async () => {
  const header = fc.string({ unit: 'grapheme-ascii', maxLength: 60 });
  await fc.assert(
    fc.asyncProperty(header, header, async (id, ip) => {
      const response = await fetch(`${t.url}/api/sessions/status`, {
        headers: { 'X-Request-Id': id, 'Edge-Connecting-IP': ip },
      });
      expect(response.status).toBe(200);
      expect(response.headers.get('x-request-id')).toMatch(/^[A-Za-z0-9._-]{1,128}$/);
    }),
    { numRuns: RUNS, seed: SEED },
  );
});

console.log(`property tests: SEED=${SEED}`);
