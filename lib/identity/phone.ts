import { type PhoneNumber, parsePhoneNumberFromString } from 'libphonenumber-js/core';
import metadata from 'libphonenumber-js/min/metadata';

/** Characters that people and programs put between digits: blanks, dashes, dots, brackets, and invisible marks. */
const BETWEEN = /[\s\p{Pd}\u2212.()[\]\p{Cf}]/gu;
/** The 0 that is dialled at home, written as such after a country's code. */
const TRUNK = /^\+[\d\s]{1,4}[([]0[)\]]/;
const E164 = /^\+[1-9]\d{6,14}$/;
const ROUNDS_MAX = 4;

/**
 * A phone number in E.164, or undefined: a possible number of its country, without the prefix that is dialled there,
 * such as the 0 of `+49 (0)151`. A query string's `+` arrives as a space.
 */
export function normalPhone(text: string): string | undefined {
  const restored = /^ \d/.test(text) ? `+${text.slice(1)}` : text.trim();
  let phone = restored.replace(BETWEEN, '');
  // A number may have lost one prefix and begin with another.
  for (let rounds = 0; rounds < ROUNDS_MAX; rounds++) {
    const parsed = parse(phone);
    if (!parsed?.isPossible()) return undefined;
    const { number } = withoutTrunk(parsed, rounds === 0 && TRUNK.test(restored));
    if (number === phone) return E164.test(phone) ? phone : undefined;
    phone = number;
  }
  return undefined;
}

/** The parser finds numbers in texts, and takes an extension, which no message reaches: it is given digits alone. */
function parse(phone: string): PhoneNumber | undefined {
  if (!/^\+[1-9]\d{1,20}$/.test(phone)) return undefined;
  return parsePhoneNumberFromString(phone, { extract: false }, metadata);
}

/** A first 0 is a part of the number in some countries: it goes only where there is a number without it. */
function withoutTrunk(parsed: PhoneNumber, isMarked: boolean): PhoneNumber {
  const { countryCallingCode, nationalNumber } = parsed;
  if (!nationalNumber.startsWith('0') || (parsed.isValid() && !isMarked)) return parsed;
  const shorter = parse(`+${countryCallingCode}${nationalNumber.slice(1)}`);
  return shorter?.isValid() ? shorter : parsed;
}
