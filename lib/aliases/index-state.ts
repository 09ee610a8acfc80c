import { MINUTE_MS } from '../base/clock.ts';
import { type FollowedContracts, sourceOf } from '../chain/followed-contracts.ts';
import type { Row } from '../db/database.ts';
import type { Platform } from '../platform.ts';
import { selectFollower } from './store.ts';

/** The index answers by itself while the follower's last poll is younger than this. */
export const INDEX_SILENT_MS = MINUTE_MS;

/** The state of the index now, from the row of `follower`. */
export interface IndexState {
  /** Its events are of the configured contracts. */
  readonly isOurs: boolean;
  /** It had read all blocks at the last poll, less than `INDEX_SILENT_MS` ago. */
  readonly isCurrent: boolean;
  /** Blocks behind the newest one at the last poll; infinite before the first range was read. */
  readonly lag: number;
  readonly silentMs: number;
}

/** Judges the row of `follower`; nothing is known without one. */
export function indexState(config: FollowedContracts, row: Row, now: number): IndexState {
  const isOurs = row['source'] === sourceOf(config);
  const hasRead = isOurs && row['hash'] !== '';
  const lag = hasRead ? Math.max(0, Number(row['head']) - Number(row['block'])) : Number.POSITIVE_INFINITY;
  const silentMs = isOurs ? now - Number(row['seen_at']) : Number.POSITIVE_INFINITY;
  return { isOurs, isCurrent: lag === 0 && silentMs < INDEX_SILENT_MS, lag, silentMs };
}

/** Whether the index has all blocks now, so that changes on the chain are read from it. */
export async function isFollowed({ config, db, clock }: Pick<Platform, 'config' | 'db' | 'clock'>): Promise<boolean> {
  const [row = {}] = await db.read(selectFollower());
  return indexState(config, row, clock.now()).isCurrent;
}
