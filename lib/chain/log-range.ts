/** How many blocks a node is asked for events of (`eth_getLogs`). */
import { VaultError } from '../base/error.ts';
import { UpstreamError } from '../base/http-client.ts';
import { RpcError } from './json-rpc.ts';

/** The most blocks in one request for events. */
export const LOG_RANGE_BLOCKS_MAX = 10_000;
/** Full ranges answered in a row before the range doubles. */
export const LOG_RANGE_ANSWERS_MIN = 16;

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

/** A range that starts at `max`, halves after a refusal, and doubles after `LOG_RANGE_ANSWERS_MIN` answers. */
export function createBlockRange(max = LOG_RANGE_BLOCKS_MAX): BlockRange {
  let blocks = max;
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
      if (++answers < LOG_RANGE_ANSWERS_MIN) return;
      blocks = Math.min(max, 2 * blocks);
      answers = 0;
    },
  };
}

/**
 * Whether a failed request for events may succeed with fewer blocks. Nodes have no common code for that, so every
 * error counts except the known others.
 */
export function isRangeRefused(failure: unknown): boolean {
  const cause = failure instanceof VaultError ? failure.cause : undefined;
  if (cause instanceof RpcError) return !OTHER_REFUSALS.has(cause.code);
  return cause instanceof UpstreamError && RANGE_FAULTS.has(cause.fault);
}

/** Codes of several providers for too many requests, and for an unknown method. */
const OTHER_REFUSALS: ReadonlySet<number> = new Set([429, -32007, -32016, -32029, -32601]);
const RANGE_FAULTS: ReadonlySet<string> = new Set(['timeout', 'oversize', 'refused', 'malformed']);
