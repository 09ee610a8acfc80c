// Who may call what at the console: every route has its row here, and each row is walked by everybody there is.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { fromHex } from '../../../lib/base/bytes.ts';
import { createKeys } from '../../../lib/identity/keys.ts';
import { mintConsoleToken } from '../../../lib/tokens/console-token.ts';
import { mintInvocation, UCAN_NONCE_BYTES } from '../../../lib/ucan/mint.ts';
import { ed25519Signer } from '../../../lib/ucan/signature.ts';
import { ROUTES } from '../../../routes/index.ts';
import { OPERATOR } from '../../support/events.ts';
import { startVault, type TestVault, VAULT_SECRET } from '../../support/vault.ts';

/** The least role of each request, by what it asks. */
type Row = readonly [line: string, fields: Readonly<Record<string, unknown>>, role: 'viewer' | 'operator' | 'root'];

const ROWS: readonly Row[] = [
  ['GET /v1/console/overview', {}, 'viewer'],
  ['GET /v1/console/history', {}, 'viewer'],
  ['GET /v1/console/settings', {}, 'viewer'],
  ['GET /v1/console/refusals', {}, 'viewer'],
  ['GET /v1/console/apps', {}, 'viewer'],
  ['GET /v1/console/keys', {}, 'viewer'],
  ['GET /v1/console/doctor', {}, 'viewer'],
  ['POST /v1/console/doctor/send', { to: 'ada@example.com' }, 'operator'],
  ['GET /v1/console/messages', {}, 'viewer'],
  ['GET /v1/console/registrations', {}, 'viewer'],
  ['GET /v1/console/registrations', { identifier: 'ada@example.com' }, 'operator'],
  ['GET /v1/console/registrations', { did: 'did:web:ada.example' }, 'operator'],
  ['GET /v1/console/registrations', { credentialId: 'AAECAwQFBgcICQoLDA0ODw' }, 'operator'],
  ['GET /v1/console/registrations/detail', { id: 1 }, 'viewer'],
  ['GET /v1/console/registrations/export', {}, 'operator'],
  ['POST /v1/console/registrations/undo', { id: 1 }, 'operator'],
  ['GET /v1/console/sessions', {}, 'viewer'],
  ['GET /v1/console/sessions', { identifier: 'ada@example.com' }, 'operator'],
  ['GET /v1/console/sessions/export', {}, 'operator'],
  ['GET /v1/console/recoveries', {}, 'viewer'],
  ['GET /v1/console/recoveries', { account: `0x${'1'.repeat(40)}` }, 'operator'],
  ['POST /v1/console/recoveries/cancel', { account: `0x${'1'.repeat(40)}` }, 'operator'],
  ['GET /v1/console/limits', {}, 'viewer'],
  ['GET /v1/console/limits', { kind: 'emails-per-day', key: 'ada@example.com' }, 'operator'],
  ['POST /v1/console/limits/clear', { kind: 'emails-per-day' }, 'operator'],
  ['GET /v1/console/invites', {}, 'viewer'],
  ['POST /v1/console/invites', { uses: 1 }, 'operator'],
  ['POST /v1/console/invites/revoke', { id: 1 }, 'operator'],
  ['POST /v1/console/person/show', { identifier: 'ada@example.com' }, 'operator'],
  ['POST /v1/console/person/export', { identifier: 'ada@example.com' }, 'operator'],
  ['POST /v1/console/person/erase', { identifier: 'ada@example.com', dryRun: true }, 'operator'],
  ['GET /v1/console/webhooks', {}, 'operator'],
  ['POST /v1/console/webhooks/resend', { id: 1 }, 'operator'],
  ['POST /v1/console/token', { app: 'default', channel: 'sessions,credentials,payments,webhooks' }, 'viewer'],
  ['POST /v1/console/token', { app: 'default', channel: 'audit' }, 'operator'],
  ['POST /v1/console/token', { app: 'default' }, 'operator'],
  ['POST /v1/console/token', { app: '*' }, 'operator'],
  ['POST /v1/console/revoke', { cid: 'zdpuAyvkgEDQm9TenwGkd5eNaosSxjgEYd8QatfPetgB1CdEZ' }, 'operator'],
  ['GET /v1/console/operator', {}, 'viewer'],
  ['GET /v1/console/operators', {}, 'root'],
  ['POST /v1/console/operators', { name: 'eve', role: 'viewer' }, 'root'],
  ['POST /v1/console/operators/revoke', { name: 'nobody' }, 'root'],
];

