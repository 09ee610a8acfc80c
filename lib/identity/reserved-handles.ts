import { once } from '../base/once.ts';
import type { Identifier } from './identifier.ts';

/** Handles that cannot be registered: they could pass for the service, its operator or a part of its URLs. */
const RESERVED_HANDLES: ReadonlySet<string> = new Set(
  `abuse account accounts admin administrator anonymous api app auth billing bot bundler console contact dashboard demo
  dev developer did docs email enclave everyone faq ftp guest help helpdesk hostmaster identity info localhost login
  logout mail mailer-daemon me metrics mod moderator no-reply nobody noreply null official operator owner pay payment
  payments phone postmaster privacy register registrar registry reserved root security service settings signin signup
  sms staff status superuser support sysadmin system team terms test undefined user username vault verify wallet
  webmaster well-known www you`.split(/\s+/),
);

/** The digits that stand for letters. */
const LOOKALIKES: Readonly<Record<string, string>> = {
  0: 'o',
  1: 'il',
  2: 'z',
  3: 'e',
  4: 'a',
  5: 's',
  6: 'bg',
  7: 't',
  8: 'b',
  9: 'gq',
};

/** The reserved handles as they are compared, by their first letter. */
const folded = once(() => byFirstLetter(Array.from(RESERVED_HANDLES, fold)));

/** The operator's own reservations: identifiers and domains in normal form. */
export interface ReservedSettings {
  readonly reservedIdentifiers: readonly string[];
  readonly reservedDomains: readonly string[];
}

/**
 * Whether the identifier is reserved: a built-in handle or what passes for one, in the operator's list, or such a local
 * part at a reserved domain.
 */
export function isReserved({ channel, value }: Identifier, settings: ReservedSettings): boolean {
  const { reservedIdentifiers, reservedDomains } = settings;
  if (reservedIdentifiers.includes(value)) return true;
  if (channel === 'handle') return passesForReserved(value) || passesForOne(value, reservedIdentifiers);
  if (channel !== 'email') return false;
  const at = value.lastIndexOf('@');
  return reservedDomains.includes(value.slice(at + 1)) && passesForReserved(value.slice(0, at));
}

/** Whether a name reads as one or several reserved handles, such as `adm1n`, `a.dmin` or `vault-support`. */
function passesForReserved(name: string): boolean {
  const text = fold(name);
  // The places that reserved handles lead to; from most names' beginning none leads anywhere.
  const reached = new Set([0]);
  for (const at of reached) {
    if (at === text.length) return text !== '';
    for (const letter of lettersOf(text[at] as string)) {
      for (const word of folded().get(letter) ?? []) {
        if (readsAs(text, at, word) && isOfSeveral(word, text)) reached.add(at + word.length);
      }
    }
  }
  return false;
}

/** Two letters, such as `me`, are too common a part of other names. */
function isOfSeveral(word: string, text: string): boolean {
  return word.length > 2 || word.length === text.length;
}

function passesForOne(name: string, reserved: readonly string[]): boolean {
  if (reserved.length === 0) return false;
  const text = fold(name);
  return reserved.some((one) => fold(one).length === text.length && readsAs(text, 0, fold(one)));
}

function readsAs(text: string, at: number, word: string): boolean {
  for (let i = 0; i < word.length; i++) {
    const character = text[at + i];
    if (character !== word[i] && (character === undefined || !lettersOf(character).includes(word[i] as string))) {
      return false;
    }
  }
  return true;
}

/** What a character may be read as. */
function lettersOf(character: string): string {
  return character + (LOOKALIKES[character] ?? '');
}

function fold(name: string): string {
  return name.replace(/[._-]/g, '');
}

function byFirstLetter(words: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  for (const word of words) found.set(word[0] as string, [...(found.get(word[0] as string) ?? []), word]);
  return found;
}
