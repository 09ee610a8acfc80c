/** The most blocks in one request for events. */
export const FOLLOWER_RANGE_BLOCKS_MAX = 10_000;
/** Full ranges answered in a row before the range doubles. */
export const FOLLOWER_RANGE_ANSWERS_MIN = 16;

/**
 * How many blocks to request at once. Providers limit blocks or events, each with its own error text: so the limit is
 * found by trying.
 */
export interface BlockRange {
  readonly blocks: number;
  /** The node refused a range of this many blocks. */
  refused(blocks: number): void;
  /** The node answered a full range. */
  answered(): void;
}

/**
 * A range that starts at the maximum, halves what was refused, and doubles after `FOLLOWER_RANGE_ANSWERS_MIN` answers.
 */
export function createBlockRange(): BlockRange {
  let blocks = FOLLOWER_RANGE_BLOCKS_MAX;
  let answers = 0;
  return {
    get blocks() {
      return blocks;
    },
    refused(refusedBlocks) {
      blocks = Math.max(1, refusedBlocks >> 1);
      answers = 0;
    },
    answered() {
      if (++answers < FOLLOWER_RANGE_ANSWERS_MIN) return;
      blocks = Math.min(FOLLOWER_RANGE_BLOCKS_MAX, 2 * blocks);
      answers = 0;
    },
  };
}
