import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqlite } from '../commands/storage/sqlite.ts';
import { systemClock } from '../lib/base/clock.ts';
import { migrate } from '../lib/db/migrations.ts';

/**
 * The compressed file of a database as the migrations leave an empty one, without a write-ahead log:
 * `commands/storage/ready-made.ts` puts it where a first start finds none.
 */
export async function readyMade(): Promise<Uint8Array> {
  const folder = mkdtempSync(join(tmpdir(), 'vault-ready-made-'));
  try {
    const path = join(folder, 'vault.db');
    const database = openSqlite(path);
    await migrate(database, systemClock);
    await database.execute({ sql: 'VACUUM', args: {} });
    database.close();
    const image = readFileSync(path);
    // Bytes 18 and 19 of the header: 1 is a journal, 2 a write-ahead log, which one in memory cannot have.
    image.fill(1, 18, 20);
    return Bun.zstdCompressSync(image, { level: 19 });
  } finally {
    rmSync(folder, { recursive: true });
  }
}
