import { Database } from 'bun:sqlite';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import {
  cpSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { seal, unseal } from '../../../commands/backup/backup-file.ts';
import { restoreEmbedded } from '../../../commands/backup/restore-embedded.ts';
import { openServer } from '../../../commands/storage/server.ts';
import { openSqlite } from '../../../commands/storage/sqlite.ts';
import { fromHex } from '../../../lib/base/bytes.ts';
import { backupKey } from '../../../lib/identity/keys.ts';
import { libsqlProgram, startLibsql } from '../../../scripts/dev-stack/libsql.ts';
import { temporaryFolder } from '../../support/databases.ts';
import { isLong } from '../../support/long.ts';
import { runProgram, VAULT } from '../../support/run.ts';

const ROOT = join(import.meta.dir, '../../..');

/** A vault of three people and its backup, made once: each test gets a copy. */
const template = temporaryFolder();
let folder = template;
beforeAll(async () => {
  expect((await run('migrate')).code).toBe(0);
  addPeople(at('vault-data/vault.db'), 3);
  expect((await run('backup', 'a.backup')).code).toBe(0);
});
afterAll(() => template.remove());
beforeEach(() => {
  folder = temporaryFolder();
  cpSync(template.path, folder.path, { recursive: true });
});
afterEach(() => folder.remove());

const run = (...args: string[]) => runProgram(args, { cwd: folder.path });
const at = (name: string) => join(folder.path, name);

function addPeople(path: string, count: number): void {
  const database = new Database(path);
  database
    .transaction(() => {
      for (let i = 0; i < count; i++)
        database.run(`INSERT INTO verifications (identifier, verified_at) VALUES ('email:${crypto.randomUUID()}', 1)`);
    })
    .immediate();
  database.close();
}

function peopleIn(path: string): number {
  // As the next start opens it: of a restore that was killed it may have to take back what was half written.
  const database = new Database(path, { readwrite: true });
  const [row] = database.query('SELECT count(*) FROM verifications').values();
  expect(database.query('PRAGMA integrity_check').values()).toEqual([['ok']]);
  database.close();
  return Number(row?.[0]);
}

/** Changes the backup's database as somebody who has the secret would. */
function reseal(change: (database: Database) => void): void {
  const { manifest } = unseal(at('a.backup'), undefined, at('pages'));
  unlinkSync(at('a.backup'));
  const database = new Database(at('pages'));
  change(database);
  database.close();
  const { bytes: _, sha256: __, format: ___, ...facts } = manifest;
  const secret = fromHex(readFileSync(at('vault-data/vault.secret'), 'utf8').trim());
  seal(at('pages'), facts, backupKey(secret ?? new Uint8Array()));
  linkSync(at('pages'), at('a.backup'));
  unlinkSync(at('pages'));
}

describe('two restores at once', () => {
  test('the second says so, and changes nothing', async () => {
    const before = readFileSync(at('vault-data/vault.db'));
    const lock = new Database(at('vault-data/restore.lock'));
    lock.run('BEGIN EXCLUSIVE');
    const { code, err } = await run('restore', 'a.backup', '--overwrite');
    lock.close();
    expect([code, err]).toEqual([1, expect.stringContaining('another restore is under way')]);
    expect(readFileSync(at('vault-data/vault.db')).equals(before)).toBe(true);
  });

  test('are one that restores, and others that restore after it or say why they do not', async () => {
    const all = await Promise.all(Array.from({ length: 4 }, () => run('restore', 'a.backup', '--overwrite')));
    const refused = all.filter(({ code }) => code !== 0);
    expect(refused.length).toBeLessThan(all.length);
    for (const { code, err } of refused)
      expect([code, err]).toEqual([1, expect.stringContaining('another restore is under way')]);
    expect(peopleIn(at('vault-data/vault.db'))).toBe(3);
  });
});

describe('vault restore', () => {
  test('into an empty directory makes the database, for its owner only', async () => {
    const { code, out, err } = await run('restore', 'a.backup', '--data-dir', 'other');
    expect(code).toBe(0);
    expect(out).toContain('restored: this is the database now');
    expect(err).toContain('Whether someone changed it can be checked only with');
    expect(err).toContain('vault: DATA_DIR has no vault.secret and no operator.secret: put back what the backed-up');
    expect(readdirSync(at('other')).toSorted()).toEqual(['restore.lock', 'vault.db']);
    expect(statSync(at('other/vault.db')).mode & 0o777).toBe(0o600);
    expect(peopleIn(at('other/vault.db'))).toBe(3);
  });

  test('ends the tokens of all operators, whichever the backup has, and says so', async () => {
    const added = await run('operators', 'add', 'ada', '--role', 'operator');
    expect([added.code, added.err]).toEqual([0, expect.stringContaining('ada  operator  live  until ')]);
    expect((await run('backup', 'b.backup')).code).toBe(0);
    const { code, out } = await run('restore', 'b.backup', '--overwrite');
    expect([code, out]).toEqual([0, expect.stringContaining('The tokens of 1 operator are ended')]);
    expect((await run('operators', 'list')).out).toBe('No operators.\n');
  });

  test('asked only to check changes nothing', async () => {
    const { code, out } = await run('restore', 'a.backup', '--data-dir', 'other', '--dry-run', '--json');
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ restored: false, authenticated: 'digest', rows: { verifications: 3 } });
    expect(existsSync(at('other'))).toBe(false);
  });

  test('takes the place of a database only when told to, and keeps it', async () => {
    addPeople(at('vault-data/vault.db'), 2);
    expect(await run('restore', 'a.backup')).toMatchObject({ code: 1, out: '' });
    expect(peopleIn(at('vault-data/vault.db'))).toBe(5);
    const { code, out, err } = await run('restore', 'a.backup', '--overwrite', '--json');
    expect({ code, err }).toEqual({ code: 0, err: '' });
    const { authenticated, keptAs } = JSON.parse(out);
    expect(authenticated).toBe('hmac');
    expect(peopleIn(at('vault-data/vault.db'))).toBe(3);
    expect(peopleIn(keptAs)).toBe(5);
    expect(statSync(keptAs).mode & 0o777).toBe(0o600);
  });

  test('takes the place of a file that is no database any more only when told to', async () => {
    writeFileSync(at('vault-data/vault.db'), 'something else '.repeat(100));
    expect((await run('restore', 'a.backup')).err).toContain('not a readable database');
    expect((await run('restore', 'a.backup', '--overwrite')).code).toBe(0);
    expect(peopleIn(at('vault-data/vault.db'))).toBe(3);
  });

  test('is refused while somebody has the database open, also somebody who does nothing', async () => {
    const open = openSqlite(at('vault-data/vault.db'));
    const { code, err } = await run('restore', 'a.backup', '--overwrite');
    expect(code).toBe(1);
    expect(err).toContain('a vault is running on');
    expect((await open.execute({ sql: 'PRAGMA journal_mode', args: {} })).rows).toEqual([{ journal_mode: 'wal' }]);
    open.close();
    expect((await run('restore', 'a.backup', '--overwrite')).code).toBe(0);
  });

  test('beside the log of a database that is gone is refused', async () => {
    mkdirSync(at('other'));
    writeFileSync(at('other/vault.db-wal'), 'frames');
    const { code, err } = await run('restore', 'a.backup', '--data-dir', 'other');
    expect([code, err]).toEqual([1, expect.stringContaining('vault.db-wal exists without its database')]);
    expect(readdirSync(at('other')).toSorted()).toEqual(['restore.lock', 'vault.db-wal']);
  });
});

