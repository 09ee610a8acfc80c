import { MINUTE_MS } from '../base/clock.ts';
import { randomId } from '../base/random.ts';
import type { Config } from '../config/config.ts';
import type { Platform } from '../platform.ts';
import { newPass, passDigest, passTime } from './code.ts';
import { insertGrant, insertNoticePass } from './pass-store.ts';

/** How long a client may send after it pressed the button of a pass. */
export const PASS_GRANT_MS = 15 * MINUTE_MS;

/**
 * The link of a message that carries a pass. The pass is in the fragment, which browsers send to no server; the page
 * shows the brand of `app`, in the language `lang`.
 */
export function passLink(
  { baseUrl }: Pick<Config, 'baseUrl'>,
  pass: string,
  shown: Readonly<Partial<Record<'app' | 'lang', string>>> = {},
): string {
  const query = new URLSearchParams(shown);
  return `${baseUrl}/pass${query.size === 0 ? '' : `?${query}`}#${pass}`;
}

/** Lets the client send by a pass for `PASS_GRANT_MS`; false when the pass is unknown or has ended. */
export async function usePass(
  { db, clock }: Pick<Platform, 'db' | 'clock'>,
  { pass, ip }: { readonly pass: string; readonly ip: string },
): Promise<boolean> {
  const now = clock.now();
  const sentAt = passTime(pass);
  if (!Number.isSafeInteger(sentAt)) return false;
  const grant = { pass: passDigest(pass), sentAt, ip, now, until: now + PASS_GRANT_MS };
  const [granted] = await db.write(insertGrant(grant));
  return granted?.rowsAffected === 1;
}

/** Makes a pass for a message that carries no code: for a day it lets an address have codes, as any other. */
export async function writePass(
  { db, clock, random }: Pick<Platform, 'db' | 'clock' | 'random'>,
  identifier: string,
): Promise<string> {
  const now = clock.now();
  const pass = newPass(random, now);
  await db.write(insertNoticePass({ id: randomId(random), identifier, pass: passDigest(pass), now }));
  return pass;
}
