import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { startVault, type TestVault } from '../support/vault.ts';

const wasm = readFileSync(join(import.meta.dir, '../../assets/enclave.wasm'));

describe('§4 enclave.wasm: the enclave, as a static file', () => {
  let t: TestVault;
  beforeAll(async () => {
    t = await startVault();
  });
  afterAll(() => t.stop());

  /** The answer as the wire has it: nothing decompressed. */
  const ask = (headers: Readonly<Record<string, string>> = {}, method = 'GET') =>
    fetch(`${t.url}/enclave.wasm`, {
      method,
      headers: { 'accept-encoding': 'identity', ...headers },
      decompress: false,
    });

  test('is served as application/wasm to pages of any origin, and may be cached', async () => {
    const response = await ask();
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('application/wasm');
    expect(response.headers.get('cache-control')).toBe('public, max-age=3600, s-maxage=86400');
    expect(response.headers.get('cross-origin-resource-policy')).toBe('cross-origin');
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
    expect(response.headers.get('content-encoding')).toBeNull();
    expect(Buffer.from(await response.arrayBuffer()).equals(wasm)).toBe(true);
  });

  test('goes out compressed to whoever takes gzip, under a tag of its own', async () => {
    const plain = await ask();
    for (const accepts of ['gzip', 'br;q=1.0, gzip;q=0.8, *;q=0.1', 'GZIP', '*', 'identity;q=0.5, gzip;q=0.5']) {
      const response = await ask({ 'accept-encoding': accepts });
      expect(response.headers.get('content-encoding')).toBe('gzip');
      expect(response.headers.get('vary')).toBe('accept-encoding');
      expect(response.headers.get('etag')).not.toBe(plain.headers.get('etag'));
      const bytes = new Uint8Array(await response.arrayBuffer());
      expect(bytes.length).toBeLessThan(wasm.length);
      expect(gunzipSync(bytes).equals(wasm)).toBe(true);
    }
  });

  test.each([
    'identity',
    'gzip;q=0',
    'br',
    '*;q=0',
    'gzip;q=x',
    'gzip;q=0, *',
    'gzip;q=0.1, identity',
    'gzip;q=0.5, identity;q=0.6',
  ])('goes out as it is to %s', async (accepts) => {
    expect((await ask({ 'accept-encoding': accepts })).headers.get('content-encoding')).toBeNull();
  });

  test('has a strong tag: 304 without a body to who has it already', async () => {
    const etag = (await ask()).headers.get('etag') ?? '';
    expect(etag).toMatch(/^"[^"]+"$/);
    for (const header of [etag, `W/${etag}`, `"other", ${etag}`, `"a,b",W/${etag},"c"`, '*', ' * ']) {
      const response = await ask({ 'if-none-match': header });
      expect(response.status).toBe(304);
      expect(response.headers.get('etag')).toBe(etag);
      expect(response.headers.get('cache-control')).toBe('public, max-age=3600, s-maxage=86400');
      expect((await response.arrayBuffer()).byteLength).toBe(0);
    }
    for (const header of ['"other"', '"a, *, b"', `"a,${etag.slice(1, -1)},b"`, etag.slice(1, -1), '', '"'])
      expect((await ask({ 'if-none-match': header })).status).toBe(200);
    expect((await ask({ 'if-none-match': etag, 'accept-encoding': 'gzip' })).status).toBe(200);
  });

  test('answers HEAD with the same headers and no body', async () => {
    const [head, get] = [await ask({}, 'HEAD'), await ask()];
    expect(head.status).toBe(200);
    for (const name of ['content-type', 'etag', 'cache-control', 'cross-origin-resource-policy'])
      expect(head.headers.get(name)).toBe(get.headers.get(name));
    expect(head.headers.get('content-length')).toBe(String(wasm.length));
    expect((await head.arrayBuffer()).byteLength).toBe(0);
  });

  test('is named by its SHA-256 in the status', async () => {
    const { body } = await t.call('GET /api/status');
    expect(body.enclave).toEqual({ sha256: createHash('sha256').update(wasm).digest('hex') });
  });

  test('a vault without assets has none, and says none in its status', async () => {
    const bare = await startVault({}, { assets: undefined });
    expect((await bare.call('GET /enclave.wasm')).status).toBe(404);
    expect((await bare.call('GET /api/status')).body.enclave).toBeUndefined();
    await bare.stop();
  });
});
