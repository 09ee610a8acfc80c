/** Calls of view functions, by the contract ABI specification: https://docs.soliditylang.org/en/latest/abi-spec.html */
import { rpcError } from '../base/error.ts';
import { UpstreamError } from '../base/http-client.ts';
import { RpcError } from './json-rpc.ts';
import { type ChainReader, type Rpc, rpcErrorOf } from './rpc.ts';

/** A call of a view function: the contract; selector and arguments as words, 0x-hex; the most gas, a quantity. */
export interface ContractCall {
  readonly to: string;
  readonly data: string;
  readonly gas?: string;
}

/**
 * Calls a view function that returns `count` static words, each returned as 64 lower-case hex digits. Throws 502
 * `rpc_error`, also for any other answer: an address without code returns none.
 */
export async function readWords(
  rpc: Rpc,
  chainId: number,
  { to, data }: ContractCall,
  count: number,
): Promise<string[]> {
  const result = await rpc.call(chainId, 'eth_call', [{ to, data }, 'latest']);
  if (typeof result !== 'string' || !/^0x[0-9a-fA-F]*$/.test(result)) throw rpcError(new UpstreamError('malformed'));
  if (result.length !== 2 + 64 * count) throw rpcError(new RpcError(REVERTED, `answered ${result.length} characters`));
  return Array.from({ length: count }, (_, i) => result.slice(2 + 64 * i, 66 + 64 * i).toLowerCase());
}

/**
 * As `readWords`, but undefined when the contract reverts or answers otherwise. Throws 502 `rpc_error` when the node
 * cannot be asked.
 */
export async function findWords(
  rpc: Rpc,
  chainId: number,
  call: ContractCall,
  count: number,
): Promise<readonly string[] | undefined> {
  return wordsOf(await findAnswer(rpc, chainId, call), count);
}

/** The answer of a view function; undefined when it reverts. As `tryCall` otherwise. */
export async function findAnswer(
  rpc: Rpc,
  chainId: number,
  call: ContractCall,
  block = 'latest',
): Promise<string | undefined> {
  const outcome = await tryCall(rpc, chainId, call, block);
  return 'answer' in outcome ? outcome.answer : undefined;
}

/** The outcome of a call: the answer, or the revert data, `0x` without a reason; lower-case 0x-hex. */
export type CallOutcome = { readonly answer: string } | { readonly reverted: string };

/**
 * Calls a view function in the state of `block`, a tag or a quantity; one that the node lacks counts as a revert.
 * Throws 502 `rpc_error` when the node cannot be asked, refuses to answer, or answers no hex.
 */
export async function tryCall(rpc: Rpc, chainId: number, call: ContractCall, block = 'latest'): Promise<CallOutcome> {
  let answer: unknown;
  try {
    answer = await rpc.call(chainId, 'eth_call', [call, block]);
  } catch (failure) {
    const reverted = revertOf(failure);
    if (reverted === undefined) throw failure;
    return { reverted };
  }
  if (typeof answer !== 'string' || !/^0x[0-9a-fA-F]*$/.test(answer)) throw rpcError(new UpstreamError('malformed'));
  return { answer: answer.toLowerCase() };
}

/** The revert data in a node's error; undefined for an error that says nothing about the contract. */
function revertOf(failure: unknown): string | undefined {
  const error = rpcErrorOf(failure);
  if (error?.data !== undefined) return error.data.toLowerCase();
  return error && (REVERT_CODES.has(error.code) || OWN_DOING.test(error.message)) ? '0x' : undefined;
}

/** The words of an answer, 64 hex digits each; undefined for an answer of another length. */
export function wordsOf(answer: string | undefined, count: number): readonly string[] | undefined {
  if (answer?.length !== 2 + 64 * count) return undefined;
  return Array.from({ length: count }, (_, i) => answer.slice(2 + 64 * i, 66 + 64 * i));
}

/** Parses a node's quantity, 0x-hex of at most 32 bytes. Throws 502 `rpc_error` for anything else. */
export function readQuantity(result: unknown): bigint {
  if (typeof result !== 'string' || !/^0x[0-9a-fA-F]{1,64}$/.test(result)) {
    throw rpcError(new UpstreamError('malformed'));
  }
  return BigInt(result);
}

/** Runs `read` on a node's answer. Throws 502 `rpc_error` where that throws: the answer has the wrong form. */
export function readForm<T>(read: () => T): T {
  try {
    return read();
  } catch {
    throw rpcError(new UpstreamError('malformed'));
  }
}

/** 32 bytes of zeros as a word: no hash, no salt. */
export const ZERO_WORD = '0'.repeat(64);

/** Selector of `getOwner()`, which returns the account's P-256 key (x, y). */
export const GET_OWNER = '0x893d20e8';

/** A number as a JSON-RPC quantity: 0x-hex without leading zeros. */
export function toQuantity(value: number | bigint): string {
  return `0x${value.toString(16)}`;
}

/** A number as a word: 64 hex digits. */
export function uint256Word(value: bigint): string {
  return value.toString(16).padStart(64, '0');
}

/** An address, 0x-hex, as a word: 64 hex digits. */
export function addressWord(address: string): string {
  return address.slice(2).toLowerCase().padStart(64, '0');
}

/** The address in a word, lower-case; undefined for a number that is not an address, and without a word. */
export function addressIn(word: bigint | undefined): string | undefined {
  return word !== undefined && word >> 160n === 0n ? `0x${word.toString(16).padStart(40, '0')}` : undefined;
}

/** The nodes' codes of a revert, besides errors with data, and of a missing state. Others say nothing of a contract. */
const REVERT_CODES: ReadonlySet<number> = new Set([3, -32_000, -32_001, -32_015]);

/** A contract's own doing, which some nodes answer with the code of a fault of theirs (-32603). */
const OWN_DOING = /\bout ?of ?gas\b|OOG\b|\bEVM error\b/i;

/** The nodes' code of a revert: a contract that answers otherwise has no such function either. */
const REVERTED = 3;

/** Whether an address has code in the newest block. Throws 502 `rpc_error`. */
export async function hasCode(chain: ChainReader, address: string): Promise<boolean> {
  return (await readCode(chain, address)) !== '0x';
}

/** The code of an address in a block (a tag or a quantity), lower-case; `0x` without. Throws 502 `rpc_error`. */
export async function readCode({ config, rpc }: ChainReader, address: string, block = 'latest'): Promise<string> {
  const code = await rpc.call(config.chainId, 'eth_getCode', [address, block]);
  if (typeof code !== 'string' || !/^0x(?:[0-9a-fA-F]{2})*$/.test(code)) throw rpcError(new UpstreamError('malformed'));
  return code.toLowerCase();
}
