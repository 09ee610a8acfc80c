import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { getCountries, getExampleNumber, type PhoneNumber } from 'libphonenumber-js/min';
import metadata from 'libphonenumber-js/min/metadata';
import examples from 'libphonenumber-js/mobile/examples';
import { normalPhone } from '../../../lib/identity/phone.ts';
import { always } from '../../support/property.ts';

/** The library's own example of a mobile number of each country. */
const EXAMPLES = getCountries().flatMap((country) => getExampleNumber(country, examples) ?? []);

/** Whether its people dial a 0 before it. */
function hasTrunk({ country = 'DE' }: PhoneNumber): boolean {
  const prefix = metadata.countries[country]?.[5];
  return prefix === '0' && !NO_TRUNK.includes(country);
}
/** Their 0 is a part of the number. */
const NO_TRUNK = ['GA', 'IT', 'SM', 'VA'];

describe('each country’s mobile number', () => {
  test('is its own normal form', () => {
    expect(EXAMPLES.length).toBeGreaterThan(200);
    for (const { number } of EXAMPLES) expect([number, normalPhone(number)]).toEqual([number, number]);
  });

  test('as people write and paste it', () => {
    for (const example of EXAMPLES) {
      const written = example.formatInternational();
      const spellings = [
        written,
        written.replaceAll(' ', '\u00a0'),
        written.replaceAll(' ', '\u2011'),
        written.replaceAll(' ', '.'),
        written.replace(/ (\d+)/, ' [$1]'),
        `\u202a${written}\u202c`,
        `${written}\n`,
        ` ${written.slice(1)}`,
      ];
      for (const text of spellings) expect([text, normalPhone(text)]).toEqual([text, example.number]);
    }
  });

  test('with the 0 that is dialled at home, in brackets or not', () => {
    let count = 0;
    for (const example of EXAMPLES.filter(hasTrunk)) {
      count++;
      const { number, countryCallingCode, nationalNumber } = example;
      for (const trunk of ['(0)', '[0]', '0', '(0) ']) {
        const text = `+${countryCallingCode} ${trunk}${nationalNumber}`;
        expect([text, normalPhone(text)]).toEqual([text, number]);
      }
    }
    expect(count).toBeGreaterThan(90);
  });
});

test.each([
  ['+39 (0)6 698 82872', '+390669882872'],
  ['+39 (0)335 123 4567', '+393351234567'],
  ['+225 01 23 45 67 89', '+2250123456789'],
  ['+1 (0)415 555 0100', undefined],
])('a 0 goes only where there is a number without it: %s', (text, number) => {
  expect(normalPhone(text)).toBe(number);
});

test('a normal form is E.164 and its own normal form, whatever was read', () => {
  const codes = [...new Set(EXAMPLES.map(({ countryCallingCode }) => countryCallingCode))];
  const text = fc
    .tuple(fc.constantFrom(...codes), fc.stringMatching(/^0{0,2}[0-9]{3,14}$/))
    .map(([code, rest]) => `+${code} ${rest}`);
  always(text, (given) => {
    const normal = normalPhone(given);
    if (normal === undefined) return;
    expect(normal).toMatch(/^\+[1-9]\d{6,14}$/);
    expect(normalPhone(normal)).toBe(normal);
  });
});
