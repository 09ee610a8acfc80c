/** ERC-20 tokens and ether: https://eips.ethereum.org/EIPS/eip-20 */

import { fromHex } from '../base/bytes.ts';
import { badRequest, VaultError } from '../base/error.ts';
import { CHAINS } from '../config/chain-settings.ts';
import type { Config } from '../config/config.ts';
import { addressWord, findAnswer, findWords, readQuantity, readWords } from './contract-call.ts';
import { reportContradiction } from './contradiction.ts';
import type { ChainReader, Rpc } from './rpc.ts';
import { agreed, type Witnessed } from './witness.ts';

/** The longest symbol that is shown. */
const TOKEN_SYMBOL_CHARS_MAX = 16;

/** The tokens whose balance can be read. */
export const TOKEN_NAMES = ['eth', 'usdc'] as const;

/** A member of `TOKEN_NAMES`. */
export type TokenName = (typeof TOKEN_NAMES)[number];

/** A token on a chain; ether has no contract. */
export interface ChainToken {
  readonly chainId: number;
  readonly symbol: string;
  readonly decimals: number;
  readonly contract: string | undefined;
}

/**
 * The token on the chain with this decimal id. Throws 400 `Unsupported chainId`, then 400 `USDC not available on this
 * chain`.
 */
export function findToken(
  config: Pick<Config, 'chainId' | 'usdcAddress'>,
  name: TokenName,
  chainIdText: string,
): ChainToken {
  const chainId = [config.chainId, ...Object.keys(CHAINS).map(Number)].find((id) => String(id) === chainIdText);
  if (chainId === undefined) throw badRequest('Unsupported chainId');
  if (name === 'eth') return { chainId, symbol: 'ETH', decimals: 18, contract: undefined };
  const contract = chainId === config.chainId ? config.usdcAddress : CHAINS[chainId]?.['USDC_ADDRESS'];
  if (!contract) throw badRequest('USDC not available on this chain');
  return { chainId, symbol: 'USDC', decimals: USDC_DECIMALS, contract };
}

/** An address's balance in the latest block, in the token's smallest unit. Throws 502 `rpc_error`. */
export async function readTokenBalance(rpc: Rpc, { chainId, contract }: ChainToken, account: string): Promise<bigint> {
  if (contract === undefined) return readQuantity(await rpc.call(chainId, 'eth_getBalance', [account, 'latest']));
  const [word] = await readWords(rpc, chainId, { to: contract, data: `${BALANCE_OF}${addressWord(account)}` }, 1);
  return BigInt(`0x${word}`);
}

/** An amount of the smallest unit as a decimal with exactly `decimals` (at least one) digits after the point. */
export function formatUnits(amount: bigint, decimals: number): string {
  const digits = amount.toString().padStart(decimals + 1, '0');
  return `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`;
}

/** Selector of `balanceOf(address)` (ERC-20). */
export const BALANCE_OF = '0x70a08231';

type Chain = ChainReader<'usdcAddress' | 'entryPointAddress'>;

/** The decimals of USDC, on every chain that the vault knows. */
export const USDC_DECIMALS = 6;

/** A token of a payment. If `isListed` is false, the symbol is the contract's own claim. */
export interface PayToken extends ChainToken {
  readonly isListed: boolean;
}

/**
 * Reads the token `native` or of a contract (0x-hex, lower case) on the configured chain. Throws 400 `Invalid token:
 * …` where no ERC-20 token is, 502 `rpc_error`, also where USDC answers other decimals than it has: its balance is
 * not to be believed then either.
 */
export async function readToken(chain: Chain & Witnessed, name: string): Promise<PayToken> {
  const { chainId, usdcAddress } = chain.config;
  if (name === 'native') return { chainId, symbol: 'ETH', decimals: 18, contract: undefined, isListed: true };
  const [decimals, symbol] = await Promise.all([readDecimals(chain, name), readSymbol(chain.rpc, chainId, name)]);
  if (decimals === undefined) throw badRequest('Invalid token: no ERC-20 token at this address');
  if (usdcAddress?.toLowerCase() !== name) return { chainId, symbol, decimals, contract: name, isListed: false };
  if (decimals !== USDC_DECIMALS) {
    reportContradiction(chain, 'decimals', { token: name, decimals });
    throw new VaultError('rpc_error', {
      cause: new Error(`USDC_ADDRESS answers ${decimals} decimals`),
      reason: 'decimals_differ',
      hint: 'The chain’s node gives an impossible answer about USDC: nothing is paid while it does.',
    });
  }
  return { chainId, symbol: 'USDC', decimals, contract: name, isListed: true };
}

/**
 * The decimals of an ERC-20 token; undefined where none is, such as at a contract that answers any call. Throws 502
 * `rpc_error`.
 */
export function readDecimals(chain: Witnessed, contract: string): Promise<number | undefined> {
  return agreed(chain, 'decimals', async ({ config, rpc }) => {
    const ask = (data: string) => findWords(rpc, config.chainId, { to: contract, data }, 1);
    const [decimals, supply, nonsense] = await Promise.all([DECIMALS, TOTAL_SUPPLY, NO_FUNCTION].map(ask));
    const places = decimals === undefined ? undefined : BigInt(`0x${decimals[0]}`);
    // ERC-20's `decimals` is a uint8: a contract that answers more is not a token.
    const isToken = places !== undefined && places <= 255n && supply !== undefined && nonsense === undefined;
    return isToken ? Number(places) : undefined;
  });
}

/** An account's balance of a payment token, in its smallest unit. Throws 502 `rpc_error`. */
export function readPayBalance({ rpc }: Chain, token: PayToken, account: string): Promise<bigint> {
  return readTokenBalance(rpc, token, account);
}

/** An account's deposit at the EntryPoint, in wei; 0 where no EntryPoint is set. Throws 502 `rpc_error`. */
export async function readDeposit({ config, rpc }: Chain, account: string): Promise<bigint> {
  const { chainId, entryPointAddress: to } = config;
  if (!to) return 0n;
  // ERC-4337 names it `balanceOf`, as ERC-20 does.
  const [word = '0'] = (await findWords(rpc, chainId, { to, data: `${BALANCE_OF}${addressWord(account)}` }, 1)) ?? [];
  return BigInt(`0x${word}`);
}

/** Selectors of `decimals()`, `totalSupply()`, `symbol()`, and of no function that a token has. */
const DECIMALS = '0x313ce567';
const TOTAL_SUPPLY = '0x18160ddd';
const NO_FUNCTION = '0xffffffff';
const SYMBOL = '0x95d89b41';

/** The symbol in printable ASCII only, so that no letter of another script imitates one; empty without a symbol. */
async function readSymbol(rpc: Rpc, chainId: number, contract: string): Promise<string> {
  const answer = (await findAnswer(rpc, chainId, { to: contract, data: SYMBOL })) ?? '0x';
  const bytes = fromHex(answer.slice(2)) ?? new Uint8Array();
  const text = new TextDecoder().decode(symbolBytes(bytes));
  return text.replace(/[^\x21-\x7e]/g, '').slice(0, TOKEN_SYMBOL_CHARS_MAX);
}

/** A `string`, or the `bytes32` that tokens older than the standard's final text answer. */
function symbolBytes(answer: Uint8Array): Uint8Array {
  if (answer.length <= 32) return answer;
  const length = Math.min(answer[63] ?? 0, 255);
  return answer.subarray(64, 64 + length);
}
