import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { KEYED } from '../../../client/vault/call.ts';
import { createClient, type VaultClient, VaultClientError } from '../../../client/vault/index.ts';
import { ROUTES } from '../../../routes/index.ts';
import { broken, faultyFetch } from '../../support/client-world.ts';
import { settled } from '../../support/settled.ts';
import { startVault, type TestVault } from '../../support/vault.ts';

let t: TestVault;
let line: ReturnType<typeof faultyFetch>;
let vault: VaultClient;
beforeAll(async () => {
  t = await startVault({ MAX_VERIFY_SENDS_PER_IP: '1000', RATE_LIMIT_CODES_PER_IDENTIFIER: '1' });
});
afterAll(() => t.stop());
beforeEach(() => {
  line = faultyFetch();
  vault = createClient({ url: t.url, fetch: line.fetch, storage: null });
});

let people = 0;
const someone = () => ({ identifier: `person${++people}@example.com`, channel: 'email' }) as const;
const faultOf = (call: Promise<unknown>) =>
  call.then(
    () => undefined,
    (error: VaultClientError) => error,
  );
/** The first requests fail in this way, then all pass. */
function failFirst(times: number, fail: (pass: () => Promise<Response>) => Promise<Response>) {
  let failed = 0;
  line.trouble = (_, pass) => (failed++ < times ? fail(pass) : pass());
}
const answer =
  (status: number, body: object, headers: Record<string, string> = {}) =>
  async () =>
    Response.json(body, { status, headers });

describe('an error', () => {
  test('has the word, the status, and what the vault says beside them', async () => {
    const one = someone();
    await vault.verify.send(one);
    const error = await faultOf(vault.verify.send(one));
    expect(error).toBeInstanceOf(VaultClientError);
    expect(error).toMatchObject({ error: 'rate_limited', status: 429, limit: 'sends-per-identifier' });
    expect(error?.retryAfter).toBeGreaterThan(3000);
    // An hour is the caller's to wait.
    expect(line.asked).toEqual(['POST /api/verify/send', 'POST /api/verify/send']);
  });

  test('has the hint and the reason', async () => {
    const error = await faultOf(vault.call('GET /api/balance', { account: '0x', token: 'BTC', chainId: '84532' }));
    expect(error).toMatchObject({ status: 400, error: 'Unsupported token. Supported: ETH, USDC' });
    line.trouble = answer(403, { error: 'proof_invalid', hint: 'Ask again.', reason: 'expired' });
    const refused = await faultOf(vault.status());
    expect(refused).toMatchObject({ error: 'proof_invalid', hint: 'Ask again.', reason: 'expired', status: 403 });
    expect(refused?.message).toBe('proof_invalid: Ask again.');
  });

  test('of a server that is no vault says so', async () => {
    line.trouble = async () => new Response('<h1>Hello</h1>', { headers: { 'content-type': 'text/html' } });
    expect(await faultOf(vault.status())).toMatchObject({ error: 'unexpected_answer', status: 200 });
  });

  test('of a call that was given up is the reason of its signal', async () => {
    const signal = AbortSignal.abort(new Error('enough'));
    expect(await settled(vault.status({}, { signal }))).toThrow('enough');
    expect(line.asked).toEqual([]);
  });
});

describe('a request is repeated', () => {
  test('where the connection broke, and asks no second time what the first one did', async () => {
    const one = someone();
    // The vault did it, and its answer was lost: one code may be sent in an hour.
    failFirst(1, async (pass) => pass().then(broken));
    expect((await vault.verify.send(one)).ok).toBe(true);
    expect(line.asked).toEqual(['POST /api/verify/send', 'POST /api/verify/send']);
    expect(t.mailsTo(one.identifier)).toHaveLength(1);
  });

  test.each([
    ['GET: the connection broke', broken],
    ['a proxy answers 502 by itself', async () => new Response('bad gateway', { status: 502 })],
    ['503 with Retry-After', answer(503, { error: 'database_unavailable' }, { 'retry-after': '0' })],
    ['429 with a short Retry-After', answer(429, { error: 'rate_limited', limit: 'reads' }, { 'retry-after': '1' })],
    ['502 rpc_error', answer(502, { error: 'rpc_error' })],
  ] as const)('%s', async (_, fail) => {
    failFirst(2, fail);
    expect((await vault.status()).chainId).toBe(84532);
    expect(line.asked).toHaveLength(3);
  });

  test('409 idempotency_key_in_use', async () => {
    failFirst(1, answer(409, { error: 'idempotency_key_in_use' }));
    expect((await vault.verify.send(someone())).ok).toBe(true);
  });

  test('as long as the vault is at the same request, for longer than four tries', async () => {
    failFirst(5, answer(409, { error: 'idempotency_key_in_use' }, { 'retry-after': '1' }));
    expect((await vault.verify.send(someone())).ok).toBe(true);
    expect(line.asked).toHaveLength(6);
  });

  test('where the connection breaks in the middle of the answer', async () => {
    const one = someone();
    const cut = async (pass: () => Promise<Response>) => {
      const whole = new Uint8Array(await (await pass()).arrayBuffer());
      let sent = 0;
      const body = new ReadableStream({
        pull(controller) {
          if (sent++ > 0) controller.error(new TypeError('terminated'));
          else controller.enqueue(whole.slice(0, 10));
        },
      });
      return new Response(body, { headers: { 'content-type': 'application/json' } });
    };
    failFirst(1, cut);
    expect((await vault.status()).chainId).toBe(84532);
    failFirst(1, cut);
    expect((await vault.verify.send(one)).challenge).toBeString();
    expect(t.mailsTo(one.identifier)).toHaveLength(1);
    failFirst(1, cut);
    // A check may have spent the code: it is not repeated, and not called no vault.
    expect(await faultOf(vault.verify.check({ ...one, code: '000000' }))).toMatchObject({ error: 'unreachable' });
  });

  test('429 of any operation: it did nothing', async () => {
    failFirst(1, answer(429, { error: 'rate_limited' }, { 'retry-after': '1' }));
    const verdict = await vault.verify.check({ ...someone(), code: '000000' });
    expect(verdict.verified).toBe(false);
  });

  test('three times at most', async () => {
    line.trouble = broken;
    expect(await faultOf(vault.status())).toMatchObject({ error: 'unreachable', status: 0 });
    expect(line.asked).toHaveLength(4);
  });
});

