import { afterEach, beforeEach, expect, test } from 'bun:test';
import { createClient, type EventOptions, type EventToken, type VaultEvent } from '../../../client/vault/index.ts';
import { STREAM_POLL_MS } from '../../../lib/streams/event-tail.ts';
import { broken, faultyFetch } from '../../support/client-world.ts';
import { until } from '../../support/until.ts';
import { startVault, type TestVault, VAULT_SECRET } from '../../support/vault.ts';

let t: TestVault;
let line: ReturnType<typeof faultyFetch>;
let end: AbortController;
const ends: (() => unknown)[] = [];
beforeEach(async () => {
  t = await startVault({ MAX_VERIFY_SENDS_PER_IP: '1000' });
  line = faultyFetch();
  end = new AbortController();
});
afterEach(async () => {
  end.abort();
  for (const one of ends.splice(0)) one();
  await t.stop();
});

const operatorSecret = VAULT_SECRET.replace('00', 'ff');
const client = () => createClient({ url: t.url, operatorSecret, fetch: line.fetch, storage: null });
const mint = async () => (await client().call('POST /v1/console/token', { app: 'default' })).token;
/** A silence after which a connection is broken, and its timers, which end when the test says. */
const SILENCE_SECONDS = 77;
function holdSilence() {
  const held = new Map<unknown, () => void>();
  const { setTimeout: begin, clearTimeout: end } = globalThis;
  const hold = (act: () => void, ms: number) => {
    if (ms !== SILENCE_SECONDS * 1000) return begin(act, ms);
    const timer = {};
    held.set(timer, act);
    return timer;
  };
  const free = (timer: Parameters<typeof end>[0]) => {
    if (!held.delete(timer)) end(timer);
  };
  Object.assign(globalThis, { setTimeout: hold, clearTimeout: free });
  ends.push(() => Object.assign(globalThis, { setTimeout: begin, clearTimeout: end }));
  return held;
}

function endSilence(held: ReturnType<typeof holdSilence>): void {
  for (const over of held.values()) over();
}

let people = 0;
/** Makes an event, `code.sent`. */
const send = () => client().verify.send({ identifier: `reader${++people}@example.com`, channel: 'email' });

/** Reads so many events of a type; `read` has them as they come. */
async function read(
  count: number,
  token: EventToken,
  more: EventOptions = {},
  read: VaultEvent[] = [],
): Promise<readonly VaultEvent[]> {
  for await (const event of client().events(token, { after: 0, signal: end.signal, channel: 'audit', ...more })) {
    if (event.type === 'code.sent') read.push(event);
    if (read.length === count) return read;
  }
  return read;
}

test('events come as they happen, the stored ones first', async () => {
  await send();
  const reading = read(2, await mint());
  await send();
  const [first, second] = await reading;
  expect([first?.type, second?.channel, Number(second?.id) > Number(first?.id)]).toEqual(['code.sent', 'audit', true]);
});

test('a connection that breaks is opened again behind the last event', async () => {
  await send();
  await send();
  await send();
  let opened = 0;
  line.trouble = async (request, pass) => {
    const response = await pass();
    if (!request.url.includes('/events') || opened++ > 0) return response;
    // The first connection ends behind its first whole event.
    const text = new TextDecoderStream();
    const cut = new TransformStream<string, string>({
      transform(part, controller) {
        const stop = part.indexOf('\n\n', part.indexOf('event: code.sent')) + 2;
        controller.enqueue(part.slice(0, part.includes('event: code.sent') ? stop : undefined));
        if (part.includes('event: code.sent')) controller.terminate();
      },
    });
    const body = response.body
      ?.pipeThrough(text as never)
      .pipeThrough(cut)
      .pipeThrough(new TextEncoderStream());
    return new Response(body as never, { status: 200, headers: response.headers });
  };
  const events = await read(3, await mint());
  expect(new Set(events.map(({ id }) => id)).size).toBe(3);
  expect(opened).toBe(2);
});

test('a token that has no right is refused, and a revoked one ends the stream', async () => {
  const refused = read(1, 'nonsense').catch((error) => error);
  expect(await refused).toMatchObject({ error: 'token_invalid', status: 401 });
  const { token, cid } = await client().call('POST /v1/console/token', { app: 'default' });
  await send();
  const seen: VaultEvent[] = [];
  const ended = read(2, token, {}, seen).catch((error) => error);
  await until('the stream is open', () => seen.length === 1);
  await client().call('POST /v1/console/revoke', { cid });
  await t.clock.advance(STREAM_POLL_MS);
  expect(await ended).toMatchObject({ error: 'token_revoked' });
});

test('where a token has ended the next one is fetched, and nothing is missed', async () => {
  let minted = 0;
  const next = async () => {
    minted++;
    return mint();
  };
  await send();
  const seen: VaultEvent[] = [];
  const reading = read(2, next, {}, seen);
  await until('the stream is open', () => seen.length === 1);
  await t.clock.advance(301_000);
  await send();
  expect((await reading).length).toBe(2);
  expect(minted).toBe(2);
});

