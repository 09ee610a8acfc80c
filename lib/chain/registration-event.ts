/** The registry's events that give a DID to a controller: `DIDRegistered` and `DIDMoved`. */
import { HOUR_MS } from '../base/clock.ts';
import { rpcError } from '../base/error.ts';
import { readBlockTime } from './blocks.ts';
import { addressWord, readForm, readQuantity, toQuantity } from './contract-call.ts';
import { TOPICS } from './followed-contracts.ts';
import { isRangeRefused } from './log-range.ts';
import type { TransactionReceipt } from './receipts.ts';
import type { ChainReader } from './rpc.ts';

/** The controller that a receipt's events give a DID, 0x-hex; undefined if the registry says nothing of the DID. */
export function controllerIn(
  { logs }: { readonly logs: readonly Pick<TransactionReceipt['logs'][number], 'address' | 'topics'>[] },
  registry: string | null,
  didHash: string,
): `0x${string}` | undefined {
  const own = logs.filter(({ address, topics }) => address === registry?.toLowerCase() && topics[1] === didHash);
  const topicOf = (first: string, at: number) => own.find(({ topics }) => topics[0] === first)?.topics[at];
  const controller = topicOf(TOPICS.DIDRegistered, 2) ?? topicOf(TOPICS.DIDMoved, 3);
  return controller === undefined ? undefined : `0x${controller.slice(26)}`;
}

/** A DID and its controller in a registry; 0x-hex. */
export interface RegisteredDid {
  readonly registry: string;
  readonly didHash: string;
  readonly controller: string;
}

/** Where the registry has given a DID to its controller. */
export interface RegistrationPlace {
  readonly txHash: string;
  readonly block: number;
  readonly blockHash: string;
}

/** The range to search: up to a block, for a request of this time, with the most blocks per call to the node. */
export interface RegistrationSearch {
  readonly to: number;
  readonly sinceMs: number;
  readonly blocks?: number;
}

/** The most blocks of one request for events, and the requests before and after the moment that is searched first. */
const RANGE_BLOCKS_MAX = 2_000;
const NEWEST_RANGES = 4;
const RANGES_SINCE = 12;

/**
 * The newest event up to block `to` that gives a DID to its controller: in the newest blocks, or within about 20,000
 * blocks after `sinceMs`. Undefined if there is none in these. Throws 502 `rpc_error`.
 */
export async function findRegistration(
  chain: ChainReader,
  did: RegisteredDid,
  { to, sinceMs, blocks = RANGE_BLOCKS_MAX }: RegistrationSearch,
): Promise<RegistrationPlace | undefined> {
  const newest = Math.max(0, to + 1 - NEWEST_RANGES * blocks);
  for (let end = to; end >= newest; end -= blocks) {
    const found = await readPlace(chain, did, Math.max(newest, end + 1 - blocks), end);
    if (found) return found;
  }
  if (newest === 0) return undefined;
  // Clocks differ.
  const first = await findBlockAt(chain, sinceMs - HOUR_MS, newest);
  const last = Math.min(newest - 1, first + RANGES_SINCE * blocks);
  for (let start = first; start <= last; start += blocks) {
    const found = await readPlace(chain, did, start, Math.min(last, start + blocks - 1));
    if (found) return found;
  }
  return undefined;
}

/** The first block below `end` that was made at this time or later, else `end`; by bisection. */
async function findBlockAt(chain: ChainReader, ms: number, end: number): Promise<number> {
  let [low, high] = [0, end];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (1_000 * (await readBlockTime(chain, middle)) >= ms) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** The newest event of a range. Logs that do not match the filter are ignored. */
async function readPlace(
  chain: ChainReader,
  { registry, didHash, controller }: RegisteredDid,
  from: number,
  to: number,
): Promise<RegistrationPlace | undefined> {
  const topics = [[TOPICS.DIDRegistered, TOPICS.DIDMoved], didHash];
  const logs = await readLogs(chain, { address: registry, topics }, from, to);
  const places = logs.flatMap((log) => {
    const { address = '', topics = [], blockHash, transactionHash, removed } = log;
    const asReceipt = { logs: [{ address: address.toLowerCase(), topics: topics.map((one) => one.toLowerCase()) }] };
    const block = Number(readForm(() => readQuantity(log.blockNumber)));
    const isIn = block >= from && block <= to && removed !== true && blockHash && transactionHash;
    if (!isIn || controllerIn(asReceipt, registry, didHash) !== `0x${addressWord(controller).slice(24)}`) return [];
    return [{ txHash: transactionHash.toLowerCase(), block, blockHash: blockHash.toLowerCase() }];
  });
  return places.at(-1);
}

/** A range that the node refuses is halved, since nodes limit blocks, events or bytes. */
async function readLogs(chain: ChainReader, filter: object, from: number, to: number): Promise<readonly RawLog[]> {
  const range = { fromBlock: toQuantity(from), toBlock: toQuantity(to) };
  try {
    const logs = await chain.rpc.call(chain.config.chainId, 'eth_getLogs', [{ ...filter, ...range }]);
    if (!Array.isArray(logs)) throw rpcError('a node answered no logs');
    return logs as RawLog[];
  } catch (failure) {
    if (!isRangeRefused(failure) || from === to) throw failure;
    const middle = Math.floor((from + to) / 2);
    return [...(await readLogs(chain, filter, from, middle)), ...(await readLogs(chain, filter, middle + 1, to))];
  }
}

interface RawLog {
  readonly address?: string;
  readonly topics?: readonly string[];
  readonly blockNumber?: string;
  readonly blockHash?: string | null;
  readonly transactionHash?: string | null;
  readonly removed?: boolean;
}
