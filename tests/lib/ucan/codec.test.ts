import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { decode } from '../../../lib/ucan/decode.ts';
import { encode } from '../../../lib/ucan/encode.ts';
import { UcanError } from '../../../lib/ucan/fault.ts';
import { cidOf, equalIpld, type Ipld, link } from '../../../lib/ucan/ipld.ts';
import { always } from '../../support/property.ts';

const hex = (text: string) => new Uint8Array(Buffer.from(text.replaceAll(' ', ''), 'hex'));

/** RFC 8949 appendix A, as far as DAG-CBOR has it. */
const VECTORS: readonly [string, Ipld][] = [
  ['00', 0],
  ['17', 23],
  ['18 18', 24],
  ['18 ff', 255],
  ['19 01 00', 256],
  ['1a 00 0f 42 40', 1_000_000],
  ['1b 00 00 00 e8 d4 a5 10 00', 1_000_000_000_000],
  ['1b 00 1f ff ff ff ff ff ff', Number.MAX_SAFE_INTEGER],
  ['20', -1],
  ['39 03 e7', -1000],
  ['3b 00 1f ff ff ff ff ff fe', Number.MIN_SAFE_INTEGER],
  ['fb 3f f1 99 99 99 99 99 9a', 1.1],
  ['f4', false],
  ['f5', true],
  ['f6', null],
  ['44 01 02 03 04', Uint8Array.of(1, 2, 3, 4)],
  ['60', ''],
  ['62 c3 bc', 'ü'],
  ['83 01 82 02 03 82 04 05', [1, [2, 3], [4, 5]]],
  ['a2 61 61 01 61 62 82 02 03', { a: 1, b: [2, 3] }],
  ['a2 61 62 01 62 61 61 02', { b: 1, aa: 2 }],
];

test.each(VECTORS)('%s is read and written', (text, value) => {
  const read = decode(hex(text));
  expect(equalIpld(read, value)).toBe(true);
  expect(encode(value)).toEqual(hex(text));
});

test('keys are sorted by length first, whatever order they are given in', () => {
  expect(Buffer.from(encode({ bb: 1, c: 2, a: 3 })).toString('hex')).toBe('a361610361630262626201');
});

test('a key named __proto__ is a key like any other', () => {
  const bytes = hex('a1 69 5f5f70726f746f5f5f a1 61 61 01');
  const map = decode(bytes) as Record<string, Ipld>;
  expect(Object.getPrototypeOf(map)).toBeNull();
  expect(Object.keys(map)).toEqual(['__proto__']);
  expect(encode(map)).toEqual(bytes);
});

test('links are CIDs behind tag 42', () => {
  const bytes = hex('d8 2a 43 00 01 71');
  expect(cidOf(decode(bytes))).toEqual(Uint8Array.of(1, 0x71));
  expect(encode(link(Uint8Array.of(1, 0x71)))).toEqual(bytes);
});

describe('what is not canonical is refused', () => {
  test.each([
    ['an integer one byte too long', '18 17'],
    ['an integer two bytes too long', '19 00 ff'],
    ['an integer four bytes too long', '1a 00 00 ff ff'],
    ['an integer eight bytes too long', '1b 00 00 00 00 ff ff ff ff'],
    ['a negative integer too long', '38 00'],
    ['an integer past 53 bits', '1b 00 20 00 00 00 00 00 00'],
    ['a negative integer past 53 bits', '3b 00 1f ff ff ff ff ff ff'],
    ['bytes with a long head', '58 01 00'],
    ['text with a long head', '78 01 61'],
    ['a list with a long head', '98 01 00'],
    ['a map with a long head', 'b8 01 61 61 00'],
    ['bytes of indefinite length', '5f 41 00 ff'],
    ['text of indefinite length', '7f 61 61 ff'],
    ['a list of indefinite length', '9f 00 ff'],
    ['a map of indefinite length', 'bf 61 61 00 ff'],
    ['a reserved head', '1c'],
    ['keys out of order', 'a2 61 62 00 61 61 00'],
    ['a longer key first', 'a2 62 61 61 00 61 62 00'],
    ['a key twice', 'a2 61 61 00 61 61 01'],
    ['a key that is a number', 'a1 00 00'],
    ['a key that is bytes', 'a1 41 61 00'],
    ['undefined', 'f7'],
    ['a simple value', 'e0'],
    ['a half float', 'f9 3c 00'],
    ['a single float', 'fa 3f 80 00 00'],
    ['NaN', 'fb 7f f8 00 00 00 00 00 00'],
    ['infinity', 'fb 7f f0 00 00 00 00 00 00'],
    ['another tag', 'c0 60'],
    ['a tag with a long head', 'd9 00 2a 42 00 01'],
    ['a link without its zero', 'd8 2a 42 01 71'],
    ['a link to nothing', 'd8 2a 41 00'],
    ['a link that is text', 'd8 2a 62 00 01'],
    ['text that is not UTF-8', '61 ff'],
    ['text with half a character', '63 ed a0 80'],
    ['something behind the end', '00 00'],
    ['nothing', ''],
    ['a cut list', '82 00'],
    ['a cut text', '62 61'],
    ['a list that claims to be huge', '9a ff ff ff ff 00'],
    ['bytes that claim to be huge', '5b 00 1f ff ff ff ff ff ff'],
  ])('%s', (_, text) => {
    expect(() => decode(hex(text))).toThrow(UcanError);
  });

  test('what is nested past the limit', () => {
    expect(decode(hex(`${'81'.repeat(32)}00`))).toBeDefined();
    expect(() => decode(hex(`${'81'.repeat(33)}00`))).toThrow(UcanError);
    expect(() => decode(hex('81'.repeat(8000)))).toThrow(UcanError);
  });
});

test('what cannot be written is refused', () => {
  for (const value of [Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, '\ud800'])
    expect(() => encode(value)).toThrow(UcanError);
});

const anyIpld = fc.letrec<{ value: Ipld }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constant(null),
    fc.boolean(),
    fc.maxSafeInteger(),
    fc.double({ noNaN: true, noDefaultInfinity: true }).filter((one) => !Number.isInteger(one)),
    fc.string({ unit: 'grapheme' }),
    fc.uint8Array({ maxLength: 300 }),
    fc.uint8Array({ minLength: 1, maxLength: 40 }).map(link),
    fc.array(tie('value'), { maxLength: 30 }),
    fc.dictionary(fc.string(), tie('value'), { noNullPrototype: false }),
  ) as fc.Arbitrary<Ipld>,
})).value;

test('whatever is written is read again as the same, and written again as the same bytes', () => {
  always(anyIpld, (value) => {
    const bytes = encode(value);
    const read = decode(bytes);
    expect(equalIpld(read, value)).toBe(true);
    expect(encode(read)).toEqual(bytes);
  });
});

test('whatever is read has one text only: read bytes without a whole float are written as they were', () => {
  const bytes = fc.oneof(fc.uint8Array({ maxLength: 40 }), anyIpld.map(encode).chain(mutated));
  always(
    bytes,
    (one) => {
      let value: Ipld;
      try {
        value = decode(one);
      } catch (error) {
        expect(error).toBeInstanceOf(UcanError);
        return;
      }
      if (!one.includes(0xfb)) expect(encode(value)).toEqual(new Uint8Array(one));
    },
    3000,
  );
});

function mutated(bytes: Uint8Array): fc.Arbitrary<Uint8Array> {
  return fc.tuple(fc.nat(Math.max(0, bytes.length - 1)), fc.nat(255)).map(([at, byte]) => {
    const changed = new Uint8Array(bytes);
    changed[at] = byte;
    return changed;
  });
}
