// The holder of a credential: a key made for one statement, which shows it to one recipient and is then gone.

import { utf8 } from '../../client/bytes.ts';
import { newHolderKey, signJwt } from '../../client/vault/holder-key.ts';
import { fromBase64url, toBase64url } from '../../client/wallet/bytes.ts';
import type { ProofParts } from '../../client/wallet/proof.ts';

/** A statement of an address for one recipient. */
export interface Wanted {
  /** The vault's origin, and its DID. */
  readonly issuer: string;
  readonly registrar: string;
  /** The channel and the address in its normal form: `email:ada@example.com`. */
  readonly address: string;
  /** The claims that it shows. */
  readonly claims: readonly string[];
  /** The recipient's origin, and the word that they gave. */
  readonly recipient: string;
  readonly nonce: string;
}

/** The passkey signs these lines and a nonce of the vault's. */
export type Touch = (lines: readonly string[]) => Promise<{ readonly nonce: string; readonly proof: ProofParts }>;

/** The vault's answer to the touch and the proof of the holder's key. */
export type Issue = (
  asked: Awaited<ReturnType<Touch>> & { readonly holder: string },
) => Promise<{ readonly credential: string; readonly expires_at: string }>;

/**
 * The statement: an SD-JWT VC with key binding. Nobody can take its key, and nothing keeps it. Its times are the
 * vault's, as a device's clock may be wrong.
 */
export async function makeStatement(
  wanted: Wanted,
  touch: Touch,
  issue: Issue,
): Promise<{ readonly text: string; readonly endsAt: string }> {
  const key = await newHolderKey();
  const { crv, kty, x, y } = await crypto.subtle.exportKey('jwk', key.publicKey);
  const jwk = { crv, kty, x, y };
  // The thumbprint of RFC 7638: the members are in the order of their names.
  const thumbprint = await digest(JSON.stringify(jwk));
  const lines = ['vault/credential/v1', wanted.registrar, wanted.address, thumbprint];
  const touched = await touch(lines);
  const challenge = await digest([...lines, touched.nonce].join('\n'));
  const proven = { aud: wanted.issuer, iat: secondsIn(touched.nonce), nonce: challenge };
  const holder = await signJwt(key, { typ: 'openid4vci-proof+jwt', jwk }, proven);
  const { credential, expires_at: endsAt } = await issue({ ...touched, holder });
  const [token = '', ...hidden] = credential.split('~');
  const shown = hidden.filter((one) => one !== '' && wanted.claims.includes(String((read(one) as unknown[])[1])));
  const presented = [token, ...shown, ''].join('~');
  const { iat } = read(token.split('.')[1] ?? '') as { iat: number };
  const bound = { iat, aud: wanted.recipient, nonce: wanted.nonce, sd_hash: await digest(presented) };
  return { text: presented + (await signJwt(key, { typ: 'kb+jwt' }, bound)), endsAt };
}

async function digest(text: string): Promise<string> {
  return toBase64url(new Uint8Array(await crypto.subtle.digest('SHA-256', utf8(text))));
}

function read(part: string): unknown {
  return JSON.parse(new TextDecoder().decode(fromBase64url(part)));
}

/** The vault's time, with which its nonces begin. */
function secondsIn(nonce: string): number {
  return new DataView(fromBase64url(nonce).buffer).getUint32(0);
}
