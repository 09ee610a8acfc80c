import { VaultError } from '../base/error.ts';
import type { Platform } from '../platform.ts';
import type { KeyNotes } from '../registration/look-notes.ts';
import { type ProvenIdentity, readIdentity } from '../registration/proven-identity.ts';
import { digestOf } from './authorize.ts';
import { CODE_VERIFIER, challengeOfVerifier } from './challenge.ts';
import { countCode } from './count.ts';
import {
  type Exchange,
  endAccessToken,
  type IssuedCode,
  selectCode,
  type TokenGrant,
  toCode,
  useCode,
} from './store.ts';

/** An exchange of a code, as an app asks for it. */
export interface TokenRequest {
  readonly clientId: string;
  readonly redirectUri: string;
  readonly code: string;
  /** Undefined where the client does without PKCE. */
  readonly codeVerifier: string | undefined;
  /** The access token that it gets; throws where the code gives none for this request. */
  readonly grantFor: (code: IssuedCode) => TokenGrant;
}

/** A code that was exchanged, and the identity of its owner. */
export interface Exchanged {
  readonly code: IssuedCode;
  readonly identity: ProvenIdentity;
}

/** The services that an exchange uses. */
export type ExchangeContext = Pick<Platform, 'config' | 'clock' | 'db' | 'rpc' | 'witness' | 'log' | 'metrics'> & {
  readonly keyNotes: KeyNotes;
};

/** Why a code is refused: the `reason` beside `invalid_grant`. */
export type GrantFault = 'code' | 'client' | 'redirect_uri' | 'verifier' | 'used' | 'expired' | 'registration';

/**
 * Exchanges a code once. A wrong client, URI or verifier uses nothing up, nor does an answer that cannot be given. A
 * second use ends the access token of the first (RFC 6749 section 4.1.2). Throws 400 `invalid_grant` with its reason,
 * 502 `rpc_error`, and as `grantFor`.
 */
export async function exchangeCode(ctx: ExchangeContext, request: TokenRequest): Promise<Exchanged> {
  const { clock, db } = ctx;
  const refuse = (fault: GrantFault) => {
    countCode(ctx, request.clientId, 'refused');
    return invalidGrant(fault);
  };
  const exchange: Exchange = {
    code: digestOf(request.code),
    app: request.clientId,
    redirectUri: request.redirectUri,
    challenge: challengeOf(request.codeVerifier),
  };
  // A guess writes nothing.
  const [row] = await db.read(selectCode(exchange.code));
  const code = row && toCode(row);
  if (!code) throw refuse('code');
  const now = clock.now();
  const fault = faultOf(exchange, code);
  if (fault) {
    const isRight = fault === 'used' || fault === 'expired';
    if (isRight && code.isUsed) await db.write(endAccessToken(exchange.code));
    throw refuse(fault);
  }
  const grant = request.grantFor(code);
  const identity = await readIdentity(ctx, code);
  if (!identity) throw refuse('registration');
  // The write is the check: only one of several exchanges uses the code.
  const [used] = await db.write(useCode(exchange, now, grant));
  if (used?.rowsAffected !== 1) {
    await db.write(endAccessToken(exchange.code));
    throw refuse('used');
  }
  countCode(ctx, request.clientId, 'exchanged');
  return { code, identity };
}

/** A verifier of another form than RFC 7636 has fits no challenge, and is not none. */
function challengeOf(verifier: string | undefined): string | null {
  if (verifier === undefined) return null;
  return CODE_VERIFIER.test(verifier) ? challengeOfVerifier(verifier) : '';
}

/** The first part that does not fit. `used` is the answer only to a caller whose other parts are right. */
function faultOf(exchange: Exchange, code: IssuedCode): GrantFault | undefined {
  if (exchange.app !== code.app) return 'client';
  if (exchange.redirectUri !== code.redirectUri) return 'redirect_uri';
  if (exchange.challenge !== code.challenge) return 'verifier';
  if (code.isExpired) return 'expired';
  return code.isUsed ? 'used' : undefined;
}

function invalidGrant(reason: GrantFault): VaultError {
  return new VaultError('invalid_grant', { reason, hint: HINTS[reason] });
}

const HINTS: Readonly<Record<GrantFault, string>> = {
  code: 'The vault knows no such code: send the person to sign in again.',
  client: 'The code was issued to another client_id.',
  redirect_uri: 'redirect_uri must be the one of the link, character by character.',
  verifier:
    'code_challenge of the link must be base64url(SHA-256(code_verifier)), without padding; one is not there without the other.',
  used: 'The code was exchanged already, and an access token that it gave has ended: send the person to sign in again.',
  expired: 'A code is good for 60 seconds: send the person to sign in again.',
  registration:
    'The registration failed since the code was issued, or its account gave the DID up: send the person to sign in again.',
};