/** Opened by tokens of its own, of five minutes. */
const STREAM = 'GET /v1/console/events';

let t: TestVault;
const headers: Record<string, Readonly<Record<string, string>>> = {};
const bytesOf = (hex: string) => fromHex(hex) ?? new Uint8Array();
const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });

async function add(name: string, role: string, days = 1) {
  const { body, status } = await t.call('POST /v1/console/operators', { name, role, days }, OPERATOR);
  expect([name, status]).toEqual([name, 200]);
  return body.token as string;
}

/** An operator's token as the vault makes them, by another key. */
async function foreignToken() {
  const key = await ed25519Signer(createKeys(bytesOf(VAULT_SECRET.replace('01', '02'))).operatorSeed);
  const minted = await mintInvocation({
    key,
    subject: key.did,
    command: '/vault/operate',
    args: { name: 'ada' },
    expiresAt: t.clock.now() + 86_400_000,
    nonce: new Uint8Array(UCAN_NONCE_BYTES),
  });
  return minted.token;
}

beforeAll(async () => {
  t = await startVault();
  headers['expired'] = bearer(await add('old', 'operator'));
  await t.clock.advance(86_400_000);
  headers['revoked'] = bearer(await add('gone', 'operator'));
  await t.call('POST /v1/console/operators/revoke', { name: 'gone' }, OPERATOR);
  headers['viewer'] = bearer(await add('vic', 'viewer', 30));
  headers['operator'] = bearer(await add('ada', 'operator', 30));
  headers['root'] = OPERATOR;
  headers['foreign'] = bearer(await foreignToken());
  const keys = createKeys(bytesOf(VAULT_SECRET));
  const vault = { keys, random: (size: number) => new Uint8Array(size), config: { streamTokenTtlSeconds: 300 } };
  const stream = await mintConsoleToken(vault as never, { app: 'default' }, t.clock.now());
  headers["the stream's"] = bearer(stream.token);
  headers['none'] = {};
});
afterAll(() => t.stop());

test('every route of the console has its row, with its role', () => {
  const routes = ROUTES.filter(({ path }) => path.startsWith('/v1/console/'));
  const inRows = [...new Set([...ROWS.map(([line]) => line), STREAM])].sort();
  expect(routes.map(({ method, path }) => `${method} ${path}`).sort()).toEqual(inRows);
  const least = (line: string) => {
    const roles = ROWS.filter(([one]) => one === line).map(([, , role]) => role);
    return ['viewer', 'operator', 'root'].find((role) => roles.some((one) => one === role));
  };
  for (const { method, path, ...route } of routes as readonly { method: string; path: string; role?: string }[]) {
    const line = `${method} ${path}`;
    expect([line, route.role]).toEqual([line, line === STREAM ? undefined : least(line)]);
  }
});

const RANK = ['viewer', 'operator', 'root'];
const NAMED = [...RANK, 'expired', 'revoked', 'foreign', "the stream's", 'none'];
let client = 0;

describe.each(ROWS)('%s %p, for %s and above', (line, fields, role) => {
  test.each(NAMED)('called by %s', async (who) => {
    // Each from an address of its own: nobody is refused for what others failed.
    const { call } = t.from(`198.51.${++client >> 8}.${client & 255}`);
    const { status, body } = await call(line, fields, headers[who]);
    if (!RANK.includes(who)) {
      const reason = who === 'expired' || who === 'revoked' ? who : undefined;
      expect([status, body.error, body.reason]).toEqual([401, 'operator_unauthorized', reason]);
    } else if (RANK.indexOf(who) < RANK.indexOf(role)) expect([status, body.error]).toEqual([403, 'operator_role']);
    else expect([401, 403]).not.toContain(status);
  });
});

