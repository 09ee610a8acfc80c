import { describe, expect, test } from 'bun:test';
import { createHash } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import { type Assets, createFiles, createSha256Of } from '../../lib/static-files.ts';
import { settled } from '../support/settled.ts';

const TEXT = 'a file of some length, '.repeat(40);

/** Assets as a Worker's binding gives them, which count how often each path is asked for. */
function assets(files: Readonly<Record<string, string>>): Assets & { readonly asked: string[] } {
  const asked: string[] = [];
  return {
    asked,
    async fetch(request) {
      const { pathname } = new URL(request.url);
      asked.push(pathname);
      const found = files[pathname];
      return found === undefined ? new Response('none', { status: 404 }) : new Response(found);
    },
  };
}

describe('served files', () => {
  test('are read once, and known by their digest', async () => {
    const binding = assets({ '/a.txt': TEXT });
    const files = createFiles(binding);
    const [first, second] = [await files('/a.txt'), await files('/a.txt')];
    expect(new TextDecoder().decode(first?.bytes)).toBe(TEXT);
    expect(first?.sha256).toBe(createHash('sha256').update(TEXT).digest('hex'));
    expect(first?.etag).toMatch(/^"[A-Za-z0-9_-]{22}"$/);
    expect(second).toBe(first);
    expect(binding.asked).toEqual(['/a.txt']);
  });

  test('are not hashed again where the host knows their digest', async () => {
    const known = createHash('sha256').update('known to the host');
    const answers = { 'repr-digest': `sha-256=:${known.copy().digest('base64')}:` };
    const give = (headers: Record<string, string>) => ({ fetch: async () => new Response(TEXT, { headers }) });
    expect((await createFiles(give(answers))('/a.txt'))?.sha256).toBe(known.digest('hex'));
    const own = createHash('sha256').update(TEXT).digest('hex');
    for (const other of ['sha-256=:AAAA:', 'md5=:AAAAAAAAAAAAAAAAAAAAAA==:', 'x', ''])
      expect((await createFiles(give({ 'repr-digest': other }))('/a.txt'))?.sha256).toBe(own);
  });

  test('are not read for a digest that the host says when it is asked for the head', async () => {
    const digest = createHash('sha256').update(TEXT);
    const headers = { 'repr-digest': `sha-256=:${digest.copy().digest('base64')}:` };
    const asked: string[] = [];
    const known: Assets = {
      async fetch({ method, url }) {
        asked.push(`${method} ${new URL(url).pathname}`);
        return new Response(method === 'HEAD' ? null : TEXT, { headers });
      },
    };
    const sha256Of = createSha256Of(known, createFiles(known));
    const sha256 = digest.digest('hex');
    expect([await sha256Of('/a.txt'), await sha256Of('/a.txt'), asked]).toEqual([sha256, sha256, ['HEAD /a.txt']]);
  });

  test('are read for a digest where the host does not say it, or answers no HEAD', async () => {
    const sha256 = createHash('sha256').update(TEXT).digest('hex');
    const silent = assets({ '/a.txt': TEXT });
    const picky: Assets = {
      async fetch({ method }) {
        if (method === 'HEAD') throw new Error('only GET');
        return new Response(TEXT);
      },
    };
    for (const host of [silent, picky]) expect(await createSha256Of(host, createFiles(host))('/a.txt')).toBe(sha256);
    expect(await createSha256Of(silent, createFiles(silent))('/none')).toBeUndefined();
    expect(await createSha256Of(undefined, createFiles(undefined))('/a.txt')).toBeUndefined();
  });

  test('have tags that differ when a byte does', async () => {
    const files = createFiles(assets({ '/a': TEXT, '/b': `${TEXT}.` }));
    expect((await files('/a'))?.etag).not.toBe((await files('/b'))?.etag);
  });

  test('are compressed to the same bytes', async () => {
    const file = await createFiles(assets({ '/a.txt': TEXT }))('/a.txt');
    const zipped = await file?.gzip();
    expect(gunzipSync(zipped ?? new Uint8Array()).toString()).toBe(TEXT);
    expect(await file?.gzip()).toBe(zipped as Uint8Array<ArrayBuffer>);
  });

  test('that are not there are looked for again', async () => {
    const binding = assets({});
    const files = createFiles(binding);
    expect(await files('/none')).toBeUndefined();
    expect(await files('/none')).toBeUndefined();
    expect(binding.asked).toEqual(['/none', '/none']);
  });

  test('there are none without assets', async () => {
    expect(await createFiles(undefined)('/enclave.wasm')).toBeUndefined();
  });

  test('a fault of the assets is the reader’s, and the next one tries again', async () => {
    let works = false;
    const files = createFiles({
      async fetch() {
        if (!works) throw new Error('the disk is gone');
        return new Response(TEXT);
      },
    });
    expect(await settled(files('/a'))).toThrow('the disk is gone');
    works = true;
    expect((await files('/a'))?.bytes.length).toBe(TEXT.length);
  });
});
