import type { Clock } from '../../lib/base/clock.ts';
import { errorOf, resultOf, startUpstream, type Upstream } from './upstream.ts';

/** A node that says when its newest block was made, and refuses all else. */
export interface TimeNode extends Upstream {
  isDown: boolean;
}

/** Starts one whose newest block is always of this moment, by the given clock. */
export function startTimeNode(clock: Pick<Clock, 'now'>): TimeNode {
  const node: TimeNode = Object.assign(startUpstream(), { isDown: false });
  node.answer = (call) => {
    if (node.isDown || call.body.method !== 'eth_getBlockByNumber')
      return errorOf(call, { code: -32000, message: 'refused' });
    return resultOf(call, { timestamp: `0x${Math.floor(clock.now() / 1000).toString(16)}` });
  };
  return node;
}
