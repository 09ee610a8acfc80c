import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { Hash, Hex } from 'ox';
import { aliasHash } from '../../../lib/identity/alias.ts';
import { didHash } from '../../../lib/identity/did.ts';
import { always } from '../../support/property.ts';

test('the canonical hash of alice is what published clients put on-chain, not the plain keccak256', () => {
  expect(aliasHash('alice')).toBe('0xde33a594f790944d1951e9c14e0889a38ebe41fc7d52787426fa31071bd1c4bc');
  expect(didHash('alice')).toBe('0x9c0257114eb9399a2985f8e75dad7600c5d89fe3824ffa99ec1c3eb8bf3b0501');
});

test('it is keccak256 of the unprefixed lower-case hex of the UTF-8, for any text', () => {
  always(fc.string({ unit: 'grapheme', maxLength: 40 }), (text) => {
    const hex = Buffer.from(text).toString('hex');
    expect(aliasHash(text)).toBe(Hash.keccak256(Hex.fromString(hex)));
  });
});
