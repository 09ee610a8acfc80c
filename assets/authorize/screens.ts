// The screens that ask a person for something. Each resolves with the person's choice.
import type { CodeRequest } from '../../client/vault/registration-run.ts';
import { spoken, type WordId, word } from '../words/words.ts';
import { isLoopback } from './fault.ts';
import type { AppLink } from './link.ts';
import { isShared, noteShared } from './memory.ts';
import { askForToken, tokenIn } from './token.ts';
import { beginIn, element, fault, field, left, onCode, onPress, onSubmit, say, show, toggle, write } from './view.ts';

/** An address that was entered. */
export interface Address {
  readonly channel: 'email' | 'sms';
  readonly identifier: string;
}

/** An address that was entered, and the browser's token for it, where it has one. */
export interface Entered {
  readonly address: Address;
  readonly token: string | undefined;
}

/** The content of the first screen. */
export interface StartOptions {
  readonly app: string;
  /** For addresses; none where nobody new can be registered. */
  readonly channels: readonly ('email' | 'sms')[];
  /** This device has signed in here before. */
  readonly isKnown: boolean;
  /** The field's first content. */
  readonly hint?: string | undefined;
  readonly notice?: string | undefined;
  /** The fault of the address in the field. */
  readonly fault?: string | undefined;
}

/** Asks for an address, or a passkey that is there. */
export function askStart(options: StartOptions): Promise<Entered | 'sign-in' | 'forget'> {
  const { app, channels, isKnown, hint = '', ...said } = options;
  const kind = channels.length > 1 ? 'both' : channels[0] === 'sms' ? 'phone' : 'email';
  say({ 'address-label': `start.${kind}`, 'address-go': 'start.go', 'sign-in': 'start.sign_in' });
  say({ 'start-title': isKnown ? 'start.known' : 'start.title' }, { app });
  say({ or: isKnown ? 'start.or_other' : 'start.or' });
  write('start-hint', gives(app));
  say({ forget: 'start.forget' });
  write('start-notice', said.notice);
  field('shared').checked = isShared();
  field('shared').onchange = () => noteShared(field('shared').checked);
  const input = field('address');
  input.type = kind === 'phone' ? 'tel' : kind === 'email' ? 'email' : 'text';
  input.inputMode = kind === 'phone' ? 'tel' : 'email';
  input.autocomplete = kind === 'phone' ? 'tel webauthn' : 'email webauthn';
  if (input.value === '') input.value = hint;
  const isOpen = channels.length > 0;
  order(isKnown || !isOpen);
  askForToken();
  toggle('address-form', isOpen);
  toggle('or', isOpen);
  toggle('forget', isKnown);
  show('start');
  if (isOpen && !isKnown) beginIn('address');
  fault('address', said.fault);
  return new Promise((resolve) => {
    onPress('sign-in', () => resolve('sign-in'));
    onPress('forget', () => resolve('forget'));
    onSubmit('address-form', () => {
      const address = addressOf(input.value.trim(), channels);
      // The fault of the last address does not stay beside the next, which is on its way.
      fault('address', address ? undefined : word(`start.fault_${kind}`));
      if (address) resolve({ address, token: tokenIn(element('address-form')) });
    });
  });
}

/** Notes the app's request, for every screen of this visit. */
export function noteAsked(link: Asked): void {
  asked = link;
}

type Asked = Pick<AppLink, 'scopes' | 'resource' | 'backTo'>;

let asked: Asked = { scopes: [], resource: undefined, backTo: undefined };

const GIVES = { email: 'gives.email', phone: 'gives.phone', profile: 'gives.profile' } as const;

/** The scopes in words, with the address where it is known; `openid` adds nothing. */
function gives(app: string, known?: Address): string {
  const { scopes, resource, backTo } = asked;
  const kind = known?.channel === 'sms' ? 'phone' : known?.channel;
  const given = Object.entries(GIVES).flatMap(([scope, id]) => {
    if (!scopes.includes(scope)) return [];
    return [known && kind === scope ? word(`gives.this_${kind}`, { address: masked(known) }) : word(id)];
  });
  const what = new Intl.ListFormat(document.documentElement.lang).format(given);
  const sentences = [
    ...(given.length > 0 ? [word('gives', { app, what })] : []),
    ...(scopes.includes('did') ? [word('gives.did', { app })] : []),
    ...(resource === undefined ? [] : [word('gives.resource', { app, resource })]),
    ...(backTo === undefined ? [] : [word(isLoopback(backTo) ? 'gives.device' : 'gives.back', { host: backTo })]),
  ];
  return sentences.length > 0 ? sentences.join(' ') : word('gives.nothing', { app });
}

/** An address for eyes that look over the person's shoulder: `al…@example.com`, `+49…78`. */
export function masked({ channel, identifier }: Address): string {
  if (channel === 'sms') return `${identifier.slice(0, 3)}…${identifier.slice(-2)}`;
  const at = identifier.lastIndexOf('@');
  return `${identifier.slice(0, Math.min(2, at - 1))}…${identifier.slice(at)}`;
}

