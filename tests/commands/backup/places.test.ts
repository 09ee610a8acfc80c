// A folder and a bucket keep backups, through `vault backup --to` and `vault restore --from` in processes of their own.
// The bucket checks the signature of each request.
import { Database } from 'bun:sqlite';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { openBucket, readBucketUrl } from '../../../commands/backup/bucket-place.ts';
import { readRows, temporaryFolder } from '../../support/databases.ts';
import { runProgram } from '../../support/run.ts';
import { errorOf, type S3Bucket, startBucket } from '../../support/s3/server.ts';
import { settled } from '../../support/settled.ts';

/** A vault, made once: each test gets a copy. */
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
const bucketVars = () => ({
  BACKUP_S3_ENDPOINT: bucket.url,
  AWS_REGION: bucket.credentials.region,
  BACKUP_S3_ACCESS_KEY_ID: bucket.credentials.accessKeyId,
  BACKUP_S3_SECRET_ACCESS_KEY: bucket.credentials.secretAccessKey,
});
const run = (args: readonly string[], vars: Record<string, string> = {}) =>
  runProgram(args, { cwd: folder.path, vars: { ...bucketVars(), ...vars } });

function addPeople(count: number, path = at('vault-data/vault.db')): void {
  const database = new Database(path);
  for (let i = 0; i < count; i++)
    database.run(`INSERT INTO verifications (identifier, verified_at) VALUES ('email:${crypto.randomUUID()}', 1)`);
  database.close();
}

function peopleIn(path: string): number {
  return Number(readRows(path, 'SELECT count(*) FROM verifications')[0]?.[0]);
}

function lastBackup(): unknown[] {
  const database = new Database(at('vault-data/vault.db'), { readonly: true });
  const rows = database.query('SELECT * FROM last_backup').all();
  database.close();
  return rows;
}

interface Kind {
  readonly to: string;
  /** The names that it holds. */
  names(): string[];
  /** Changes one byte of a backup. */
  damage(name: string): void;
  rename(from: string, to: string): void;
}

const KINDS: Readonly<Record<string, () => Kind>> = {
  folder: () => {
    mkdirSync(at('kept'));
    return {
      to: 'kept',
      names: () => readdirSync(at('kept')).sort(),
      damage(name) {
        const bytes = readFileSync(at(`kept/${name}`));
        bytes[5_000] = (bytes[5_000] ?? 0) ^ 1;
        writeFileSync(at(`kept/${name}`), bytes);
      },
      rename: (from, to) => renameSync(at(`kept/${from}`), at(`kept/${to}`)),
    };
  },
  bucket: () => ({
    to: `s3://${bucket.name}/nightly/eu`,
    names: () => [...bucket.objects.keys()].map((key) => key.replace('nightly/eu/', '')).sort(),
    damage(name) {
      const bytes = bucket.objects.get(`nightly/eu/${name}`) as Buffer;
      bytes[5_000] = (bytes[5_000] ?? 0) ^ 1;
    },
    rename(from, to) {
      bucket.objects.set(`nightly/eu/${to}`, bucket.objects.get(`nightly/eu/${from}`) as Buffer);
      bucket.objects.delete(`nightly/eu/${from}`);
    },
  }),
};

