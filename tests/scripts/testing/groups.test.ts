import { expect, test } from 'bun:test';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ALONE, groupsOf } from '../../../scripts/testing/groups.ts';

const inFolder = (folder: string, count: number) => Array.from({ length: count }, (_, n) => `${folder}/f${n}.test.ts`);

test('files of one folder share a process, eight at most, and none is left out', () => {
  const files = [...inFolder('tests/lib/a', 10), ...inFolder('tests/lib/b', 1)];
  const groups = groupsOf(files);
  expect(groups.map((group) => group.length)).toEqual([8, 2, 1]);
  expect(groups.flat()).toEqual(files);
});

test('what is declared to need one has a process of its own', () => {
  expect(groupsOf(inFolder('tests/journeys', 3)).map((group) => group.length)).toEqual([1, 1, 1]);
});

test.each(Object.keys(ALONE))('%s is there', (path) => {
  expect(existsSync(join(import.meta.dir, '../../..', path))).toBe(true);
});