test('where the vault restarts, the way to the token too, the same token serves on', async () => {
  let minted = 0;
  const next = () => {
    minted++;
    return mint();
  };
  let isDown = false;
  let refused = 0;
  let opened = 0;
  const cut = new AbortController();
  line.trouble = async (request, pass) => {
    if (isDown) {
      refused++;
      return broken();
    }
    const response = await pass();
    if (!request.url.includes('/events')) return response;
    opened++;
    // The stream of a vault that stops ends, and so does the next try.
    if (opened > 1) return response;
    const body = response.body?.pipeThrough(new TransformStream(), { signal: cut.signal });
    return new Response(body as never, { status: 200, headers: response.headers });
  };
  await send();
  const seen: VaultEvent[] = [];
  const reading = read(2, next, {}, seen);
  await until('the stream is open', () => seen.length === 1);
  isDown = true;
  cut.abort();
  await until('the vault was asked while it was away', () => refused > 0);
  isDown = false;
  const direct = createClient({ url: t.url, storage: null });
  await direct.verify.send({ identifier: 'restart@example.com', channel: 'email' });
  expect((await reading).length).toBe(2);
  expect([minted, opened]).toEqual([1, 2]);
});

test('where the first token cannot be fetched for a while, it is asked for again', async () => {
  await send();
  let tries = 0;
  const next = () => (++tries < 3 ? Promise.reject(new TypeError('fetch failed')) : mint());
  expect((await read(1, next)).length).toBe(1);
  expect(tries).toBe(3);
});

test('a token that the vault refuses to make ends the stream with its word', async () => {
  const wrong = createClient({ url: t.url, operatorSecret: VAULT_SECRET, storage: null });
  const next = async () => (await wrong.call('POST /v1/console/token', { app: 'default' })).token;
  expect(await read(1, next).catch((error) => error)).toMatchObject({ status: 401 });
});

test('a connection on which nothing comes is opened again', async () => {
  let opened = 0;
  line.trouble = async (request, pass) => {
    if (!request.url.includes('/events') || opened++ > 0) return pass();
    // As a load balancer leaves it that lost the way: open, and silent.
    return new Response(new ReadableStream(), { headers: { 'content-type': 'text/event-stream' } });
  };
  await send();
  const held = holdSilence();
  const reading = read(1, await mint(), { silenceSeconds: SILENCE_SECONDS });
  await until('another connection', () => opened === 2 || void endSilence(held));
  expect((await reading).length).toBe(1);
  expect(opened).toBe(2);
});

test('a connection whose answer never begins is opened again', async () => {
  let opened = 0;
  line.trouble = async (request, pass) => {
    if (!request.url.includes('/events') || opened++ > 0) return pass();
    return new Promise<never>(() => undefined);
  };
  await send();
  const held = holdSilence();
  const reading = read(1, await mint(), { silenceSeconds: SILENCE_SECONDS });
  await until('another connection', () => opened === 2 || void endSilence(held));
  expect((await reading).length).toBe(1);
  expect(opened).toBe(2);
});

test('a reader may take longer for an event than a connection may be silent', async () => {
  await send();
  await send();
  const token = await mint();
  const held = holdSilence();
  const ids: number[] = [];
  const wanted = { after: 0, channel: 'audit', silenceSeconds: SILENCE_SECONDS, signal: end.signal };
  for await (const { id, type } of client().events(token, wanted)) {
    // While the reader has an event, no silence is counted.
    expect(held.size).toBe(0);
    if (type === 'code.sent') ids.push(id);
    if (ids.length === 2) break;
  }
  expect(line.asked.filter((one) => one.includes('/events'))).toHaveLength(1);
});

test('what onGap throws goes out, and the stream does not begin again', async () => {
  let opened = 0;
  line.trouble = async (request, pass) => {
    if (!request.url.includes('/events')) return pass();
    opened++;
    const frame = 'event: rewind-required\ndata: 7\n\n';
    return new Response(frame, { headers: { 'content-type': 'text/event-stream' } });
  };
  const onGap = (id: string) => {
    throw new Error(`gap up to ${id}`);
  };
  expect(await read(1, await mint(), { onGap }).catch((error) => error.message)).toBe('gap up to 7');
  expect(opened).toBe(1);
});

test.each([
  ['a page of a captive portal', '<h1>Wi-Fi</h1>', 'text/html'],
  ['an event that cannot be read', 'id: 1\ndata: {\n\n', 'text/event-stream'],
])('%s ends it with a word', async (_, body, type) => {
  const token = await mint();
  line.trouble = async () => new Response(body, { headers: { 'content-type': type } });
  expect(await read(1, token).catch((error) => error)).toMatchObject({ error: 'unexpected_answer' });
});
