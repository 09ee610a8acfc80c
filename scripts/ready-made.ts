import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { READY_MADE_AT } from '../commands/storage/ready-made.ts';
import { openSqlite } from '../commands/storage/sqlite.ts';
import { systemClock } from '../lib/base/clock.ts';
import { migrate } from '../lib/db/migrations.ts';

/**
 * The compressed file of a database as the migrations leave an empty one: `commands/storage/ready-made.ts` puts it where
 * a first start finds none.
 */
export async function readyMade(): Promise<Uint8Array> {
  const folder = mkdtempSync(join(tmpdir(), 'vault-ready-made-'));
  try {
    const path = join(folder, 'vault.db');
    const database = openSqlite(path);
    await migrate(database, { ...systemClock, now: () => READY_MADE_AT });
    await database.execute({ sql: 'VACUUM', args: {} });
    database.close();
    return Bun.zstdCompressSync(readFileSync(path), { level: 19 });
  } finally {
    rmSync(folder, { recursive: true });
  }
}
