import { existsSync } from 'node:fs';
import { join } from 'node:path';

const FOLDER = join(import.meta.dir, '../../tests/tools');

/** The path of a file of a package that only checks and tests need; `npm start` does not install those. */
export function toolPath(path: string): string {
  return join(FOLDER, 'node_modules', path);
}

/** Installs the packages of tests/tools, by its lock file; milliseconds where they are there. Throws if Bun fails. */
export function installTools(): void {
  if (!existsSync(toolPath('.'))) console.log('Installing what checks and tests need, into tests/tools/node_modules …');
  const command = [process.execPath, 'install', '--frozen-lockfile', '--silent'];
  const { exitCode } = Bun.spawnSync(command, { cwd: FOLDER, stdio: ['ignore', 'inherit', 'inherit'] });
  if (exitCode !== 0) throw new Error('the packages of tests/tools were not installed');
}

if (import.meta.main) installTools();
