import { expect, test } from 'bun:test';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { testFiles } from '../../../scripts/testing/files.ts';
import { ALONE, groupsOf } from '../../../scripts/testing/groups.ts';
import { SLOW_FIRST } from '../../../scripts/testing/slow.ts';

const inFolder = (folder: string, count: number) => Array.from({ length: count }, (_, n) => `${folder}/f${n}.test.ts`);

test('the first processes take 16 files, the later ones a share of what is left, and none is left out', () => {
  const files = [...inFolder('tests/lib/a', 60), ...inFolder('tests/lib/b', 15)];
  const groups = groupsOf(files, 2);
  expect(groups.map((group) => group.length)).toEqual([16, 15, 11, 9, 6, 5, 4, 3, 2, 2, 2]);
  expect(groups.flat()).toEqual(files);
});

test('what is declared to need one has a process of its own', () => {
  expect(groupsOf(inFolder('tests/races', 3), 2).map((group) => group.length)).toEqual([1, 1, 1]);
});

test('the slowest files begin first, each in a process of its own, beside processes that compute', () => {
  const groups = groupsOf(testFiles(join(import.meta.dir, '../../..')), 2).slice(0, SLOW_FIRST.length * 2);
  expect(groups.filter((_, at) => at % 2 === 0)).toEqual(SLOW_FIRST.map((file) => [file]));
  for (const [file = ''] of groups.filter((_, at) => at % 2 === 1)) expect(SLOW_FIRST).not.toContain(file);
});

test.each(Object.keys(ALONE))('%s is there', (path) => {
  expect(existsSync(join(import.meta.dir, '../../..', path))).toBe(true);
});
