import { sha256 } from '@noble/hashes/sha2.js';
import { toBase64url, utf8 } from '../base/bytes.ts';
import { VaultError } from '../base/error.ts';
import type { Identifier, ProvableChannel } from '../identity/identifier.ts';
import type { Assertion } from '../identity/passkey.ts';
import { heldSince, isHeld } from '../registration/addresses.ts';
import { proofInvalid } from '../registration/proof-fault.ts';
import { findSigner, type SignerContext } from '../registration/signer.ts';
import { openTouch } from '../registration/touch.ts';
import { thumbprintOf } from '../signing/jwk.ts';
import { verifiedAt } from '../verification/check-code.ts';
import { countOutcome } from './count-issue.ts';
import {
  type Credential,
  type CredentialContext,
  countCredential,
  credentialKey,
  isCounted,
  limitOfCredential,
  signCredential,
} from './issue.ts';
import { openKeyProof } from './key-proof.ts';

/** The first line that a passkey signs for a credential. */
export const CREDENTIAL_LABEL = 'vault/credential/v1';

/** A touch of the passkey of the account that holds an address, for the key that the holder proves. */
export interface TouchForCredential {
  readonly identifier: Identifier<ProvableChannel>;
  /** Canonical base64url. */
  readonly credentialId: string;
  /** The account that the passkey names, lower-case. */
  readonly account: string | undefined;
  readonly assertion: Assertion;
  readonly nonce: string;
  readonly holder: string;
  readonly app: string;
}

/**
 * A credential by the passkey of the account that holds the address; it names the DID. The passkey signs for the
 * holder's key, and that key for what the passkey signs. Throws 403 `proof_invalid`, 404 `not_found`, 429
 * `rate_limited`, 502 `rpc_error`.
 */
export function issueByPasskey(
  ctx: SignerContext & CredentialContext,
  { identifier, credentialId, account, assertion, nonce, holder, app }: TouchForCredential,
): Promise<Credential> {
  return countOutcome(ctx, async () => {
    const { config, clock, db } = ctx;
    const linesFor = (thumbprint: string) => [CREDENTIAL_LABEL, config.registrarDid, identifier.key, thumbprint];
    const key = await openKeyProof(ctx, holder, (one) => {
      return toBase64url(sha256(utf8([...linesFor(thumbprintOf(one)), nonce].join('\n'))));
    });
    openTouch(ctx, { lines: linesFor(thumbprintOf(key)), nonce, assertion });
    // Loaded here: it makes the tables of a curve.
    const { signerKeys } = await import('../identity/signer-keys.ts');
    const found = await findSigner(ctx, { credentialId, account, keys: signerKeys(assertion) });
    if (found === 'not_signed') throw proofInvalid('signature', config);
    if (found === 'none') throw notHeld();
    const { did, account: owner } = found.signIn;
    const holding = { did, account: owner, identifier: identifier.key };
    const [since, last] = await Promise.all([heldSince(ctx, holding), verifiedAt(ctx, identifier)]);
    if (since === undefined) throw notHeld();
    const signer = await credentialKey(ctx);
    const now = clock.now();
    const request = { identifier, did, app };
    const counted = await db.write(...countCredential(ctx, request, now, { ifChanged: false, when: isHeld(holding) }));
    if (!isCounted(counted)) throw (await limitOfCredential(ctx, request, now)) ?? notHeld();
    // A code that was right since may have been somebody else's, who claims the address.
    const proven = { ...request, holder: key, verifiedAt: Math.min(last ?? since, since) };
    return signCredential(ctx, signer, proven, now);
  });
}

function notHeld(): VaultError {
  return new VaultError('not_found', { hint: NOT_HELD });
}

const NOT_HELD =
  'No final registration by this passkey holds the address: register it, wait until its block is final, or ask by a code.';
