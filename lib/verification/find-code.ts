import { type Cache, createCache } from '../base/lru-cache.ts';
import type { Purpose } from '../base/purpose.ts';
import { STRANGERS_CHECKS_MAX } from '../constants.ts';
import type { Identifier } from '../identity/identifier.ts';
import type { Platform } from '../platform.ts';
import { type CheckRole, type StoredCode, selectOthersCode, selectOwnCode, toStoredCode } from './check-store.ts';

/** Why a check did not verify, and the attempts left where the caller asked for the code. */
export interface RefusedCheck {
  readonly verified: false;
  readonly message: 'Incorrect code' | 'Code expired' | 'Too many attempts' | 'No code was sent';
  readonly attemptsRemaining?: number;
}

/** The one code that a check is judged against, and the answer to a wrong guess at somebody else's code. */
export interface Target {
  readonly code: StoredCode;
  readonly role: CheckRole;
  /** It is of another purpose than the check: not even the right code verifies. */
  readonly isOther: boolean;
  readonly otherwise: RefusedCheck;
}

/** A client that did not ask for a code gets this answer whether there is no code, an expired, used or wrong one. */
export const STRANGERS_VERDICT: RefusedCheck = { verified: false, message: 'Incorrect code' };
const EXPIRED: RefusedCheck = { verified: false, message: 'Code expired' };
const NOTHING_SENT: RefusedCheck = { verified: false, message: 'No code was sent' };

/** Codes whose strangers' checks a process remembers. */
const STRANGERS_CODES_MAX = 10_000;

/**
 * By code, the checks of strangers that this process has answered. They are answered before their count is written, so
 * that the time does not tell whether a code is live. This keeps the share also while no write succeeds.
 */
export type StrangersChecks = Cache<number, number>;

/** No checks yet. */
export function createStrangersChecks(): StrangersChecks {
  return createCache(STRANGERS_CODES_MAX);
}

type Ctx = Pick<Platform, 'config' | 'db'> & { readonly strangers: StrangersChecks };

/** The inputs of a check besides its code. */
interface Asked {
  readonly identifier: Identifier;
  readonly ip: string;
  readonly challenge?: string | undefined;
  /** Where the check names none: that of the challenge's code, unless it is for a credential, else `registration`. */
  readonly purpose?: Purpose | undefined;
}

/**
 * The code that a check is judged against: with a challenge the one it belongs to, else the client's own live one of
 * the purpose, else the newest of anybody while the strangers' share lasts.
 */
export async function findCode(
  { config, db, strangers }: Ctx,
  { identifier, ip, challenge, purpose: asked }: Asked,
  now: number,
): Promise<Target | { readonly refused: RefusedCheck }> {
  const query = { identifier: identifier.key, ip, challenge, purpose: asked ?? 'registration' };
  const [ownRow] = await db.read(selectOwnCode(query));
  const own = ownRow && toStoredCode(ownRow);
  // A code for a credential is right only where that is asked for: a phished one must not become anything else.
  const named = own?.purpose === 'credential' ? undefined : own?.purpose;
  const purpose = asked ?? named ?? 'registration';
  const max = config.maxVerifyAttempts;
  const otherwise = own ? endedVerdict(own, now) : STRANGERS_VERDICT;
  if (own && isLive(own, now)) {
    if (own.digest !== null && own.attempts >= max)
      return { refused: { verified: false, message: 'Too many attempts', attemptsRemaining: 0 } };
    return {
      code: own,
      role: challenge === undefined ? 'asker' : 'holder',
      isOther: own.purpose !== purpose,
      otherwise,
    };
  }
  if (challenge !== undefined && own === undefined) return { refused: otherwise };
  const [othersRow] = await db.read(selectOthersCode(identifier.key, own?.purpose ?? query.purpose, now));
  const others = othersRow && toStoredCode(othersRow);
  // A caller with a challenge is judged by its code alone, unless the provider has no code but the newest.
  const isOpen = others && (challenge === undefined || others.digest === null);
  if (!isOpen || (others.digest !== null && others.attempts >= max)) return { refused: otherwise };
  const answered = Math.max(others.strangers, strangers.get(others.seq) ?? 0);
  if (answered >= STRANGERS_CHECKS_MAX) return { refused: otherwise };
  strangers.set(others.seq, answered + 1);
  return { code: others, role: 'stranger', isOther: others.purpose !== purpose, otherwise };
}

function isLive({ consumedAt, expiresAt }: StoredCode, now: number): boolean {
  return consumedAt === null && now < expiresAt;
}

/** The answer to the asking client for a code of its own that is not the one to try. */
function endedVerdict(own: StoredCode, now: number): RefusedCheck {
  if (own.consumedAt !== null) return NOTHING_SENT;
  return now >= own.expiresAt ? EXPIRED : STRANGERS_VERDICT;
}
