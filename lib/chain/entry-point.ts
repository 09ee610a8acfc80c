/** Reads nonces and operations of the EntryPoint from the chain: https://eips.ethereum.org/EIPS/eip-4337 */

import { KNOWN_ENTRY_POINTS } from '../../client/known-accounts.ts';
import { findOperation, operationsIn, type SettledOperation, USER_OPERATION_EVENT } from '../../client/operations.ts';
import { rpcError, VaultError } from '../base/error.ts';
import type { Config } from '../config/config.ts';
import { type Block, readBlock } from './blocks.ts';
import { addressWord, toQuantity, uint256Word } from './contract-call.ts';
import { type BlockRange, isRangeRefused } from './log-range.ts';
import { readReceipt } from './receipts.ts';
import type { ChainReader } from './rpc.ts';
import { readWordAt } from './state-at.ts';

/** The most requests for events that one search makes, refused ones included. */
export const SEARCH_REQUESTS_MAX = 5;
/** The most blocks in one of them. */
export const SEARCH_RANGE_BLOCKS_MAX = 2_000;
/** Blocks whose events are looked for again, because a node behind a load balancer may lack them for a while. */
export const FRESH_BLOCKS = 64;

/** One number of one sequence of an account's operations. */
export interface AccountNonce {
  /** 0x-hex, lower-case. */
  readonly account: string;
  /** All 256 bits. */
  readonly nonce: bigint;
}

/** The configured chain with its EntryPoint. */
export type EntryPointReader = ChainReader<'entryPointAddress'>;

/** The configured EntryPoint, lower-case. Throws 502 `rpc_error` where none is. */
export function entryPointOf({ entryPointAddress }: Pick<Config, 'entryPointAddress'>): string {
  if (entryPointAddress === null) throw rpcError('ENTRY_POINT_ADDRESS is not set');
  return entryPointAddress.toLowerCase();
}

/** Whether the nonce is spent in the state of a block. Throws 502 `rpc_error`, as `readWordAt` does. */
export async function isSpentAt(chain: EntryPointReader, { account, nonce }: AccountNonce, block: Block) {
  const data = `${GET_NONCE}${addressWord(account)}${uint256Word(nonce >> SEQUENCE_BITS)}`;
  const word = await readWordAt(chain, { to: entryPointOf(chain.config), data }, block);
  const next = BigInt(`0x${word}`);
  if (next >> SEQUENCE_BITS !== nonce >> SEQUENCE_BITS) throw rpcError('an EntryPoint answered another nonce');
  return next > nonce;
}

/** An operation in a block of the chain. */
export interface MinedOperation extends SettledOperation {
  readonly txHash: string;
  readonly block: number;
  readonly blockHash: string;
}

/**
 * The operation of this nonce in a transaction, by its receipt in a block of the chain up to `head`; undefined if there
 * is none. Throws 502 `rpc_error`.
 */
export async function readMinedOperation(
  chain: EntryPointReader,
  txHash: string,
  wanted: AccountNonce,
  head: number,
): Promise<MinedOperation | undefined> {
  const receipt = await readReceipt(chain, txHash);
  if (!receipt?.succeeded || receipt.block > head) return undefined;
  const { block, blockHash, logs } = receipt;
  const entryPoint = entryPointOf(chain.config);
  const operations = operationsIn(logs, [entryPoint, ...KNOWN_ENTRY_POINTS]);
  const found = findOperation(
    operations.filter((one) => one.entryPoint === entryPoint),
    { sender: wanted.account, nonce: wanted.nonce },
  );
  if (!found || (await readBlock(chain, block))?.hash !== blockHash) return undefined;
  return { ...found, txHash: txHash.toLowerCase(), block, blockHash };
}

/** Where events were looked for: the transactions that they name, and the block where the next search continues. */
export interface Search {
  readonly txHashes: readonly string[];
  readonly next: number;
}

/**
 * Looks for events of the operation of this nonce in blocks `from` to `to`, oldest first, until one is found. The
 * requests are few and their ranges bounded, so a search may end before `to`. An event is a hint: read its receipt. A
 * missing one says nothing, since nodes refuse such requests, or answer them before they have read their newest blocks.
 */
export async function searchOperation(
  chain: EntryPointReader,
  wanted: AccountNonce,
  { from, to }: { readonly from: number; readonly to: number },
  range: BlockRange,
): Promise<Search> {
  let next = from;
  for (let requests = 0; requests < SEARCH_REQUESTS_MAX && next <= to; requests++) {
    const end = Math.min(to, next + range.blocks - 1);
    const found = await readNonceLogs(chain, wanted, next, end).catch((failure) => {
      if (!(failure instanceof VaultError)) throw failure;
      if (isRangeRefused(failure)) range.refused(end - next + 1);
      else requests = SEARCH_REQUESTS_MAX;
      return undefined;
    });
    if (!found) continue;
    if (end - next + 1 === range.blocks) range.answered();
    if (found.length > 0) return { txHashes: found, next };
    next = end + 1;
  }
  return { txHashes: [], next: Math.max(from, Math.min(next, to - FRESH_BLOCKS)) };
}

/** Transactions that have, as the node says, an event of this nonce. Throws 502 `rpc_error`. */
async function readNonceLogs(
  { config, rpc }: EntryPointReader,
  { account, nonce }: AccountNonce,
  from: number,
  to: number,
): Promise<readonly string[]> {
  const filter = {
    address: entryPointOf(config),
    topics: [USER_OPERATION_EVENT, null, `0x${addressWord(account)}`],
    fromBlock: toQuantity(from),
    toBlock: toQuantity(to),
  };
  const logs = await rpc.call(config.chainId, 'eth_getLogs', [filter]);
  if (!Array.isArray(logs)) throw rpcError('a node answered no logs');
  const word = `0x${uint256Word(nonce)}`;
  const hashes = logs.flatMap((log: RawLog | null) => {
    const isOf = String(log?.data).toLowerCase().startsWith(word) && TX_HASH.test(String(log?.transactionHash));
    return isOf ? [String(log?.transactionHash).toLowerCase()] : [];
  });
  return Array.from(new Set(hashes)).slice(0, CANDIDATES_MAX);
}

interface RawLog {
  readonly data?: unknown;
  readonly transactionHash?: unknown;
}

const TX_HASH = /^0x[0-9a-fA-F]{64}$/;
/** One operation has a nonce; a re-org may show a second transaction of it. */
const CANDIDATES_MAX = 3;
/** Selector of `getNonce(address,uint192)`. */
const GET_NONCE = '0x35567e1a';
/** A nonce is 192 bits of a key and 64 of a number. */
const SEQUENCE_BITS = 64n;
