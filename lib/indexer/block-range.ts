/** Blocks read at once: halved when a node refuses, doubled again after so many full ranges that it did not. */
export const FOLLOWER_RANGE_BLOCKS_MAX = 10_000;
export const FOLLOWER_RANGE_ANSWERS_MIN = 16;

/** How many blocks to ask a node for at once. Each provider has its own limits, of blocks or of events, and tells them in its own words: so they are felt for. */
export interface Span {
  readonly blocks: number;
  /** A range of so many blocks was refused. */
  refused(blocks: number): void;
  /** A full range was answered. */
  answered(): void;
}

/** Starts at the most; goes to half of what was refused, doubles after a number of answers in a row. */
export function createSpan(): Span {
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
