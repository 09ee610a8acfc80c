import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { openAssets } from '../../commands/serve/assets.ts';
import { type Embedded, findAssets } from '../../commands/serve/embedded.ts';

/**
 * The served files, built once for all vaults: by the run of the tests (`scripts/testing/run.ts`), else by this process.
 * Each vault building its own took a quarter of a second.
 */
export const testAssets = openAssets(() => {
  const built = process.env['TEST_ASSETS_DIR'];
  return built ? filesIn(built) : findAssets();
});

async function filesIn(folder: string): Promise<Readonly<Record<string, Embedded>>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return Object.fromEntries(files.map((file) => [file.slice(folder.length), { content: Bun.file(file) }]));
}
