// A fresh touch of the account's passkey: the signed text ends with a nonce of the vault's.

import { utf8 } from '../../client/bytes.ts';
import { askPasskey } from '../../client/wallet/passkey.ts';
import { type ProofParts, proofOf } from '../../client/wallet/proof.ts';
import type { Signed } from './home.ts';
import { ask } from './http.ts';

/** Has the passkey sign these lines now. */
export async function touch(
  { account, config }: Pick<Signed, 'account' | 'config'>,
  lines: readonly string[],
): Promise<{ readonly nonce: string; readonly proof: ProofParts }> {
  const request = lines.join('\n');
  const { nonce } = await ask<{ nonce: string }>('POST /authorize/code', { request, fresh: true });
  const challenge = new Uint8Array(await crypto.subtle.digest('SHA-256', utf8(`${request}\n${nonce}`)));
  return { nonce, proof: proofOf(await askPasskey(config.rpId, challenge, [account.credentialId])) };
}
