import { expect, test } from 'bun:test';
import { ROUTES } from '../../routes/index.ts';
import { openApiDocument } from '../../scripts/openapi/document.ts';
import { createJudge } from './answers.ts';

const judge = createJudge(await openApiDocument(ROUTES));
const TYPE = 'application/json';
const HASH = `0x${'ab'.repeat(32)}`;
const AT = '2026-11-22T12:00:00.000Z';
const attestation = {
  identifier: 'ada@example.com',
  channel: 'email',
  verified_at: AT,
  expires_at: AT,
  registrar: 'did:web:vault.example',
  signature: HASH,
};
const judged = (line: string, status: number, body: unknown, type: string | null = TYPE) => {
  const [method = '', path = ''] = line.split(' ');
  return judge({ method, path, status, type, ...(type === TYPE ? { text: JSON.stringify(body) } : {}) });
};

test.each([
  ['POST /api/verify/check', 200, { ok: true, verified: true, attestation }],
  ['POST /api/verify/check', 429, { error: 'rate_limited', limit: 'reads-per-ip', retry_after: 2 }],
  ['POST /api/verify/check', 503, { error: 'shutting_down', hint: 'Soon.' }],
  ['POST /api/bundler', 200, [{ jsonrpc: '2.0', id: 1, result: { any: { thing: 1 } } }]],
  ['GET /api/indexer/anything/else', 403, { error: 'path_not_allowed' }],
  ['GET /no/such/path', 404, { error: 'not_found' }],
  ['PUT /api/sessions', 405, { error: 'method_not_allowed' }],
])('%s may answer %i %j', (line, status, body) => {
  expect(judged(line, status, body)).toBeUndefined();
});

test.each([
  ['a status', 'GET /healthz', 201, { ok: true }],
  ['a member', 'GET /healthz', 200, { ok: true, uptime: 1 }],
  [
    'a member of a member',
    'POST /api/verify/check',
    200,
    { ok: true, verified: true, attestation: { ...attestation, ip: '' } },
  ],
  [
    'a member of the other form',
    'POST /api/verify/check',
    200,
    { ok: true, verified: false, message: 'Code expired', attestation },
  ],
  ['a member that is missing', 'POST /api/verify/check', 200, { ok: true, verified: true }],
  ['a value', 'POST /api/verify/check', 200, { ok: true, verified: false, message: 'Nope' }],
  ['a word', 'POST /api/verify/check', 403, { error: 'pass_invalid' }],
  ['a word of another status', 'GET /no/such/path', 400, { error: 'not_found' }],
  ['a member of an error', 'POST /api/verify/check', 429, { error: 'rate_limited', cause: 'x' }],
  ['a member of JSON-RPC', 'POST /api/bundler', 200, { jsonrpc: '2.0', id: 1, result: {}, more: 1 }],
  ['a path', 'GET /no/such/path', 200, {}],
])('%s that is not described is found: %s', (_, line, status, body) => {
  expect(judged(line, status, body)).toStartWith(`${line.split(' ')[0]} `);
});

test('a body that is no JSON has the type that is described', () => {
  expect(judged('GET /pay', 200, undefined, 'text/html; charset=utf-8')).toBeUndefined();
  expect(judged('GET /pay', 200, undefined, 'text/plain')).toBe('GET /pay 200: the description has no text/plain');
  expect(judged('GET /brand/logo', 200, undefined, 'image/png')).toBeUndefined();
  expect(judged('GET /brand/logo', 200, undefined, 'text/html')).toEndWith('has no text/html');
  expect(judged('HEAD /api/status', 200, undefined, null)).toBeUndefined();
  expect(judged('OPTIONS /api/status', 204, undefined, null)).toBeUndefined();
});
