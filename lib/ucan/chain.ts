import { covers } from './command.ts';
import { UcanError } from './fault.ts';
import type { Delegation, Invocation } from './payload.ts';

/** The accepted difference between two clocks. */
export const UCAN_SKEW_SECONDS = 60;

/**
 * Checks that the delegations lead from the subject to the invocation, and that all are valid at `now` (milliseconds, ±
 * `UCAN_SKEW_SECONDS`). Signatures and policies are not checked. Throws `UcanError`.
 */
export function checkChain(invocation: Invocation, proofs: readonly Delegation[], now: number): void {
  const { subject } = invocation;
  const [root] = proofs;
  checkTime(invocation, now);
  if (root && root.subject !== null && root.subject !== subject) throw new UcanError('subject', WRONG_SUBJECT);
  if (root ? root.subject === null || root.issuer !== subject : invocation.issuer !== subject)
    throw new UcanError('unproven', 'nothing leads back to the subject');
  for (const [i, proof] of proofs.entries()) checkLink(proof, proofs[i + 1] ?? invocation, subject, now);
}

const WRONG_SUBJECT = 'a link of the chain is about another subject';

function checkLink(proof: Delegation, next: Delegation | Invocation, subject: string, now: number): void {
  checkTime(proof, now);
  if (proof.subject !== null && proof.subject !== subject) throw new UcanError('subject', WRONG_SUBJECT);
  if (proof.audience !== next.issuer)
    throw new UcanError('audience', 'a delegation is used by another than its audience');
  // Only the subject itself may delegate `/`, all commands at once.
  if (!covers(proof.command, next.command) || next.command === '/')
    throw new UcanError('command', `${next.command} is more than the ${proof.command} that was delegated`);
}

/** Checks that a token is valid at `now` (milliseconds, ± `UCAN_SKEW_SECONDS`). Throws `UcanError`. */
export function checkTime(token: Delegation | Invocation, now: number): void {
  const skew = UCAN_SKEW_SECONDS * 1000;
  if (token.expiresAt !== null && now > token.expiresAt + skew) throw new UcanError('expired', 'expired');
  if (now < token.notBefore - skew) throw new UcanError('early', 'not valid yet');
}
