import { badRequest } from '../base/error.ts';
import { DEFAULT_APP, EVENT_CHANNELS, eventOf } from '../events/catalogue.ts';
import { emitEvent } from '../events/emit.ts';
import type { Platform } from '../platform.ts';
import { parseCid } from '../ucan/cid.ts';
import {
  type AskedBy,
  type ConsoleScope,
  type ConsoleToken,
  checkConsoleToken,
  mintConsoleToken,
} from './console-token.ts';
import { findOperatorOf } from './operators.ts';
import { insertRevocation, selectRevoked } from './revocation-store.ts';

type Ctx = Pick<Platform, 'config' | 'keys' | 'clock' | 'random' | 'db'>;

/**
 * Issues a token for the event stream and emits `token.minted`, unless it `renews` a token of the same scope that is
 * still good: a page that stays open would fill the audit channel. The token is revoked by its `cid`, and ends with the
 * operator's token `by` which it is asked for.
 */
export async function issueToken(
  ctx: Ctx,
  scope: ConsoleScope,
  { renews, by }: { readonly renews?: string | undefined; readonly by?: AskedBy | undefined } = {},
): Promise<ConsoleToken & { readonly cid: string }> {
  const { clock, db } = ctx;
  const now = clock.now();
  const { app, channel } = scope;
  // One look at the clock: one that is set between two would have the token refused.
  const minted = await mintConsoleToken(ctx, scope, now, by);
  const channels = channel === undefined ? EVENT_CHANNELS : channel.split(',');
  const verdict = await checkConsoleToken(ctx, minted.token, { app, channels, now });
  if (!verdict.ok) throw new Error(`a token just minted is refused: ${verdict.error}`);
  const { cid } = verdict;
  if (renews !== undefined && (await isGood(ctx, renews, { app, channels, now })))
    return { token: minted.token, expires_at: minted.expires_at, cid };
  const data = { cid, app, channel: channel ?? null, expires_at: minted.expires_at };
  await db.write(emitEvent(eventOf('token.minted', { app: DEFAULT_APP, at: now }, data)));
  return { token: minted.token, expires_at: minted.expires_at, cid };
}

/** Whether a token opens the stream. */
async function isGood(
  ctx: Ctx,
  token: string,
  asked: { readonly app: string; readonly channels: readonly string[]; readonly now: number },
): Promise<boolean> {
  const verdict = await checkConsoleToken(ctx, token, asked);
  return verdict.ok && !(await isRevoked(ctx, verdict.cids));
}

/**
 * Revokes a token or a delegation by its CID; its streams end within a second. Emits `token.revoked` the first time.
 * Throws 400 `Invalid cid`, also for the token of an operator, which stands by its row.
 */
export async function revokeToken(
  { clock, db }: Pick<Ctx, 'clock' | 'db'>,
  text: string,
): Promise<{ cid: string; isNew: boolean }> {
  const cid = parseCid(text);
  if (cid === undefined) throw badRequest('Invalid cid');
  const operator = await findOperatorOf({ db }, cid);
  if (operator !== undefined)
    throw badRequest('Invalid cid', `It is an operator's token: vault operators revoke ${operator}`);
  const [revoked] = await db.write(...insertRevocation(cid, clock.now()));
  return { cid, isNew: revoked?.rowsAffected === 1 };
}

/** Whether any of the chain's `cids` was revoked. Rejects if the database cannot be read. */
export async function isRevoked({ db }: Pick<Ctx, 'db'>, cids: readonly string[]): Promise<boolean> {
  return (await db.read(selectRevoked(cids))).length > 0;
}
