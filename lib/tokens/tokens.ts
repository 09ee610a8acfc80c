import { badRequest } from '../base/error.ts';
import { DEFAULT_APP, EVENT_CHANNELS, eventOf } from '../events/catalogue.ts';
import { emitEvent } from '../events/emit.ts';
import type { Platform } from '../platform.ts';
import { parseCid } from '../ucan/cid.ts';
import { type ConsoleScope, type ConsoleToken, checkConsoleToken, mintConsoleToken } from './console-token.ts';
import { findRevoked, revokeToken } from './revocation-store.ts';

type Services = Pick<Platform, 'config' | 'keys' | 'clock' | 'random' | 'db'>;

/** Issues a token of the event stream, told as an event; `cid` is what it is revoked by. */
export async function issueToken(
  vault: Services,
  scope: ConsoleScope,
): Promise<ConsoleToken & { readonly cid: string }> {
  const { clock, db } = vault;
  const now = clock.now();
  const { app, channel } = scope;
  const minted = await mintConsoleToken(vault, scope);
  const channels = channel === undefined ? EVENT_CHANNELS : [channel];
  const verdict = await checkConsoleToken(vault, minted.token, { app, channels, now });
  if (!verdict.ok) throw new Error(`a token just minted is refused: ${verdict.error}`);
  const { cid } = verdict;
  const data = { cid, app, channel: channel ?? null, expires_at: minted.expires_at };
  await db.write(emitEvent(eventOf('token.minted', { app: DEFAULT_APP, at: now }, data)));
  return { token: minted.token, expires_at: minted.expires_at, cid };
}

/** Revokes a token, or a link of the chain of many, told as an event the first time. Its streams end within a second. Throws 400 `Invalid cid`. */
export async function revoke(
  { clock, db }: Pick<Services, 'clock' | 'db'>,
  text: string,
): Promise<{ cid: string; isNew: boolean }> {
  const cid = parseCid(text);
  if (cid === undefined) throw badRequest('Invalid cid');
  const [revoked] = await db.write(...revokeToken(cid, clock.now()));
  return { cid, isNew: revoked?.rowsAffected === 1 };
}

/** Whether any of a chain's tokens, named by their CIDs, has been revoked. Rejects when the database cannot be read. */
export async function isRevoked({ db }: Pick<Services, 'db'>, cids: readonly string[]): Promise<boolean> {
  return (await db.read(findRevoked(cids))).length > 0;
}
