// A credential by the passkey that registered the address: on pages of the vault's own origin.
import { utf8 } from '../bytes.ts';
import { accountNamedBy } from '../wallet/passkey.ts';
import { addressLine, proofOf } from '../wallet/proof.ts';
import type { Call } from './call.ts';
import { fault } from './error.ts';
import { touchFor } from './holder-key.ts';
import { hasPasskeys, signWith } from './passkeys.ts';
import type { VaultInfo } from './vault-info.ts';

/** An address. */
export interface Addressed {
  readonly identifier: string;
  readonly channel: 'email' | 'sms';
}

/** The passkey of an account. */
export interface PasskeyOf {
  readonly credentialId: string;
  /** The account, where another passkey than its first one is asked; else it is found. */
  readonly account?: string | undefined;
}

interface Asking {
  readonly call: Call;
  readonly info: VaultInfo;
  /** The vault as issuer. */
  readonly issuer: string;
  readonly signal: AbortSignal | undefined;
}

/**
 * The credential, by a touch of this passkey or of one that the person picks. Throws `not_offered` on pages of another
 * origin, `passkeys_unavailable`, and `passkey_refused`.
 */
export async function touchedCredential(
  { call, info, issuer, signal }: Asking,
  key: CryptoKeyPair,
  { identifier, channel }: Addressed,
  passkey: PasskeyOf | undefined,
): Promise<string> {
  // Any other page could have the person sign for a key of its own: the vault takes no such proof.
  if (globalThis.location?.origin !== issuer)
    throw fault('not_offered', { hint: `By the passkey it is for pages of ${issuer} alone. Ask by a code.` });
  if (!hasPasskeys()) throw fault('passkeys_unavailable');
  const { status, contracts } = await info();
  const about = { issuer, registrar: contracts.registrar, address: addressLine(channel, identifier) };
  const touched = await touchFor(key, about, async (lines) => {
    const request = lines.join('\n');
    const fresh = await call('POST /authorize/code', { request, fresh: true }, { signal });
    const { nonce } = fresh as Extract<typeof fresh, { readonly nonce: string }>;
    const challenge = new Uint8Array(await crypto.subtle.digest('SHA-256', utf8(`${request}\n${nonce}`)));
    const ids = passkey ? [passkey.credentialId] : [];
    const assertion = await signWith(status.rpId, challenge, ids, { signal });
    const smartAccount = passkey?.account ?? accountNamedBy(assertion);
    return { nonce, proof: proofOf(assertion), credentialId: assertion.credentialId, smartAccount };
  });
  return (await call('POST /api/credentials', { identifier, channel, ...touched }, { signal })).credential;
}