describe('a backup that cannot be trusted is refused before anything is replaced', () => {
  const refusal = async (...args: string[]) => {
    const before = readFileSync(at('vault-data/vault.db'));
    const { code, out, err } = await run('restore', 'a.backup', '--overwrite', ...args);
    expect([code, out]).toEqual([1, '']);
    expect(readFileSync(at('vault-data/vault.db')).equals(before)).toBe(true);
    expect(readdirSync(at('vault-data')).sort()).toEqual(['operator.secret', 'vault.db', 'vault.secret']);
    return err;
  };
  const flip = (place: (size: number) => number) => {
    const bytes = readFileSync(at('a.backup'));
    const index = place(bytes.length);
    bytes[index] = (bytes[index] ?? 0) ^ 0x20;
    writeFileSync(at('a.backup'), bytes);
  };

  test.each<[string, (size: number) => number]>([
    ['header', () => 20],
    ['middle', (size) => Math.floor(size / 2)],
    ['manifest', (size) => size - 300],
    ['tail', (size) => size - 2],
  ])('with a bit changed in its %s', async (_, place) => {
    flip(place);
    expect(await refusal()).toMatch(/damaged|not a backup/);
  });

  test('cut short, or nothing at all', async () => {
    truncateSync(at('a.backup'), 100_000);
    expect(await refusal()).toContain('this is not a backup of a vault');
    truncateSync(at('a.backup'), 0);
    expect(await refusal()).toContain('this is not a backup of a vault');
  });

  test('that somebody changed, or of another VAULT_SECRET, until that is said to be so', async () => {
    const { manifest } = unseal(at('a.backup'), undefined, at('pages'));
    addPeople(at('pages'), 1);
    const { bytes: _, sha256: __, format: ___, ...facts } = manifest;
    seal(at('pages'), { ...facts, rows: { ...facts.rows, verifications: 4 } }, backupKey(new Uint8Array(32)));
    unlinkSync(at('a.backup'));
    linkSync(at('pages'), at('a.backup'));
    expect(await refusal()).toContain('another VAULT_SECRET, or someone changed it');
    const { code, err } = await run('restore', 'a.backup', '--overwrite', '--other-secret');
    expect([code, err]).toEqual([
      0,
      expect.stringContaining('put that vault.secret into DATA_DIR before the vault starts'),
    ]);
    expect(peopleIn(at('vault-data/vault.db'))).toBe(4);
  });

  test.each<[string, (database: Database) => void, string]>([
    ['with fewer rows than were counted', (db) => db.run('DELETE FROM verifications'), 'its number of rows is wrong'],
    ['of a newer vault', (db) => db.run(`INSERT INTO migrations VALUES (9999, 'x', 1)`), 'schema version 9999'],
    [
      'of a tree from before the first release',
      (db) => db.run(`UPDATE migrations SET name = 'the main job'`),
      'it has tables from before the first release, which cannot be migrated',
    ],
    ['that lacks a table', (db) => db.run('DROP TABLE sponsorships'), 'its tables differ from those of a vault'],
    [
      'with a trigger of its own',
      (db) => db.run('CREATE TRIGGER t AFTER INSERT ON codes BEGIN DELETE FROM codes; END'),
      'its tables differ from those of a vault',
    ],
    [
      'with a trigger that is named as if it were Litestream’s',
      (db) => db.run('CREATE TRIGGER _litestream_t AFTER INSERT ON codes BEGIN DELETE FROM codes; END'),
      'its tables differ from those of a vault',
    ],
    [
      'with an index that lets two rows through where a vault lets one',
      (db) => {
        const [index] = db.query(`SELECT name, sql FROM sqlite_schema WHERE sql LIKE 'CREATE UNIQUE INDEX%'`).values();
        db.run(`DROP INDEX ${index?.[0]}`);
        db.run(String(index?.[1]).replace('UNIQUE ', ''));
      },
      'another definition of index',
    ],
    [
      'with a table that lacks a constraint',
      (db) => {
        db.run('DROP TABLE webhook_cursor');
        db.run('CREATE TABLE webhook_cursor (id INTEGER PRIMARY KEY) STRICT');
      },
      'another definition of table webhook_cursor',
    ],
    [
      'with a row that refers to none',
      (db) =>
        db.run(
          `INSERT INTO relay_attempts (relay_id, hash, raw, gas, max_fee, tip, kind) VALUES (7, '', '', 1, 1, 1, '')`,
        ),
      'refers to a missing row',
    ],
    [
      'with no tables',
      (db) => {
        for (const [name] of db
          .query(`SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'`)
          .values())
          db.run(`DROP TABLE ${name}`);
      },
      'cannot be restored',
    ],
  ])('%s, though its digests are right', async (_, change, words) => {
    reseal(change);
    expect(await refusal()).toContain(words);
  });
});

