import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { READY_MADE_AT } from '../commands/storage/ready-made.ts';
import { openSqlite } from '../commands/storage/sqlite.ts';
import { systemClock } from '../lib/base/clock.ts';
import { migrate } from '../lib/db/migrations.ts';
import { MIGRATIONS } from '../lib/db/schema.ts';

/**
 * The compressed file of a database as the migrations leave an empty one: `commands/storage/ready-made.ts` puts it where
 * a first start finds none, and writes the time over the marker. Throws if the migrations hold the marker's bytes.
 */
export async function readyMade(list = MIGRATIONS): Promise<Uint8Array> {
  const marker = Buffer.from('Vault!');
  if ((await imageAt(0, list)).includes(marker)) throw new Error(`the migrations hold the text ${marker}`);
  return Bun.zstdCompressSync(await imageAt(READY_MADE_AT, list), { level: 19 });
}

async function imageAt(time: number, list: typeof MIGRATIONS): Promise<Buffer> {
  const folder = mkdtempSync(join(tmpdir(), 'vault-ready-made-'));
  try {
    const path = join(folder, 'vault.db');
    const database = openSqlite(path);
    await migrate(database, { ...systemClock, now: () => time }, list);
    await database.execute({ sql: 'VACUUM', args: {} });
    database.close();
    return readFileSync(path);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
