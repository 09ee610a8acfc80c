// Authorization codes (RFC 6749 section 4.1) with PKCE (RFC 7636) for apps whose people sign in at `/authorize`.
import { toBase64url, toHex, utf8 } from '../base/bytes.ts';
import { MINUTE_MS } from '../base/clock.ts';
import { VaultError } from '../base/error.ts';
import { sha256Digest } from '../base/hmac.ts';
import { notePasskeyUse } from '../holders/holders.ts';
import { ownPlace } from '../identity/ceremony.ts';
import type { ProvableChannel } from '../identity/identifier.ts';
import type { Assertion } from '../identity/passkey.ts';
import type { Platform } from '../platform.ts';
import { PROOF_SKEW_MS } from '../registration/proof.ts';
import { proofInvalid } from '../registration/proof-fault.ts';
import { findAttested, openFreshAttestation, type ShownSignIn, type SignIn } from '../registration/sign-in.ts';
import { findSigner, type SignerContext } from '../registration/signer.ts';
import { openTouch } from '../registration/touch.ts';
import { authorizationLines, type CodeRequest } from './challenge.ts';
import { countCode, countRefusal } from './count.ts';
import { countSignature } from './count-store.ts';
import { noteRefused, noteSignIn } from './sign-ins.ts';
import { insertCode } from './store.ts';

/** How long a code can be exchanged. */
export const AUTHORIZATION_CODE_MS = MINUTE_MS;
/** How long a code that was used, or has expired, is distinguished from one that never was. */
export const AUTHORIZATION_CODE_KEPT_MS = 10 * MINUTE_MS;

type Ctx = SignerContext & Pick<Platform, 'keys' | 'random'>;

/**
 * Evidence of whose registration it is. Either an assertion of the passkey over this request and a nonce for it, with
 * the account that the passkey names, lower-case. Or, right after a registration for this app, the attestation that the
 * registration's own proof names.
 */
export type CodeEvidence =
  | { readonly assertion: Assertion; readonly nonce: string; readonly account: string | undefined }
  | { readonly attestation: unknown };

/** A request for a code, for the registration that a credential leads to. */
export interface AuthorizationRequest extends CodeRequest {
  /** The app of the sign-in, one of `APPS`. */
  readonly app: string;
  /** The query of the page's address, which the values above are read of. */
  readonly request: string;
  /** The key of the client's limits; its masked network is kept beside the sign-in. */
  readonly client: string;
  /** Canonical base64url. */
  readonly credentialId: string;
  readonly evidence: CodeEvidence;
  /** The granted scopes, separated by spaces. */
  readonly scope: string;
  /** The server that the access token is for; null where it reads claims of the vault. */
  readonly resource: string | null;
  readonly nonce: string | undefined;
  /** The address that the person picked of each channel; null for none. A missing channel means its oldest address. */
  readonly picked: Readonly<Partial<Record<ProvableChannel, string | null>>>;
  /** Seconds since the person was last asked, at most. */
  readonly maxAge: number | undefined;
  /** Throws where no code may be issued for this sign-in, signed by this key. */
  readonly admit: (signIn: SignIn, signer: string) => Promise<void>;
}

/**
 * Issues a code for the registration that the evidence shows, never for one that the request names. Throws 403
 * `proof_invalid`, those of attestations, 404 `not_found` without such a registration, 409 `registration_pending`,
 * 502 `rpc_error`.
 */
