import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { startService } from './service.ts';

/**
 * Asks a node over JSON-RPC. A node's error is thrown with the error object (`code`, `message`, `data`) as its cause.
 */
export type ChainRpc = (method: string, params?: readonly unknown[]) => Promise<unknown>;

/** A running chain. */
export interface Chain {
  readonly url: string;
  readonly rpc: ChainRpc;
  /** Ends the node, once its state is in the state file if it has one. */
  stop(): Promise<void>;
}

/** A chain of one anvil on loopback; with `stateFile` it goes on where it was. */
export interface ChainOptions {
  /** A free one when absent. */
  readonly port?: number;
  /** Base Sepolia's when absent. */
  readonly chainId?: number;
  /** Ethereum's rules as of this hard fork instead of the OP Stack's; before `osaka` there is no P-256 precompile. */
  readonly hardfork?: 'prague' | 'osaka';
  readonly stateFile?: string;
  /** The time of its first block, in milliseconds, from where its clock goes on; now when absent. */
  readonly startsAt?: number;
}

const BASE_SEPOLIA = 84532;
/**
 * The contract of the last blocks' hashes (EIP-2935), which nothing here reads. Each block writes a slot of it, and the
 * node hashes all slots of all contracts for each block: a thousand blocks took a second.
 */
const BLOCK_HASHES = '0x0000F90827F1C53a10cb7A02335B175320002935';
/** Each block's state is a file of its own: a chain that mines for a day would fill the disk (18 GB in 20 minutes). */
const STATES_ON_DISK_MAX = 200;
/** Those of a chain that ends with its process stay in memory: files in the home folder outlive a killed node. */
const STATES_MAX = 500;
/** The time that writing the state file may take. */
const STOP_TIMEOUT_MS = 5_000;

/**
 * Starts a node that mines each transaction at once, with the rules and precompiles of an OP Stack chain, as Base is.
 */
export async function startChain(options: ChainOptions = {}): Promise<Chain> {
  const program = anvilProgram();
  if (options.stateFile !== undefined) keepFirstBlock(options.stateFile);
  const urlOf = (port: number) => `http://127.0.0.1:${port}`;
  const { port, stop } = await startService({
    name: 'anvil',
    command: (own) => [program, ...flags(own, options)],
    isUp: async (own) => (await connectChain(urlOf(own))('eth_chainId')) !== undefined,
    port: options.port,
    stopTimeoutMs: STOP_TIMEOUT_MS,
  });
  const url = urlOf(port);
  const rpc = connectChain(url);
  await rpc('anvil_setCode', [BLOCK_HASHES, '0x']);
  return { url, rpc, stop };
}

/** Asks the node at `url`, one request at a time. */
export function connectChain(url: string): ChainRpc {
  return async (method, params = []) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
    const response = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
    const { result, error } = (await response.json()) as { result?: unknown; error?: { message: string } };
    if (error) throw new Error(`${method}: ${error.message}`, { cause: error });
    return result;
  };
}

/**
 * Leaves the oldest block 0 of a state file alone. A start adds one of its own, and the next takes any of them: the
 * vault would find another chain than before.
 */
function keepFirstBlock(stateFile: string): void {
  if (!existsSync(stateFile)) return;
  const state = JSON.parse(readFileSync(stateFile, 'utf8')) as { blocks: readonly StoredBlock[] };
  const isFirst = ({ header }: StoredBlock) => Number(header.number) === 0;
  const [oldest, ...others] = state.blocks
    .filter(isFirst)
    .toSorted((a, b) => Number(a.header.timestamp) - Number(b.header.timestamp));
  if (oldest === undefined || others.length === 0) return;
  const blocks = [oldest, ...state.blocks.filter((block) => !isFirst(block))];
  writeFileSync(`${stateFile}.new`, JSON.stringify({ ...state, blocks }));
  renameSync(`${stateFile}.new`, stateFile);
}

interface StoredBlock {
  readonly header: { readonly number: string; readonly timestamp: string };
}

/** The program itself: the package's own wrapper is a process that would leave it behind when killed. */
function anvilProgram(): string {
  const platform = `${process.platform}-${process.arch === 'x64' ? 'amd64' : process.arch}`;
  const name = process.platform === 'win32' ? 'anvil.exe' : 'anvil';
  const path = `../../node_modules/@foundry-rs/anvil-${platform}/bin/${name}`;
  const program = fileURLToPath(new URL(path, import.meta.url));
  if (!existsSync(program))
    throw new Error(`No anvil for ${platform}: the package @foundry-rs/anvil-${platform} is not installed.`);
  return program;
}

function flags(port: number, { chainId = BASE_SEPOLIA, hardfork, stateFile, startsAt }: ChainOptions): string[] {
  const rules = hardfork === undefined ? ['--network', 'optimism'] : ['--hardfork', hardfork];
  const state =
    stateFile === undefined
      ? ['--prune-history', `${STATES_MAX}`]
      : ['--state', stateFile, '--state-interval', '1', '--max-persisted-states', `${STATES_ON_DISK_MAX}`];
  const time = startsAt === undefined ? [] : ['--timestamp', `${Math.floor(startsAt / 1000)}`];
  return [
    '--host',
    '127.0.0.1',
    '--port',
    `${port}`,
    '--chain-id',
    `${chainId}`,
    ...rules,
    '--quiet',
    ...state,
    ...time,
  ];
}
