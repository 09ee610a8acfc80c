import { describe, expect, test } from 'bun:test';
import { lacksFee } from '../../../assets/pay/pay.ts';

describe('whether there is enough for the fee', () => {
  const native = { token: 'native', amount: 100n } as const;
  const usdc = { token: '0x036cbd53842c5426634e7929541ec2318f3dcf7e', amount: 100n } as const;
  test.each([
    ['a sponsored payment of all there is', native, 0n, { balance: 100n, deposit: 0n }, false],
    ['ether for both', native, 10n, { balance: 110n, deposit: 0n }, false],
    ['ether for the amount alone', native, 10n, { balance: 109n, deposit: 0n }, true],
    ['a deposit that covers the fee', native, 10n, { balance: 100n, deposit: 10n }, false],
    ['a deposit that covers a part of it', native, 10n, { balance: 104n, deposit: 6n }, false],
    ['a deposit that leaves one wei open', native, 10n, { balance: 103n, deposit: 6n }, true],
    ['a deposit, which pays fees and no shop', native, 10n, { balance: 99n, deposit: 1_000n }, true],
    ['a token, whose fee the deposit pays', usdc, 10n, { balance: 0n, deposit: 10n }, false],
    ['a token, and nothing for the fee', usdc, 10n, { balance: 0n, deposit: 9n }, true],
  ] as const)('%s', (_, payment, fee, account, lacks) => {
    expect(lacksFee(payment, fee, account)).toBe(lacks);
  });
});
