import { describe, expect, test } from 'bun:test';
import { chargeOf, isRaise, priceBounds, RAISES_MAX } from '../../../lib/bundler/charge.ts';

const MARKET = { maxFee: 100n, tip: 10n };
const OPERATION = { sender: '0x', nonce: '0x0' };
const last = (maxFee: bigint, tip: bigint, raises = 0) => ({ maxFee, tip, raises });

describe('the most that may be offered for a nonce', () => {
  test.each([
    ['not sponsored before: twice the market', undefined, 200n, 20n],
    ['sponsored at a lower price: twice the market', last(150n, 15n), 200n, 20n],
    ['sponsored at a higher one: a quarter more, rounded up', last(401n, 40n), 502n, 50n],
    ['raised once less than it may be', last(400n, 40n, RAISES_MAX - 1), 500n, 50n],
    ['raised as often as it may be: what it had', last(400n, 40n, RAISES_MAX), 400n, 40n],
  ])('%s', (_, before, maxFeePerGas, maxPriorityFeePerGas) => {
    expect(priceBounds(MARKET, before)).toEqual({ maxFeePerGas, maxPriorityFeePerGas });
  });
});

describe('takes one of the raises of its nonce', () => {
  test.each([
    ['what the market has', 200n, 20n, undefined, false],
    ['what the market has, and more than before', 180n, 18n, last(150n, 15n), false],
    ['what it had', 400n, 40n, last(400n, 40n), false],
    ['a higher fee', 401n, 40n, last(400n, 40n), true],
    ['a higher tip', 400n, 41n, last(400n, 40n), true],
  ])('%s', (_, maxFeePerGas, maxPriorityFeePerGas, before, expected) => {
    const charge = { ...chargeOf(OPERATION), maxFeePerGas, maxPriorityFeePerGas };
    expect(isRaise(charge, MARKET, before)).toBe(expected);
  });
});
