import { expect, test } from 'bun:test';
import { createSpan, FOLLOWER_RANGE_ANSWERS_MIN, FOLLOWER_RANGE_BLOCKS_MAX } from '../../../lib/indexer/block-range.ts';

test('starts at the most, goes to half of what was refused, and never below one block', () => {
  const span = createSpan();
  expect(span.blocks).toBe(FOLLOWER_RANGE_BLOCKS_MAX);
  span.refused(FOLLOWER_RANGE_BLOCKS_MAX);
  expect(span.blocks).toBe(FOLLOWER_RANGE_BLOCKS_MAX / 2);
  span.refused(7);
  expect(span.blocks).toBe(3);
  for (let i = 0; i < 3; i++) span.refused(span.blocks);
  expect(span.blocks).toBe(1);
});

test('doubles after enough answers in a row, up to the most', () => {
  const span = createSpan();
  span.refused(20);
  for (let i = 1; i < FOLLOWER_RANGE_ANSWERS_MIN; i++) span.answered();
  expect(span.blocks).toBe(10);
  span.answered();
  expect(span.blocks).toBe(20);
  span.refused(20);
  for (let i = 1; i < FOLLOWER_RANGE_ANSWERS_MIN; i++) span.answered();
  expect(span.blocks).toBe(10);
  for (let i = 0; i < 20 * FOLLOWER_RANGE_ANSWERS_MIN; i++) span.answered();
  expect(span.blocks).toBe(FOLLOWER_RANGE_BLOCKS_MAX);
});

/** How many questions a node with a limit of its own is asked, and how many of them it refuses. */
function readAll(blocks: number, limit: number): { asked: number; refused: number } {
  const span = createSpan();
  let [asked, refused] = [0, 0];
  for (let read = 0; read < blocks; asked++) {
    const size = span.blocks;
    if (size > limit) {
      refused++;
      span.refused(size);
    } else {
      read += size;
      span.answered();
    }
  }
  return { asked, refused };
}

test.each([1, 10, 500, 2_000, 3_000])('of a node that takes %i blocks, few questions are in vain', (limit) => {
  const { asked, refused } = readAll(limit * 1_000, limit);
  expect(asked).toBeLessThan(2_500);
  expect(refused / asked).toBeLessThan(0.1);
});
