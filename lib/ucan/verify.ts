// UCAN 1.0: verification of an invocation and its delegations.

import { checkChain } from './chain.ts';
import { unpack } from './container.ts';
import { openEnvelope } from './envelope.ts';
import { malformed, UcanError, type UcanFault } from './fault.ts';
import type { IpldMap } from './ipld.ts';
import { type Delegation, type Invocation, readPayload, UCAN_PROOFS_MAX } from './payload.ts';
import { satisfies } from './policy.ts';
import type { Verify } from './signature.ts';

/**
 * The result of a verification. `cid` is the same for both forms of a P-256 signature, `cids` are all CIDs of all
 * tokens of the chain, `expiresAt` is the earliest expiry among them in milliseconds.
 */
export type UcanVerdict =
  | {
      readonly ok: true;
      readonly cid: string;
      readonly cids: readonly string[];
      readonly issuer: string;
      readonly subject: string;
      readonly command: string;
      readonly args: IpldMap;
      /** The invocation's own expiry in milliseconds; null: never. */
      readonly ownExpiresAt: number | null;
      readonly expiresAt: number | null;
    }
  | { readonly ok: false; readonly why: UcanFault; readonly message: string };

/** The verifying service, its time (`now`, milliseconds) and its check of signatures. */
export interface Verifier {
  /** The DID that the invocation must address: by `aud`, or by `sub` if it has no `aud`. */
  readonly service: string;
  readonly now: number;
  readonly verify: Verify;
}

/**
 * Verifies an invocation with its delegations, in a container or bare. Never throws for a bad text. The caller checks
 * revocation by `cids`, and the meaning of `command` and `args`.
 */
export async function verifyInvocation(text: string, verifier: Verifier): Promise<UcanVerdict> {
  try {
    const { invocation, proofs } = resolve(readTokens(text));
    checkService(invocation, verifier.service);
    checkChain(invocation, proofs, verifier.now);
    // The subject's delegation first: a forged longer chain must not cost more signature checks.
    for (const token of [...proofs, invocation]) await checkSignature(token, verifier.verify);
    if (!proofs.every(({ policy }) => satisfies(invocation.args, policy)))
      throw new UcanError('policy', 'a delegation does not allow these arguments');
    return accept(invocation, proofs);
  } catch (error) {
    if (error instanceof UcanError) return { ok: false, why: error.why, message: error.message };
    throw error;
  }
}

/** Decodes all tokens of a text without verifying them. Throws `UcanError`. */
export function readTokens(text: string): readonly (Delegation | Invocation)[] {
  const tokens = unpack(text);
  if (tokens.length > UCAN_PROOFS_MAX + 1) throw new UcanError('large', `more than ${UCAN_PROOFS_MAX} delegations`);
  return tokens.map((token) => readPayload(openEnvelope(token)));
}

/** Checks the issuer's signature. Throws `UcanError`. */
export async function checkSignature(token: Delegation | Invocation, verify: Verify): Promise<void> {
  if (!(await verify(token.issuer, token.signed, token.signature)))
    throw new UcanError('signature', "not the issuer's signature");
}

/** The one invocation, and its proofs in its order. Delegations that it does not name are ignored. */
function resolve(tokens: readonly (Delegation | Invocation)[]) {
  const [invocation, ...others] = tokens.filter((token) => token.kind === 'inv');
  if (!invocation || others.length > 0) throw malformed('not exactly one invocation');
  const delegations = new Map(tokens.filter((token) => token.kind === 'dlg').map((token) => [token.cid, token]));
  const proofs = invocation.proofs.map((cid) => {
    const proof = delegations.get(cid);
    if (!proof) throw new UcanError('missing', 'a delegation it rests on is not there');
    return proof;
  });
  return { invocation, proofs };
}

function checkService({ audience, subject }: Invocation, service: string): void {
  if ((audience ?? subject) !== service) throw new UcanError('audience', 'made out to somebody else');
}

function accept(invocation: Invocation, proofs: readonly Delegation[]): UcanVerdict {
  const { issuer, subject, command, args, cids } = invocation;
  const ends = [invocation, ...proofs].map(({ expiresAt }) => expiresAt).filter((end) => end !== null);
  return {
    ok: true,
    // The first of both forms of a P-256 token, so that they have one name.
    cid: cids[0] ?? invocation.cid,
    cids: [...cids, ...proofs.flatMap((proof) => proof.cids)],
    issuer,
    subject,
    command,
    args,
    ownExpiresAt: invocation.expiresAt,
    expiresAt: ends.length === 0 ? null : Math.min(...ends),
  };
}
