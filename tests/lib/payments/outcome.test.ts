import { expect, test } from 'bun:test';
import { FRESH_BLOCKS } from '../../../lib/chain/entry-point.ts';
import { firstBlockOf } from '../../../lib/payments/outcome.ts';

const ends = { head: { number: 10_000, hash: '0x', time: 0 }, final: null };

test.each([
  [100_000, 10_000 - 400 - FRESH_BLOCKS],
  [100_001, 10_000 - 404 - FRESH_BLOCKS],
  [-5_000, 10_000 - FRESH_BLOCKS],
  [86_400_000, 0],
])('a search for what was signed %d ms ago begins before any block of a chain of four a second', (ms, first) => {
  expect(firstBlockOf(1_000_000_000 - ms, ends, 1_000_000_000)).toBe(first);
});
