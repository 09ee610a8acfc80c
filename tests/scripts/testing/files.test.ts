import { describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { filesOf, testFiles } from '../../../scripts/testing/files.ts';
import { temporaryFolder } from '../../support/databases.ts';

const FILES = [
  'tests/races/relay.test.ts',
  'tests/commands/storage/sqlite.test.ts',
  'tests/lib/relay/relay.test.ts',
  'tests/lib/ucan/cid.test.ts',
  'tests/routes/dids.test.ts',
];

describe('an area', () => {
  test.each([
    ['a word', 'relay', ['tests/races/relay.test.ts', 'tests/lib/relay/relay.test.ts']],
    ['a folder', './tests/lib/ucan/', ['tests/lib/ucan/cid.test.ts']],
    ['a file', 'tests/routes/dids.test.ts', ['tests/routes/dids.test.ts']],
    ['a source file', 'commands/storage/sqlite.ts', ['tests/commands/storage/sqlite.test.ts']],
    ['a folder of sources', 'lib/relay', ['tests/lib/relay/relay.test.ts']],
  ])('is %s', (_, area, expected) => {
    expect(filesOf([area], FILES)).toEqual(expected);
  });

  test('joins others, each file once', () => {
    expect(filesOf(['ucan', 'lib', 'sqlite'], FILES)).toEqual(FILES.slice(1, 4));
  });

  test('that matches nothing is refused with the nearest name', () => {
    expect(() => filesOf(['relai'], FILES)).toThrow('No test file matches relai. Did you mean relay?');
    expect(() => filesOf(['relay', 'xyzzy12345'], FILES)).toThrow('An area is a folder, a file or a word');
  });

  test('left out means every file', () => {
    expect(filesOf([], FILES)).toEqual(FILES);
  });
});

test('every test file of the tree is found, the long ones first', () => {
  const found = testFiles(join(import.meta.dir, '../../..'));
  expect(found[0]).toStartWith('tests/simulations/vault/');
  expect(found).toContain('tests/scripts/testing/files.test.ts');
  expect(new Set(found).size).toBe(found.length);
});

test('a test of an installed package is none of ours', async () => {
  const folder = temporaryFolder();
  try {
    await Bun.write(join(folder.path, 'tests/bench/ours.test.ts'), '');
    await Bun.write(join(folder.path, 'tests/bench/node_modules/theirs/theirs.test.ts'), '');
    expect(testFiles(folder.path)).toEqual(['tests/bench/ours.test.ts']);
  } finally {
    folder.remove();
  }
});
