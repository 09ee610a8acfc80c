// UCAN 1.0: making tokens.
import { cidBytes, cidText } from './cid.ts';
import { pack } from './container.ts';
import { signEnvelope } from './envelope.ts';
import { type Ipld, type IpldMap, link } from './ipld.ts';
import type { UcanSigner } from './signature.ts';

/** The length of a nonce. */
export const UCAN_NONCE_BYTES = 12;

/**
 * A token in a container with its proofs, its expiry in milliseconds, the CID by which it is revoked, and its own
 * bytes.
 */
export interface Minted {
  readonly token: string;
  readonly expiresAt: number | null;
  readonly cid: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/**
 * An invocation to sign. `expiresAt` in milliseconds is cut to whole seconds; `proofs` are delegations, the subject's
 * own first.
 */
export interface NewInvocation {
  readonly key: UcanSigner;
  readonly subject: string;
  readonly audience?: string | undefined;
  readonly command: string;
  readonly args: IpldMap;
  readonly expiresAt: number | null;
  readonly nonce: Uint8Array;
  readonly proofs?: readonly Uint8Array[];
}

/**
 * A delegation to sign. Times in milliseconds are cut to whole seconds. With a `subject` of null it applies to the
 * subject of the previous delegation.
 */
export interface NewDelegation {
  readonly key: UcanSigner;
  readonly audience: string;
  readonly subject: string | null;
  readonly command: string;
  readonly policy: readonly Ipld[];
  readonly expiresAt: number | null;
  readonly notBefore?: number;
  readonly nonce: Uint8Array;
}

/** Signs an invocation; the token contains its proofs. */
export async function mintInvocation(order: NewInvocation): Promise<Minted> {
  const { key, subject, audience, command, args, expiresAt, nonce, proofs = [] } = order;
  const payload = {
    iss: key.did,
    sub: subject,
    ...(audience === undefined ? {} : { aud: audience }),
    cmd: command,
    args,
    prf: proofs.map((proof) => link(cidBytes(proof))),
    exp: secondsOf(expiresAt),
    nonce,
  };
  return minted(await signEnvelope(key, 'inv', payload), payload.exp, proofs);
}

/** Signs a delegation. */
export async function mintDelegation(order: NewDelegation): Promise<Minted> {
  const { key, audience, subject, command, policy, expiresAt, notBefore, nonce } = order;
  const payload = {
    iss: key.did,
    aud: audience,
    sub: subject,
    cmd: command,
    pol: policy,
    ...(notBefore === undefined ? {} : { nbf: Math.floor(notBefore / 1000) }),
    exp: secondsOf(expiresAt),
    nonce,
  };
  return minted(await signEnvelope(key, 'dlg', payload), payload.exp);
}

function minted(bytes: Uint8Array<ArrayBuffer>, exp: number | null, proofs: readonly Uint8Array[] = []): Minted {
  const expiresAt = exp === null ? null : exp * 1000;
  return { token: pack([bytes, ...proofs]), cid: cidText(cidBytes(bytes)), bytes, expiresAt };
}

function secondsOf(ms: number | null): number | null {
  return ms === null ? null : Math.floor(ms / 1000);
}
