import { type Clock, isoTime } from '../base/clock.ts';
import type { Store } from '../db/database.ts';
import { selectLiveTokens } from './store.ts';

/** A token that has opened a stream and has not ended; `expires_at` is ISO 8601. */
export interface LiveToken {
  readonly cid: string;
  readonly expires_at: string;
}

interface Reader {
  readonly db: Pick<Store, 'read'>;
  readonly clock: Pick<Clock, 'now'>;
}

/** Tokens in one answer. */
const LIVE_TOKENS_MAX = 100;

/** The tokens of streams that are good now, the newest first; a revoked one is not. */
export async function readLiveTokens({ db, clock }: Reader): Promise<readonly LiveToken[]> {
  const rows = await db.read(selectLiveTokens(clock.now(), LIVE_TOKENS_MAX));
  return rows.map((row) => ({ cid: String(row['cid']), expires_at: isoTime(Number(row['expires_at'])) }));
}
