import { join } from 'node:path';
import { beginReadyMade } from '../../commands/storage/ready-made.ts';
import { readyMade } from '../../scripts/ready-made.ts';
import { temporaryFolder } from './databases.ts';
import { oncePerRun } from './once.ts';

/** Puts a database whose tables are made at `path`, where there is none: making them takes most of a vault's start. */
export async function putReadyMade(path: string, now: number): Promise<void> {
  await beginReadyMade(path, now, SOURCE).finish();
}

/** Made of the migrations as they are now, once a run. */
const SOURCE = await make();

async function make(): Promise<string> {
  const shared = process.env['TEST_RUN_DIR'];
  const folder = shared === undefined ? temporaryFolder() : { path: shared, remove: () => {} };
  process.once('exit', folder.remove);
  const path = join(folder.path, 'vault.db.zst');
  await oncePerRun('vault.db.zst', async () => Bun.write(path, await readyMade()));
  return path;
}
