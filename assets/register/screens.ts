// The screens that ask a person for something. Each resolves with what the person chose.
import type { CodeRequest } from '../../client/vault/code.ts';
import { element, fault, field, left, onPress, onSubmit, say, show, toggle, write } from './view.ts';
import { text, type WordId } from './words.ts';

/** An address that was entered. */
export interface Address {
  readonly channel: 'email' | 'sms';
  readonly identifier: string;
}

/** What the first screen shows. */
export interface StartOptions {
  readonly app: string;
  readonly channels: readonly ('email' | 'sms')[];
  /** This device has signed in here before. */
  readonly isKnown: boolean;
  /** What is in the field already. */
  readonly hint?: string | undefined;
  readonly notice?: string | undefined;
  /** What is wrong with the address in the field. */
  readonly fault?: string | undefined;
}

/** Asks for an address, or a passkey that is there. */
export function askStart({ app, channels, isKnown, hint = '', ...said }: StartOptions): Promise<Address | 'sign-in'> {
  const kind = channels.length > 1 ? 'both' : channels[0] === 'sms' ? 'phone' : 'email';
  say({ 'address-label': `start.${kind}`, 'address-go': 'start.go', 'sign-in': 'start.sign_in' });
  say({ 'start-title': isKnown ? 'start.known' : 'start.title' }, { app });
  say(
    { or: isKnown ? 'start.or_other' : 'start.or', 'start-hint': isKnown ? 'start.hint_known' : 'start.hint' },
    { app },
  );
  write('start-notice', said.notice);
  const input = field('address');
  input.type = kind === 'phone' ? 'tel' : kind === 'email' ? 'email' : 'text';
  input.inputMode = kind === 'phone' ? 'tel' : 'email';
  input.autocomplete = kind === 'phone' ? 'tel' : 'email';
  if (input.value === '') input.value = hint;
  order(isKnown);
  show('start');
  fault('address', said.fault);
  return new Promise((resolve) => {
    onPress('sign-in', () => resolve('sign-in'));
    onSubmit('address-form', () => {
      const address = addressOf(input.value.trim(), channels);
      if (address) resolve(address);
      else fault('address', text(`start.fault_${kind}`));
    });
  });
}

/** Who is known here signs in first: the likelier way stands above, and has the main button. */
function order(isKnown: boolean): void {
  const [form, or, button] = [element('address-form'), element('or'), element('sign-in')];
  element('start-ways').replaceChildren(...(isKnown ? [button, or, form] : [form, or, button]));
  element('address-go').classList.toggle('primary', !isKnown);
  button.classList.toggle('primary', isKnown);
}

/** The address in a text; undefined for none of these channels. The vault judges it in full. */
export function addressOf(text: string, channels: readonly string[]): Address | undefined {
  if (channels.includes('email') && /^[^\s@]+@[^\s@]+$/.test(text)) return { channel: 'email', identifier: text };
  const isNumber = /^\+[\d\s().-]{6,}$/.test(text);
  return channels.includes('sms') && isNumber ? { channel: 'sms', identifier: text } : undefined;
}

/** What the vault says against a code, in words. */
const WRONG: Readonly<Record<string, WordId>> = {
  'Code expired': 'code.fault_ended',
  'No code was sent': 'code.fault_ended',
  'Too many attempts': 'code.fault_tries',
};

/** Asks for the code that was sent. An empty text wants another one; null wants another address. */
export function askCode({ identifier, endsAt, nextAt, problem }: CodeRequest): Promise<string | null> {
  say({ 'code-title': 'code.title', 'digits-label': 'code.label', 'digits-go': 'code.go', 'code-other': 'code.other' });
  say({ 'code-words': 'code.words' }, { address: identifier });
  const input = field('digits');
  input.value = '';
  show('code');
  // The code is what comes next: the heading is read with it.
  input.focus();
  fault('digits', problem === undefined ? undefined : text(WRONG[problem] ?? 'code.fault_wrong'));
  return new Promise((resolve) => {
    const timer = setInterval(tick, 250);
    const end = (answer: string | null) => {
      clearInterval(timer);
      resolve(answer);
    };
    function tick(): void {
      const [rest, wait] = [endsAt - Date.now(), nextAt - Date.now()];
      write('code-left', rest > 0 ? text('code.left', { time: left(rest) }) : text('code.ended'));
      write('code-again', wait > 0 ? text('code.again_in', { time: left(wait) }) : text('code.again'));
      element<HTMLButtonElement>('code-again').disabled = wait > 0;
    }
    tick();
    const check = (isWhole: boolean) => {
      const digits = input.value.replace(/\D/g, '');
      if (digits.length === 6) end(digits);
      else if (isWhole) fault('digits', text('code.fault_form'));
    };
    // What is typed, pasted or filled in by the browser is complete with the sixth digit.
    input.oninput = (event) => {
      if (event.isTrusted) check(false);
    };
    onSubmit('code-form', () => check(true));
    onPress('code-again', () => end(''));
    onPress('code-other', () => end(null));
  });
}

/** What the screen of the passkey shows. */
export interface PasskeyOptions {
  readonly host: string;
  /** The address, where it has an account already. */
  readonly taken: string | undefined;
  /** A passkey was made before, and only has to sign. */
  readonly isMade: boolean;
  readonly notice?: string | undefined;
}

/** Waits for the press that makes the passkey. */
export function askPasskeyPress({ host, taken, isMade, notice }: PasskeyOptions): Promise<'go' | 'sign-in'> {
  const kind = taken !== undefined ? 'taken_' : isMade ? 'resume_' : '';
  say({ 'passkey-title': `passkey.${kind}title`, 'passkey-words': `passkey.${kind}words` }, { address: taken ?? '' });
  say({ 'passkey-go': `passkey.${kind}go`, 'passkey-known': 'start.sign_in', 'passkey-what': 'passkey.what' });
  say({ 'passkey-about': 'passkey.about' }, { host });
  write('passkey-notice', notice);
  toggle('passkey-known', taken !== undefined);
  element('passkey-go').classList.toggle('primary', taken === undefined);
  show('passkey');
  return new Promise((resolve) => {
    onPress('passkey-go', () => resolve('go'));
    onPress('passkey-known', () => resolve('sign-in'));
  });
}
