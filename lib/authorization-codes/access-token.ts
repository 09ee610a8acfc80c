import type { Platform } from '../platform.ts';
import { digestOf } from './authorize.ts';
import { type IssuedCode, selectToken, toCode } from './store.ts';

/** The grant of an access token. */
export type AccessGrant = IssuedCode;

/**
 * By channel: the address that a person picked for an app, null for none. A missing channel means its oldest address.
 */
export type PickedAddresses = IssuedCode['picked'];

/** The code that an access token was given for; undefined for one that is unknown, was revoked or has ended. */
export async function findAccessToken(
  { db, clock }: Pick<Platform, 'db' | 'clock'>,
  token: string,
): Promise<AccessGrant | undefined> {
  const [row] = await db.read(selectToken(digestOf(token), clock.now()));
  return row && toCode(row);
}
