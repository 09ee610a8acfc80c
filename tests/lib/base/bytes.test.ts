import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import {
  concat,
  equalBytes,
  equalText,
  fromBase64,
  fromHex,
  toBase64url,
  toHex,
  utf8,
} from '../../../lib/base/bytes.ts';
import { always } from '../../support/property.ts';

const someBytes = fc.uint8Array({ maxLength: 80 });

test.each([
  ['', '', ''],
  ['f', '66', 'Zg'],
  ['fo', '666f', 'Zm8'],
  ['foo', '666f6f', 'Zm9v'],
  ['foob', '666f6f62', 'Zm9vYg'],
  ['fooba', '666f6f6261', 'Zm9vYmE'],
  ['foobar', '666f6f626172', 'Zm9vYmFy'],
])('RFC 4648 section 10: %p is %p in hex and %p in base64', (text, hex, base64) => {
  const bytes = utf8(text);
  expect([toHex(bytes), toBase64url(bytes)]).toEqual([hex, base64]);
  const padded = base64.padEnd(4 * Math.ceil(base64.length / 4), '=');
  expect([fromHex(hex), fromHex(hex.toUpperCase()), fromBase64(base64), fromBase64(padded)]).toEqual([
    bytes,
    bytes,
    bytes,
    bytes,
  ]);
});

describe('hex', () => {
  test('is the lower-case hex of any bytes, and back', () => {
    always(someBytes, (bytes) => {
      expect(toHex(bytes)).toBe(Buffer.from(bytes).toString('hex'));
      // As on an engine without `Uint8Array.prototype.toHex`.
      const old = Object.defineProperty(Uint8Array.from(bytes), 'toHex', { value: undefined });
      expect(toHex(old)).toBe(Buffer.from(bytes).toString('hex'));
      expect(fromHex(toHex(bytes))).toEqual(Uint8Array.from(bytes));
    });
  });

  test.each(['0', 'abc', '0x00', 'zz', ' 00', '00\n', '0 ', '+1', '٠٠', '1e1'])('%p is refused', (text) => {
    expect(fromHex(text)).toBeUndefined();
  });
});

describe('base64', () => {
  test('in either alphabet, padded or not, gives the bytes back', () => {
    always(someBytes, (bytes) => {
      const standard = Buffer.from(bytes).toString('base64');
      const url = Buffer.from(bytes).toString('base64url');
      expect(toBase64url(bytes)).toBe(url);
      const padding = standard.slice(standard.replace(/=+$/, '').length);
      const spellings = [standard, standard.replace(/=+$/, ''), url, url + padding];
      for (const text of spellings) expect(fromBase64(text)).toEqual(Uint8Array.from(bytes));
    });
  });

  test.each(['Zh', 'Zv', 'Zh==', 'Zm9', 'Zm-', 'Zm9=', 'Zm9vYh', 'Zm9vYmF', '__', '_-9'])(
    '%p has unused trailing bits that are not zero, so it is refused',
    (text) => {
      expect(fromBase64(text)).toBeUndefined();
    },
  );

  const MALFORMED = ['A', 'AAAAA', '=', '==', '====', 'Zg=', 'Zg===', '=Zg', 'Zg=A', 'Zm8==', 'Zm9v=', 'Zm9v====']
    .concat(['Z g', ' Zg', 'Zg\n', 'Zg==\n', 'Zg,', 'Zg.', 'Zé', 'Ｚｇ'])
    .map((text) => [text]);
  test.each(MALFORMED)('%p is malformed, so it is refused', (text) => {
    expect(fromBase64(text)).toBeUndefined();
  });

  test('has one spelling for one value: whatever is accepted without padding encodes back to itself', () => {
    const text = fc.string({ unit: fc.constantFrom(...'ABQZabgwz0189-_+/='), maxLength: 12 });
    always(text, (given) => {
      const bytes = fromBase64(given);
      const bare = given.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
      if (bytes) expect(toBase64url(bytes)).toBe(bare);
    });
  });
});

test('bytes are joined in order', () => {
  always(fc.array(someBytes, { maxLength: 5 }), (parts) => {
    expect(concat(...parts)).toEqual(Uint8Array.from(Buffer.concat(parts)));
  });
});

describe('comparison in constant time', () => {
  test('agrees with plain comparison, also when one is the beginning of the other', () => {
    const short = fc.uint8Array({ max: 1, maxLength: 3 });
    always(fc.tuple(short, short), ([a, b]) => {
      const [left, right] = [toHex(a), toHex(b)];
      expect(equalBytes(a, b)).toBe(left === right);
      expect(equalText(left, right)).toBe(left === right);
    });
  });

  test.each([
    ['', '\0'],
    ['a', 'a\0'],
    ['a\0', 'a'],
    ['code', 'cod'],
    ['0', '\u0130'],
  ])('tells %p from %p', (a, b) => {
    expect([equalText(a, b), equalBytes(utf8(a), utf8(b))]).toEqual([false, false]);
  });
});
