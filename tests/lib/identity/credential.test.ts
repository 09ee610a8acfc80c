import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { fromBase64, toBase64url } from '../../../lib/base/bytes.ts';
import { parseCredentialId } from '../../../lib/identity/credential.ts';
import { always } from '../../support/property.ts';

/** The canonical form, or the refusal's words. */
function canonical(text: string): string {
  try {
    return parseCredentialId(text);
  } catch (error) {
    expect(error).toMatchObject({ code: 'bad_request' });
    return (error as Error).message;
  }
}

/** The rule by decoding alone, without the shortcut that browsers' own form takes. */
function decoded(text: string): string {
  const bytes = fromBase64(text);
  return bytes && bytes.length >= 16 && bytes.length <= 1023 ? toBase64url(bytes) : 'Invalid credentialId';
}

const filled = (length: number) => new Uint8Array(length).fill(0xfb);

describe('a credential id', () => {
  test.each([
    [15, false],
    [16, true],
    [17, true],
    [18, true],
    [1021, true],
    [1022, true],
    [1023, true],
    [1024, false],
  ])('of %i bytes is accepted: %p, in every spelling', (length, expected) => {
    const buffer = Buffer.from(filled(length));
    const url = buffer.toString('base64url');
    const standard = buffer.toString('base64');
    const padded = url.padEnd(standard.length, '=');
    for (const text of [url, standard, padded, standard.replace(/=+$/, '')]) {
      expect(canonical(text)).toBe(expected ? url : 'Invalid credentialId');
    }
  });

  const REFUSED = ['', 'AAAAAAAAAAAAAAAAAAAAAB', 'AAAAAAAAAAAAAAAAAAAAAAAA!', 'AAAAAAAAAAAAAAAAAAAAAA=']
    .concat([
      'AAAAAAAAAAAAAAAAAAAAAA===',
      'AAAAAAAAAAA AAAAAAAAAAAA',
      'AAAAAAAAAAAAAAAAAAAAAA\n',
      'AAAAAAAAAAAAAAAAAAAAAAAAA',
    ])
    .map((text) => [text]);
  test.each(REFUSED)('%p is 400 Invalid credentialId', (text) => {
    expect(canonical(text)).toBe('Invalid credentialId');
  });

  test("browsers' own form, told without decoding, is the one that decoding gives", () => {
    const alphabet = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'];
    const body = fc.string({ unit: fc.constantFrom(...alphabet), minLength: 18, maxLength: 30 });
    const end = fc.string({ unit: fc.constantFrom(...alphabet, ...'AQgw+/=. \u0000é'), maxLength: 3 });
    always(
      fc.tuple(body, end).map((parts) => parts.join('')),
      (text) => expect(canonical(text)).toBe(decoded(text)),
      2_000,
    );
  });

  test('every last character is judged as decoding judges it, after one, two and three bytes', () => {
    for (let code = 0; code < 256; code++) {
      for (const body of ['A'.repeat(21), 'A'.repeat(22), 'A'.repeat(23), 'A'.repeat(24)]) {
        const text = body + String.fromCharCode(code);
        expect([text, canonical(text)]).toEqual([text, decoded(text)]);
      }
    }
  });
});
