import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { ENCLAVE_FILE } from '../../../scripts/enclave.ts';
import { compiledEnclave } from '../../support/enclave-inside.ts';

/**
 * What works on secrets and has no business to branch but for its loops, whose counts are public. Small functions are
 * part of their callers.
 */
const BRANCH_FREE = [
  ...['product/product', 'product/productPlus', 'product/productMinus', 'product/square'],
  ...['reduce/reduceP256', 'reduce/reduceSecp256k1', 'reduce/reduce25519', 'montgomery/reduceMontgomery'],
  ...['limbs/carry', 'limbs/negateIf', 'limbs/copyIf', 'limbs/zeroMask'],
  ...['field/normalize', 'field/subtractOnce', 'field/belowMask', 'field/isZeroMask', 'field/invert'],
  ...['p256/double', 'p256/plusAffine', 'secp256k1/double', 'secp256k1/plusAffine'],
  ...['windows/secretDigits', 'windows/scan', 'weierstrass/multiplyBase', 'weierstrass/toAffine'],
  ...['weierstrass/scalarMask', 'ecdsa/highMask', 'rfc6979/mix', 'hmac/startWith', 'ed25519/expand'],
  ...['edwards/toSummand', 'edwards/edwardsEncode', 'sha256/compress', 'sha512/block'],
  ...['edwards-multiples/edwardsMultiplyBase', 'chacha20poly1305/block', 'poly1305/absorb', 'poly1305/reduce'],
  ...['poly1305/poly1305Final', 'window/isZeros', 'window/isEqual', 'gf256/multiply'],
] as const;

// Here, since no limit of a test counts what loads.
const { module, text } = await compiledEnclave();
const bodies = text.split(/\n (?=\(func )/).slice(1);
const functions = new Map(bodies.map((body) => [/^\(func \$assets\/enclave\/(\S+)/.exec(body)?.[1] ?? '', body]));

test('the committed module is what the sources make under Bun (`bun scripts/enclave.ts`)', () => {
  expect(Buffer.compare(module, readFileSync(ENCLAVE_FILE))).toBe(0);
});

/** How often each way to choose stands in a function. */
function choices(body: string) {
  const words = body.split('\n').map((line) => line.trim().split(' ')[0] ?? '');
  const count = (...instructions: string[]) => words.filter((word) => instructions.includes(word)).length;
  return { loops: count('loop'), ifs: count('if'), others: count('select', 'br_if', 'br_table', 'block') };
}

test.each(BRANCH_FREE)('%s, as the compiler leaves it, branches for nothing but its loops', (name) => {
  const body = functions.get(name);
  if (body === undefined) throw new Error(`${name} is not a function of its own any more`);
  const { loops, ifs, others } = choices(body);
  // A loop is left by one condition at its head.
  expect([ifs, others]).toEqual([loops, 0]);
});

test.each([
  ['scalar/scalarFrom', 'the curve', { loops: 1, ifs: 1, others: 1 }],
  ['edwards/addSummand', 'whether z is 1', { loops: 0, ifs: 1, others: 0 }],
])('%s chooses by one thing that is public: %s', (name, _what, expected) => {
  expect(choices(functions.get(name) ?? '')).toEqual(expected);
});

test('the count finds branches where there are some', () => {
  expect(choices(functions.get('windows/sparseDigits') ?? '').ifs).toBeGreaterThan(1);
});