describe('secrets of a backup', () => {
  test('become files where told to, and never replace another', async () => {
    expect((await run('restore', 'a.backup', '--with-secrets')).err).toContain('it was made without --with-secrets');
    await run('backup', 'b.backup', '--with-secrets');
    expect((await run('restore', 'b.backup', '--data-dir', 'two', '--with-secrets')).code).toBe(0);
    const without = await run('restore', 'b.backup', '--data-dir', 'without');
    expect(without.err).toContain('put back what the backed-up vault had, or restore with --with-secrets');
    for (const name of ['vault.secret', 'operator.secret']) {
      expect(readFileSync(at(`two/${name}`), 'utf8')).toBe(readFileSync(at(`vault-data/${name}`), 'utf8'));
      expect(statSync(at(`two/${name}`)).mode & 0o777).toBe(0o600);
    }
    mkdirSync(at('three'));
    writeFileSync(at('three/operator.secret'), `${'0123456789abcdef'.repeat(4)}\n`, { mode: 0o600 });
    const { code, err } = await run('restore', 'b.backup', '--data-dir', 'three', '--with-secrets');
    expect([code, err]).toEqual([1, expect.stringContaining('and the backup contain different secrets')]);
    expect(readdirSync(at('three'))).toEqual(['operator.secret']);
  });
});

/** Enough that a restore can be killed in the middle. */
const PEOPLE = isLong ? 60_000 : 20_000;
const KILLS = isLong ? 10 : 5;

