// A bucket or folder that answers what it must not, and people who may write to it and not delete.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { chooseRemoved, readNames } from '../../../commands/backup/backup-name.ts';
import { openBucket } from '../../../commands/backup/bucket-place.ts';
import { temporaryFolder } from '../../support/databases.ts';
import { runProgram } from '../../support/run.ts';
import { errorOf, type S3Bucket, startBucket } from '../../support/s3/server.ts';
import { settled } from '../../support/settled.ts';

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
  AWS_REGION: bucket.credentials.region,
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
    expect(await settled(place().list())).toThrow('the list of the bucket has no end');
    expect(asked).toBe(2);
  });

  test('that goes round through other tokens ends after 1,000 pages', async () => {
    let asked = 0;
    bucket.fail(() => {
      const token = `<NextContinuationToken>${asked++ % 2}</NextContinuationToken>`;
      return page(asked > 1_200 ? '' : `<IsTruncated>true</IsTruncated>${token}${contents(NAMES)}`);
    });
    expect(await settled(place().list())).toThrow('the list of the bucket has no end');
    expect(asked).toBe(1_000);
  });

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
    expect(await settled(place().read('a', 10, 20))).toThrow('the bucket gives more than it was asked for');
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
    expect(await settled(place().read('a', 0, 100_000))).toThrow('the bucket gives more than it was asked for');
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

interface Kind {
  readonly to: string;
  /** Sorted, so the oldest first. */
  names(): string[];
  get(name: string): Buffer;
  put(name: string, bytes: Uint8Array): void;
}

const KINDS: Readonly<Record<string, () => Kind>> = {
  folder: () => {
    mkdirSync(at('kept'));
    return {
      to: 'kept',
      names: () => readdirSync(at('kept')).sort(),
      get: (name) => readFileSync(at(`kept/${name}`)),
      put: (name, bytes) => writeFileSync(at(`kept/${name}`), bytes),
    };
  },
  bucket: () => ({
    to: `s3://${bucket.name}`,
    names: () => [...bucket.objects.keys()].sort(),
    get: (name) => bucket.objects.get(name) as Buffer,
    put: (name, bytes) => bucket.objects.set(name, Buffer.from(bytes)),
  }),
};

describe.each(Object.keys(KINDS))('somebody who may put into a %s and not delete', (kind) => {
  let shared: Kind;
  let real: string[];
  beforeEach(async () => {
    shared = KINDS[kind]?.() as Kind;
    for (const _ of [1, 2]) await run('backup', '--to', shared.to);
    real = shared.names();
    expect(real).toHaveLength(2);
  });
  /** The newest, under another number, time and count. */
  const renamed = (change: (parts: string[]) => void) => {
    const parts = /^(vault-[0-9a-f]{8})-(\d+)-(.*)-(\d+)\.backup$/.exec(real.at(-1) ?? '')?.slice(1) ?? [];
    change(parts);
    return `${parts.join('-')}.backup`;
  };
  const backUp = async () => {
    const { out, code } = await run('backup', '--to', shared.to, '--keep', '2', '--keep-days', '9', '--json');
    expect(code).toBe(0);
    return JSON.parse(out) as { file: string; removed: string[]; unremoved: string[]; unproven: string[] };
  };
  /** Forgeries and what is put stay; of the real ones the retention removes. */
  const expectUnmoved = async (forged: string[]) => {
    const { file, removed, unproven } = await backUp();
    const made = file.split('/').at(-1) ?? '';
    expect(made).toContain('-000003-');
    const chosen = chooseRemoved(readNames([...real, made]), { keep: 2, keepDays: 9 });
    expect(removed).toEqual(chosen.map(({ name }) => name));
    expect(unproven.toSorted()).toEqual(forged.toSorted());
    const stay = [...real, made, ...forged].filter((name) => !removed.includes(name));
    expect(shared.names()).toEqual(stay.sort());
  };

  test('drives out no backup by names with high numbers, days to come and many registrations', async () => {
    const forged = Array.from({ length: 12 }, (_, i) =>
      renamed((parts) => parts.splice(1, 3, `0009${10 + i}`, `2199-01-${10 + i}T000000.000Z`, '999999')),
    );
    for (const name of forged) shared.put(name, Buffer.from('junk'));
    await expectUnmoved(forged);
  });

  test('drives out no backup by copies of a real one under other numbers, times or counts', async () => {
    const forged = [
      renamed((parts) => parts.splice(1, 1, '000900')),
      renamed((parts) => parts.splice(2, 1, '2199-01-01T000000.000Z')),
      renamed((parts) => parts.splice(3, 1, '7')),
    ];
    for (const name of forged) shared.put(name, shared.get(real.at(-1) ?? ''));
    await expectUnmoved(forged);
    // Nor is an old one restored as the newest.
    const { code, err } = await run('restore', '--from', shared.to, '--overwrite');
    expect([code, err]).toEqual([1, expect.stringContaining('somebody gave it the name of another backup')]);
  });

  test('makes no number of the vault too long to be read', async () => {
    const name = renamed((parts) => parts.splice(1, 1, '999999999999999'));
    shared.put(name, shared.get(real.at(-1) ?? ''));
    shared.put(name.replace('999999999999999', '1000000000'), Buffer.from('junk'));
    const { file } = await backUp();
    expect(file).toContain('-000003-');
    await backUp();
    expect(shared.names().filter((one) => one.includes('-000004-'))).toHaveLength(1);
  });

  test('has a rotten backup neither counted nor removed', async () => {
    shared.put(real[1] ?? '', shared.get(real[1] ?? '').subarray(0, -1));
    const { removed, unproven, file } = await backUp();
    expect(file).toContain('-000003-');
    expect({ removed, unproven }).toEqual({ removed: [], unproven: [real[1] ?? ''] });
    expect(shared.names()).toEqual([...real, file.split('/').at(-1) ?? ''].sort());
  });
});

describe('after a backup is in its place and read back', () => {
  test('a list that fails does not make it none', async () => {
    await run('backup', ...toBucket());
    let isPut = false;
    bucket.fail(({ method, key, query }) => {
      if (method === 'PUT' || query.has('uploads')) isPut = true;
      return isPut && method === 'GET' && key === '' ? errorOf('SlowDown', 503) : undefined;
    });
    const { code, out } = await run('backup', ...toBucket(), '--keep', '1', '--keep-days', '0', '--json');
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ removed: [expect.stringContaining('-000001-')], unremoved: [] });
    expect(bucket.objects.size).toBe(1);
  });

  test('one that the bucket does not remove is named', async () => {
    await run('backup', ...toBucket());
    bucket.fail(({ method }) => (method === 'DELETE' ? errorOf('AccessDenied', 403) : undefined));
    const { code, out } = await run('backup', ...toBucket(), '--keep', '1', '--keep-days', '0', '--json');
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ removed: [], unremoved: [expect.stringContaining('-000001-')] });
  });
});
