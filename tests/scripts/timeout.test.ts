import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { temporaryFolder } from '../support/databases.ts';

const ROOT = join(import.meta.dir, '../..');

/** Each takes longer than the run below allows by default: it passes only where the repository's own limit holds. */
const SLOW = `
import { beforeAll, test } from 'bun:test';
beforeAll(() => Bun.sleep(20));
test('slow', () => Bun.sleep(20));
`;

test('plain bun test gives every file the time its tests need', async () => {
  const folder = temporaryFolder();
  const files = ['first', 'second', 'third'].map((name) => join(folder.path, `${name}.test.ts`));
  for (const file of files) await Bun.write(file, SLOW);
  // A flag that is weaker than what the preload says stands for Bun's default of 5 s.
  const child = Bun.spawn([process.execPath, 'test', '--timeout=1', ...files], {
    cwd: ROOT,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const output = await new Response(child.stderr).text();
  expect(output).toContain(' 3 pass\n 0 fail\n');
  expect(await child.exited).toBe(0);
  folder.remove();
});
