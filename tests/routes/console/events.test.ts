import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { OPERATOR, openStream, type StreamClient, tokenOf } from '../../support/events.ts';
import { startVault, type TestVault } from '../../support/vault.ts';

let t: TestVault;
let clients: StreamClient[] = [];

beforeEach(async () => {
  t = await startVault({ APPS: 'shop', MAX_VERIFY_SENDS_PER_IP: '1000' });
});
afterEach(async () => {
  for (const client of clients) client.close();
  clients = [];
  await t.stop();
});

async function open(query: Readonly<Record<string, string>> = {}, headers: Readonly<Record<string, string>> = {}) {
  const token = query['token'] ?? (await tokenOf(t));
  return openWith({ token, ...query }, headers);
}

async function openWith(query: Readonly<Record<string, string>>, headers: Readonly<Record<string, string>> = {}) {
  const client = await openStream(t.url, query, headers);
  clients.push(client);
  return client;
}

const send = (name: string, headers: Readonly<Record<string, string>> = {}) =>
  t.call('POST /api/verify/send', { identifier: `${name}@example.com`, channel: 'email' }, headers);

const who = (client: StreamClient) => client.events().map(({ data }) => data['identifier']);

describe('a stream', () => {
  test('shows what happens, as it happens, with masked identifiers', async () => {
    const stream = await open();
    expect(stream.response.headers.get('content-type')).toBe('text/event-stream');
    expect(stream.response.headers.get('cache-control')).toBe('no-store');
    expect(stream.response.headers.get('x-accel-buffering')).toBe('no');
    expect(stream.response.headers.get('access-control-allow-origin')).toBe('*');
    await send('alice');
    const [frame] = await stream.until(1);
    const event = JSON.parse(frame?.data ?? '');
    expect(frame).toMatchObject({ event: 'code.sent', id: String(event.id) });
    expect(event).toEqual({
      id: event.id,
      app: 'default',
      channel: 'audit',
      type: 'code.sent',
      at: '2025-01-01T00:00:00.000Z',
      data: { channel: 'email', identifier: 'a***@example.com' },
    });
  });

  test('shows only the channels and the app it asked for', async () => {
    const sessions = await open({ channel: 'sessions' });
    const both = await open({ channel: 'sessions,audit' });
    const shop = await open({ app: 'shop', token: await tokenOf(t, { app: 'shop' }) });
    await send('alice');
    await send('bobby', { 'X-Vault-App': 'shop' });
    await send('carol', { 'X-Vault-App': 'unknown' });
    await t.call('POST /api/sessions', { handle: 'dave', did: 'did:key:z6Mk' }, { 'X-Vault-App': 'shop' });
    await t.call('POST /api/sessions', { handle: 'erin', did: 'did:key:z6Me' });
    await both.until(4);
    const told = (client: StreamClient) =>
      client.events().map(({ type, app, data }) => [type, app, data['identifier']]);
    expect(told(both)).toEqual([
      ['token.minted', 'default', undefined],
      ['code.sent', 'default', 'a***@example.com'],
      ['code.sent', 'default', 'c***@example.com'],
      ['session.created', 'default', 'e***'],
    ]);
    await Promise.all([sessions.until(1), shop.until(2)]);
    expect(told(sessions)).toEqual([['session.created', 'default', 'e***']]);
    expect(told(shop)).toEqual([
      ['code.sent', 'shop', 'b***@example.com'],
      ['session.created', 'shop', 'd***'],
    ]);
  });

  test('of all apps shows each event with its app, what was stored before too, by a token of all apps alone', async () => {
    await send('alice', { 'X-Vault-App': 'shop' });
    const token = await tokenOf(t, { app: '*' });
    const all = await open({ app: '*', token, last_event_id: '0' });
    await send('bobby');
    await send('carol', { 'X-Vault-App': 'shop' });
    const isSent = ({ type }: { type: string }) => type === 'code.sent';
    await all.until(5);
    const told = all.events().filter(isSent);
    expect(told.map(({ app, data }) => [app, data['identifier']])).toEqual([
      ['shop', 'a***@example.com'],
      ['default', 'b***@example.com'],
      ['shop', 'c***@example.com'],
    ]);
    const narrow = await open({ app: 'shop', token });
    expect(narrow.response.status).toBe(200);
    const wide = { app: '*', token: await tokenOf(t, { app: 'shop' }) };
    expect((await t.call('GET /v1/console/events', wide)).body.error).toBe('token_scope');
  });

  test('beats every 25 seconds and ends with its token, after 300', async () => {
    const stream = await open();
    const endsAt = (t.clock.now() + 300_000) / 1000;
    await t.clock.advance(24_999);
    expect(stream.frames).toEqual([]);
    await t.clock.advance(1);
    expect(await stream.until(1)).toEqual([{ comment: 'heartbeat' }]);
    await t.clock.advance(274_999);
    expect(stream.frames.some(({ event }) => event === 'token-expired')).toBe(false);
    await t.clock.advance(1);
    await stream.ended;
    expect(stream.frames.at(-1)).toEqual({ event: 'token-expired', data: String(endsAt) });
  });

  test('is closed by nothing but its end: each connection of a token ends the one before', async () => {
    const token = await tokenOf(t);
    const first = await open({ token });
    const second = await open({ token });
    await first.ended;
    expect(first.frames.at(-1)).toMatchObject({ event: 'superseded', retry: '600000' });
    await send('alice');
    await second.until(1);
    expect(who(second)).toEqual(['a***@example.com']);
  });

  test('is not taken over by a HEAD request', async () => {
    const token = await tokenOf(t);
    const stream = await open({ token });
    const head = await fetch(`${t.url}/v1/console/events?token=${token}`, { method: 'HEAD' });
    expect([head.status, head.headers.get('content-type'), await head.text()]).toEqual([200, 'text/event-stream', '']);
    await send('alice');
    await stream.until(1);
    expect(who(stream)).toEqual(['a***@example.com']);
  });

  test('of a token that is revoked ends within a second, and is refused then', async () => {
    const { body } = await t.call('POST /v1/console/token', { app: 'default' }, OPERATOR);
    const stream = await open({ token: body.token });
    expect((await t.call('POST /v1/console/revoke', { cid: body.cid }, OPERATOR)).body.revoked).toBe(true);
    await t.clock.advance(1_000);
    await stream.ended;
    expect(stream.frames.at(-1)).toEqual({ event: 'token-revoked', data: body.cid });
    const again = await t.call('GET /v1/console/events', { token: body.token });
    expect([again.status, again.body]).toEqual([401, { error: 'token_revoked' }]);
  });

  test('of an operator ends within a second of their token, and what they hold of the stream is refused', async () => {
    const add = async (name: string) =>
      (await t.call('POST /v1/console/operators', { name, role: 'operator' }, OPERATOR)).body;
    const mint = async (token: string) => {
      const by = { Authorization: `Bearer ${token}` };
      return (await t.call('POST /v1/console/token', { app: 'default' }, by)).body.token as string;
    };
    for (const ended of [{ name: 'ada' }, { all: true }]) {
      const token = await mint((await add('ada')).token);
      const stream = await open({ token });
      const other = await open();
      expect((await t.call('POST /v1/console/operators/revoke', ended, OPERATOR)).body.revoked).toBe(1);
      await t.clock.advance(1_000);
      await stream.ended;
      expect(stream.frames.at(-1)).toMatchObject({ event: 'token-revoked' });
      expect((await t.call('GET /v1/console/events', { token })).body).toEqual({ error: 'token_revoked' });
      expect(other.frames.some(({ event }) => event === 'token-revoked')).toBe(false);
    }
  });

  test('of an operator whose token ends soon ends with it', async () => {
    const { token } = (await t.call('POST /v1/console/operators', { name: 'ada', role: 'operator', days: 1 }, OPERATOR))
      .body;
    await t.clock.advance(86_400_000 - 60_000);
    const by = { Authorization: `Bearer ${token}` };
    const { expires_at } = (await t.call('POST /v1/console/token', { app: 'default' }, by)).body;
    expect(Date.parse(expires_at)).toBe(t.clock.now() + 60_000);
  });

  test('ends when the vault closes', async () => {
    const stream = await open();
    t.vault.endStreams();
    await stream.ended;
    expect(stream.frames).toEqual([{ retry: '5000' }]);
  });
});