/** For people who are known here, signing in stands first and has the main button. */
function order(isFirst: boolean): void {
  const [form, or, way] = [element('address-form'), element('or'), element('passkey-way')];
  element('start-ways').replaceChildren(...(isFirst ? [way, or, form] : [form, or, way]));
  element('address-go').classList.toggle('primary', !isFirst);
  element('sign-in').classList.toggle('primary', isFirst);
}

/** The address in a text; undefined if no channel fits. The vault judges it in full. */
export function addressOf(text: string, channels: readonly string[]): Address | undefined {
  if (channels.includes('email') && /^[^\s@]+@[^\s@]+$/.test(text)) return { channel: 'email', identifier: text };
  const isNumber = /^\+[\d\s().-]{6,}$/.test(text);
  return channels.includes('sms') && isNumber ? { channel: 'sms', identifier: text } : undefined;
}

/** The vault's refusals of a code, in words. */
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
  beginIn('digits', true);
  // Too soon for another one: the button says when.
  const isFault = problem !== undefined && problem !== 'Too soon';
  fault('digits', isFault ? word(WRONG[problem] ?? 'code.fault_wrong') : undefined);
  return new Promise((resolve) => {
    const timer = setInterval(tick, 250);
    const end = (answer: string | null) => {
      clearInterval(timer);
      resolve(answer);
    };
    function tick(): void {
      const [rest, wait] = [endsAt - Date.now(), nextAt - Date.now()];
      write('code-left', rest > 0 ? word('code.left', { time: left(rest) }) : word('code.ended'));
      write('code-again', wait > 0 ? word('code.again_in', { time: left(wait) }) : word('code.again'));
      element<HTMLButtonElement>('code-again').disabled = wait > 0;
    }
    tick();
    onCode('digits', end);
    onSubmit('code-form', () => {
      if (input.value.length === 6) end(input.value);
      else fault('digits', word('code.fault_form'));
    });
    onPress('code-again', () => end(''));
    onPress('code-other', () => end(null));
  });
}

/** The choices for an address that another account has, and in how many hours it moves. */
export interface OwnedOptions {
  readonly address: string;
  readonly app: string;
  readonly moveHours: number;
  readonly recovers: boolean;
}

/** Says that another account has the address, and asks which way the person goes. */
export function askOwned(options: OwnedOptions): Promise<'go' | 'sign-in' | 'recover' | 'other-address'> {
  const { address, app, moveHours, recovers } = options;
  say({ 'owned-title': 'owned.title', 'owned-sign-in': 'start.sign_in', 'owned-recover': 'owned.recover' });
  say(
    { 'owned-words': moveHours === 0 ? 'owned.words_at_once' : 'owned.words' },
    { address, time: hoursText(moveHours) },
  );
  say({ 'owned-go': 'owned.go', 'owned-other': 'code.other' });
  write('owned-hint', gives(app));
  toggle('owned-recover', recovers);
  show('owned');
  return new Promise((resolve) => {
    onPress('owned-sign-in', () => resolve('sign-in'));
    onPress('owned-recover', () => resolve('recover'));
    onPress('owned-go', () => resolve('go'));
    onPress('owned-other', () => resolve('other-address'));
  });
}

/** Hours, or the days that they are: `3 days`. */
function hoursText(hours: number): string {
  const [count, unit] = hours % 24 === 0 ? [hours / 24, 'day'] : [hours, 'hour'];
  return new Intl.NumberFormat(spoken(), { style: 'unit', unit, unitDisplay: 'long' }).format(count);
}

/** The content of the passkey's screen. */
export interface PasskeyOptions {
  readonly app: string;
  /** The address that is registered. */
  readonly address: Address;
  readonly host: string;
  /** A passkey was made before, and only has to sign. */
  readonly isMade: boolean;
  /** It has an account already, which gets another address. */
  readonly isAdded?: boolean;
  readonly notice?: string | undefined;
}

/** Waits for the press that makes the passkey. */
export function askPasskeyPress(options: PasskeyOptions): Promise<'go' | 'other-address'> {
  const { app, address, host, isMade, isAdded, notice } = options;
  const kind = isMade ? 'resume_' : '';
  say({
    'passkey-title': `passkey.${kind}title`,
    'passkey-words': isAdded ? 'passkey.add_words' : `passkey.${kind}words`,
  });
  say({ 'passkey-for': 'passkey.for' }, { address: address.identifier, app });
  say({ 'passkey-go': `passkey.${kind}go`, 'passkey-what': 'passkey.what' });
  say({ 'passkey-about': 'passkey.about', 'passkey-other': 'code.other' }, { host });
  write('passkey-hint', gives(app, address));
  write('passkey-notice', notice);
  show('passkey');
  return new Promise((resolve) => {
    onPress('passkey-go', () => resolve('go'));
    onPress('passkey-other', () => resolve('other-address'));
  });
}
