import { type Call, pause } from './call.ts';
import { fault, VaultClientError } from './error.ts';
import type { Progress } from './progress.ts';
import type { Attestation } from './wire.ts';

/** What the person is asked for: the code that was sent. */
export interface CodeRequest {
  readonly identifier: string;
  readonly channel: 'email' | 'sms';
  /** Until when the code works, and from when on another one can be sent; in milliseconds of this device's clock. */
  readonly endsAt: number;
  readonly nextAt: number;
  /** What the vault said against the last one: `Incorrect code`, `Code expired`, `Too many attempts`. */
  readonly problem: string | undefined;
  readonly attemptsRemaining: number | undefined;
}

/** Asks the person for the code. An empty text sends another one, null or undefined gives up. */
export type AskCode = (request: CodeRequest) => Promise<string | null | undefined> | string | null | undefined;

/** What proving an address takes. */
export interface Proving {
  readonly askCode: AskCode;
  /** A pass of an earlier mail. */
  readonly pass?: string | undefined;
  /** The language of the message. */
  readonly language?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** After these no check of the code succeeds. */
const ENDED = ['Code expired', 'Too many attempts', 'No code was sent'];

/** Proves that an address or a number is the person's, by as many codes as it takes. Throws `cancelled`. */
export async function prove(
  call: Call,
  progress: Progress,
  { askCode, pass, language, signal }: Proving,
  keep: (change: Partial<Progress>) => void,
): Promise<Attestation> {
  const { identifier } = progress;
  const channel = progress.channel === 'sms' ? 'sms' : 'email';
  const address = { identifier, channel } as const;
  let sent = progress.sent && progress.sent.endsAt > Date.now() ? progress.sent : undefined;
  let problem: string | undefined;
  let attemptsRemaining: number | undefined;
  for (;;) {
    if (!sent) {
      // The challenge is kept here: nobody behind the same address can spend this code's checks.
      const asked = { ...address, bind: true, ...(pass === undefined ? {} : { pass }) };
      const answer = await call('POST /api/verify/send', asked, { signal, language });
      const now = Date.now();
      const { challenge, expires_in, retry_after } = answer;
      sent = { challenge, endsAt: now + expires_in * 1000, nextAt: now + retry_after * 1000 };
      keep({ sent });
    }
    const code = await askCode({ ...address, endsAt: sent.endsAt, nextAt: sent.nextAt, problem, attemptsRemaining });
    signal?.throwIfAborted();
    if (code === null || code === undefined) throw fault('cancelled');
    const digits = code.replace(/\s/g, '');
    if (digits === '') {
      await pause(Math.max(0, sent.nextAt - Date.now()), signal);
      sent = undefined;
      problem = undefined;
      attemptsRemaining = undefined;
      continue;
    }
    const { challenge } = sent;
    const verdict = await call('POST /api/verify/check', { ...address, code: digits, challenge }, { signal });
    if (verdict.verified) return verdict.attestation;
    problem = verdict.message;
    attemptsRemaining = verdict.attempts_remaining;
    if (ENDED.includes(problem)) sent = undefined;
  }
}

/** Whether the address has to be proven again: the vault does not take the attestation, or not any more. */
export function isSpent(error: unknown): boolean {
  return error instanceof VaultClientError && error.error.startsWith('attestation_');
}
