import { systemClock } from '../../lib/base/clock.ts';
import { inspectToken } from '../../lib/ucan/inspect.ts';
import { createVerify } from '../../lib/ucan/signature.ts';
import type { EvidenceJudgement } from './judgement.ts';

/** Judges a UCAN, a delegation or an invocation with its proofs; undefined for a text that is none. */
export async function judgeToken(text: string): Promise<EvidenceJudgement | undefined> {
  const { fault, tokens } = await inspectToken(text, { now: systemClock.now(), verify: createVerify() });
  const [first] = tokens;
  if (!first) return undefined;
  const ends = tokens.flatMap(({ expires_at }) => expires_at ?? []).sort()[0] ?? null;
  return {
    kind: 'token',
    verdict: fault === null ? 'good' : 'not_good',
    finding: fault === null ? 'Each signature is its issuer’s, and it has not ended.' : `It has a fault: ${fault}.`,
    facts: { is: first.kind, cid: first.cid, parts: tokens.length, ends },
    notes: [
      'Whether it was revoked, and whether its issuer may say so, only the vault that it is for knows.',
      'vault token inspect shows what it says.',
    ],
  };
}