test('killed at any moment, a restore leaves the database of before or the whole of the backup', async () => {
  addPeople(at('vault-data/vault.db'), PEOPLE);
  expect((await run('backup', 'big.backup')).code).toBe(0);
  const whole = readFileSync(at('vault-data/vault.db'));
  const start = performance.now();
  expect((await run('restore', 'big.backup', '--dry-run')).code).toBe(0);
  let longest = performance.now() - start;
  const outcomes: number[] = [];
  for (let i = 0; i < KILLS; i++) {
    writeFileSync(at('vault-data/vault.db'), whole);
    addPeople(at('vault-data/vault.db'), 1);
    const child = Bun.spawn([...VAULT, 'restore', 'big.backup', '--overwrite'], {
      cwd: folder.path,
      env: {},
      stdout: 'ignore',
      stderr: 'ignore',
    });
    const begin = performance.now();
    // From the middle of its checks to after its end. One that ends sooner says how long it takes by now.
    await Promise.race([child.exited, Bun.sleep(longest * (3 / 8 + (i * 10) / KILLS / 8))]);
    child.kill('SIGKILL');
    if ((await child.exited) === 0) longest = Math.min(longest, performance.now() - begin);
    const people = peopleIn(at('vault-data/vault.db'));
    expect([PEOPLE + 3, PEOPLE + 4]).toContain(people);
    outcomes.push(people);
  }
  expect(outcomes).toContain(PEOPLE + 4);
  expect((await run('restore', 'big.backup', '--overwrite')).code).toBe(0);
  expect(peopleIn(at('vault-data/vault.db'))).toBe(PEOPLE + 3);
});

test('a vault that starts while a restore replaces its database opens the new one', async () => {
  const target = at('vault-data/vault.db');
  addPeople(target, 4);
  const script = `import { openSqlite } from '${ROOT}/commands/storage/sqlite.ts';
    const database = openSqlite('${target}');
    console.log((await database.execute({ sql: 'SELECT count(*) AS people FROM verifications', args: {} })).rows[0].people);`;
  let starting: ReturnType<typeof openLate> | undefined;
  const openLate = () => Bun.spawn([process.execPath, '-e', script], { stdout: 'pipe', stderr: 'inherit' });
  const keep = () => {
    // By now the file is locked; the other process opens it and waits.
    starting = openLate();
    Bun.sleepSync(500);
  };
  const { manifest } = unseal(at('a.backup'), undefined);
  await restoreEmbedded({ backup: at('a.backup'), manifest, target, isOverwrite: true, keep });
  expect(await new Response(starting?.stdout).text()).toBe('3\n');
});

test.skipIf(!libsqlProgram())(
  'into a libSQL server, cut short, serves nobody until it is run again, which begins anew',
  async () => {
    addPeople(at('vault-data/vault.db'), 10_000);
    expect((await run('backup', 'big.backup')).code).toBe(0);
    const server = await startLibsql({ dir: at('server') });
    const url = server?.url ?? '';
    const secret = readFileSync(at('vault-data/vault.secret'), 'utf8').trim();
    const vars = { DATABASE_URL: url, VAULT_SECRET: secret, OPERATOR_SECRET: secret.split('').reverse().join('') };
    const client = await openServer({ url, maxConnections: 2 });
    const tables = async () =>
      (await client.execute(`SELECT name FROM sqlite_schema WHERE type = 'table'`)).rows.map(({ name }) => name);
    const child = Bun.spawn([...VAULT, 'restore', 'big.backup'], {
      cwd: folder.path,
      env: vars,
      stdout: 'ignore',
      stderr: 'ignore',
    });
    while (!(await tables()).includes('verifications')) await Bun.sleep(1);
    child.kill('SIGKILL');
    await child.exited;
    expect(await tables()).toContain('unfinished_restore');
    expect(await tables()).not.toContain('migrations');
    const start = await runProgram(['serve', '--port', '0'], { cwd: folder.path, vars });
    expect([start.code, start.err]).toEqual([1, expect.stringContaining('already exists')]);
    // What may still be under way on the server ends before the next one begins.
    const again = await runProgram(['restore', 'big.backup', '--json'], { cwd: folder.path, vars });
    // A slow one shows its progress.
    expect(again).toMatchObject({ code: 0, err: expect.stringMatching(/^(?:[\w ]+: \d+ rows\n)*$/) });
    expect(JSON.parse(again.out)).toMatchObject({ authenticated: 'hmac', rows: { verifications: 10_003 } });
    expect(await tables()).not.toContain('unfinished_restore');
    expect((await client.execute('SELECT count(*) AS people FROM verifications')).rows[0]?.['people']).toBe(10_003);
    client.close();
    await server?.stop();
  },
);
