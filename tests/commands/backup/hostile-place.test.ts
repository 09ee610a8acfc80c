// A bucket or folder that answers what it must not, and people who may write to it and not delete.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { cpSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { openBucket } from '../../../commands/backup/bucket-place.ts';
import { temporaryFolder } from '../../support/databases.ts';
import { runProgram } from '../../support/run.ts';
import { type S3Bucket, startBucket } from '../../support/s3/server.ts';

const template = temporaryFolder();
let folder = template;
let bucket: S3Bucket;
beforeAll(async () => {
  expect((await runProgram(['migrate'], { cwd: template.path })).code).toBe(0);
});
afterAll(() => template.remove());
beforeEach(() => {
  folder = temporaryFolder();
  cpSync(template.path, folder.path, { recursive: true });
  bucket = startBucket({ pageMax: 2 });
});
afterEach(async () => {
  await bucket.stop();
  folder.remove();
});

const at = (name: string) => join(folder.path, name);
const vars = () => ({
  BACKUP_S3_ENDPOINT: bucket.url,
  BACKUP_S3_REGION: bucket.credentials.region,
  BACKUP_S3_ACCESS_KEY_ID: bucket.credentials.accessKeyId,
  BACKUP_S3_SECRET_ACCESS_KEY: bucket.credentials.secretAccessKey,
});
const run = (...args: string[]) => runProgram(args, { cwd: folder.path, vars: vars() });
const toBucket = () => ['--to', `s3://${bucket.name}`];
const place = () =>
  openBucket({ bucket: bucket.name, prefix: '', endpoint: bucket.url, ...bucket.credentials, draftFolder: '.' });

const NAMES = [1, 2, 3].map((n) => `vault-1a2b3c4d-00000${n}-2026-01-31T120000.000Z-1.backup`);
const page = (inside: string) =>
  new Response(`<?xml version="1.0"?><ListBucketResult><Name>backups</Name>${inside}</ListBucketResult>`, {
    headers: { 'content-type': 'application/xml' },
  });
const contents = (names: readonly string[]) => names.map((name) => `<Contents><Key>${name}</Key></Contents>`).join('');

describe('a list', () => {
  test('that says there is more under the same token is refused, and is not asked for ever', async () => {
    const more = '<IsTruncated>true</IsTruncated><NextContinuationToken>same</NextContinuationToken>';
    let asked = 0;
    bucket.fail(() => (asked++ < 50 ? page(more + contents(NAMES)) : page('<IsTruncated>false</IsTruncated>')));
    await expect(place().list()).rejects.toThrow('the list of the bucket has no end');
    expect(asked).toBe(2);
  });

  test('that goes round through other tokens ends after 1,000 pages', async () => {
    let asked = 0;
    bucket.fail(() => {
      const token = `<NextContinuationToken>${asked++ % 2}</NextContinuationToken>`;
      return page(asked > 1_200 ? '' : `<IsTruncated>true</IsTruncated>${token}${contents(NAMES)}`);
    });
    await expect(place().list()).rejects.toThrow('the list of the bucket has no end');
    expect(asked).toBe(1_000);
  }, 30_000);

  test('that is cut off without a token is refused: an old backup is not the newest', async () => {
    for (const _ of [1, 2, 3]) expect((await run('backup', ...toBucket())).code).toBe(0);
    const first = [...bucket.objects.keys()].sort().slice(0, 1);
    bucket.fail(({ method, key }) =>
      method === 'GET' && key === '' ? page(`<IsTruncated>true</IsTruncated>${contents(first)}`) : undefined,
    );
    const { code, err } = await run('restore', '--from', `s3://${bucket.name}`, '--overwrite');
    expect([code, err]).toEqual([1, expect.stringContaining('the list of the bucket has no end')]);
  });

  test('asks for backups alone, and takes no other name', async () => {
    for (const name of ['photos/1', 'vault-x', 'vault-1a2b3c4d-notes', ...NAMES])
      bucket.objects.set(name, Buffer.from(name));
    expect(await place().list()).toEqual(NAMES);
    bucket.fail(({ query }) => {
      expect(query.get('prefix')).toBe('vault-');
      return page(`<IsTruncated>false</IsTruncated>${contents(['other', ...NAMES, ...NAMES])}`);
    });
    expect(await place().list()).toEqual(NAMES);
  });
});

describe('a read', () => {
  test('takes no more than it asked for, from a service that does not know ranges', async () => {
    bucket.objects.set('a', Buffer.alloc(1_000_000, 'x'));
    bucket.fail(({ method }) => (method === 'GET' ? new Response(new Uint8Array(1_000_000)) : undefined));
    await expect(place().read('a', 10, 20)).rejects.toThrow('the bucket gives more than it was asked for');
  });

  test('of a body without an end is given up, and the connection closed', async () => {
    const ended = Promise.withResolvers<void>();
    let sent = 0;
    bucket.fail(() => {
      const pull = async (controller: ReadableStreamDefaultController) => {
        if (sent > 64e6) return controller.close();
        controller.enqueue(new Uint8Array(65_536));
        sent += 65_536;
        await Bun.sleep(1);
      };
      return new Response(new ReadableStream({ pull, cancel: () => ended.resolve() }), { status: 206 });
    });
    await expect(place().read('a', 0, 100_000)).rejects.toThrow('the bucket gives more than it was asked for');
    await ended.promise;
    expect(sent).toBeLessThan(16e6);
  });
});

describe('a size', () => {
  test('beyond the disk is refused before a byte is written', async () => {
    await run('backup', ...toBucket());
    const headers = { 'content-length': String(1e15), etag: '"x"', 'last-modified': new Date().toUTCString() };
    let read = 0;
    bucket.fail(({ method, key }) => {
      if (method === 'HEAD') return new Response(null, { headers });
      if (method !== 'GET' || key === '') return undefined;
      return read++ < 3 ? new Response(new Uint8Array(8 * 1024 * 1024), { status: 206 }) : new Response('');
    });
    const { code, err } = await run('restore', '--from', `s3://${bucket.name}`, '--overwrite');
    expect([code, err]).toEqual([1, expect.stringMatching(/MB free, and this backup needs \d+ MB/)]);
    expect(read).toBe(0);
    expect(readdirSync(at('vault-data')).filter((name) => name.includes('draft'))).toEqual([]);
  });

  test('other than the one that was put is found out before a byte is read back', async () => {
    let read = 0;
    bucket.fail(({ method, key }) => {
      if (method === 'GET' && key !== '') read++;
      const headers = { 'content-length': '9', etag: '"x"', 'last-modified': new Date().toUTCString() };
      return method === 'HEAD' ? new Response(null, { headers }) : undefined;
    });
    const { code, err } = await run('backup', ...toBucket());
    expect([code, err]).toEqual([1, expect.stringContaining('was read back with other contents')]);
    expect([read, bucket.objects.size]).toEqual([0, 0]);
  });
});
