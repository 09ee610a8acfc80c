// Shows that an address is the person's: a code is sent there, and the vault attests it.
import { type WordId, word } from '../words/words.ts';
import { left } from './format.ts';
import { ask, VaultRefusal } from './http.ts';
import { guard } from './problem.ts';
import {
  beginIn,
  element,
  fault,
  fill,
  onCode,
  onPress,
  onSubmit,
  show,
  shown,
  textIn,
  toggle,
  write,
} from './view.ts';

/** The vault's attestation of a right code. Only some members are read here. */
export interface Attestation {
  readonly identifier: string;
  readonly channel: Channel;
  readonly signature: string;
  readonly expires_at: string;
}

/** How an address is reached. */
export type Channel = 'email' | 'sms';

/** The screen that asks for an address, and its reason. */
export interface Asking {
  readonly title: string;
  readonly words: string;
  readonly back: () => void;
  readonly channel?: Channel;
  /** The purpose of the code. */
  readonly purpose?: 'registration' | 'recovery';
  /** The pass of a message, for a person whom others keep from a code. */
  readonly pass?: string;
  /** The label of the button where no code is sent. */
  readonly button?: string;
  /** The passkey's word for a code where others have used up those of the address: members of the request. */
  readonly touch?: (address: string) => Promise<object>;
}

const FORMS = { email: /^[^\s@]+@[^\s@]+\.[^\s@]+$/, sms: /^\+[\d\s().-]{6,}$/ };

/** Asks for an address. */
export function askAddress(asking: Asking, then: (address: string) => Promise<void>): void {
  const { title, words, back, channel = 'email', button = word('mail.send') } = asking;
  const isMail = channel === 'email';
  write('mail-title', title);
  write('mail-words', words);
  write('email-label', word(isMail ? 'mail.label' : 'mail.phone'));
  write('mail-go', button);
  const input = element<HTMLInputElement>('email');
  input.type = isMail ? 'email' : 'tel';
  input.autocomplete = isMail ? 'email' : 'tel';
  fault('email', undefined);
  toggle('mail-form', true);
  toggle('code-form', false);
  onPress('mail-back', back);
  onSubmit('mail-form', () => {
    const address = textIn('email');
    const isAddress = FORMS[channel].test(address);
    fault('email', isAddress ? undefined : word(isMail ? 'mail.fault_form' : 'mail.fault_phone'));
    if (isAddress) guard(() => then(address), { again: () => askAddress(asking, then) });
  });
  show('mail');
  beginIn('email');
}

/** Asks for an address and the code that is sent there. */
export function prove(asking: Asking, then: (attestation: Attestation) => Promise<void>): void {
  askAddress(asking, (address) => sendCode(address, asking, then));
}

/** How the vault answers a request for a code; times are seconds. */
interface Sent {
  readonly challenge: string;
  readonly expires_in: number;
  readonly retry_after: number;
}

async function sendCode(identifier: string, asking: Asking, then: (attestation: Attestation) => Promise<void>) {
  const { channel = 'email', purpose = 'recovery', pass, touch } = asking;
  const again = () => prove(asking, then);
  const asked = { identifier, channel, purpose };
  const send = (more: object) => ask<Sent>('POST /api/verify/send', { ...asked, ...more });
  const sent = await send(pass ? { pass } : {}).catch(async (error) => {
    if (!(error instanceof VaultRefusal)) throw error;
    if (touch && error.retryAfter !== undefined) return send(await touch(identifier));
    // The field is where a wrong address is mended.
    if (!/^Invalid/.test(error.code)) throw error;
    fault('email', word(channel === 'email' ? 'mail.fault_refused' : 'mail.fault_phone'));
    return undefined;
  });
  if (!sent) return;
  const { challenge } = sent;
  const sentAt = Date.now();
  write('code-to', identifier);
  fill('code', '');
  fault('code', undefined);
  // The passkey's prompt has another screen.
  if (shown() !== 'mail') show('mail');
  // The form for the address is done.
  toggle('mail-words', false);
  toggle('mail-form', false);
  toggle('code-form', true);
  beginIn('code', true);
  const tick = () => {
    const isOn = shown() === 'mail' && !element('code-form').hidden;
    if (!isOn) return clearInterval(timer);
    const rest = sentAt + sent.expires_in * 1000 - Date.now();
    write('code-left', rest > 0 ? word('code.left', { time: left(rest) }) : word('code.ended'));
    const wait = sentAt + sent.retry_after * 1000 - Date.now();
    element<HTMLButtonElement>('code-again').disabled = wait > 0;
    write('code-again', wait > 0 ? word('code.again_in', { time: left(wait) }) : word('code.again'));
  };
  const timer = setInterval(tick, 250);
  tick();
  onPress('code-again', () => {
    clearInterval(timer);
    guard(() => sendCode(identifier, asking, then), { again });
  });
  let isChecking = false;
  const check = (code: string) => {
    // The sixth digit and the button send the same code: it counts as one guess.
    if (isChecking) return;
    isChecking = true;
    const checked = checkCode({ identifier, channel, code, challenge }, then).finally(() => (isChecking = false));
    guard(() => checked, { again });
  };
  onCode('code', check);
  onSubmit('code-form', () => {
    if (textIn('code').length === 6) check(textIn('code'));
    else fault('code', word('code.fault_form'));
  });
}

async function checkCode(
  asked: { readonly identifier: string; readonly channel: Channel; readonly code: string; readonly challenge: string },
  then: (attestation: Attestation) => Promise<void>,
): Promise<void> {
  const answer = await ask<{
    verified: boolean;
    message?: string;
    attestation: Attestation;
    attempts_remaining?: number;
  }>('POST /api/verify/check', asked);
  if (answer.verified) return then(answer.attestation);
  fill('code', '');
  // The next answer to that code would say so, whatever it is.
  const message = answer.attempts_remaining === 0 ? 'Too many attempts' : (answer.message ?? '');
  fault('code', word(WRONG[message] ?? 'code.fault_wrong'));
}

const WRONG: Readonly<Record<string, WordId>> = {
  'Code expired': 'code.ended',
  'Too many attempts': 'code.fault_tries',
};
