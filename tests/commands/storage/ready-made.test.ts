import { Database } from 'bun:sqlite';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { existsSync, linkSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beginReadyMade } from '../../../commands/storage/ready-made.ts';
import { openSqlite } from '../../../commands/storage/sqlite.ts';
import { migrate, pendingMigrations } from '../../../lib/db/migrations.ts';
import { MIGRATIONS } from '../../../lib/db/schema.ts';
import { readyMade } from '../../../scripts/ready-made.ts';
import { testClock } from '../../support/clock.ts';
import { temporaryFolder } from '../../support/databases.ts';

const NOW = 1_790_000_000_123;

let source: ReturnType<typeof temporaryFolder>;
let folder: ReturnType<typeof temporaryFolder>;
let image: string;
let path: string;
beforeAll(async () => {
  source = temporaryFolder();
  image = join(source.path, 'vault.db.zst');
  writeFileSync(image, await readyMade());
});
afterAll(() => source.remove());
beforeEach(() => {
  folder = temporaryFolder();
  path = join(folder.path, 'vault.db');
});
afterEach(() => folder.remove());

describe('the ready-made database', () => {
  test('is what the migrations make of an empty one', async () => {
    expect(await layReadyMade(path, NOW, image)).toBe(MIGRATIONS.length);
    const migrated = join(folder.path, 'migrated.db');
    const database = openSqlite(migrated);
    await migrate(database, testClock(NOW));
    database.close();
    const opened = openSqlite(path);
    expect(await pendingMigrations(opened)).toEqual([]);
    opened.close();
    expect(contentOf(path)).toEqual(contentOf(migrated));
  });

  test('is readable by its owner alone, and leaves no draft', async () => {
    await layReadyMade(path, NOW, image);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readdirSync(folder.path)).toEqual(['vault.db']);
  });

  test.each(['', '-wal', '-shm', '-journal'])('is not put where there is a vault.db%s', async (end) => {
    writeFileSync(path + end, 'kept');
    expect(await layReadyMade(path, NOW, image)).toBe(0);
    expect(readFileSync(path + end, 'utf8')).toBe('kept');
    expect(readdirSync(folder.path)).toEqual([`vault.db${end}`]);
  });

  test('replaces no link, and says nothing of a folder that is not there', async () => {
    symlinkSync(join(folder.path, 'elsewhere.db'), path);
    expect(await layReadyMade(path, NOW, image)).toBe(0);
    expect(readdirSync(folder.path)).toEqual(['vault.db']);
    expect(await layReadyMade(join(folder.path, 'none', 'vault.db'), NOW, image)).toBe(0);
    expect(existsSync(join(folder.path, 'none'))).toBe(false);
  });

  test('on a disk that refuses even to remove a draft leaves it to the opening to say why', async () => {
    writeFileSync(join(folder.path, 'file'), 'kept');
    const below = join(folder.path, 'file', 'vault.db');
    expect(await layReadyMade(below, NOW, image)).toBe(0);
    expect(() => openSqlite(below)).toThrow(`Cannot open the database ${below}`);
  });

  test('loses the second name that a kill between its link and the end of its draft leaves', async () => {
    const killed = Bun.spawn(
      [
        process.execPath,
        '-e',
        `${KILL_AFTER_LINK}
      const { beginReadyMade } = await import(${JSON.stringify(MODULE)});
      await beginReadyMade(${JSON.stringify(path)}, ${NOW}, ${JSON.stringify(image)}).finish();`,
      ],
      { stderr: 'inherit' },
    );
    expect(await killed.exited).toBe(137);
    expect(statSync(path).nlink).toBe(2);
    // Another process makes the one, and people made the other.
    const others = [`vault.db.4711.${crypto.randomUUID()}`, 'vault.db.kept'];
    writeFileSync(join(folder.path, others[0] ?? ''), 'draft');
    linkSync(path, join(folder.path, others[1] ?? ''));
    expect(await layReadyMade(path, NOW)).toBe(0);
    expect(readdirSync(folder.path).sort()).toEqual(['vault.db', ...others].sort());
  });

  test('is not built from migrations that hold the bytes of the marker: they would become the time', async () => {
    const text = { version: 1, name: 'note', statements: [`CREATE TABLE t (note TEXT DEFAULT 'Vault!') STRICT`] };
    await expect(readyMade([text])).rejects.toThrow('the migrations hold the text Vault!');
  });

  test('is put once by several at a time', async () => {
    const laid = await Promise.all(
      Array.from({ length: 4 }, async () => {
        const script = `import { beginReadyMade } from ${JSON.stringify(MODULE)};
          const { migrations } = await beginReadyMade(${JSON.stringify(path)}, ${NOW}, ${JSON.stringify(image)}).finish();
          console.log(migrations);`;
        return Number(await new Response(Bun.spawn([process.execPath, '-e', script]).stdout).text());
      }),
    );
    expect(laid.toSorted((a, b) => b - a)).toEqual([MIGRATIONS.length, 0, 0, 0]);
    expect(readdirSync(folder.path)).toEqual(['vault.db']);
  });

  test('is left out where the program runs from source', async () => {
    expect(await layReadyMade(path, NOW)).toBe(0);
    expect(readdirSync(folder.path)).toEqual([]);
  });
});

async function layReadyMade(path: string, now: number, source?: string): Promise<number> {
  const { migrations, durable } = await beginReadyMade(path, now, source).finish();
  await durable;
  return migrations;
}

/** Ends the process, as kill -9 does, once a file has its second name. */
const KILL_AFTER_LINK = `
  const fs = require('node:fs');
  const { linkSync } = fs;
  fs.linkSync = (from, to) => {
    linkSync(from, to);
    process.kill(process.pid, 'SIGKILL');
  };
  require('node:module').syncBuiltinESMExports();`;

const MODULE = join(import.meta.dir, '../../../commands/storage/ready-made.ts');

/** Every definition and every row, and how the file is written. */
function contentOf(file: string) {
  const database = new Database(file, { readonly: true });
  const read = (sql: string) => database.query(sql).values();
  const definitions = read('SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name');
  const rows = definitions
    .filter(([type]) => type === 'table')
    .map(([, name]) => [name, read(`SELECT * FROM "${name}"`)]);
  const kind = ['page_size', 'encoding', 'auto_vacuum', 'journal_mode', 'user_version', 'application_id'];
  const content = { definitions, rows, kind: kind.map((one) => read(`PRAGMA ${one}`)) };
  database.close();
  return content;
}
