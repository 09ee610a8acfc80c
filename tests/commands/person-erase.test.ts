import { Database as Connection } from 'bun:sqlite';
import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { cpSync, existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { openSqlite } from '../../commands/storage/sqlite.ts';
import { startLibsql } from '../../scripts/dev-stack/libsql.ts';
import { readRows, temporaryFolder } from '../support/databases.ts';
import { type Stored, storedPerson, storePerson } from '../support/person-rows.ts';
import { startProgram } from '../support/program.ts';
import { runProgram, VAULT } from '../support/run.ts';
import { type AtTerminal, CTRL_C, startAtTerminal } from '../support/terminal.ts';
import { until } from '../support/until.ts';

let folder: ReturnType<typeof temporaryFolder>;
beforeEach(async () => {
  folder = temporaryFolder();
  expect((await runProgram(['migrate'], { cwd: folder.path })).code).toBe(0);
});
afterEach(() => folder.remove());

const [alice, bob] = [storedPerson(1), storedPerson(2)];
const at = (name: string) => join(folder.path, name);
const FILE = 'vault-data/vault.db';
const run = (...args: string[]) => runProgram(args, { cwd: folder.path });

async function store(...people: readonly Stored[]): Promise<void> {
  const database = openSqlite(at(FILE));
  for (const one of people) await storePerson(database, one, Date.now());
  database.close();
}

/** Codes of others around those of a person, so that pages split and merge. */
function addCodes(key: string, count: number, isOverwriting = true): void {
  const database = new Connection(at(FILE), { strict: true });
  // The vault beside it may be in the midst of a commit.
  database.run('PRAGMA busy_timeout = 60000');
  database.run(`PRAGMA secure_delete = ${isOverwriting ? 'ON' : 'OFF'}`);
  const insert = database.query(`INSERT INTO codes (id, identifier, channel, ip, sent_at, expires_at, digest)
    VALUES ('x', :key, 'email', '203.0.113.9', :now, :now, 'd')`);
  database.transaction(() => {
    for (let i = 0; i < count; i++)
      for (const one of [key, `email:other${i}@elsewhere.example`]) insert.run({ key: one, now: Date.now() });
  })();
  database.close();
}

const ask = (sql: string) => readRows(at(FILE), sql);

/** The files of the database that hold a text anywhere. */
function filesWith(text: string): string[] {
  return [FILE, `${FILE}-wal`].filter((name) => existsSync(at(name)) && readFileSync(at(name)).includes(text));
}

test('an erasure beside a running vault leaves no byte of the address in file and log, and a restore brings nobody back', async () => {
  const program = await startProgram({}, { cwd: folder.path });
  await store(alice, bob);
  addCodes(`email:${alice.identifier}`, 500);
  expect(filesWith(alice.identifier)).not.toEqual([]);
  expect((await run('backup', 'before.backup')).code).toBe(0);

  const plan = await run('person', 'erase', alice.identifier, '--dry-run');
  expect(plan.out).toStartWith(`Would erase: email:${alice.identifier}\ncodes: 501 rows (a code that was sent) would`);
  const done = await run('person', 'erase', alice.identifier);
  expect([done.code, done.err]).toEqual([0, '']);
  expect(done.out).toContain(
    'verifications: 1 row (that the identifier was verified, and wrong guesses in a row) removed',
  );
  expect(done.out).not.toContain('pages as they were');
  expect(filesWith(alice.identifier)).toEqual([]);
  expect(filesWith(bob.identifier)).not.toEqual([]);
  expect((await run('person', 'show', alice.identifier)).out).toContain(
    '\n\nerasures: 1 row (that the identifier was erased',
  );
  expect(await program.stop()).toBe(0);

  // Bob registers again after his erasure, and a backup has that.
  expect((await run('person', 'erase', bob.identifier)).code).toBe(0);
  await store({ ...storedPerson(3), identifier: bob.identifier });
  expect((await run('backup', 'after.backup')).code).toBe(0);
  const after = await run('restore', 'after.backup', '--overwrite', '--json');
  expect(JSON.parse(after.out)).toMatchObject({ restored: true, erased: 0 });
  expect(filesWith(bob.identifier)).toEqual([FILE]);

  // The database is lost with all that it knew.
  const restored = await run('restore', 'before.backup', '--overwrite');
  expect(restored.out).toContain('Erased again: 2 identifiers that an erasure since the backup had taken out.');
  for (const one of [alice, bob]) expect(filesWith(one.identifier)).toEqual([]);
  expect(ask('SELECT identifier, did FROM registrations ORDER BY id')).toEqual([
    ['email:[1]@erased', alice.did],
    ['email:[2]@erased', bob.did],
  ]);
  expect(ask('SELECT count(*) FROM erasures')).toEqual([[2]]);
  expect(await run('export')).toMatchObject({ code: 0, out: '', err: 'vault: 0 registrations\n' });
});

describe('at a terminal', () => {
  function erase(...args: string[]): AtTerminal {
    return startAtTerminal([...VAULT, 'person', 'erase', alice.identifier, ...args], { cwd: folder.path });
  }

  test('it says what goes, and asks: yes alone erases', async () => {
    await store(alice);
    for (const no of ['no\r', '\r', CTRL_C, '\x04']) {
      const program = erase();
      expect(await program.shows('Type yes:')).toContain(`Would erase: email:${alice.identifier}`);
      // Once: a second Ctrl+C would end the program on its way out.
      program.type(no);
      await program.shows('Nothing was erased.');
      expect(await program.exited).toBe(1);
      expect(filesWith(alice.identifier)).not.toEqual([]);
    }
    const program = erase();
    await program.answer('Type yes:', 'yes');
    await program.shows(`Erased: email:${alice.identifier}`);
    expect(await program.exited).toBe(0);
    expect(filesWith(alice.identifier)).toEqual([]);
  });

  test('with --yes it does not ask', async () => {
    await store(alice);
    const program = erase('--yes');
    expect(await program.shows(`Erased: email:${alice.identifier}`)).not.toContain('Type yes');
    expect(await program.exited).toBe(0);
    expect(filesWith(alice.identifier)).toEqual([]);
  });
});

test('an address of which nothing is stored: it says so, and a restore of what has it erases it', async () => {
  await store(alice);
  expect((await run('backup', 'before.backup')).code).toBe(0);
  expect((await run('person', 'erase', alice.identifier)).code).toBe(0);
  const nothing = 'Nothing is stored of this person.\n';
  expect(await run('person', 'erase', 'nobody@example.com', '--dry-run')).toMatchObject({ code: 0, out: nothing });
  expect(ask('SELECT count(*) FROM erasures')).toEqual([[1]]);
  const erased = await run('person', 'erase', 'nobody@example.com');
  expect(erased).toMatchObject({
    code: 0,
    out: 'Nothing is stored of this person. If a backup has something of this person, its restore erases it.\n',
  });
  expect(JSON.parse((await run('person', 'erase', 'none@example.com', '--json')).out)).toMatchObject({ tables: [] });
  expect(ask('SELECT count(*) FROM erasures')).toEqual([[3]]);
  expect(readFileSync(at('vault-data/erasures'), 'utf8').trim().split(/\n+/)).toHaveLength(3);
});

test('what a vault of before has left in the file goes with --vacuum', async () => {
  await store(alice);
  addCodes(`email:${alice.identifier}`, 500, false);
  expect((await run('person', 'erase', alice.identifier)).code).toBe(0);
  expect(filesWith(alice.identifier)).toEqual([FILE]);
  expect((await run('person', 'erase', alice.identifier, '--vacuum')).code).toBe(0);
  expect(filesWith(alice.identifier)).toEqual([]);
});

test('an erasure by the console is on the list beside the database', async () => {
  await store(alice);
  const program = await startProgram({}, { cwd: folder.path });
  const secret = readFileSync(at('vault-data/operator.secret'), 'utf8').trim();
  const erased = await fetch(`${program.url}/v1/console/person/erase`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${secret}` },
    body: JSON.stringify({ identifier: alice.identifier }),
  });
  expect(await erased.json()).toMatchObject({ erased: true, waiting: 0, logEmptied: true });
  expect(filesWith(alice.identifier)).toEqual([]);
  expect(readFileSync(at('vault-data/erasures'), 'utf8')).toMatch(/^[0-9a-f]{64} \d{13} 1\n$/);
  expect(program.output()).not.toContain(alice.identifier);
  await program.stop();
});

test('killed in the middle, and asked for again by two at once, it ends as if nothing had happened', async () => {
  await store(alice);
  addCodes(`email:${alice.identifier}`, 5_000);
  const left = () => Number(ask(`SELECT count(*) FROM codes WHERE identifier = 'email:${alice.identifier}'`)[0]?.[0]);
  const command = [...VAULT, 'person', 'erase', alice.identifier];
  cpSync(at('vault-data'), at('before'), { recursive: true });
  await until('an erasure is killed in its middle', async () => {
    const child = Bun.spawn(command, { cwd: folder.path, env: {}, stdout: 'ignore', stderr: 'ignore' });
    await until('it erases, or has ended', () => left() < 5_001 || child.exitCode !== null, undefined, 1);
    child.kill('SIGKILL');
    await child.exited;
    if (left() > 0) return true;
    // On a busy machine it may end before it is seen to have begun.
    rmSync(at('vault-data'), { recursive: true });
    cpSync(at('before'), at('vault-data'), { recursive: true });
    return false;
  });
  expect(ask('SELECT finished_at FROM erasures')).toEqual([[null]]);
  expect(ask(`SELECT identifier FROM registrations`)).toEqual([[`email:${alice.identifier}`]]);

  const both = await Promise.all([1, 2].map(() => run('person', 'erase', alice.identifier)));
  expect(both.map(({ code, err }) => [code, err])).toEqual([
    [0, ''],
    [0, ''],
  ]);
  expect(filesWith(alice.identifier)).toEqual([]);
  expect(ask('SELECT identifier FROM registrations')).toEqual([['email:[1]@erased']]);
  expect(ask('SELECT was_registered, finished_at > 0 FROM erasures')).toEqual([[1, 1]]);
});

test('without the secret of then, nothing is restored past the list', async () => {
  await store(alice);
  expect((await run('backup', 'before.backup')).code).toBe(0);
  expect((await run('person', 'erase', alice.identifier)).code).toBe(0);
  const elsewhere = temporaryFolder();
  const restore = (...args: string[]) =>
    runProgram(['restore', at('before.backup'), '--other-secret', '--erasures', at('vault-data/erasures'), ...args], {
      cwd: elsewhere.path,
    });
  const refused = await restore();
  expect([refused.code, refused.err]).toEqual([1, expect.stringContaining('people were erased since')]);
  const nowhere = await runProgram(['restore', at('before.backup'), '--erasures', 'absent'], { cwd: folder.path });
  expect([nowhere.code, nowhere.err]).toEqual([2, expect.stringContaining('there is no file absent')]);
  elsewhere.remove();
});

const server = await startLibsql({ dir: temporaryFolder().path });
if (!server) console.log('There is no libSQL server for this machine: a restore into one is left out.');
else
  test('a restore into a libSQL server brings nobody back either', async () => {
    await store(alice, bob);
    expect((await run('backup', 'before.backup')).code).toBe(0);
    expect((await run('person', 'erase', alice.identifier)).code).toBe(0);
    const secretOf = (name: string) => readFileSync(at(`vault-data/${name}.secret`), 'utf8').trim();
    const secrets = { VAULT_SECRET: secretOf('vault'), OPERATOR_SECRET: secretOf('operator') };
    const vars = { DATABASE_URL: server.url, ...secrets };
    const restored = await runProgram(['restore', 'before.backup', '--json'], { cwd: folder.path, vars });
    expect([restored.err, restored.code]).toEqual(['', 0]);
    expect(JSON.parse(restored.out)).toMatchObject({ restored: true, erased: 1 });
    const shown = (one: Stored) => runProgram(['person', 'show', one.identifier], { cwd: folder.path, vars });
    expect((await shown(alice)).out).not.toContain('verifications');
    expect((await shown(bob)).out).toContain(`email:${bob.identifier}`);
    await server.stop();
  });
