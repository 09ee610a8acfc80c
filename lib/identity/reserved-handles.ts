import { once } from '../base/once.ts';
import type { Identifier } from './identifier.ts';

/** Handles that cannot be registered: they could pass for the service, its operator or a part of its URLs. */
const RESERVED_HANDLES: readonly string[] =
  `abuse account accounts admin administrator anonymous api app auth billing bot bundler console contact dashboard demo
  dev developer did docs email enclave everyone faq ftp guest help helpdesk hostmaster identity info localhost login
  logout mail mailer-daemon me metrics mod moderator no-reply nobody noreply null official operator owner pay payment
  payments phone postmaster privacy register registrar registry reserved root security service settings signin signup
  sms staff status superuser support sysadmin system team terms test undefined user username vault verify wallet
  webmaster well-known www you`.split(/\s+/);

/** The digits that stand for letters, as these are compared. */
const LOOKALIKES: Readonly<Record<string, string>> = {
  0: 'o',
  1: 'i',
  2: 'z',
  3: 'e',
  4: 'a',
  5: 's',
  6: 'bg',
  7: 't',
  8: 'b',
  9: 'gq',
};

/** The operator's reservations: identifiers and domains in normal form, and the names of the service and its apps. */
export interface ReservedSettings {
  readonly reservedIdentifiers: readonly string[];
  readonly reservedDomains: readonly string[];
  readonly names: readonly string[];
}

/**
 * Whether an identifier is reserved: a built-in handle, a name of the service or a lookalike of one, in the operator's
 * list, or such a local part at a reserved domain.
 */
export type IsReserved = (identifier: Identifier) => boolean;

/** Judges identifiers by these settings. */
export function createIsReserved({ reservedIdentifiers, reservedDomains, names }: ReservedSettings): IsReserved {
  const words = [...RESERVED_HANDLES, ...names.map(handleOf).filter((name) => name !== '')];
  const folds = once(() => FOLDS.map(({ fold, least }) => ({ fold, words: byFirstLetter(words, fold, least) })));
  const passesForReserved = (name: string) => folds().some(({ fold, words }) => isMadeOf(fold(name), words));
  return ({ channel, value }) => {
    if (reservedIdentifiers.includes(value)) return true;
    if (channel === 'handle') return passesForReserved(value) || passesForOne(value, reservedIdentifiers);
    if (channel !== 'email') return false;
    const at = value.lastIndexOf('@');
    return reservedDomains.includes(value.slice(at + 1)) && passesForReserved(value.slice(0, at));
  };
}

/** Letters that look alike are one: `i` and `l`, `m` and `rn`, `w` and `vv`. */
function alike(name: string): string {
  return name.replace(/[._-]/g, '').replace(/rn/g, 'm').replace(/vv/g, 'w').replace(/l/g, 'i');
}

/** The same where a letter that is doubled counts once. */
function single(name: string): string {
  return alike(name.replace(/[._-]/g, '').replace(/([a-z])\1+/g, '$1'));
}

/** The ways in which names are compared, each with the letters that a word must have: `me` is not `mee`. */
const FOLDS = [
  { fold: alike, least: () => 1 },
  // Without its doubled letter `root` is a word of its own.
  { fold: single, least: (word: string) => (single(word).length < alike(word).length ? 4 : 3) },
];

/** A name as people would write it in a handle: `Café House` is `cafehouse`. */
function handleOf(name: string): string {
  return name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]/g, '');
}

type Words = ReadonlyMap<string, readonly string[]>;

/** Whether a text reads as one or several of the words, such as `adm1n` or `vaultsupport`. */
function isMadeOf(text: string, words: Words): boolean {
  // The places that words lead to; from most names' beginning none leads anywhere.
  const reached = new Set([0]);
  for (const at of reached) {
    if (at === text.length) return text !== '';
    for (const letter of lettersOf(text[at] as string)) {
      for (const word of words.get(letter) ?? []) {
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
  const isOne = (fold: (name: string) => string, one: string) =>
    fold(one).length === fold(name).length && readsAs(fold(name), 0, fold(one));
  return reserved.some((one) => FOLDS.some(({ fold, least }) => fold(one).length >= least(one) && isOne(fold, one)));
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

/** The letters that a character may be read as. */
function lettersOf(character: string): string {
  return character + (LOOKALIKES[character] ?? '');
}

function byFirstLetter(all: readonly string[], fold: (name: string) => string, least: (word: string) => number): Words {
  const found = new Map<string, string[]>();
  for (const word of all) {
    const folded = fold(word);
    if (folded.length < least(word)) continue;
    const [letter = ''] = folded;
    found.set(letter, [...(found.get(letter) ?? []), folded]);
  }
  return found;
}
