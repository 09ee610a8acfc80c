import type { Fetch } from '../base/http-client.ts';
import { eventOf } from '../events/catalogue.ts';
import { emitEvent } from '../events/emit.ts';
import { type Identifier, maskIdentifier, normalIdentifier } from '../identity/identifier.ts';
import type { Platform } from '../platform.ts';
import { type Attestation, signAttestation } from './attestation.ts';
import { bindEmailToken, readEmailToken, type TokenFault } from './email-token.ts';
import { markVerifiedIfChanged, selectAttestationUse, touchNonce, useNonce } from './store.ts';
import { findIssuerKeys, type IssuerFacts } from './token-issuer.ts';
import { openTokenNonce } from './token-nonce.ts';

type Ctx = Pick<Platform, 'config' | 'keys' | 'clock' | 'db' | 'metrics'> & {
  readonly issuerFacts: IssuerFacts;
  readonly documentFetch: Fetch;
};

/** An email token to check, the client that shows it, and the app of its event. */
export interface TokenToCheck {
  readonly identifier: Identifier<'email'>;
  readonly token: string;
  readonly client: string;
  readonly app: string;
  /** Called before anybody is asked; throws where the client has had enough asked. */
  readonly spend: () => void;
}

/** The result of a check. */
export type TokenVerdict =
  | { readonly verified: true; readonly attestation: Attestation }
  | { readonly verified: false; readonly fault: TokenFault };

/** Checks an email token. It gives an attestation for a registration, and no other. */
export async function checkToken(ctx: Ctx, check: TokenToCheck): Promise<TokenVerdict> {
  const fault = await judge(ctx, check);
  ctx.metrics.counter('vault_email_tokens_total').add({ outcome: fault ?? 'verified' });
  if (fault !== undefined) return { verified: false, fault };
  const { config, keys, clock } = ctx;
  const attestation = signAttestation(keys.attestation, {
    identifier: check.identifier,
    verifiedAt: clock.now(),
    ttlSeconds: config.attestationTtlSeconds,
    registrar: config.registrarDid,
  });
  return { verified: true, attestation };
}

/** The first fault, in this order; only the last check asks somebody outside. */
async function judge(
  ctx: Ctx,
  { identifier, token, client, app, spend }: TokenToCheck,
): Promise<TokenFault | undefined> {
  const { config, clock, db } = ctx;
  const now = clock.now();
  const isEmail = (shown: string) => shown.includes('@') && normalIdentifier(shown) === identifier.value;
  const read = readEmailToken(token, { isEmail, audience: config.baseUrl, now });
  if ('fault' in read) return read.fault;
  const nonce = openTokenNonce(ctx, client, read.nonce);
  if (!nonce || (await db.read(selectAttestationUse(nonce.id))).length > 0) return 'nonce';
  const opened = await bindEmailToken(read);
  if ('fault' in opened) return opened.fault;
  // The write is the check: of two at once one counts. A nonce has others asked once at most.
  const [used] = await db.write(useNonce(nonce.id, nonce.endsAt));
  if (used?.rowsAffected !== 1) return 'nonce';
  const domain = identifier.value.slice(identifier.value.lastIndexOf('@') + 1);
  const keys = await findIssuerKeys(ctx, { domain, issuer: opened.issuer }, spend);
  if (!(await opened.isOf(keys))) return 'issuer';
  const at = clock.now();
  const data = { channel: identifier.channel, identifier: maskIdentifier(identifier), by: 'token' };
  await db.write(
    touchNonce(nonce.id),
    markVerifiedIfChanged(identifier.key, at),
    emitEvent(eventOf('code.verified', { app, at }, data), { ifChanged: true }),
  );
  return undefined;
}
