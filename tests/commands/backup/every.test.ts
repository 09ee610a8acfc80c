// `vault backup --every` in a process of its own beside what writes to the database, and what goes wrong meanwhile.
import { Database } from 'bun:sqlite';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'bun:test';
import { cpSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { unseal } from '../../../commands/backup/backup-file.ts';
import { readNames } from '../../../commands/backup/backup-name.ts';
import { fromHex } from '../../../lib/base/bytes.ts';
import { backupKey } from '../../../lib/identity/keys.ts';
import { temporaryFolder } from '../../support/databases.ts';
import { startOther } from '../../support/process.ts';
import { runProgram, VAULT } from '../../support/run.ts';
import { errorOf, type S3Request, startBucket } from '../../support/s3/server.ts';
import { until } from '../../support/until.ts';

/** Enough that a copy can be interrupted in its midst. */
const PEOPLE = 60_000;

const template = temporaryFolder();
let folder = template;
const running: Bun.Subprocess[] = [];
beforeAll(async () => {
  expect((await runProgram(['migrate'], { cwd: template.path })).code).toBe(0);
});
afterAll(() => template.remove());
beforeEach(() => {
  folder = temporaryFolder();
  cpSync(template.path, folder.path, { recursive: true });
  mkdirSync(at('kept'));
});

/** Tests that interrupt no copy need few people, or none: copies of many take most of the time. */
function addPeople(count = PEOPLE): void {
  const database = new Database(at('vault-data/vault.db'));
  database.run(`WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${count})
    INSERT INTO verifications (identifier, verified_at) SELECT 'email:' || lower(hex(randomblob(18))), 1 FROM numbers`);
  database.close();
}
afterEach(async () => {
  for (const child of running.splice(0)) {
    child.kill('SIGKILL');
    await child.exited;
  }
  folder.remove();
});

function at(name: string): string {
  return join(folder.path, name);
}

interface Schedule {
  /** The next line of its log whose event is this one. */
  next(event: string): Promise<Record<string, unknown>>;
  stop(signal: 'SIGTERM' | 'SIGKILL'): Promise<number>;
  pause(): void;
  resume(): void;
}

function startSchedule(args: readonly string[], vars: Record<string, string> = {}, shell?: string): Schedule {
  const command = [...VAULT, 'backup', ...args];
  const child = Bun.spawn(shell === undefined ? command : ['bash', '-c', shell, ...command], {
    cwd: folder.path,
    env: vars,
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'inherit',
  });
  running.push(child);
  const lines = linesOf(child.stdout);
  return {
    async next(event) {
      for (;;) {
        const { value, done } = await lines.next();
        if (done) throw new Error(`it ended before ${event}`);
        const entry = JSON.parse(value);
        if (entry.event === event) return entry;
      }
    },
    async stop(signal) {
      child.kill(signal);
      return child.exited;
    },
    pause: () => child.kill('SIGSTOP'),
    resume: () => child.kill('SIGCONT'),
  };
}

async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string, undefined> {
  let text = '';
  const decoder = new TextDecoder();
  for await (const chunk of stream) {
    const lines = (text + decoder.decode(chunk, { stream: true })).split('\n');
    text = lines.pop() ?? '';
    yield* lines;
  }
  return undefined;
}

const backupsIn = (path: string) => readNames(readdirSync(path));
const draftsIn = (path: string) => readdirSync(path).filter((name) => name.includes('.draft.'));

/** A turn that had looked at the place before would put its backup into another. */
function betweenTurns(act: () => void): void {
  const lock = new Database(at('vault-data/backup.lock'));
  lock.run('PRAGMA busy_timeout = 60000');
  lock.run('BEGIN EXCLUSIVE');
  act();
  lock.close();
}

/** The whole of a backup and whether it was made under the vault's secret. */
function check(path: string): void {
  const secret = fromHex(readFileSync(at('vault-data/vault.secret'), 'utf8').trim()) ?? new Uint8Array();
  expect(unseal(path, backupKey(secret)).isMac).toBe(true);
  const database = new Database(path, { readonly: true });
  expect(database.query('PRAGMA integrity_check').values()).toEqual([['ok']]);
  database.close();
}

test('each of its backups has all that was acknowledged before it began; old ones go; SIGTERM ends it', async () => {
  const writer = startOther('append', `file:${at('vault-data/vault.db')}`);
  const acknowledged: { readonly number: number; readonly at: number }[] = [];
  const reading = (async () => {
    for (;;) acknowledged.push({ number: Number(await writer.line()), at: Date.now() });
  })().catch(() => undefined);
  await until('the writer writes', () => acknowledged.length > 0);
  const schedule = startSchedule(['--every', '1s', '--to', 'kept', '--keep', '2', '--keep-days', '0']);
  for (let i = 1; i <= 4; i++) {
    const { name, ms } = await schedule.next('backup_made');
    expect(String(name)).toContain(`-00000${i}-`);
    const began = readNames([String(name)])[0]?.time ?? 0;
    const opened = new Database(at(`kept/${name}`), { readonly: true });
    const found = new Set(opened.query(`SELECT value FROM tallies WHERE name LIKE 'row %'`).values().flat());
    opened.close();
    const before = acknowledged.filter(({ at }) => at < began).map(({ number }) => number);
    expect(before.filter((number) => !found.has(number))).toEqual([]);
    if (i > 1) expect(before.length).toBeGreaterThan(0);
    expect(Number(ms)).toBeGreaterThan(0);
  }
  // 143 if the next one had begun.
  expect(await schedule.stop('SIGTERM')).toBeOneOf([0, 143]);
  await writer.kill();
  await reading;
  expect(backupsIn(at('kept')).at(-1)?.number).toBeGreaterThanOrEqual(3);
  for (const { name } of backupsIn(at('kept'))) check(at(`kept/${name}`));
});

test('killed at any moment of a copy, it leaves whole backups alone, and clears its draft a day later', async () => {
  addPeople();
  const args = ['--every', '1s', '--to', 'kept'];
  let drafts = 0;
  // A copy may end before it is seen here: at least one was killed in its midst.
  for (let i = 0; i < 4 || drafts === 0; i++) {
    const before = backupsIn(at('kept')).length;
    const schedule = startSchedule(args);
    // From the copy's beginning to its end, by what is there to see.
    await until('a copy begins', () => draftsIn(at('kept')).length > drafts || backupsIn(at('kept')).length > before);
    await Bun.sleep((i % 4) * 60);
    await schedule.stop('SIGKILL');
    drafts = draftsIn(at('kept')).length;
    for (const { name } of backupsIn(at('kept'))) check(at(`kept/${name}`));
  }
  // They may be another host's, under way.
  const dayAgo = Date.now() / 1_000 - 86_401;
  for (const name of draftsIn(at('kept'))) utimesSync(at(`kept/${name}`), dayAgo, dayAgo);
  const last = startSchedule(args);
  await last.next('backup_made');
  expect(await last.stop('SIGTERM')).toBeOneOf([0, 143]);
  expect(draftsIn(at('kept'))).toEqual([]);
  expect((await runProgram(['restore', '--from', 'kept', '--overwrite'], { cwd: folder.path })).code).toBe(0);
});

test('two hosts with one secret and one folder make backups at once: neither removes what the other is writing', async () => {
  addPeople();
  cpSync(at('vault-data'), at('second'), { recursive: true });
  // A copy may end before it stands still.
  const [first, draft] = await until('a copy stands still in its midst', async () => {
    const schedule = startSchedule(['--every', '1h', '--to', 'kept']);
    const isSeen = () => draftsIn(at('kept')).length > 0 || backupsIn(at('kept')).length > 0;
    await until('a copy begins', isSeen);
    schedule.pause();
    const [name] = draftsIn(at('kept'));
    if (name !== undefined) return [schedule, name] as const;
    await schedule.stop('SIGKILL');
    for (const one of backupsIn(at('kept'))) rmSync(at(`kept/${one.name}`));
    return undefined;
  });
  const second = await runProgram(['backup', '--to', 'kept', '--data-dir', 'second'], { cwd: folder.path });
  expect(second.code).toBe(0);
  expect(draftsIn(at('kept'))).toContain(draft);
  first.resume();
  const { name } = await first.next('backup_made');
  expect(backupsIn(at('kept'))).toHaveLength(2);
  for (const one of backupsIn(at('kept'))) check(at(`kept/${one.name}`));
  expect(draftsIn(at('kept'))).toEqual([]);
  expect(String(name)).toContain('-000001-');
  await first.stop('SIGTERM');
});

test('while its bucket is away, refuses or cuts it off it goes on, removes nothing, and makes one when it is back', async () => {
  addPeople(1_000);
  const bucket = startBucket();
  const { accessKeyId, secretAccessKey, region } = bucket.credentials;
  const vars = {
    BACKUP_S3_ENDPOINT: bucket.url,
    AWS_REGION: region,
    BACKUP_S3_ACCESS_KEY_ID: accessKeyId,
    BACKUP_S3_SECRET_ACCESS_KEY: secretAccessKey,
  };
  const to = ['--every', '1s', '--to', `s3://${bucket.name}/v`, '--keep', '1', '--keep-days', '0'];
  const schedule = startSchedule(to, vars);
  const { name } = await schedule.next('backup_made');
  const faults = {
    SlowDown: () => errorOf('SlowDown', 503),
    InternalError: ({ method }: S3Request) => (method === 'PUT' ? errorOf('InternalError', 500) : undefined),
    AccessDenied: ({ method, key }: S3Request) =>
      method === 'GET' && key !== '' ? errorOf('AccessDenied', 403) : undefined,
  };
  let made = name;
  for (const [code, fault] of Object.entries(faults)) {
    bucket.fail(fault);
    let failed = await schedule.next('backup_failed');
    // The turn before may have ended under this fault already; the next one begins under it.
    if (!String(failed['message']).includes(code)) failed = await schedule.next('backup_failed');
    expect(failed['message']).toBe(`Error: no backup was made: the bucket cannot be used: ${code}`);
    expect(JSON.stringify(failed)).not.toContain(secretAccessKey);
    // One that could not be read back is taken away again.
    expect([...bucket.objects.keys()]).toEqual([`v/${made}`]);
    bucket.fail(undefined);
    made = (await schedule.next('backup_made'))['name'];
    expect([...bucket.objects.keys()]).toEqual([`v/${made}`]);
  }
  // Killed in the midst of an upload: the bucket has no new object, and the next one clears the draft.
  const held = Promise.withResolvers<undefined>();
  const arrived = Promise.withResolvers<void>();
  bucket.fail(({ method, query }) => {
    if (method !== 'PUT' && !query.has('uploads')) return undefined;
    arrived.resolve();
    return held.promise;
  });
  await arrived.promise;
  expect(draftsIn(at('vault-data')).length).toBe(1);
  await schedule.stop('SIGKILL');
  held.resolve(undefined);
  bucket.fail(undefined);
  const again = startSchedule(to, vars);
  await again.next('backup_made');
  await again.stop('SIGTERM');
  const restored = await runProgram(['restore', '--from', `s3://${bucket.name}/v`, '--overwrite', '--json'], {
    cwd: folder.path,
    vars,
  });
  expect(JSON.parse(restored.out)).toMatchObject({ authenticated: 'hmac', rows: { verifications: 1_000 } });
  await bucket.stop();
});

test('on a disk that takes no more it says so, leaves no half a file and keeps what it has', async () => {
  addPeople(20_000);
  const first = startSchedule(['--every', '1s', '--to', 'kept', '--keep', '1']);
  const { name } = await first.next('backup_made');
  await first.stop('SIGTERM');
  for (const one of backupsIn(at('kept'))) if (one.name !== name) rmSync(at(`kept/${one.name}`));
  // The system refuses what goes beyond 1 MB of a file, as a full disk does, and its signal is ignored.
  const full = startSchedule(
    ['--every', '1s', '--to', 'kept', '--keep', '1'],
    {},
    'trap "" XFSZ; ulimit -f 1000; exec "$0" "$@"',
  );
  const failed = await full.next('backup_failed');
  expect(failed['message']).toContain('no backup was made');
  expect(await full.next('backup_failed')).toMatchObject({ failures: 2 });
  await full.stop('SIGTERM');
  expect(draftsIn(at('kept'))).toEqual([]);
  expect(backupsIn(at('kept')).map((one) => one.name)).toEqual([String(name)]);
  check(at(`kept/${name}`));
});

test('beside a mount point whose disk went away it makes none', async () => {
  const schedule = startSchedule(['--every', '1s', '--to', 'kept']);
  await schedule.next('backup_made');
  betweenTurns(() => {
    renameSync(at('kept'), at('unmounted'));
    mkdirSync(at('kept'));
  });
  let failed = await schedule.next('backup_failed');
  if (!String(failed['message']).includes('no longer has')) failed = await schedule.next('backup_failed');
  expect(failed['message']).toContain('no longer has the newest backup of this vault');
  renameSync(at('kept'), at('empty'));
  renameSync(at('unmounted'), at('kept'));
  await schedule.next('backup_made');
  await schedule.stop('SIGTERM');
  expect(backupsIn(at('empty'))).toEqual([]);
});

test('beside a place that lost its newest backup, as when an older disk is mounted, it makes none', async () => {
  const schedule = startSchedule(['--every', '1s', '--to', 'kept']);
  for (const _ of [1, 2]) await schedule.next('backup_made');
  mkdirSync(at('older'));
  const oldest = backupsIn(at('kept')).at(-1)?.name ?? '';
  cpSync(at(`kept/${oldest}`), at(`older/${oldest}`));
  betweenTurns(() => {
    renameSync(at('kept'), at('newer'));
    renameSync(at('older'), at('kept'));
  });
  let failed = await schedule.next('backup_failed');
  if (!String(failed['message']).includes('no longer has')) failed = await schedule.next('backup_failed');
  expect(failed['message']).toContain('no longer has the newest backup of this vault');
  await schedule.stop('SIGTERM');
  expect(backupsIn(at('kept')).map(({ name }) => name)).toEqual([oldest]);
});

test('started before the vault it waits for it; started again it keeps its pace; two at once are one', async () => {
  rmSync(at('vault-data'), { recursive: true });
  const early = startSchedule(['--every', '1s', '--to', 'kept']);
  expect((await early.next('backup_failed'))['message']).toContain('there is no database');
  expect((await runProgram(['migrate'], { cwd: folder.path })).code).toBe(0);
  await early.next('backup_made');
  await early.stop('SIGTERM');
  const [newest] = backupsIn(at('kept'));
  check(at(`kept/${newest?.name}`));
  const count = backupsIn(at('kept')).length;
  const hourly = startSchedule(['--every', '1h', '--to', 'kept']);
  const { firstInMs } = await hourly.next('backup_schedule');
  expect(firstInMs).toBeGreaterThan(3_000_000);
  expect(firstInMs).toBeLessThanOrEqual(3_600_000);
  const held = new Database(at('vault-data/backup.lock'));
  held.run('BEGIN EXCLUSIVE');
  const second = await runProgram(['backup', '--to', 'kept'], { cwd: folder.path });
  held.close();
  expect([second.code, second.err]).toEqual([1, expect.stringContaining('another vault backup is under way')]);
  expect(await hourly.stop('SIGTERM')).toBe(0);
  expect(backupsIn(at('kept'))).toHaveLength(count);
});