describe('a client that comes back', () => {
  async function threeEvents(): Promise<number[]> {
    for (const name of ['alice', 'bobby', 'carol']) await send(name);
    return (await t.rows(`SELECT id FROM events WHERE type = 'code.sent' ORDER BY id`)).map(({ id }) => Number(id));
  }

  test('goes on after its Last-Event-ID, from the header or the query, the header first', async () => {
    const [first = 0, second = 0] = await threeEvents();
    const rest = ['b***@example.com', 'c***@example.com'];
    const byHeader = await open({}, { 'Last-Event-ID': String(first) });
    const byQuery = await open({ last_event_id: String(first) });
    const byBoth = await open({ last_event_id: String(first) }, { 'Last-Event-ID': String(second) });
    for (const client of [byHeader, byQuery]) {
      await client.until(2);
      expect(who(client).filter(Boolean).slice(0, 2)).toEqual(rest);
    }
    await byBoth.until(1);
    expect(who(byBoth)[0]).toBe('c***@example.com');
  });

  test.each(['abc', '-1', '1e3', '9'.repeat(40), '999999'])(
    'with %p, which was never given, is told to rewind and goes on from now',
    async (id) => {
      await threeEvents();
      const newest = Number((await t.rows('SELECT max(id) AS id FROM events'))[0]?.['id']);
      const stream = await open({}, { 'Last-Event-ID': id });
      await send('dave');
      await stream.until(2);
      // The first use of the secret, and its own token's minting, are events as well.
      expect(stream.frames[0]).toEqual({ event: 'rewind-required', data: String(newest + 2) });
      expect(who(stream)).toEqual(['d***@example.com']);
    },
  );

  test('after more than seven days is told to rewind, and goes on with the oldest that is kept', async () => {
    const [first = 0] = await threeEvents();
    await t.clock.advance(7 * 86_400_000 - 1);
    await t.work();
    expect((await t.rows('SELECT count(*) AS kept FROM events'))[0]?.['kept']).toBe(3);
    await send('dave');
    await t.clock.advance(1);
    await t.clock.advance(60_000);
    await t.work();
    const stream = await open({}, { 'Last-Event-ID': String(first) });
    await stream.until(2);
    expect(stream.frames[0]).toEqual({ event: 'rewind-required', data: String(first + 2) });
    expect(who(stream)[0]).toBe('d***@example.com');
  });
});

