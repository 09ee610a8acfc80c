import { isoTime } from '../base/clock.ts';
import { VaultError } from '../base/error.ts';
import type { Platform } from '../platform.ts';
import type { KeyNotes } from '../registration/look-notes.ts';
import { type ProvenIdentity, readIdentity } from '../registration/proven-identity.ts';
import { digestOf } from './authorize.ts';
import { challengeOfVerifier } from './challenge.ts';
import { type Exchange, type IssuedCode, selectCode, toCode, useCode } from './store.ts';

/** An exchange of a code, as an app asks for it. */
export interface TokenRequest {
  readonly clientId: string;
  readonly redirectUri: string;
  readonly code: string;
  readonly codeVerifier: string;
}

/** The owner of a code, and when that was shown. */
export interface ProvenPerson extends ProvenIdentity {
  readonly verified_at: string;
}

type Ctx = Pick<Platform, 'config' | 'clock' | 'db' | 'rpc' | 'witness' | 'log' | 'metrics'> & {
  readonly keyNotes: KeyNotes;
};

/** Why a code is refused: the `reason` beside `invalid_grant`. */
export type GrantFault = 'code' | 'client' | 'redirect_uri' | 'verifier' | 'used' | 'expired' | 'registration';

/**
 * Exchanges a code once. A wrong client, URI or verifier uses nothing up, nor does an answer that cannot be given. A
 * second use ends nothing. Throws 400 `invalid_grant` with its reason, 502 `rpc_error`.
 */
export async function exchangeCode(ctx: Ctx, request: TokenRequest): Promise<ProvenPerson> {
  const { clock, db, metrics } = ctx;
  const count = (outcome: 'exchanged' | 'refused') =>
    metrics.counter('vault_authorization_codes_total').add({ outcome });
  const refuse = (fault: GrantFault) => {
    count('refused');
    return invalidGrant(fault);
  };
  const exchange: Exchange = {
    code: digestOf(request.code),
    app: request.clientId,
    redirectUri: request.redirectUri,
    challenge: challengeOfVerifier(request.codeVerifier),
  };
  // A guess writes nothing.
  const [row] = await db.read(selectCode(exchange.code));
  if (!row) throw refuse('code');
  const code = toCode(row);
  const now = clock.now();
  const fault = faultOf(exchange, code, now);
  if (fault) throw refuse(fault);
  const identity = await readIdentity(ctx, code, code.channel);
  if (!identity) throw refuse('registration');
  // The write is the check: only one of several exchanges uses the code.
  const [used] = await db.write(useCode(exchange, now));
  if (used?.rowsAffected !== 1) throw refuse('used');
  count('exchanged');
  return { ...identity, verified_at: isoTime(code.verifiedAt) };
}

/** The first part that does not fit. That a code was used is said only to a caller who has the rest right. */
function faultOf(exchange: Exchange, code: IssuedCode, now: number): GrantFault | undefined {
  if (exchange.app !== code.app) return 'client';
  if (exchange.redirectUri !== code.redirectUri) return 'redirect_uri';
  if (exchange.challenge !== code.challenge) return 'verifier';
  if (code.expiresAt <= now) return 'expired';
  return code.isUsed ? 'used' : undefined;
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
  registration:
    'The registration failed since the code was issued, or its account gave the DID up: send the person to /register again.',
};