describe('a request is not repeated', () => {
  test.each([
    ['400', answer(400, { error: 'Invalid did' }, { 'retry-after': '0' })],
    ['404', answer(404, { error: 'not_found' })],
    ['409 of another word', answer(409, { error: 'identifier_taken' })],
    ['429 without a time', answer(429, { error: 'ip_limit_reached' })],
    ['500', answer(500, { error: 'internal_error' })],
    ['503 that no wait mends', answer(503, { error: 'relay_unfunded' })],
    ['502 of a code that was not delivered', answer(502, { error: 'email_send_failed' })],
  ] as const)('%s', async (_, fail) => {
    line.trouble = fail;
    expect(await faultOf(vault.sessions.create({ ...someone(), did: 'did:web:a.example' }))).toBeInstanceOf(
      VaultClientError,
    );
    expect(line.asked).toEqual(['POST /api/sessions']);
  });

  test('where the vault has no idempotency for it: a check may have spent the code', async () => {
    failFirst(1, async (pass) => pass().then(broken));
    const one = someone();
    expect(await faultOf(vault.verify.check({ ...one, code: '000000' }))).toMatchObject({ error: 'unreachable' });
    expect(line.asked).toEqual(['POST /api/verify/check']);
  });
});

test('a Retry-After that is a date is seconds too, and one that is neither is none', async () => {
  const inAMinute = new Date(Date.now() + 60_000).toUTCString();
  line.trouble = answer(429, { error: 'rate_limited' }, { 'retry-after': inAMinute });
  const { retryAfter = 0 } = (await faultOf(vault.status())) ?? {};
  expect([retryAfter > 50, retryAfter < 62]).toEqual([true, true]);
  line.trouble = answer(429, { error: 'rate_limited' }, { 'retry-after': 'soon' });
  expect((await faultOf(vault.status()))?.retryAfter).toBeUndefined();
});

test('a vault that is not ready says why: that is an answer', async () => {
  line.trouble = answer(503, { ok: false, database: 'unavailable' });
  expect(await vault.call('GET /readyz')).toEqual({ ok: false, database: 'unavailable' });
  expect(line.asked).toEqual(['GET /readyz']);
});

test('an operation of the console without the secret is not sent, where it would count as a wrong one', async () => {
  expect(await faultOf(vault.call('GET /v1/console/limits'))).toMatchObject({ error: 'no_operator_secret' });
  expect(line.asked).toEqual([]);
});

test('the operations that take an Idempotency-Key are those of the rows', () => {
  const rows = ROUTES.filter((row) => row.isIdempotent).map((row) => `${row.method} ${row.path}`);
  expect([...KEYED].sort()).toEqual(rows.sort() as [...typeof KEYED]);
});

test('the app, the language and the operator’s secret go where they belong', async () => {
  const seen: Headers[] = [];
  line.trouble = (request, pass) => {
    seen.push(request.headers);
    return pass();
  };
  const operatorSecret = 'ff0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f';
  const own = createClient({ url: t.url, app: 'shop', operatorSecret, fetch: line.fetch, storage: null });
  await own.verify.send(someone(), { language: 'de' });
  const { limits } = await own.call('GET /v1/console/limits');
  expect(Array.isArray(limits)).toBe(true);
  const [first, second] = seen;
  expect([first?.get('x-vault-app'), first?.get('accept-language'), first?.get('authorization')]).toEqual([
    'shop',
    'de',
    null,
  ]);
  expect(second?.get('authorization')).toBe(`Bearer ${operatorSecret}`);
});

test('an answer of the bundler’s protocol is an answer, errors too', async () => {
  const request = { jsonrpc: '2.0', id: 1, method: 'eth_sendRawTransaction', params: [] } as const;
  const answer = await vault.call('POST /api/bundler', request);
  expect(answer).toMatchObject({ error: { code: -32601, message: 'method_not_allowed' } });
});