describe.each(Object.keys(KINDS))('a %s', (kind) => {
  test('keeps the newest backups, and gives back the newest or the named one', async () => {
    const place = KINDS[kind]?.() as Kind;
    const made: string[] = [];
    for (let i = 1; i <= 4; i++) {
      addPeople(1);
      const { code, out } = await run(['backup', '--to', place.to, '--keep', '2', '--keep-days', '0', '--json']);
      expect(code).toBe(0);
      const { file, removed, rows, createdAt, bytes } = JSON.parse(out);
      const shown = file.slice(0, file.lastIndexOf('/'));
      expect(lastBackup()).toEqual([{ id: 1, made_at: Date.parse(createdAt), bytes, place: shown }]);
      expect(rows.verifications).toBe(i);
      // The fullest, by registrations, is the newest of all.
      expect(removed).toEqual(i > 2 ? [made[i - 3]] : []);
      made.push(file.split('/').at(-1));
    }
    expect(place.names()).toEqual(made.slice(2));
    expect(readdirSync(at('vault-data')).filter((name) => name.includes('draft'))).toEqual([]);
    const newest = await run(['restore', '--from', place.to, '--overwrite', '--json']);
    expect(JSON.parse(newest.out)).toMatchObject({ restored: true, authenticated: 'hmac', rows: { verifications: 4 } });
    const named = await run(['restore', made[2] ?? '', '--from', place.to, '--data-dir', 'other', '--json']);
    expect(JSON.parse(named.out)).toMatchObject({ restored: true, authenticated: 'digest' });
    expect(peopleIn(at('other/vault.db'))).toBe(3);
    expect(readdirSync(at('other')).sort()).toEqual(['restore.lock', 'vault.db']);
  });

  test('is only looked at with --dry-run, also where there is no vault', async () => {
    const place = KINDS[kind]?.() as Kind;
    await run(['backup', '--to', place.to]);
    const before = readdirSync(folder.path);
    const { code, out } = await run(['restore', '--from', place.to, '--data-dir', 'other', '--dry-run']);
    expect([code, out]).toEqual([0, expect.stringContaining('could be restored')]);
    expect(readdirSync(folder.path)).toEqual(before);
  });

  test('whose newest backup is damaged gives none, and one that got another name is refused', async () => {
    const place = KINDS[kind]?.() as Kind;
    await run(['backup', '--to', place.to]);
    await run(['backup', '--to', place.to]);
    const [first = '', second = ''] = place.names();
    place.damage(second);
    const damaged = await run(['restore', '--from', place.to, '--overwrite']);
    expect([damaged.code, damaged.err]).toEqual([1, expect.stringContaining('the backup is damaged')]);
    place.rename(first, second.replace('-000002-', '-000003-'));
    const renamed = await run(['restore', '--from', place.to, '--overwrite']);
    expect([renamed.code, renamed.err]).toEqual([
      1,
      expect.stringContaining('somebody gave it the name of another backup'),
    ]);
    expect(readdirSync(at('vault-data')).sort()).toEqual([
      'backup.lock',
      'operator.secret',
      'vault.db',
      'vault.secret',
    ]);
  });

  test('that several vaults share keeps theirs apart', async () => {
    const place = KINDS[kind]?.() as Kind;
    for (const dir of ['one', 'two']) await run(['migrate', '--data-dir', dir]);
    for (const dir of ['one', 'two', 'one'])
      await run(['backup', '--to', place.to, '--keep', '1', '--keep-days', '0', '--data-dir', dir]);
    const names = place.names();
    expect(names).toHaveLength(2);
    expect(new Set(names.map((name) => name.slice(6, 14))).size).toBe(2);
    const { code, err } = await run(['restore', '--from', place.to, '--data-dir', 'three']);
    expect([code, err]).toEqual([2, expect.stringContaining('backups of 2 vaults')]);
    const own = await run(['restore', '--from', place.to, '--data-dir', 'two', '--overwrite', '--json']);
    expect(JSON.parse(own.out)).toMatchObject({ restored: true, authenticated: 'hmac' });
  });

  test('that has no such backup says which it has', async () => {
    const place = KINDS[kind]?.() as Kind;
    expect((await run(['restore', '--from', place.to])).err).toContain('has no backup');
    await run(['backup', '--to', place.to]);
    const { code, err } = await run(['restore', 'vault.db', '--from', place.to]);
    expect([code, err]).toEqual([2, expect.stringContaining(`Its newest ones:\n  ${place.names()[0]}`)]);
  });
});