describe('a token', () => {
  test('is never taken out of a query', async () => {
    const token = (headers['operator'] as { Authorization: string }).Authorization.slice('Bearer '.length);
    for (const name of ['token', 'ucan', 'access_token'])
      expect((await fetch(`${t.url}/v1/console/operator?${name}=${token}`)).status).toBe(401);
    const { body } = await t.call(STREAM, { token });
    expect(body.error).toBe('token_invalid');
  });

  test('is good while its row stands: asked at each request', async () => {
    const own = bearer(await add('bob', 'viewer'));
    expect((await t.call('GET /v1/console/operator', {}, own)).body).toMatchObject({ name: 'bob', role: 'viewer' });
    await t.call('POST /v1/console/operators/revoke', { name: 'bob' }, OPERATOR);
    expect((await t.call('GET /v1/console/operator', {}, own)).status).toBe(401);
  });

  test('of an ended one frees its name, of a live one does not', async () => {
    await add('carl', 'viewer');
    const again = { name: 'carl', role: 'operator' };
    expect((await t.call('POST /v1/console/operators', again, OPERATOR)).body.error).toBe('operator_exists');
    const { body } = await t.call('GET /v1/console/operators', {}, OPERATOR);
    const states = body.operators.map(({ name, status }: { name: string; status: string }) => [name, status]);
    expect(states).toContainEqual(['carl', 'live']);
    expect(states).toContainEqual(['old', 'expired']);
    const renewed = bearer(await add('old', 'viewer'));
    expect((await t.call('GET /v1/console/operator', {}, renewed)).status).toBe(200);
    expect((await t.call('GET /v1/console/operator', {}, headers['expired'])).status).toBe(401);
  });

  test('of somebody who was revoked stays ended when their name is given again', async () => {
    const first = bearer(await add('dora', 'operator'));
    await t.call('POST /v1/console/operators/revoke', { name: 'dora' }, OPERATOR);
    const second = bearer(await add('dora', 'viewer'));
    expect((await t.call('GET /v1/console/operator', {}, first)).body.reason).toBe('revoked');
    expect((await t.call('GET /v1/console/operator', {}, second)).body).toMatchObject({ name: 'dora', role: 'viewer' });
  });

  test('of a viewer gives no stream that shows the audit, whatever it renews or leaves out', async () => {
    const of = { app: 'default', channel: 'audit' };
    const { token: renews } = (await t.call('POST /v1/console/token', of, headers['operator'])).body;
    for (const fields of [
      { ...of, renews },
      { app: 'default', renews },
      { app: '*', channel: 'sessions,audit', renews },
    ]) {
      const { status, body } = await t.call('POST /v1/console/token', fields, headers['viewer']);
      expect([fields, status, body.error]).toEqual([fields, 403, 'operator_role']);
    }
    const own = { app: 'default', channel: 'sessions', renews };
    const { token } = (await t.call('POST /v1/console/token', own, headers['viewer'])).body;
    for (const asked of [{ channel: 'audit' }, {}, { channel: 'sessions,audit' }, { app: '*', channel: 'sessions' }]) {
      const { status, body } = await t.call(STREAM, { ...asked, token });
      expect([asked, status, body.error]).toEqual([asked, 403, 'token_scope']);
    }
  });

  test.each([
    '/v1/console//person/show',
    '/v1//console/person/show',
    '/v1/console/overview/../person/show',
    '/v1/console/overview/%2e%2e/person/show',
    '/V1/console/person/show',
    '/v1/console/person%2fshow',
    '/v1/console/person/show;a=1',
    '/v1/console/person/show/',
  ])('of a viewer reaches nobody by %s', async (path) => {
    const method = 'POST';
    const body = JSON.stringify({ identifier: 'ada@example.com' });
    const given = { ...headers['viewer'], 'content-type': 'application/json' };
    const { status } = await fetch(`${t.url}${path}`, { method, body, headers: given });
    expect([403, 404, 405]).toContain(status);
  });

  test.each(['root', 'command', '', 'Ada', 'a b', '-a', 'a'.repeat(33)])('is for no name like "%s"', async (name) => {
    const { status } = await t.call('POST /v1/console/operators', { name, role: 'viewer' }, OPERATOR);
    expect(status).toBe(400);
  });
});

