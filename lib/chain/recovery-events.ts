/** Reads recoveries from the chain: the events of `contracts/Account2.sol` and the blocks that they are in. */
import { addressWord, readForm, toQuantity } from './contract-call.ts';
import { isRangeRefused } from './log-range.ts';
import type { ChainReader } from './rpc.ts';

/** The most blocks of one request for events. */
const RANGE_BLOCKS_MAX = 2_000;

/** An event of an account's recoveries; hex is lower-case, key coordinates are 32 bytes. */
export interface RecoveryEvent {
  readonly kind: keyof typeof TOPICS;
  readonly account: string;
  /** The account's number of the recovery. */
  readonly id: number;
  readonly block: number;
  readonly txHash: string;
  /** For a proposal: its guardian, the key, and when it is ready, in seconds since 1970. */
  readonly proposal?: {
    readonly guardian: string;
    readonly x: string;
    readonly y: string;
    readonly readyAt: number;
  };
}

/** The events of an account's recoveries in blocks `from` to `to`, oldest first. Throws 502 `rpc_error`. */
export function readRecoveryEvents(
  chain: ChainReader,
  account: string,
  from: number,
  to: number,
): Promise<readonly RecoveryEvent[]> {
  return readRange(chain, { address: account, topics: [Object.values(TOPICS)] }, from, to);
}

/** The guardians' proposals for these accounts, in blocks `from` to `to`. Throws 502 `rpc_error`. */
export function readProposals(
  chain: ChainReader,
  guardians: readonly string[],
  accounts: readonly string[],
  { from, to }: { readonly from: number; readonly to: number },
): Promise<readonly RecoveryEvent[]> {
  return readRange(
    chain,
    { address: accounts, topics: [TOPICS.proposed, null, guardians.map((one) => `0x${addressWord(one)}`)] },
    from,
    to,
  );
}

type Filter = {
  readonly address: string | readonly string[];
  readonly topics: readonly (string | null | readonly string[])[];
};

/** In steps; a step that the node refuses is halved, since nodes limit blocks, events or bytes. */
async function readRange(chain: ChainReader, filter: Filter, from: number, to: number): Promise<RecoveryEvent[]> {
  const events: RecoveryEvent[] = [];
  let blocks = RANGE_BLOCKS_MAX;
  for (let start = from; start <= to; ) {
    const end = Math.min(to, start + blocks - 1);
    const read = await readStep(chain, filter, start, end).catch((failure) => {
      if (end === start || !isRangeRefused(failure)) throw failure;
      return undefined;
    });
    if (read) {
      events.push(...read);
      start = end + 1;
    } else blocks = Math.ceil((end - start) / 2);
  }
  return events;
}

async function readStep(
  { config, rpc }: ChainReader,
  filter: Filter,
  from: number,
  to: number,
): Promise<readonly RecoveryEvent[]> {
  const range = { fromBlock: toQuantity(from), toBlock: toQuantity(to) };
  const logs = await rpc.call(config.chainId, 'eth_getLogs', [{ ...filter, ...range }]);
  return readForm(() => (logs as RawLog[]).flatMap(readLog));
}

function readLog({ address = '', topics = [], data = '', blockNumber, transactionHash, removed }: RawLog) {
  const [topic = '', id = '', guardian = ''] = topics.map((one) => one.toLowerCase());
  const kind = (Object.keys(TOPICS) as (keyof typeof TOPICS)[]).find((name) => TOPICS[name] === topic);
  const block = Number(blockNumber);
  if (kind === undefined || removed === true || !transactionHash || !Number.isSafeInteger(block)) return [];
  const words = data.slice(2).toLowerCase();
  const proposal = {
    guardian: `0x${guardian.slice(-40)}`,
    x: `0x${words.slice(0, 64)}`,
    y: `0x${words.slice(64, 128)}`,
    readyAt: Number(`0x${words.slice(128, 192)}`),
  };
  const event = {
    kind,
    account: address.toLowerCase(),
    id: Number(id),
    block,
    txHash: transactionHash.toLowerCase(),
    ...(kind === 'proposed' ? { proposal } : {}),
  };
  // A stranger's contract may emit anything, such as a time that no account writes.
  const isSound = Number.isSafeInteger(event.id) && (kind !== 'proposed' || proposal.readyAt < 2 ** 40);
  return isSound ? [event] : [];
}

/** The first topics: keccak256 of the events' signatures. */
const TOPICS = {
  proposed: '0x6615989fafa53e941a205146cfc318199e4fb7952669e442e358ae30e3639737',
  finished: '0xc4ad566ef82bf93d51c467253ca519a5f9e2b94f6d5f070679aeb59cd5784eae',
  vetoed: '0xb73d85cde6ddbbb555aad6cc399f1d5abb0c3aceb3afdd83d5a5e4c7c76374f2',
  cancelled: '0xdf8aa1927c1c58300242ba4bb6ef5cf1e86441979f6caa9c1b68e8fcf06406ca',
} as const;

interface RawLog {
  readonly address?: string;
  readonly topics?: readonly string[];
  readonly data?: string;
  readonly blockNumber?: string;
  readonly transactionHash?: string;
  readonly removed?: boolean;
}
