// Shows that an email address is the person's: a code is sent there, and the vault attests it.
import { type WordId, word } from '../words/words.ts';
import { left } from './format.ts';
import { ask, VaultRefusal } from './http.ts';
import { guard } from './problem.ts';
import { element, fault, fill, onCode, onPress, onSubmit, show, shown, textIn, toggle, write } from './view.ts';

/** What the vault signs once a code was right. Only some members are read here. */
export interface Attestation {
  readonly identifier: string;
  readonly channel: 'email';
  readonly signature: string;
}

/** A code lives this long, and another one can be sent after half of it. */
const CODE_MS = 90_000;
const AGAIN_MS = 45_000;

/** Asks for an address and the code that is sent there. */
export function prove(
  { title, words, back }: { readonly title: string; readonly words: string; readonly back: () => void },
  then: (attestation: Attestation) => Promise<void>,
): void {
  write('mail-title', title);
  write('mail-words', words);
  fault('email', undefined);
  toggle('mail-form', true);
  toggle('code-form', false);
  onPress('mail-back', back);
  const again = () => prove({ title, words, back }, then);
  onSubmit('mail-form', () => {
    const email = textIn('email');
    const isAddress = /^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(email);
    fault('email', isAddress ? undefined : word('mail.fault_form'));
    if (isAddress) guard(() => sendCode(email, then, again), { again });
  });
  show('mail');
}

async function sendCode(email: string, then: (attestation: Attestation) => Promise<void>, again: () => void) {
  let challenge: string;
  try {
    const asked = { identifier: email, channel: 'email', purpose: 'recovery' };
    const sent = await ask<{ challenge: string }>('POST /api/verify/send', asked);
    challenge = sent.challenge;
  } catch (error) {
    // The field is where a wrong address is mended.
    if (error instanceof VaultRefusal && /^Invalid/.test(error.code)) return fault('email', word('mail.fault_refused'));
    throw error;
  }
  const sentAt = Date.now();
  write('code-to', email);
  fill('code', '');
  fault('code', undefined);
  toggle('mail-form', false);
  toggle('code-form', true);
  element('code').focus();
  const tick = () => {
    const isOn = shown() === 'mail' && !element('code-form').hidden;
    if (!isOn) return clearInterval(timer);
    const rest = sentAt + CODE_MS - Date.now();
    write('code-left', rest > 0 ? word('code.left', { time: left(rest) }) : word('code.ended'));
    const wait = sentAt + AGAIN_MS - Date.now();
    element<HTMLButtonElement>('code-again').disabled = wait > 0;
    element('code-again').textContent = wait > 0 ? word('code.again_in', { time: left(wait) }) : word('code.again');
  };
  const timer = setInterval(tick, 250);
  tick();
  onPress('code-again', () => {
    clearInterval(timer);
    guard(() => sendCode(email, then, again), { again });
  });
  let isChecking = false;
  const check = (code: string) => {
    // The sixth digit and the button send the same code: it counts as one guess.
    if (isChecking) return;
    isChecking = true;
    const checked = checkCode({ email, code, challenge }, then).finally(() => (isChecking = false));
    guard(() => checked, { again });
  };
  onCode('code', check);
  onSubmit('code-form', () => {
    if (textIn('code').length === 6) check(textIn('code'));
    else fault('code', word('code.fault_form'));
  });
}

async function checkCode(
  { email, code, challenge }: { email: string; code: string; challenge: string },
  then: (attestation: Attestation) => Promise<void>,
): Promise<void> {
  const answer = await ask<{
    verified: boolean;
    message?: string;
    attestation: Attestation;
    attempts_remaining?: number;
  }>('POST /api/verify/check', { identifier: email, channel: 'email', code, challenge });
  if (answer.verified) return then(answer.attestation);
  fill('code', '');
  fault('code', word(WRONG[answer.message ?? ''] ?? 'code.fault_wrong'));
}

const WRONG: Readonly<Record<string, WordId>> = {
  'Code expired': 'code.ended',
  'Too many attempts': 'code.fault_tries',
};