describe('every event of an action holds the name', () => {
  const newest = async () => {
    await t.idle();
    return (
      await t.rows(`SELECT type, operator FROM events WHERE type <> 'operator.refused' ORDER BY id DESC LIMIT 1`)
    )[0];
  };

  test.each([
    ['invite.created', 'POST /v1/console/invites', { uses: 1 }],
    ['person.shown', 'POST /v1/console/person/show', { identifier: 'ada@example.com' }],
    ['person.exported', 'POST /v1/console/person/export', { identifier: 'ada@example.com' }],
    ['person.erased', 'POST /v1/console/person/erase', { identifier: 'ada@example.com' }],
    ['list.exported', 'GET /v1/console/registrations/export', {}],
    ['limit.cleared', 'POST /v1/console/limits/clear', { kind: 'emails-per-day' }],
    ['token.minted', 'POST /v1/console/token', { app: 'default' }],
  ])('%s', async (type, line, fields) => {
    for (const [who, name] of [
      ['operator', 'ada'],
      ['root', 'root'],
    ] as const) {
      const { status } = await t.call(line, fields, headers[who]);
      expect([status, await newest()]).toEqual([200, { type, operator: name }]);
    }
  });

  test('on the stream and in webhooks too, and none has a name that nobody caused', async () => {
    await t.call('POST /v1/console/invites', { uses: 1 }, headers['operator']);
    const { token } = (await t.call('POST /v1/console/token', { app: 'default' }, headers['operator'])).body;
    const response = await fetch(`${t.url}${STREAM.slice(4)}?token=${token}&last_event_id=0`);
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    let text = '';
    while (!text.includes('invite.created')) text += new TextDecoder().decode((await reader.read()).value);
    await reader.cancel();
    expect(text).toContain('"operator":"root"');
    await t.call('POST /api/verify/send', { identifier: 'new@example.com', channel: 'email' });
    await t.idle();
    expect(await t.rows(`SELECT DISTINCT operator FROM events WHERE type = 'code.sent'`)).toEqual([{ operator: null }]);
  });
});

test('an operator whose role does not reach leaves an event with their name, once a network and minute', async () => {
  const { call } = t.from('192.0.2.8');
  for (let i = 0; i < 3; i++) await call('POST /v1/console/limits/clear', {}, headers['viewer']);
  await t.idle();
  const seen = `SELECT operator, data ->> 'client' AS client FROM events WHERE type = 'operator.refused'`;
  const mine = (await t.rows(seen)).filter(({ client }) => client === '192.0.2.***');
  expect(mine).toEqual([{ operator: 'vic', client: '192.0.2.***' }]);
});

test('the secret goes on as root, and its use is an event: once a network and hour', async () => {
  const seen = async () => {
    await t.idle();
    const data = `SELECT data ->> 'client' AS client FROM events WHERE type = 'operator.secret_used'`;
    return (await t.rows(data)).filter(({ client }) => client === '192.0.2.***').length;
  };
  const { call } = t.from('192.0.2.7');
  for (let i = 0; i < 3; i++) await call('GET /v1/console/operator', {}, OPERATOR);
  await call('GET /v1/console/operator', {}, headers['operator']);
  expect(await seen()).toBe(1);
  await t.clock.advance(3_600_000);
  await call('GET /v1/console/operator', {}, OPERATOR);
  expect(await seen()).toBe(2);
});

describe('no page of another origin', () => {
  const ORIGIN = { Origin: 'https://evil.example' };
  const lines = [...new Set([...ROWS.map(([line]) => line), 'GET /v1/console/nothing', 'GET /v1/console'])];

  test.each(lines)('may read %s', async (line) => {
    const [, path] = line.split(' ');
    const preflight = await fetch(`${t.url}${path}`, {
      method: 'OPTIONS',
      headers: { ...ORIGIN, 'Access-Control-Request-Headers': 'authorization' },
    });
    const { headers: answered } = await t.call(line, {}, { ...OPERATOR, ...ORIGIN });
    for (const one of [preflight.headers, answered]) expect(one.get('access-control-allow-origin')).toBeNull();
  });

  test('is kept from the stream, which has tokens for pages', async () => {
    const { headers: answered } = await t.call(STREAM, {}, ORIGIN);
    expect(answered.get('access-control-allow-origin')).toBe('*');
  });
});
