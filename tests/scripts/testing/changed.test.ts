import { afterAll, beforeAll, expect, test } from 'bun:test';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { changedFiles, testsOf } from '../../../scripts/testing/changed.ts';
import { temporaryFolder } from '../../support/databases.ts';

const folder = temporaryFolder();
const git = (...args: string[]) => {
  const set = ['-c', 'user.name=Test', '-c', 'user.email=test@example.com', '-c', 'commit.gpgsign=false'];
  expect(Bun.spawnSync(['git', ...set, ...args], { cwd: folder.path }).exitCode).toBe(0);
};
const write = (path: string, text: string) => Bun.write(join(folder.path, path), text);
const TESTS = ['tests/a.test.ts', 'tests/b.test.ts', 'tests/c.test.ts'];

beforeAll(async () => {
  git('init', '-q', '-b', 'main');
  await write('lib/deep.ts', 'export const deep = 1;');
  await write(
    'lib/used.ts',
    "#!/usr/bin/env bun\nimport { deep } from './deep.ts'; import '../lib/used.ts'; export const used = deep;",
  );
  await write('lib/other.ts', 'export const other = 1;');
  await write('tests/a.test.ts', "import { used } from '../lib/used.ts'; console.log(used);");
  await write('tests/b.test.ts', "const { other } = await import('../lib/other.ts'); console.log(other);");
  await write('tests/c.test.ts', "import type { deep } from '../lib/deep.ts'; export type D = typeof deep;");
  git('add', '-A');
  git('commit', '-q', '-m', 'all');
  git('checkout', '-q', '-b', 'change');
});
afterAll(() => folder.remove());

test('what is committed, changed and new is changed, and nothing else', async () => {
  expect(changedFiles(folder.path)).toEqual([]);
  await write('lib/deep.ts', 'export const deep = 2;');
  git('commit', '-q', '-a', '-m', 'deep');
  await write('lib/other.ts', 'export const other = 2;');
  await write('lib/new.ts', '');
  expect(changedFiles(folder.path)).toEqual(['lib/deep.ts', 'lib/other.ts', 'lib/new.ts']);
});

test('a test runs for what it loads by any way, not for a type or what it does not load', () => {
  expect(testsOf(folder.path, ['lib/deep.ts'], TESTS)).toEqual(['tests/a.test.ts']);
  expect(testsOf(folder.path, ['lib/other.ts'], TESTS)).toEqual(['tests/b.test.ts']);
  expect(testsOf(folder.path, ['tests/c.test.ts'], TESTS)).toEqual(['tests/c.test.ts']);
  rmSync(join(folder.path, 'lib/new.ts'));
  expect(testsOf(folder.path, ['lib/new.ts'], TESTS)).toEqual([]);
});