describe('a bucket', () => {
  const place = (waitMs = 20_000) =>
    openBucket({
      bucket: bucket.name,
      prefix: 'p/',
      endpoint: bucket.url,
      ...bucket.credentials,
      draftFolder: '.',
      waitMs,
    });
  const file = (bytes: number) => {
    writeFileSync(at('file'), Buffer.alloc(bytes, 'pages '));
    return at('file');
  };

  test('gets a large file in parts, and gives it back in ranges', async () => {
    await place().put(file(20_000_000), 'a');
    expect(bucket.asked.filter((asked) => asked.startsWith('PUT p/a partNumber'))).toHaveLength(3);
    expect(bucket.objects.get('p/a')?.equals(readFileSync(at('file')))).toBe(true);
    expect(await place().sizeOf('a')).toBe(20_000_000);
    expect(Buffer.from(await place().read('a', 6, 18)).toString()).toBe('pages pages ');
  });

  test('that fails in the midst of a large file has neither the file nor its parts', async () => {
    bucket.fail(({ query }) => (query.get('partNumber') === '2' ? errorOf('InternalError', 500) : undefined));
    expect(await settled(place().put(file(20_000_000), 'a'))).toThrow('the bucket cannot be used: InternalError');
    // The client takes them back without waiting for it.
    while (bucket.uploads.size > 0) await Bun.sleep(5);
    expect(bucket.objects.size).toBe(0);
  });

  test('that hangs is given up', async () => {
    const hang = Promise.withResolvers<undefined>();
    bucket.fail(() => hang.promise);
    expect(await settled(place(200).list())).toThrow('the bucket gives no answer for 0.2 s');
    expect(await settled(place(200).put(file(10), 'a'))).toThrow('no answer');
    expect(await settled(place(200).read('a', 0, 1))).toThrow('no answer');
    hang.resolve(undefined);
  });

  test('lists all its pages', async () => {
    const names = [1, 2, 3, 4, 5].map((n) => `vault-1a2b3c4d-00000${n}-2026-01-31T120000.000Z-1.backup`);
    for (const name of names) bucket.objects.set(`p/${name}`, Buffer.from(name));
    bucket.objects.set(`other/${names[0]}`, Buffer.from('f'));
    expect(await place().list()).toEqual(names);
  });

  test.each<[string, Record<string, string>, string]>([
    ['another key', { BACKUP_S3_SECRET_ACCESS_KEY: 'another' }, 'the bucket cannot be used: SignatureDoesNotMatch'],
    ['another region', { AWS_REGION: 'mars' }, 'the bucket cannot be used: AuthorizationHeaderMalformed'],
    [
      'a session token of another key',
      { AWS_SESSION_TOKEN: 'x' },
      'the bucket cannot be used: InvalidToken (AWS_SESSION_TOKEN or S3_SESSION_TOKEN is set: is it of this key?)',
    ],
    ['no server', { BACKUP_S3_ENDPOINT: 'http://127.0.0.1:1' }, 'the bucket cannot be used: ConnectionRefused'],
  ])('with %s is refused in words that hold no secret', async (_, vars, words) => {
    const { code, out, err } = await run(['backup', '--to', `s3://${bucket.name}`], vars);
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toBe(`vault: no backup was made: ${words}\n`);
  });

  test('that stored something else than it was sent is found out, and older backups stay', async () => {
    const to = ['--to', `s3://${bucket.name}`, '--keep', '1', '--keep-days', '0'];
    expect((await run(['backup', ...to])).code).toBe(0);
    const before = [...bucket.objects.keys()];
    bucket.fail(({ method, key }) => {
      const stored = bucket.objects.get(key);
      if (method === 'HEAD' && stored) stored[9_000] = (stored[9_000] ?? 0) ^ 1;
      return undefined;
    });
    const { code, err } = await run(['backup', ...to]);
    expect([code, err]).toEqual([1, expect.stringContaining('was read back with other contents')]);
    expect([...bucket.objects.keys()]).toEqual(before);
  });

  test.each([
    's3://',
    's3://UPPER',
    's3://a',
    's3://bucket//x',
    's3://bucket/a b',
    's3://bucket/../x/',
    'https://x.y/z',
  ])('%s is none', (text) => {
    if (text === 's3://bucket/../x/') expect(readBucketUrl(text).prefix).toBe('../x/');
    else expect(() => readBucketUrl(text)).toThrow('a place is the path of a folder, or s3://BUCKET/PREFIX');
  });
});

describe('wrong usage', () => {
  test.each<[string[], string]>([
    [['a.backup', '--to', 'kept'], 'give FILE or --to, not both'],
    [['a.backup', '--every', '1h'], '--every needs --to'],
    [['a.backup', '--keep', '3'], '--keep needs --to'],
    [['--to', 'nowhere'], 'there is no folder'],
    [['--to', 'kept', '--keep', '0'], '--keep must be a whole number'],
    [['--to', 'kept', '--every', 'often'], '--every must be a number with s, m, h or d'],
    [['--to', 'ftp://x/y'], 'a place is the path of a folder'],
  ])('%j', async (args, words) => {
    mkdirSync(at('kept'));
    const { code, err } = await run(['backup', ...args]);
    expect([code, err]).toEqual([2, expect.stringContaining(words)]);
  });

  test('a bucket without keys', async () => {
    const { code, err } = await runProgram(['backup', '--to', 's3://bucket'], { cwd: folder.path });
    expect([code, err]).toEqual([2, expect.stringContaining('needs BACKUP_S3_ACCESS_KEY_ID')]);
  });

  test('plain http over the internet', async () => {
    const { code, err } = await run(['config'], { BACKUP_S3_ENDPOINT: 'http://s3.example.com' });
    expect([code, err]).toEqual([2, expect.stringContaining('BACKUP_S3_ENDPOINT must be an https URL')]);
  });

  test('no secret to authenticate a backup with: it would be good for nothing', async () => {
    renameSync(at('vault-data/vault.secret'), at('moved'));
    const { code, err } = await run(['backup', 'a.backup']);
    expect([code, err]).toEqual([1, expect.stringContaining('there is no vault-data/vault.secret')]);
    expect(existsSync(at('a.backup'))).toBe(false);
  });

  test('a disk without room for a copy, which would leave the vault none', async () => {
    mkdirSync(at('kept'));
    truncateSync(at('vault-data/vault.db'), 8e12);
    const { code, err } = await run(['backup', '--to', 'kept']);
    expect([code, err]).toEqual([1, expect.stringMatching(/MB free, and a backup needs \d+ MB/)]);
    expect(readdirSync(at('kept'))).toEqual([]);
  });
});
