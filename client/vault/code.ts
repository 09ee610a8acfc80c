import { newKey, pause, until } from './call.ts';
import { fault, VaultClientError } from './error.ts';
import { isAttested, type Progress } from './progress.ts';
import type { AskCode, CodeRun } from './registration-run.ts';
import type { AnswerOf, Attestation } from './wire.ts';

/** The vault's answer to the right code. */
export type Proven = Extract<AnswerOf<'POST /api/verify/check'>, { readonly verified: true }>;

/** After every other problem no check of the code succeeds. */
const WRONG = 'Incorrect code';
/** A person at a form waits no longer for another code without a word. */
const WAIT_MS_MAX = 30_000;
/** The way to the vault, of an attestation that is about to end. */
const MARGIN_MS = 5_000;

/**
 * Proves that an address or a number is the person's, by as many codes as it takes. Undefined if it was proven
 * meanwhile. Throws `cancelled`.
 */
export async function prove(run: CodeRun, askCode: AskCode): Promise<Proven | undefined> {
  const { call, signal, keep, progress } = run;
  const { identifier, channel } = progress();
  const address = { identifier, channel: channel === 'sms' ? 'sms' : 'email' } as const;
  let problem: string | undefined;
  let attemptsRemaining: number | undefined;
  // Another tab may have proven it.
  while (!isAttested(progress())) {
    const { challenge, endsAt, nextAt } = await sentCode(run, address);
    const answer = await until(askCode({ ...address, endsAt, nextAt, problem, attemptsRemaining }), signal);
    if (answer === null || answer === undefined) throw fault('cancelled');
    const code = typeof answer === 'string' ? digitsOf(answer) : '';
    problem = attemptsRemaining = undefined;
    if (code === '') {
      const ms = nextAt - Date.now();
      if (ms > WAIT_MS_MAX) problem = 'Too soon';
      else await pause(Math.max(0, ms), signal);
      if (!problem) keep({ sent: undefined });
      continue;
    }
    const verdict = await call('POST /api/verify/check', { ...address, code, challenge }, { signal });
    if (verdict.verified) return verdict;
    // The next answer to that code would say so, whatever it is.
    attemptsRemaining = verdict.attempts_remaining;
    problem = attemptsRemaining === 0 ? 'Too many attempts' : verdict.message;
    if (problem !== WRONG) keep({ sent: undefined });
  }
  return undefined;
}

/** What is kept of an address that was proven. By this device's clock: only the difference is the vault's. */
export function provenBy(attestation: Attestation): Partial<Progress> {
  const lifeMs = Date.parse(attestation.expires_at) - Date.parse(attestation.verified_at);
  return { attestation, attestedUntil: Date.now() + lifeMs - MARGIN_MS, sent: undefined };
}

/** The code in a typed answer: its digits, also of a keyboard for Chinese or Japanese; any other word as it is. */
function digitsOf(answer: string): string {
  return answer.normalize('NFKC').replace(/\D/g, '') || answer.trim();
}

/** The code that was sent and works still, or the next one. The request's key is kept before it is sent. */
async function sentCode(
  { call, signal, keep, progress, pass, invite, language }: CodeRun,
  address: { readonly identifier: string; readonly channel: 'email' | 'sms' },
): Promise<{ readonly challenge: string; readonly endsAt: number; readonly nextAt: number }> {
  const { sent } = progress();
  const works = sent && sent.endsAt > Date.now();
  if (works && sent.challenge) return { ...sent, challenge: sent.challenge };
  const key = works ? sent.key : newKey();
  keep({ sent: { key, nextAt: 0, endsAt: Date.now() + WAIT_MS_MAX } });
  // The challenge is kept here: nobody behind the same address can spend this code's checks.
  const asked = { ...address, bind: true, pass, invite };
  try {
    const answer = await call('POST /api/verify/send', asked, { signal, language, idempotencyKey: key });
    const { challenge, expires_in, retry_after } = answer;
    const at = (seconds: number) => Date.now() + seconds * 1000;
    const made = { key, challenge, endsAt: at(expires_in), nextAt: at(retry_after) };
    keep({ sent: made });
    return made;
  } catch (error) {
    // A send that the vault refused gets a new key the next time.
    if (error instanceof VaultClientError && error.status > 0) keep({ sent: undefined });
    throw error;
  }
}
