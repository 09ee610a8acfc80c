// UCAN 1.0: whether an invocation may be followed.

import { checkChain } from './chain.ts';
import { unpack } from './container.ts';
import { open } from './envelope.ts';
import { malformed, UcanError, type UcanFaultWord } from './fault.ts';
import type { IpldMap } from './ipld.ts';
import { type Delegation, type Invocation, readPayload, UCAN_PROOFS_MAX } from './payload.ts';
import { satisfies } from './policy.ts';
import type { Verify } from './signature.ts';

/** What became of an invocation: `cid` names it whichever way it is signed, `cids` are all names of all links of the chain, `expiresAt` is the first end among them in milliseconds. */
export type UcanVerdict =
  | {
      readonly ok: true;
      readonly cid: string;
      readonly cids: readonly string[];
      readonly issuer: string;
      readonly subject: string;
      readonly command: string;
      readonly args: IpldMap;
      /** The invocation's own end. */
      readonly ownExpiresAt: number | null;
      readonly expiresAt: number | null;
    }
  | { readonly ok: false; readonly why: UcanFaultWord; readonly message: string };

/** Who verifies, when (milliseconds), and by whose keys. */
export interface Occasion {
  /** The DID the invocation must be made out to: its `aud`, or its `sub` where it has none. */
  readonly service: string;
  readonly now: number;
  readonly verify: Verify;
}

/**
 * Judges an invocation with its delegations, in a container or bare; throws nothing, whatever the text is. Whether a link was revoked is
 * for the caller to look up by `cids`, and what `command` and `args` mean.
 */
export async function verifyInvocation(text: string, occasion: Occasion): Promise<UcanVerdict> {
  try {
    const { invocation, proofs } = resolve(readTokens(text));
    checkService(invocation, occasion.service);
    checkChain(invocation, proofs, occasion.now);
    // The subject's own first: nobody makes the vault verify more by writing a longer chain.
    for (const token of [...proofs, invocation]) await checkSignature(token, occasion.verify);
    if (!proofs.every(({ policy }) => satisfies(invocation.args, policy)))
      throw new UcanError('policy', 'a delegation does not allow these arguments');
    return accept(invocation, proofs);
  } catch (error) {
    if (error instanceof UcanError) return { ok: false, why: error.why, message: error.message };
    throw error;
  }
}

/** Every token in a text, read and not verified. Throws `UcanError`. */
export function readTokens(text: string): readonly (Delegation | Invocation)[] {
  const tokens = unpack(text);
  if (tokens.length > UCAN_PROOFS_MAX + 1) throw new UcanError('large', `more than ${UCAN_PROOFS_MAX} delegations`);
  return tokens.map((token) => readPayload(open(token)));
}

/** Checks that the issuer signed the token. Throws `UcanError`. */
export async function checkSignature(token: Delegation | Invocation, verify: Verify): Promise<void> {
  if (!(await verify(token.issuer, token.signed, token.signature)))
    throw new UcanError('signature', "not the issuer's signature");
}

/** The one invocation, and its proofs in its own order. Delegations it does not name do not matter. */
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
    // Of two ways to sign the same the first by alphabet, so that both are one token.
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
