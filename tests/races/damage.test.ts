import { Database as Connection, constants as sqlite } from 'bun:sqlite';
import { afterEach, describe, expect, test } from 'bun:test';
import { closeSync, existsSync, openSync, readSync, statSync, truncateSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { type LibsqlServer, libsqlProgram, startLibsql } from '../../scripts/dev-stack/libsql.ts';
import { temporaryFolder } from '../support/databases.ts';
import { type Program, startProgram } from '../support/program.ts';
import { until } from '../support/until.ts';
import { VAULT_SECRET } from '../support/vault.ts';

// Real programs on a file that is damaged below them, or while nobody has it open.

const HANDLES = 400;

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

async function start(dir: string, more: Readonly<Record<string, string>> = {}): Promise<Program> {
  const vars = {
    VAULT_SECRET,
    OPERATOR_SECRET: VAULT_SECRET.replace('00', 'ff'),
    METRICS_ALLOW: '127.0.0.1',
    DATA_DIR: dir,
    RATE_LIMIT_READS_PER_IP: '1000000',
    RATE_LIMIT_WRITES_PER_IP: '1000000',
    ...more,
  };
  const program = await startProgram(vars, { cwd: dir });
  ends.push(() => program.stop('SIGKILL'));
  return program;
}

function openFolder(): { dir: string; file: string } {
  const folder = temporaryFolder();
  ends.push(folder.remove);
  return { dir: folder.path, file: join(folder.path, 'vault.db') };
}

const openSession = ({ url }: Program, n: number, did: string) =>
  fetch(`${url}/api/sessions`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'Edge-Connecting-IP': `10.0.${n >> 8}.${n & 255}` },
    body: JSON.stringify({ handle: `taken${n}`, did: `did:key:z${did}${n}` }),
  });

/** Takes handles, a few at a time. */
async function takeHandles(program: Program): Promise<void> {
  const all = Array.from({ length: HANDLES }, (_, n) => n);
  while (all.length > 0) {
    const answers = await Promise.all(all.splice(0, 20).map((n) => openSession(program, n, 'first')));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  }
}

async function untilDamaged({ url }: Program): Promise<void> {
  await until('the vault finds the damage', async () => {
    const answer = await fetch(`${url}/readyz`);
    const { database } = (await answer.json()) as { database: string };
    if (database === 'damaged') expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, null]);
    return database === 'damaged';
  });
}

/** Nothing is written, nobody is asked to come again, and the log says once what to do. */
async function expectRefused(program: Program): Promise<void> {
  for (let n = 0; n < HANDLES; n += 20) {
    const answer = await openSession(program, n, 'second');
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, null]);
    expect(await answer.json()).toMatchObject({ error: 'database_unavailable', reason: 'damaged' });
  }
  await until('the damage is logged', () => program.output().includes('"level":"error"'));
  const errors = program.output().match(/^.*"level":"error".*$/gm) ?? [];
  expect(errors).toEqual([expect.stringMatching(/"database_damaged".*restore a backup/)]);
  expect(await (await fetch(`${program.url}/metrics`)).text()).toMatch(/^vault_db_damaged 1$/m);
}

describe('a damaged file', () => {
  test('is cut to half while it is in use: it is written no more, and the log says so once', async () => {
    const { dir, file } = openFolder();
    const program = await start(dir);
    await takeHandles(program);
    expect(await (await fetch(`${program.url}/metrics`)).text()).toMatch(/^vault_db_damaged 0$/m);
    checkpoint(file);
    truncateSync(file, statSync(file).size / 2);
    await untilDamaged(program);
    await expectRefused(program);
    expect((await fetch(`${program.url}/healthz`)).status).toBe(200);
    expect(await program.stop()).toBe(0);
    // By it the next start knows.
    expect(existsSync(`${file}-wal`)).toBe(true);
  });

  test('has lost rows while nobody had it open: it is found after an unclean end, and again at each start', async () => {
    const { dir, file } = openFolder();
    let program = await start(dir);
    await takeHandles(program);
    await program.stop('SIGKILL');
    // No statement notices it.
    setCells(file, 'sessions', 1);
    for (let starts = 0; starts < 2; starts++) {
      program = await start(dir);
      await untilDamaged(program);
      await expectRefused(program);
      expect(await program.stop()).toBe(0);
    }
  });
});

