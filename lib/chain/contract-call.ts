/** Calls of view functions, by the contract ABI specification: https://docs.soliditylang.org/en/latest/abi-spec.html */
import { rpcError } from '../base/error.ts';
import { UpstreamError } from '../base/http-client.ts';
import { RpcError } from './json-rpc.ts';
import { type Rpc, rpcErrorOf } from './rpc.ts';

/** A view function of a contract: its selector and its arguments as words, 0x-hex without gaps. */
export interface View {
  readonly to: string;
  readonly data: string;
}

/** Reads a view function that answers `count` static words, each returned as 64 hex digits. Throws 502 `rpc_error`, also for any other answer: without code at the address there is none. */
export async function readWords(rpc: Rpc, chainId: number, { to, data }: View, count: number): Promise<string[]> {
  const result = await rpc.call(chainId, 'eth_call', [{ to, data }, 'latest']);
  if (typeof result !== 'string' || !/^0x[0-9a-fA-F]*$/.test(result)) throw rpcError(new UpstreamError('malformed'));
  if (result.length !== 2 + 64 * count) throw rpcError(new RpcError(REVERTED, `answered ${result.length} characters`));
  return Array.from({ length: count }, (_, i) => result.slice(2 + 64 * i, 66 + 64 * i).toLowerCase());
}

/** The same where there may be no such function: undefined when the call reverts or answers otherwise. Throws 502 `rpc_error` when the node cannot be asked. */
export async function findWords(rpc: Rpc, chainId: number, view: View, count: number): Promise<string[] | undefined> {
  return readWords(rpc, chainId, view, count).catch((failure) => {
    if (rpcErrorOf(failure)) return undefined;
    throw failure;
  });
}

/** A quantity that a node answered, 0x-hex of at most 32 bytes. Throws 502 `rpc_error` for anything else. */
export function readQuantity(result: unknown): bigint {
  if (typeof result !== 'string' || !/^0x[0-9a-fA-F]{1,64}$/.test(result)) {
    throw rpcError(new UpstreamError('malformed'));
  }
  return BigInt(result);
}

/**
 * What `read` makes of a node's answer. Throws 502 `rpc_error` where that throws: the answer is of another form, which
 * is no error of ours.
 */
export function readForm<T>(read: () => T): T {
  try {
    return read();
  } catch {
    throw rpcError(new UpstreamError('malformed'));
  }
}

/** 32 bytes of zeros as a word: no hash, no salt. */
export const ZERO_WORD = '0'.repeat(64);

/** Selector of `getOwner()`, which answers the account's P-256 key (x, y). */
export const GET_OWNER = '0x893d20e8';

/** A number as nodes take it: 0x-hex without leading zeros. */
export function quantity(value: number | bigint): string {
  return `0x${value.toString(16)}`;
}

/** A number as a word. */
export function uint256Word(value: bigint): string {
  return value.toString(16).padStart(64, '0');
}

/** An address, 0x-hex, as a word. */
export function addressWord(address: string): string {
  return address.slice(2).toLowerCase().padStart(64, '0');
}

/** As nodes number a revert: a contract that answers otherwise has no such function either. */
const REVERTED = 3;
