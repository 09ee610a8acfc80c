/** Accounts that name a guardian: events of `contracts/Account2.sol`, which any contract can emit as well. */
import { rpcError } from '../base/error.ts';
import { UpstreamError } from '../base/http-client.ts';
import { addressWord, readForm, toQuantity } from './contract-call.ts';
import { type BlockRange, isRangeRefused } from './log-range.ts';
import type { ChainReader } from './rpc.ts';

/** Blocks that were read, and the addresses in them, lower-case, that say that they name one of the guardians. */
export interface NamedGuardians {
  readonly to: number;
  readonly accounts: readonly string[];
}

/**
 * Reads the next blocks, as many as the node answers: a range that it refuses is halved. A single block with too many
 * events is read transaction by transaction, and `skipped` gets the transactions that are too large. So a stranger who
 * fills a block with such events hides nobody else's. Throws 502 `rpc_error`.
 */
export async function readNamedGuardians(
  chain: ChainReader<'accountFactory2Address'>,
  guardians: readonly string[],
  { from, head, range }: { readonly from: number; readonly head: number; readonly range: BlockRange },
  skipped: (txHash: string) => void,
): Promise<NamedGuardians> {
  const topics = [TOPIC, guardians.map((one) => `0x${addressWord(one)}`)];
  for (;;) {
    const to = Math.min(head, from + range.blocks - 1);
    const size = to - from + 1;
    try {
      const filter = { topics, fromBlock: toQuantity(from), toBlock: toQuantity(to) };
      const logs = await chain.rpc.call(chain.config.chainId, 'eth_getLogs', [filter]);
      if (size === range.blocks) range.answered();
      return { to, accounts: emittersOf(logs, topics) };
    } catch (failure) {
      if (!isRangeRefused(failure)) throw failure;
      range.refused(size);
      if (size > 1) continue;
      if (!(await answersLogs(chain, from))) throw failure;
      return { to, accounts: await readOneByOne(chain, from, topics, skipped) };
    }
  }
}

type Topics = readonly (string | readonly string[])[];

/** Whether the node answers for events of a block at all: no stranger adds to those of the factory. */
async function answersLogs({ config, rpc }: ChainReader<'accountFactory2Address'>, block: number): Promise<boolean> {
  const range = { fromBlock: toQuantity(block), toBlock: toQuantity(block) };
  const filter = { address: config.accountFactory2Address, topics: [TOPIC], ...range };
  return rpc.call(config.chainId, 'eth_getLogs', [filter]).then(Array.isArray, () => false);
}

async function readOneByOne(
  { config, rpc }: ChainReader,
  block: number,
  topics: Topics,
  skipped: (txHash: string) => void,
): Promise<readonly string[]> {
  const found = (await rpc.call(config.chainId, 'eth_getBlockByNumber', [toQuantity(block), false])) as RawBlock | null;
  const hashes = found?.transactions;
  if (!Array.isArray(hashes)) throw rpcError(new UpstreamError('malformed'));
  const accounts = new Set<string>();
  for (const hash of hashes.map(String)) {
    const receipt = await rpc.call(config.chainId, 'eth_getTransactionReceipt', [hash]).catch((failure) => {
      if (!isRangeRefused(failure)) throw failure;
      skipped(hash);
    });
    const { logs = [] } = (receipt ?? {}) as { readonly logs?: unknown };
    for (const account of emittersOf(logs, topics)) accounts.add(account);
  }
  return Array.from(accounts);
}

/** The emitters of the logs that have the topics: a receipt has others too. */
function emittersOf(logs: unknown, [first, seconds]: Topics): readonly string[] {
  const read = () =>
    (logs as RawLog[]).flatMap(({ address = '', topics = [], removed }) => {
      const [topic, guardian = ''] = topics.map((one) => one.toLowerCase());
      const isIt = topic === first && seconds?.includes(guardian) && removed !== true;
      return isIt && /^0x[0-9a-f]{40}$/i.test(address) ? [address.toLowerCase()] : [];
    });
  return Array.from(new Set(readForm(read)));
}

interface RawLog {
  readonly address?: string;
  readonly topics?: readonly string[];
  readonly removed?: boolean;
}

interface RawBlock {
  readonly transactions?: unknown;
}

/** keccak256 of `GuardianSet(address,uint32,bytes32)`. */
const TOPIC = '0x647021871fce8d0aa9d570209fc4412f66774a061a09a24770fc4dc5d10e7330';
