import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { testFiles } from '../../../scripts/testing/files.ts';
import { filesOfTier, USUAL_OF_LONG } from '../../../scripts/testing/tiers.ts';

test('the usual run and the rest are all files, each once, and the long ones that are usual are there', () => {
  const all = testFiles(join(import.meta.dir, '../../..'));
  const [usual, rest] = [filesOfTier('usual', all), filesOfTier('rest', all)];
  expect([...usual, ...rest].toSorted()).toEqual(all.toSorted());
  expect(filesOfTier('all', all)).toEqual(all);
  expect(USUAL_OF_LONG.filter((file) => !usual.includes(file))).toEqual([]);
  expect([usual.includes('tests/journeys/pay.test.ts'), rest.includes('tests/journeys/pay.test.ts')]).toEqual([
    false,
    true,
  ]);
});
