import { badRequest } from '../base/error.ts';
import { CHAINS } from '../config/chain-settings.ts';
import type { Config } from '../config/config.ts';
import { addressWord, readQuantity, readWords } from './contract-call.ts';
import type { Rpc } from './rpc.ts';

/** What balances are read of. */
export const TOKEN_NAMES = ['eth', 'usdc'] as const;

export type TokenName = (typeof TOKEN_NAMES)[number];

/** A token on a chain; ether has no contract. */
export interface Token {
  readonly chainId: number;
  readonly symbol: string;
  readonly decimals: number;
  readonly contract: string | undefined;
}

/** The token on the chain with this decimal id. Throws 400 `Unsupported chainId`, then 400 `USDC not available on this chain`. */
export function findToken(
  config: Pick<Config, 'chainId' | 'usdcAddress'>,
  name: TokenName,
  chainIdText: string,
): Token {
  const chainId = [config.chainId, ...Object.keys(CHAINS).map(Number)].find((id) => String(id) === chainIdText);
  if (chainId === undefined) throw badRequest('Unsupported chainId');
  if (name === 'eth') return { chainId, symbol: 'ETH', decimals: 18, contract: undefined };
  const contract = chainId === config.chainId ? config.usdcAddress : CHAINS[chainId]?.['USDC_ADDRESS'];
  if (!contract) throw badRequest('USDC not available on this chain');
  return { chainId, symbol: 'USDC', decimals: 6, contract };
}

/** What an address holds in the latest block, in the token's smallest unit. Throws 502 `rpc_error`. */
export async function readBalance(rpc: Rpc, { chainId, contract }: Token, account: string): Promise<bigint> {
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
