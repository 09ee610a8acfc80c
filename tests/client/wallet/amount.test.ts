import { describe, expect, test } from 'bun:test';
import { Value } from 'ox';
import { compareTotal, formatAmount, parseAmount } from '../../../client/wallet/amount.ts';

describe('formatAmount', () => {
  test.each([
    [1n, 18],
    [10n ** 18n, 18],
    [123_456_789n, 6],
    [1_500_000n, 6],
    [0n, 6],
    [7n, 0],
    [2n ** 256n - 1n, 18],
  ])('%p with %i decimals reads as ox writes it', (amount, decimals) => {
    expect(formatAmount(amount, decimals)).toBe(Value.format(amount, decimals));
  });

  test('255 decimals, the most a token can claim', () => {
    expect(formatAmount(1n, 255)).toBe(`0.${'0'.repeat(254)}1`);
  });
});

describe('parseAmount', () => {
  test.each([
    ['1.25', 6, 1_250_000n],
    ['1.250000000', 6, 1_250_000n],
    ['0.0000001', 6, undefined],
    ['', 6, undefined],
    ['-1', 6, undefined],
    ['1e3', 6, undefined],
    ['1,000', 6, undefined],
    ['.5', 6, undefined],
    ['12', 0, 12n],
  ])('%p with %i decimals', (text, decimals, amount) => {
    expect(parseAmount(text, decimals)).toBe(amount as bigint);
  });
});

describe('compareTotal', () => {
  const usdc = { amount: 1_250_000n, symbol: 'USDC', decimals: 6, listed: true };
  const ether = { amount: 10n ** 15n, symbol: 'ETH', decimals: 18, listed: true };
  test.each([
    ['dollars with USDC', 'USD', '1.25', usdc, 'equal'],
    ['a shop that shows one amount and asks for another', 'USD', '0.01', usdc, 'different'],
    ['less than the smallest unit', 'USD', '1.2500001', usdc, 'different'],
    ['a total that is no number', 'USD', 'NaN', usdc, 'different'],
    ['ether with its own symbol, in any case', 'eth', '0.001', ether, 'equal'],
    ['ether at a thousandth of it', 'ETH', '1', ether, 'different'],
    ['euros, which have no price here', 'EUR', '1.25', usdc, 'incomparable'],
    ['dollars with ether', 'USD', '1.25', ether, 'incomparable'],
    ['a token that only calls itself USDC', 'USD', '1.25', { ...usdc, listed: false }, 'incomparable'],
  ] as const)('%s', (_, currency, value, payment, verdict) => {
    expect(compareTotal({ currency, value }, payment)).toBe(verdict);
  });
});
