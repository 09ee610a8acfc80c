import { describe, expect, test } from 'bun:test';
import { uint256Word } from '../../../lib/chain/contract-call.ts';
import { OWNER_KEYS_MAX, parseKeys } from '../../../lib/chain/owner-keys.ts';

const word = uint256Word;
const MAX = 2n ** 256n - 1n;

/** An answer of `getKeys` with so many keys; `change` replaces words by their place. */
function answer(count: number, change: Readonly<Record<number, bigint>> = {}): string {
  const words = [32n, BigInt(count)];
  for (let i = 0; i < count; i++) words.push(BigInt(i), BigInt(100 + i), BigInt(200 + i), BigInt(300 + i), 0n);
  return `0x${words.map((value, i) => word(change[i] ?? value)).join('')}`;
}

describe('the answer of getKeys', () => {
  test('is read key by key, up to the most that an account can have', () => {
    const keys = parseKeys(answer(OWNER_KEYS_MAX));
    expect(keys).toHaveLength(OWNER_KEYS_MAX);
    expect(keys?.[7]).toEqual({
      index: 7,
      x: `0x${word(107n)}`,
      y: `0x${word(207n)}`,
      addedAt: 307,
      label: `0x${word(0n)}`,
    });
  });

  test.each<[string, string | undefined]>([
    ['a revert', undefined],
    ['nothing', '0x'],
    ['no keys', answer(0)],
    ['a key too many', answer(OWNER_KEYS_MAX + 1)],
    ['another offset', answer(1, { 0: 64n })],
    ['more keys than it has', answer(1, { 1: 2n })],
    ['a count that is no number of this size', answer(1, { 1: MAX })],
    ['half a word', answer(1).slice(0, -2)],
    ['bytes behind', `${answer(1)}00`],
    ['an index above 255', answer(1, { 2: 256n })],
    ['a time above 40 bits', answer(1, { 5: 2n ** 40n })],
    ['a time that no date has', answer(1, { 5: MAX })],
  ])('is none where it is %s', (_, text) => {
    expect(parseKeys(text)).toBeUndefined();
  });
});
