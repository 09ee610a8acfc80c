import { expect, test } from 'bun:test';
import { failuresOf } from '../../../scripts/testing/run.ts';

function result(file: string, failed: number, output: string) {
  return { file, output, counts: { passed: 1, failed, skipped: 0 }, wallSeconds: 1, processorSeconds: 1 };
}

test('what failed stands once more at the end of a run, with its reason', () => {
  const text = failuresOf(
    [result('a.test.ts', 0, 'fine'), result('b.test.ts', 2, `start${'.'.repeat(5000)}reason`)],
    7,
  );
  expect(text).toContain('✗ b.test.ts  2 failed. Again: SEED=7 npm test -- b.test.ts\n….');
  expect(text).toEndWith('reason');
  expect(text).not.toContain('start');
  expect(text).not.toContain('a.test.ts');
});

test('a run that passed says nothing of it', () => {
  expect(failuresOf([result('a.test.ts', 0, 'fine')], 7)).toBe('');
});
