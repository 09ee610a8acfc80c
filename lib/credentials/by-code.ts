import { VaultError } from '../base/error.ts';
import { isUnclaimed } from '../holders/holders.ts';
import { type CodeContext, type CodeToCheck, judgeCode } from '../verification/check-code.ts';
import type { RefusedCheck } from '../verification/find-code.ts';
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

/** A code to check for a credential: the challenge of its send, and the proof of the holder's key. */
export interface CodeForCredential extends Omit<CodeToCheck, 'purpose' | 'challenge'> {
  readonly challenge: string;
  readonly holder: string;
}

/**
 * A credential by a code that was sent for one, or why the check did not verify. The proof of the key is judged first
 * and spends nothing. An address that another DID claims gets none by a code: the claimant may be who reads it. Throws
 * 403 `proof_invalid`, 409 `identifier_taken`, 429 `rate_limited`, 502 `sms_provider_error`.
 */
export function issueByCode(
  ctx: CodeContext & CredentialContext,
  given: CodeForCredential,
): Promise<Credential | RefusedCheck> {
  return countOutcome(ctx, async () => {
    const { identifier, challenge, app } = given;
    const holder = await openKeyProof(ctx, given.holder, challenge);
    const key = await credentialKey(ctx);
    const request = { identifier, did: null, app };
    const when = isUnclaimed(identifier.key);
    const also = (now: number) => countCredential(ctx, request, now, { ifChanged: true, when });
    const verdict = await judgeCode(ctx, { ...given, purpose: 'credential' }, also);
    if (!verdict.verified) return verdict;
    const { at: verifiedAt } = verdict;
    if (!isCounted(verdict.also))
      throw (
        (await limitOfCredential(ctx, request, verifiedAt)) ?? new VaultError('identifier_taken', { hint: CLAIMED })
      );
    return signCredential(ctx, key, { ...request, holder, verifiedAt }, verifiedAt);
  });
}

const CLAIMED =
  'Another DID claims this address now. Who it is registered for gets a credential by the passkey; others wait until it has moved.';
