import { afterAll, expect, test } from 'bun:test';
import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { TARGETS } from '../../../scripts/build/targets.ts';
import { makeProgram } from '../../../scripts/release/program.ts';
import { run } from '../../../scripts/release/run.ts';
import { temporaryFolder } from '../../support/databases.ts';
import { isLong } from '../../support/long.ts';

const ROOT = join(import.meta.dir, '../../..');
const folder = temporaryFolder();
afterAll(() => folder.remove());

const target = TARGETS.find((name) => name === `bun-${process.platform}-${process.arch}`);

/** The sources as they are now, with their packages. */
async function copySources(path: string): Promise<void> {
  mkdirSync(path, { recursive: true });
  const files = (await run(['git', 'ls-files', '-z'], { cwd: ROOT })).split('\0').filter((name) => name !== '');
  for (const name of files) cpSync(join(ROOT, name), join(path, name));
  cpSync(join(ROOT, '.git'), join(path, '.git'), { recursive: true });
  cpSync(join(ROOT, 'node_modules'), join(path, 'node_modules'), { recursive: true });
}

test.skipIf(!isLong || target === undefined)('two folders make the same program, byte for byte', async () => {
  if (target === undefined) return;
  const there = join(folder.path, 'at/another/depth');
  await copySources(there);
  const runtime = { path: process.execPath, package: 'bun', sha256: '' };
  const here = await makeProgram(target, runtime, null);
  const first = sha256(here);
  const { makeProgram: make } = await import(join(there, 'scripts/release/program.ts'));
  expect(sha256(await make(target, runtime, null))).toBe(first);
});

function sha256(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex');
}
