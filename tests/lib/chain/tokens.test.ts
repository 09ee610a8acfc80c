import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { systemClock } from '../../../lib/base/clock.ts';
import { createMetrics } from '../../../lib/base/metrics.ts';
import { createRpc } from '../../../lib/chain/rpc.ts';
import { formatUnits, readDeposit, readPayBalance, readToken } from '../../../lib/chain/tokens.ts';
import { type Chain, startChain } from '../../../scripts/dev-stack/chain.ts';
import { mintUsdc, placeUsdc, USDC } from '../../../scripts/dev-stack/usdc.ts';
import { answering, dispatching, tokenCode } from '../../support/evm/dispatch.ts';
import { always } from '../../support/property.ts';
import { settled } from '../../support/settled.ts';

const outside = { fetch: (url: string, init?: RequestInit) => fetch(url, init), clock: systemClock, log: () => {} };
const rpcTo = (url: string) => createRpc({ ...outside, metrics: createMetrics(), urls: { 84532: url } });
const HOLDER = '0x00000000000000000000000000000000000a11ce';
const ODD = '0x0000000000000000000000000000000000000dd1';
const ENTRY_POINT = '0x00000000000000000000000000000000000000e9';
const NOT_A_TOKEN = 'Invalid token: no ERC-20 token at this address';

const TOKEN = { '0x313ce567': answering(6n), '0x18160ddd': answering(7n) };

let chain: Chain;
let vault: Parameters<typeof readToken>[0];
beforeAll(async () => {
  chain = await startChain();
  await placeUsdc(chain.rpc);
  const config = { chainId: 84532, usdcAddress: USDC, entryPointAddress: ENTRY_POINT } as const;
  vault = { ...outside, config, rpc: rpcTo(chain.url), metrics: createMetrics(), witness: undefined };
});
afterAll(() => chain.stop());

/** A token of these decimals whose symbol is this code. */
const place = (decimals: bigint, symbol?: string) => chain.rpc('anvil_setCode', [ODD, tokenCode(decimals, symbol)]);

describe('readToken', () => {
  test('ether', async () => {
    expect(await readToken(vault, 'native')).toEqual({
      chainId: 84532,
      symbol: 'ETH',
      decimals: 18,
      contract: undefined,
      isListed: true,
    });
  });

  test("the chain's USDC is listed, and what an account holds of it is read", async () => {
    await mintUsdc(chain.rpc, HOLDER, 5n);
    const token = await readToken(vault, USDC.toLowerCase());
    expect(token).toMatchObject({ symbol: 'USDC', decimals: 6, isListed: true });
    expect(await readPayBalance(vault, token, HOLDER)).toBe(5n);
  });

  test.each([0n, 18n, 255n])('%p decimals, of a token without a symbol', async (decimals) => {
    await place(decimals);
    expect(await readToken(vault, ODD)).toMatchObject({ symbol: '', decimals: Number(decimals), isListed: false });
  });

  test.each([256n, 2n ** 256n - 1n])('%p decimals are none', async (decimals) => {
    await place(decimals);
    expect(await settled(readToken(vault, ODD))).toThrow(NOT_A_TOKEN);
  });

  test.each([
    ['reverts', '0x60006000fd'],
    ['answers nothing', '0x00'],
    ['answers half a word', '0x60106000f3'],
    ['spends all gas', '0xfe'],
    ['is not there', '0x'],
    ['answers six to any call', '0x60065f5260205ff3'],
    ['answers the decimals alone', dispatching({ '0x313ce567': answering(6n) })],
    ['answers a word to a call that no token knows', dispatching(TOKEN, answering(6n))],
  ])('a contract that %s is no token', async (_, code) => {
    await chain.rpc('anvil_setCode', [ODD, code]);
    expect(await settled(readToken(vault, ODD))).toThrow(NOT_A_TOKEN);
  });

  test('a symbol that claims more bytes than it has, all of them odd, is cut and cleaned', async () => {
    // Memory from 0x20 on: offset, a length of 2²⁵⁶ - 1, and a word of letters between line breaks.
    const letters = `0a${'41'.repeat(30)}0a`;
    await place(6n, `6020600052${`7f${'ff'.repeat(32)}`}602052${`7f${letters}`}60405260606000f3`);
    expect(await readToken(vault, ODD)).toMatchObject({ symbol: 'A'.repeat(16), decimals: 6, isListed: false });
  });

  test('a node that cannot be asked is rpc_error', async () => {
    expect(await settled(readToken({ ...vault, rpc: rpcTo('http://127.0.0.1:1') }, ODD))).toThrow('rpc_error');
  });
});

describe('readDeposit', () => {
  test('is what the EntryPoint keeps for the account', async () => {
    // Whatever it is asked, it answers the account.
    await chain.rpc('anvil_setCode', [ENTRY_POINT, '0x60043560005260206000f3']);
    expect(await readDeposit(vault, HOLDER)).toBe(BigInt(HOLDER));
  });

  test('is nothing where there is no EntryPoint', async () => {
    await chain.rpc('anvil_setCode', [ENTRY_POINT, '0x']);
    expect(await readDeposit(vault, HOLDER)).toBe(0n);
    const config = { ...vault.config, entryPointAddress: null };
    expect(await readDeposit({ ...vault, config }, HOLDER)).toBe(0n);
  });
});

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