test.skipIf(!libsqlProgram())('a libSQL server that says that it is damaged is written no more', async () => {
  const { dir } = openFolder();
  const open = async () => {
    const server = (await startLibsql({ dir: join(dir, 'sqld') })) as LibsqlServer;
    const program = await start(dir, { DATABASE_URL: server.url });
    ends.push(() => server.stop());
    return { server, program };
  };
  const before = await open();
  await takeHandles(before.program);
  await before.program.stop();
  await before.server.stop();
  setCells(join(dir, 'sqld/dbs/default/data'), 'sessions', 0);
  const { program } = await open();
  expect((await fetch(`${program.url}/readyz`)).status).toBe(200);
  expect((await openSession(program, 0, 'second')).status).toBe(503);
  await untilDamaged(program);
  await expectRefused(program);
  expect(await program.stop()).toBe(0);
});

test('a start that cannot open the file leaves the sign that it is to be checked', async () => {
  const { dir, file } = openFolder();
  const program = await start(dir);
  await takeHandles(program);
  checkpoint(file);
  await program.stop('SIGKILL');
  truncateSync(file, statSync(file).size / 2);
  expect(await start(dir).catch(String)).toMatch(/malformed: restore a backup/);
  expect(existsSync(`${file}-wal`)).toBe(true);
});

test('a file that is whole after an unclean end is checked once', async () => {
  const { dir, file } = openFolder();
  let program = await start(dir);
  await takeHandles(program);
  await program.stop('SIGKILL');
  program = await start(dir);
  await until('the file is checked', () => program.output().includes('"database_checked"'));
  expect(program.output()).toContain('"found":"ok"');
  expect((await fetch(`${program.url}/readyz`)).status).toBe(200);
  expect((await openSession(program, 0, 'second')).status).toBe(409);
  expect(await program.stop()).toBe(0);
  expect(existsSync(`${file}-wal`)).toBe(false);
});

/** Brings the log into the file. */
function checkpoint(file: string): void {
  const connection = new Connection(file);
  // A process that has it open may be the last to close it, and here is not.
  connection.fileControl(sqlite.SQLITE_FCNTL_PERSIST_WAL, 1);
  connection.run('PRAGMA busy_timeout = 5000');
  connection.run('PRAGMA wal_checkpoint(TRUNCATE)');
  connection.close();
}

/** Sets the number of cells in the head of each leaf of a table: rows are gone, as of a disk that loses some bytes. */
function setCells(file: string, table: string, count: number): void {
  checkpoint(file);
  const connection = new Connection(file);
  connection.fileControl(sqlite.SQLITE_FCNTL_PERSIST_WAL, 1);
  const root = connection.query('SELECT rootpage FROM sqlite_schema WHERE name = ?').values(table);
  const pages = root.map(([page]) => Number(page));
  const { page_size: size } = connection.query('PRAGMA page_size').get() as { page_size: number };
  connection.close();
  const disk = openSync(file, 'r+');
  const page = Buffer.alloc(size);
  while (pages.length > 0) {
    const at = (Number(pages.pop()) - 1) * size;
    readSync(disk, page, 0, size, at);
    const isLeaf = ((page[0] ?? 0) & 8) !== 0;
    const cells = page.readUInt16BE(3);
    if (isLeaf) writeSync(disk, Buffer.from([0, count]), 0, 2, at + 3);
    else {
      pages.push(page.readUInt32BE(8));
      for (let n = 0; n < cells; n++) pages.push(page.readUInt32BE(page.readUInt16BE(12 + 2 * n)));
    }
  }
  closeSync(disk);
}