describe('a token', () => {
  test.each(['token', 'ucan', 'access_token'])('may be given as %s', async (name) => {
    const stream = await openWith({ [name]: await tokenOf(t) });
    expect(stream.response.status).toBe(200);
  });

  test('may be given as Authorization: Bearer', async () => {
    const stream = await openWith({}, { Authorization: `Bearer ${await tokenOf(t)}` });
    expect(stream.response.status).toBe(200);
  });

  test('of a channel reads that one, of an app that one', async () => {
    const token = await tokenOf(t, { channel: 'audit' });
    expect((await open({ token, channel: 'audit' })).response.status).toBe(200);
    for (const query of [
      {},
      { channel: 'sessions' },
      { channel: 'audit,sessions' },
      { channel: 'audit', app: 'shop' },
    ]) {
      const { status, body } = await t.call('GET /v1/console/events', { token, ...query });
      expect([status, body]).toEqual([403, { error: 'token_scope' }]);
    }
  });

  test('is for the app of X-Vault-App where the query names none, if that is in APPS', async () => {
    const token = await tokenOf(t, { app: 'shop' });
    const stream = await openWith({ token }, { 'X-Vault-App': 'shop' });
    await send('alice', { 'X-Vault-App': 'shop' });
    await stream.until(1);
    expect(who(stream)).toEqual(['a***@example.com']);
    for (const [query, app] of [
      [{ token }, 'other'],
      [{ token, app: 'default' }, 'shop'],
    ] as const) {
      const { status, body } = await t.call('GET /v1/console/events', query, { 'X-Vault-App': app });
      expect([status, body]).toEqual([403, { error: 'token_scope' }]);
    }
  });

  test('that is missing, not one, or over is 401 with its word', async () => {
    const token = await tokenOf(t);
    const asked = (query: Readonly<Record<string, string>>) => t.call('GET /v1/console/events', query);
    expect((await asked({})).body).toEqual({ error: 'token_missing' });
    for (const wrong of ['x', `${token.slice(0, -4)}AAAA`, 'C'.repeat(9_000)]) {
      const { status, body } = await asked({ token: wrong });
      expect([status, body]).toEqual([401, { error: 'token_invalid' }]);
    }
    await t.clock.advance(300_000);
    expect([(await asked({ token })).status, (await asked({ token })).body]).toEqual([401, { error: 'token_expired' }]);
  });

  test('stands in no log', async () => {
    const token = await tokenOf(t);
    await open({ token });
    await t.call('GET /v1/console/events', { token: `${token}x` });
    expect(JSON.stringify(t.entries)).not.toContain(token.slice(0, 40));
  });
});

test.each([
  [{ app: 'Shop' }, 'Invalid app'],
  [{ app: 'a'.repeat(65) }, 'Invalid app'],
  [{ channel: 'other' }, 'Invalid channel. Must be of audit, sessions, credentials, payments, webhooks'],
  [{ channel: 'audit,' }, 'Invalid channel. Must be of audit, sessions, credentials, payments, webhooks'],
])('%p is 400', async (query, error) => {
  const { status, body } = await t.call('GET /v1/console/events', { token: await tokenOf(t), ...query });
  expect([status, body]).toEqual([400, { error }]);
});

test('a hundred requests at once are never told to slow down', async () => {
  const tokens = await Promise.all(Array.from({ length: 100 }, () => tokenOf(t)));
  const streams = await Promise.all(tokens.map((token) => open({ token })));
  expect(new Set(streams.map(({ response }) => response.status))).toEqual(new Set([200]));
});
