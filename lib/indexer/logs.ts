/**
 * Events of the registry and the account factories (completions section 9), read by `eth_getLogs`:
 * https://eips.ethereum.org/EIPS/eip-1474
 */

import { fromHex } from '../base/bytes.ts';
import { rpcError } from '../base/error.ts';
import { UpstreamError } from '../base/http-client.ts';
import type { Factories } from '../chain/account-factory.ts';
import { toQuantity } from '../chain/contract-call.ts';
import { contractsOf, TOPICS } from '../chain/followed-contracts.ts';
import type { ChainReader } from '../chain/rpc.ts';
import type { ChainEvent } from './event-store.ts';

/** All events of blocks `from` to `to`, both included. Throws 502 `rpc_error`; see `isRangeRefused`. */
export async function readEvents({ config, rpc }: Chain, from: number, to: number): Promise<readonly ChainEvent[]> {
  const topics = [Object.values(TOPICS)];
  const filter = { address: contractsOf(config), topics, fromBlock: toQuantity(from), toBlock: toQuantity(to) };
  const logs = await rpc.call(config.chainId, 'eth_getLogs', [filter]);
  const registry = config.didRegistryAddress?.toLowerCase();
  try {
    return (logs as RawLog[]).flatMap((log) => {
      const event = readLog(log);
      if (event.block < from || event.block > to) throw new RangeError('a log of a block outside the requested range');
      // Events are accepted only from the contract that emits them.
      const isOwn = (event.kind === 'AccountCreated') !== (log.address?.toLowerCase() === registry);
      return isOwn ? [event] : [];
    });
  } catch {
    // The answer is not a list of logs.
    throw rpcError(new UpstreamError('malformed'));
  }
}

type Chain = ChainReader<'didRegistryAddress' | Factories>;

const KINDS = new Map<string, ChainEvent['kind']>(
  Object.entries(TOPICS).map(([kind, topic]) => [topic, kind as ChainEvent['kind']]),
);

interface RawLog {
  readonly address?: string;
  readonly topics?: readonly string[];
  readonly data?: string;
  readonly blockNumber?: string;
  readonly blockHash?: string;
  readonly transactionHash?: string;
  readonly logIndex?: string;
}

function readLog(log: RawLog): ChainEvent {
  const [topic = '', first = '', second, third] = log.topics?.map((one) => one.toLowerCase()) ?? [];
  const kind = KINDS.get(topic);
  const { blockHash, transactionHash, data } = log;
  const [block, logIndex] = [Number(log.blockNumber), Number(log.logIndex)];
  // `Number` turns a missing value into NaN; a log of a pending block has no hash.
  if (!kind || !blockHash || !transactionHash || !Number.isSafeInteger(block) || !Number.isSafeInteger(logIndex))
    throw new TypeError('a log without its block or index');
  const isAccount = kind === 'AccountCreated';
  return {
    kind,
    subject: isAccount ? addressIn(first) : first,
    object: objectOf(kind, second, third),
    metadataCid: kind === 'DIDRegistered' || kind === 'DIDUpdated' ? readString(data ?? '') : null,
    block,
    blockHash: blockHash.toLowerCase(),
    txHash: transactionHash.toLowerCase(),
    logIndex,
  };
}

/** The object of an event: for a move the new controller, its third argument. */
function objectOf(kind: ChainEvent['kind'], second: string | undefined, third: string | undefined): string | null {
  const topic = kind === 'DIDMoved' ? third : second;
  if (topic === undefined) return null;
  return kind === 'AliasRegistered' ? topic : addressIn(topic);
}

/** The address in the last 20 bytes of a topic. */
function addressIn(topic: string): string {
  return `0x${topic.slice(-40)}`;
}

/** The one string in an event's data; empty if malformed. NUL is replaced, since no column can hold it. */
function readString(data: string): string {
  const word = (byte: number) => Number(`0x${data.slice(2 + 2 * byte, 66 + 2 * byte)}`);
  const start = word(0) + 32;
  const length = word(start - 32);
  const bytes =
    start + length <= data.length / 2 - 1 ? fromHex(data.slice(2 + 2 * start, 2 + 2 * (start + length))) : undefined;
  return new TextDecoder().decode(bytes).replaceAll('\0', '\ufffd');
}
