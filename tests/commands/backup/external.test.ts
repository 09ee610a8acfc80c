// A backup beside Litestream, which alone may bring the write-ahead log into the file.
import { Database } from 'bun:sqlite';
import { afterEach, beforeEach, expect, test } from 'bun:test';
import { existsSync, readFileSync, rmSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../../support/databases.ts';
import { runProgram } from '../../support/run.ts';

let folder: ReturnType<typeof temporaryFolder>;
beforeEach(async () => {
  folder = temporaryFolder();
  expect((await run('migrate')).code).toBe(0);
});
afterEach(() => folder.remove());

const run = (...args: string[]) => runProgram(args, { cwd: folder.path, vars: { DATABASE_CHECKPOINT: 'external' } });
const at = (name: string) => join(folder.path, name);
const DATABASE = 'vault-data/vault.db';

/** Leaves people in the log, as a vault that was killed does: nobody has the file open. */
async function leaveInLog(): Promise<void> {
  const script = `import { Database } from 'bun:sqlite';
    const database = new Database(${JSON.stringify(at(DATABASE))});
    database.run('PRAGMA wal_autocheckpoint = 0');
    for (let i = 0; i < 3; i++)
      database.run("INSERT INTO verifications (identifier, verified_at) VALUES ('email:" + i + "', 1)");
    process.kill(process.pid, 'SIGKILL');`;
  await Bun.spawn([process.execPath, '-e', script]).exited;
  expect(statSync(at(`${DATABASE}-wal`)).size).toBeGreaterThan(0);
}

test.each(['nobody else', 'nobody else, whose index is lost,', 'another'])(
  'the log is left alone while %s has the database open',
  async (who) => {
    await leaveInLog();
    if (who.includes('index')) rmSync(at(`${DATABASE}-shm`));
    const other = who === 'another' ? new Database(at(DATABASE), { readonly: true }) : undefined;
    other?.query('SELECT count(*) FROM verifications').get();
    const content = (name: string) => readFileSync(at(name)).toString('hex');
    const [file, log] = [content(DATABASE), content(`${DATABASE}-wal`)];
    expect((await run('backup', 'a.backup')).code).toBe(0);
    // Behind it stands that the backup was made, as any write does.
    expect([content(DATABASE) === file, content(`${DATABASE}-wal`).startsWith(log)]).toEqual([true, true]);
    other?.close();
    const backup = new Database(at('a.backup'), { readonly: true });
    expect(backup.query('SELECT count(*) FROM verifications').values()).toEqual([[3]]);
    backup.close();
  },
);

test('a disk without room for what is in the log takes no copy', async () => {
  await leaveInLog();
  truncateSync(at(`${DATABASE}-wal`), 8e12);
  const { code, err } = await run('backup', 'a.backup');
  expect([code, err]).toEqual([1, expect.stringMatching(/MB free, and a backup needs \d{7} MB/)]);
  expect(existsSync(at('a.backup'))).toBe(false);
});
