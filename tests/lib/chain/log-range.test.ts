import { expect, test } from 'bun:test';
import { createBlockRange, LOG_RANGE_ANSWERS_MIN, LOG_RANGE_BLOCKS_MAX } from '../../../lib/chain/log-range.ts';

test('starts at the most, goes to half of what was refused, and never below one block', () => {
  const range = createBlockRange();
  expect(range.blocks).toBe(LOG_RANGE_BLOCKS_MAX);
  range.refused(LOG_RANGE_BLOCKS_MAX);
  expect(range.blocks).toBe(LOG_RANGE_BLOCKS_MAX / 2);
  range.refused(7);
  expect(range.blocks).toBe(3);
  for (let i = 0; i < 3; i++) range.refused(range.blocks);
  expect(range.blocks).toBe(1);
});

test('doubles after enough answers in a row, up to the most', () => {
  const range = createBlockRange();
  range.refused(20);
  for (let i = 1; i < LOG_RANGE_ANSWERS_MIN; i++) range.answered();
  expect(range.blocks).toBe(10);
  range.answered();
  expect(range.blocks).toBe(20);
  range.refused(20);
  for (let i = 1; i < LOG_RANGE_ANSWERS_MIN; i++) range.answered();
  expect(range.blocks).toBe(10);
  for (let i = 0; i < 20 * LOG_RANGE_ANSWERS_MIN; i++) range.answered();
  expect(range.blocks).toBe(LOG_RANGE_BLOCKS_MAX);
});

/** How many questions a node with a limit of its own is asked, and how many of them it refuses. */
function readAll(blocks: number, limit: number): { asked: number; refused: number } {
  const range = createBlockRange();
  let [asked, refused] = [0, 0];
  for (let read = 0; read < blocks; asked++) {
    const size = range.blocks;
    if (size > limit) {
      refused++;
      range.refused(size);
    } else {
      read += size;
      range.answered();
    }
  }
  return { asked, refused };
}

test.each([1, 10, 500, 2_000, 3_000])('of a node that takes %i blocks, few questions are in vain', (limit) => {
  const { asked, refused } = readAll(limit * 1_000, limit);
  expect(asked).toBeLessThan(2_500);
  expect(refused / asked).toBeLessThan(0.1);
});
