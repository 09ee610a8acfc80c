import { describe, expect, test } from 'bun:test';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '../support/until.ts';

/** A vault on some runtime, over HTTP, and what it printed. */
export interface Runtime {
  readonly url: string;
  output(): string;
}

const wasm = readFileSync(join(import.meta.dir, '../../assets/enclave.wasm'));
const alice = { identifier: 'alice@example.com', channel: 'email' };

/** The one list of tests that every runtime passes: the main job, the boundary's conventions, and limits by client. */
export function addTests(name: string, runtime: () => Runtime): void {
  const call = async (line: string, body?: unknown, headers: Record<string, string> = {}) => {
    const [method = 'GET', path = '/'] = line.split(' ');
    const sent =
      body === undefined
        ? {}
        : { body: JSON.stringify(body), headers: { ...headers, 'Content-Type': 'application/json' } };
    const response = await fetch(runtime().url + path, { method, headers, ...sent });
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: text === '' ? undefined : JSON.parse(text) };
  };
  const codeFor = (to: string) => {
    const line = runtime()
      .output()
      .split('\n')
      .findLast((text) => text.includes(`"${to}"`) && text.includes('"event":"code"'));
    return (JSON.parse(line?.slice(line.indexOf('{')) ?? '{}') as { code?: string }).code;
  };

  describe(name, () => {
    test('status: the database is connected', async () => {
      const reply = await call('GET /api/status');
      expect([reply.status, reply.body.database]).toEqual([200, 'connected']);
      expect(reply.headers.get('access-control-allow-origin')).toBe('*');
    });

    test('the main job: send, check, session, registration, look-up', async () => {
      const sent = await call('POST /api/verify/send', alice);
      expect([sent.status, sent.body.expires_in]).toEqual([200, 90]);
      const code = await until('the code is printed', () => codeFor(alice.identifier));
      const checked = await call('POST /api/verify/check', { ...alice, code });
      expect(checked.body).toMatchObject({ ok: true, verified: true });
      const did = 'did:key:z6MkRuntime';
      expect((await call('POST /api/sessions', { ...alice, did })).status).toBe(200);
      const credentialId = 'A'.repeat(22);
      const claim = {
        ...alice,
        did,
        credentialId,
        txHash: `0x${'1'.repeat(64)}`,
        attestation: checked.body.attestation,
      };
      expect((await call('POST /api/dids', claim)).body).toMatchObject({ ok: true, txHash: claim.txHash });
      const found = await call(`GET /api/dids/lookup?credentialId=${credentialId}`);
      expect(found.body).toMatchObject({ did, status: 'submitted' });
      expect((await call('GET /api/sessions/status')).body).toMatchObject({
        ip_registrations: 1,
        total_registrations: 1,
      });
    });

    test('the enclave, as it is in the tree, and its digest in the status', async () => {
      const responses = await Promise.all(Array.from({ length: 4 }, () => fetch(`${runtime().url}/enclave.wasm`)));
      for (const response of responses) {
        expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/wasm']);
        expect(Buffer.from(await response.arrayBuffer()).equals(wasm)).toBe(true);
      }
      const sha256 = createHash('sha256').update(wasm).digest('hex');
      expect((await call('GET /api/status')).body.enclave).toEqual({ sha256 });
    });

    test('every page and file', async () => {
      for (const path of ['/', '/account', '/pay/confirm', '/console', '/client.js', '/openapi.json']) {
        const response = await fetch(runtime().url + path, { headers: { Accept: 'text/html, */*' } });
        expect([path, response.status, (await response.text()).length > 500]).toEqual([path, 200, true]);
      }
    });

    test('the boundary: preflight, HEAD, 404, 405, bad JSON, a body over the cap', async () => {
      expect((await call('OPTIONS /api/sessions')).headers.get('access-control-allow-methods')).toBe('POST, OPTIONS');
      expect((await call('HEAD /api/status')).body).toBeUndefined();
      expect((await call('GET /nothing')).body).toEqual({ error: 'not_found' });
      expect((await call('DELETE /api/status')).headers.get('allow')).toBe('GET, HEAD, OPTIONS');
      expect((await call('POST /api/sessions', [])).body).toEqual({ error: 'Invalid JSON body' });
      const large = await call('POST /api/sessions', { identifier: 'x'.repeat(70_000) });
      expect([large.status, large.body]).toEqual([413, { error: 'payload_too_large' }]);
    });

    test('a limit holds, and tells when it frees', async () => {
      const results = await Promise.all(
        Array.from({ length: 6 }, (_, n) =>
          call('POST /api/sessions', { handle: `h${n}`, did: 'did:key:z' }, { 'Edge-Connecting-IP': '203.0.113.9' }),
        ),
      );
      expect(results.filter(({ status }) => status === 200)).toHaveLength(3);
      const refused = results.find(({ status }) => status === 429);
      expect(Number(refused?.headers.get('retry-after'))).toBeGreaterThan(86_000);
    });
  });
}
