import { describe, expect, test } from 'bun:test';
import { shortageOf, shortageWords, warningsOf } from '../../../assets/pay/review.ts';
import { vouchedHost } from '../../../assets/wallet/asker.ts';
import english from '../../../assets/words/en/pay.json' with { type: 'json' };

// As `loadWords` keeps them.
Object.assign((globalThis as unknown as { vaultWords: object }).vaultWords, { words: english });

const ETHER = { symbol: 'ETH', decimals: 18, listed: true, balance: 10n ** 18n, deposit: 0n };
const USDC = { symbol: 'USDC', decimals: 6, listed: true, balance: 5_000_000n, deposit: 0n };
const payment = (token: 'native' | '0x', amount: bigint, via: 'browser' | 'link' = 'browser') => ({
  asker: { via, origin: 'https://shop.example', frame: undefined },
  id: 'order-1',
  to: '0x52908400098527886e0f7030069857d2e4169ee7' as const,
  amount,
  token: token === 'native' ? token : (`0x${'1'.repeat(40)}` as const),
  chainId: 84532,
  label: undefined,
  total: undefined,
  payer: undefined,
  expiresAt: 0,
});

describe('the fee, beside what is paid', () => {
  const warned = (amount: bigint, fee: bigint, token = ETHER) =>
    warningsOf(payment(token === ETHER ? 'native' : '0x', amount), { lacks: undefined, token, ether: ETHER, fee });

  test('more than the amount, or than a tenth of it, is warned of in the same coin', () => {
    expect(warned(1_000n, 1_001n)).toEqual([
      'The network fee may cost more than the amount: up to 0.000000000000001001 ETH.',
    ]);
    expect(warned(1_000n, 101n)).toEqual([
      'The network fee may cost more than a tenth of the amount: up to 0.000000000000000101 ETH.',
    ]);
  });

  test('a tenth, no fee, and a fee in another coin are not', () => {
    expect([warned(1_000n, 100n), warned(1_000n, 0n), warned(1n, 10n ** 15n, USDC)]).toEqual([[], [], []]);
  });
});

describe('what lacks', () => {
  test('of a token: what is needed, and what is there', () => {
    const short = shortageOf(payment('0x', 6_250_000n), { lacks: 'token', token: USDC, ether: ETHER, fee: 0n });
    expect(short).toMatchObject({ needed: 6_250_000n, here: 5_000_000n });
    expect(short && shortageWords(short, false)).toBe('Not enough USDC: 6.25 needed, 5 here.');
  });

  test('of ether for the fee: what the deposit does not cover, and the amount where that is ether too', () => {
    const about = { lacks: 'fee', ether: { ...ETHER, balance: 5n, deposit: 30n }, fee: 100n } as const;
    expect(shortageOf(payment('0x', 1n), { ...about, token: USDC })).toMatchObject({
      token: 'native',
      needed: 70n,
      here: 5n,
    });
    expect(shortageOf(payment('native', 4n), { ...about, token: about.ether })).toMatchObject({ needed: 74n });
    const covered = { ...about, ether: { ...about.ether, deposit: 200n } };
    expect(shortageOf(payment('native', 9n), { ...covered, token: covered.ether })).toMatchObject({ needed: 9n });
  });

  test('of a token that chose its own name: not by that name', () => {
    const token = { ...USDC, listed: false, symbol: 'ETH' };
    const short = shortageOf(payment('0x', 6_000_000n), { lacks: 'token', token, ether: ETHER, fee: 0n });
    expect(short && shortageWords(short, false)).toBe('Not enough of this token: 6 needed, 5 here.');
  });
});

describe('the payee', () => {
  const asker = { via: 'opener', origin: 'https://tea.example', frame: undefined } as const;

  test.each([
    ['https://tea.example', 'tea.example'],
    ['https://tea.example:8443', 'tea.example:8443'],
    ['http://localhost:8090', 'localhost:8090'],
    // Cyrillic letters that look like Latin ones, as URLs write them.
    [new URL('https://tеа.example').origin, 'xn--t-8sbo.example'],
    [new URL('https://TEA.example:443/pay?to=other.example#x').origin, 'tea.example'],
  ])('%s is named by its host', (origin, host) => {
    expect(vouchedHost({ ...asker, origin })).toBe(host);
  });

  test('is the frame that asks, and nobody for a link', () => {
    expect(vouchedHost({ ...asker, via: 'browser', frame: 'https://ads.example' })).toBe('ads.example');
    expect(vouchedHost({ ...asker, via: 'link' })).toBeUndefined();
  });
});

test('a link is warned of', () => {
  const about = { lacks: undefined, token: ETHER, ether: ETHER, fee: 0n };
  expect(warningsOf(payment('native', 1n, 'link'), about)).toEqual([
    'Anyone can make a link like the one you followed, and nobody vouches for it. Check who gets paid.',
  ]);
});
