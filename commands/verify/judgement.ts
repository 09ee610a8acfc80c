/** The judgement of a piece of evidence, in words and for programs. */
export interface EvidenceJudgement {
  readonly kind: Kind;
  readonly verdict: Verdict;
  /** The finding, or why it is not good or cannot be decided: one sentence. */
  readonly finding: string;
  /** The evidence's own statements. Holds no secret: no signature, no token, no key. */
  readonly facts: Readonly<Record<string, string | number | boolean | null>>;
  /** Limits of the judgement, and how to have the rest decided. */
  readonly notes: readonly string[];
}

/** The kinds of evidence. */
export type Kind = 'payment' | 'attestation' | 'credential' | 'backup' | 'token';

/** Good, not good, or not to be decided with what was given. */
export type Verdict = 'good' | 'not_good' | 'undecided';

/** The exit code of each verdict; 2 is invalid usage. */
export const EXIT_CODES: Readonly<Record<Verdict, number>> = { good: 0, not_good: 1, undecided: 3 };

const HEADS: Readonly<Record<Verdict, string>> = { good: '✓ good', not_good: '✗ not good', undecided: '? not decided' };

const NAMES: Readonly<Record<Kind, string>> = {
  payment: 'receipt of a payment',
  attestation: 'attestation',
  credential: 'credential',
  backup: 'backup',
  token: 'token',
};

/** A judgement in lines. */
export function judgementInWords({ kind, verdict, finding, facts, notes }: EvidenceJudgement): string {
  const shown = Object.entries(facts).filter(([, value]) => value !== null);
  const width = Math.max(0, ...shown.map(([name]) => name.length));
  return [
    `${HEADS[verdict]}: ${NAMES[kind]}. ${finding}`,
    ...shown.map(([name, value]) => `  ${name.padEnd(width)}  ${printable(String(value))}`),
    ...notes.map((note) => `  ${note}`),
  ].join('\n');
}

/** A stranger wrote the evidence: nothing in it moves the cursor or begins a line. */
function printable(text: string): string {
  return text.replace(/\p{C}/gu, '�').slice(0, SHOWN_MAX);
}

const SHOWN_MAX = 300;
