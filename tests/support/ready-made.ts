import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beginReadyMade } from '../../commands/storage/ready-made.ts';
import { readyMade } from '../../scripts/ready-made.ts';
import { oncePerRun } from './once.ts';

/** Puts a database whose tables are made at `path`, where there is none: making them takes most of a vault's start. */
export async function putReadyMade(path: string, now: number): Promise<void> {
  await beginReadyMade(path, now, SOURCE).finish();
}

/** Made of the migrations as they are now, once a run. */
const SOURCE = await make();

async function make(): Promise<string> {
  const folder = process.env['TEST_RUN_DIR'] ?? ownFolder();
  const path = join(folder, 'vault.db.zst');
  await oncePerRun('vault.db.zst', async () => Bun.write(path, await readyMade()));
  return path;
}

function ownFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'vault-test-'));
  process.once('exit', () => rmSync(folder, { recursive: true }));
  return folder;
}
