import { isoTime } from '../base/clock.ts';
import { VaultError } from '../base/error.ts';
import type { Platform } from '../platform.ts';
import type { KeyNotes } from '../registration/look-at-keys.ts';
import { type ProvenIdentity, readIdentity } from '../registration/sign-in.ts';
import { digestOf } from './authorize.ts';
import { challengeOfVerifier } from './challenge.ts';
import { type Exchange, selectCode, toCode, useCode } from './store.ts';

/** An exchange of a code, as an app asks for it. */
export interface TokenRequest {
  readonly clientId: string;
  readonly redirectUri: string;
  readonly code: string;
  readonly codeVerifier: string;
}

/** Whose code it was, and when that was shown. */
export interface ProvenPerson extends ProvenIdentity {
  readonly verified_at: string;
}

type Ctx = Pick<Platform, 'config' | 'clock' | 'db' | 'metrics'> & { readonly keyNotes: KeyNotes };

/** Why a code is refused: the `reason` beside `invalid_grant`. */
export type GrantFault = 'code' | 'client' | 'redirect_uri' | 'verifier' | 'used' | 'expired' | 'registration';

/**
 * Exchanges a code once. A wrong client, URI or verifier uses nothing up, and a second use ends nothing: both say so.
 * Throws 400 `invalid_grant` with its reason.
 */
export async function exchangeCode(ctx: Ctx, request: TokenRequest): Promise<ProvenPerson> {
  const { clock, db, metrics } = ctx;
  const count = (outcome: string) => metrics.counter('vault_authorization_codes_total').add({ outcome });
  const exchange: Exchange = {
    code: digestOf(request.code),
    app: request.clientId,
    redirectUri: request.redirectUri,
    challenge: challengeOfVerifier(request.codeVerifier),
  };
  const now = clock.now();
  const [used, found] = await db.write(useCode(exchange, now), selectCode(exchange.code));
  const row = found?.rows[0];
  if (used?.rowsAffected !== 1 || !row) {
    count('refused');
    throw invalidGrant(row ? faultOf(exchange, toCode(row), now) : 'code');
  }
  const code = toCode(row);
  const identity = await readIdentity(ctx, code);
  if (!identity) {
    count('refused');
    throw invalidGrant('registration');
  }
  count('exchanged');
  return { ...identity, verified_at: isoTime(code.verifiedAt) };
}

/** The first part that does not fit. That a code was used is said only to a caller who has the rest right. */
function faultOf(exchange: Exchange, code: ReturnType<typeof toCode>, now: number): GrantFault {
  if (exchange.app !== code.app) return 'client';
  if (exchange.redirectUri !== code.redirectUri) return 'redirect_uri';
  if (exchange.challenge !== code.challenge) return 'verifier';
  return code.expiresAt > now ? 'used' : 'expired';
}

function invalidGrant(reason: GrantFault): VaultError {
  return new VaultError('invalid_grant', { reason, hint: HINTS[reason] });
}

const HINTS: Readonly<Record<GrantFault, string>> = {
  code: 'The vault knows no such code: send the person to /register again.',
  client: 'The code was issued to another client_id.',
  redirect_uri: 'redirect_uri must be the one of the link, character by character.',
  verifier: 'code_challenge of the link must be base64url(SHA-256(code_verifier)), without padding.',
  used: 'The code was exchanged already, and what that gave stays good: send the person to /register for another one.',
  expired: 'A code is good for 60 seconds: send the person to /register again.',
  registration: 'The registration failed since the code was issued: send the person to /register again.',
};
