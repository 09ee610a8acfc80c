import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqlite } from '../../commands/storage/sqlite.ts';
import { migrate } from '../../lib/db/migrations.ts';
import { testClock } from './clock.ts';
import { oncePerRun } from './once.ts';

/** Puts a database whose tables are made at `path`, where there is none: making them takes most of a vault's start. */
export function putMigratedFile(path: string): void {
  if (!existsSync(path)) copyFileSync(SOURCE, path);
}

/** Made of the migrations as they are now, once a run. */
const SOURCE = await make();

async function make(): Promise<string> {
  const path = join(process.env['TEST_RUN_DIR'] ?? ownFolder(), 'migrated.db');
  await oncePerRun('migrated.db', async () => {
    const database = openSqlite(path);
    await migrate(database, testClock());
    database.close();
  });
  return path;
}

function ownFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'vault-test-'));
  process.once('exit', () => rmSync(folder, { recursive: true }));
  return folder;
}
