import { expect, test } from 'bun:test';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { toHex, utf8 } from '../../client/bytes.ts';
import { keccak256 } from '../../client/keccak.ts';

test('keccak256 of nothing and of a text are those of Ethereum', () => {
  expect(toHex(keccak256(new Uint8Array()))).toBe('c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470');
  expect(toHex(keccak256(utf8('transfer(address,uint256)')).subarray(0, 4))).toBe('a9059cbb');
});

test('keccak256 says the same as noble for every length around its blocks', () => {
  for (let length = 0; length <= 3 * 136 + 1; length++) {
    const bytes = Uint8Array.from({ length }, (_, i) => (i * 31 + length) % 256);
    expect({ length, hash: toHex(keccak256(bytes)) }).toEqual({ length, hash: toHex(keccak_256(bytes)) });
  }
});
