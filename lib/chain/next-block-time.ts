import type { Clock } from '../base/clock.ts';
import type { Config } from '../config/config.ts';
import { isLoopbackOrigin } from '../config/url-parsers.ts';

interface Ctx {
  readonly config: Pick<Config, 'baseUrl'>;
  readonly clock: Clock;
}

/**
 * In seconds. The next block of an idle chain is made now. The time limit of a signature is counted from this time, so
 * a node's clock is believed up to 30 seconds ahead; that of a local chain, which tests move, always.
 */
export function nextBlockTime({ config, clock }: Ctx, blockTime: number): number {
  const now = Math.floor(clock.now() / 1000);
  const isBelieved = blockTime <= now + BLOCK_LEAD_SECONDS_MAX || isLoopbackOrigin(config.baseUrl);
  return isBelieved ? Math.max(blockTime, now) : now;
}

const BLOCK_LEAD_SECONDS_MAX = 30;
