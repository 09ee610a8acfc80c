import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { formatUnits } from '../../../lib/chain/balance.ts';
import { always } from '../../support/property.ts';

test.each([
  [0n, 18, '0.000000000000000000'],
  [1n, 18, '0.000000000000000001'],
  [1n, 6, '0.000001'],
  [999_999n, 6, '0.999999'],
  [1_000_000n, 6, '1.000000'],
  [2n ** 256n - 1n, 18, '115792089237316195423570985008687907853269984665640564039457.584007913129639935'],
])('%p with %i decimals is %s', (amount, decimals, formatted) => {
  expect(formatUnits(amount, decimals)).toBe(formatted);
});

test('any amount has exactly its decimals, and is itself again without the point', () => {
  always(
    fc.tuple(fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }), fc.integer({ min: 1, max: 18 })),
    ([amount, decimals]) => {
      const formatted = formatUnits(amount, decimals);
      expect(formatted).toMatch(new RegExp(`^(?:0|[1-9]\\d*)\\.\\d{${decimals}}$`));
      expect(BigInt(formatted.replace('.', ''))).toBe(amount);
    },
  );
});