export async function issueCode(ctx: Ctx, request: AuthorizationRequest): Promise<string> {
  const { config, clock, random, db } = ctx;
  const { signIn, proof, verifiedAt, endsAt, counted, isConfirmed, isSynced } = await show(ctx, request).catch(
    async (error) => {
      if (error instanceof VaultError) countRefusal(ctx, request.clientId, 'page', error.details.reason ?? error.code);
      await noteRefused(ctx, request, error);
      throw error;
    },
  );
  // If the registration failed, the app would keep a person who never existed.
  if (!isConfirmed) throw registrationPending();
  const key = counted?.key ?? signIn.key;
  await request.admit(signIn, key);
  const code = toBase64url(random(32));
  const now = clock.now();
  const { clientId, app, redirectUri, codeChallenge } = request;
  const counts = counted ? countSignature({ ...signIn, ...counted, proof, app }, now) : [];
  const use = { ...signIn, key, app, by: 'signin', registration: null } as const;
  const stored = await db.write(
    ...notePasskeyUse(use, { chainId: config.chainId, now }),
    ...counts,
    ...noteSignIn(ctx, { ...request, did: signIn.did, proof }),
    insertCode({
      ...signIn,
      proof,
      code: digestOf(code),
      app: clientId,
      redirectUri,
      challenge: codeChallenge,
      scope: request.scope,
      resource: request.resource,
      nonce: request.nonce ?? null,
      request: digestOf(request.request),
      picked: request.picked,
      amr: isSynced ? 'swk' : 'hwk',
      verifiedAt,
      lifeMs: AUTHORIZATION_CODE_MS,
      keptUntil: Math.max(now + AUTHORIZATION_CODE_MS + AUTHORIZATION_CODE_KEPT_MS, endsAt + PROOF_SKEW_MS),
    }),
  );
  if (stored.at(-1)?.rowsAffected !== 1) throw new VaultError('proof_invalid', { reason: 'used', hint: USED });
  countCode(ctx, clientId, 'issued');
  return code;
}

/** The chain has not confirmed a registration yet: a block and a little later it may have. */
export function registrationPending(): VaultError {
  return new VaultError('registration_pending', { retryAfterSeconds: 3 });
}

/** The digest under which a secret is stored: both codes and proofs are too random to be guessed. */
export function digestOf(secret: string): string {
  return toHex(sha256Digest(utf8(secret)));
}

function show(ctx: Ctx, request: AuthorizationRequest): Promise<Shown> {
  const { evidence } = request;
  if ('assertion' in evidence) return bySignature(ctx, request, evidence);
  return byAttestation(ctx, request, evidence.attestation);
}

interface Shown extends ShownSignIn {
  /** The digest of the evidence. */
  readonly proof: string;
  readonly verifiedAt: number;
  /** When the evidence expires. */
  readonly endsAt: number;
  /** The key of an assertion, and its signature counter. */
  readonly counted?: { readonly key: string; readonly count: number };
}

async function bySignature(
  ctx: Ctx,
  request: AuthorizationRequest,
  { assertion, nonce, account }: Extract<CodeEvidence, { assertion: unknown }>,
): Promise<Shown> {
  const { config, clock } = ctx;
  const lines = authorizationLines(config.registrarDid, request.request);
  const { challenge, signCount, endsAt, isSynced } = openTouch(ctx, {
    lines,
    request: request.request,
    nonce,
    assertion,
  });
  const { credentialId } = request;
  // Loaded here: it makes the tables of a curve.
  const { signerKeys } = await import('../identity/signer-keys.ts');
  const found = await findSigner(ctx, { credentialId, account, keys: signerKeys(assertion) });
  if (found === 'none') throw new VaultError('not_found', { hint: UNKNOWN });
  if (found === 'not_signed') throw proofInvalid('signature', config);
  const proof = digestOf(`assertion ${toBase64url(challenge)} ${found.signer}`);
  const counted = { key: found.signer, count: signCount };
  // The chain may have taken its time.
  const { signIn, isConfirmed } = found;
  const verifiedAt = Math.min(clock.now(), endsAt);
  return { signIn, isConfirmed, isSynced, proof, verifiedAt, endsAt, counted };
}

async function byAttestation(ctx: Ctx, request: AuthorizationRequest, attestation: unknown): Promise<Shown> {
  const opened = openFreshAttestation(ctx, attestation);
  const { credentialId, app, maxAge } = request;
  // The attestation dates from when the code was typed. A shorter `maxAge` needs the passkey.
  if (maxAge !== undefined && ctx.clock.now() > opened.verifiedAt + maxAge * 1000)
    throw new VaultError('attestation_expired');
  const shown = await findAttested(ctx, opened, { credentialId, app, place: ownPlace(ctx.config) });
  if (!shown) throw new VaultError('not_found', { hint: UNKNOWN });
  const { signature, verifiedAt, expiresAt } = opened;
  return { ...shown, proof: digestOf(`attestation ${signature}`), verifiedAt, endsAt: expiresAt };
}

const USED = 'A proof makes one code that is exchanged, for one request: ask the passkey again.';
const UNKNOWN = 'No registration of this credential is proven by this: register first, or sign in with its passkey.';
