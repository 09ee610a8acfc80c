import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Subprocess } from 'bun';
import { tryPort } from './ports.ts';

/** Asks a node over JSON-RPC. A node's error is thrown with the error object (`code`, `message`, `data`) as its cause. */
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
  readonly stateFile?: string;
}

const BASE_SEPOLIA = 84532;
const STARTS_MAX = 3;
const START_TIMEOUT_MS = 10_000;
const STOP_TIMEOUT_MS = 5_000;
const POLL_MS = 5;

/** Starts a node that mines each transaction at once, with the rules and precompiles of an OP Stack chain, as Base is. */
export async function startChain(options: ChainOptions = {}): Promise<Chain> {
  const program = anvilProgram();
  for (let start = 1; start <= STARTS_MAX; start++) {
    // Throws when a wanted port is taken, since whatever has it would be mistaken for the node.
    const port = tryPort(options.port ?? 0);
    const child = Bun.spawn([program, ...flags(port, options)], {
      stdin: 'ignore',
      stdout: 'ignore',
      stderr: 'ignore',
    });
    const kill = () => child.kill('SIGKILL');
    process.once('exit', kill);
    const url = `http://127.0.0.1:${port}`;
    const rpc = connectChain(url);
    const end = () => stop(child).finally(() => process.off('exit', kill));
    if (await isUp(child, rpc)) return { url, rpc, stop: end };
    await end();
  }
  throw new Error(`anvil did not start in ${STARTS_MAX} tries`);
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

function flags(port: number, { chainId = BASE_SEPOLIA, stateFile }: ChainOptions): string[] {
  const state = stateFile === undefined ? [] : ['--state', stateFile, '--state-interval', '1'];
  return [
    '--host',
    '127.0.0.1',
    '--port',
    `${port}`,
    '--chain-id',
    `${chainId}`,
    '--network',
    'optimism',
    '--quiet',
    ...state,
  ];
}

/** False when it ended, as it does when another process took the port first, or took too long. */
async function isUp(child: Subprocess, rpc: ChainRpc): Promise<boolean> {
  const deadline = performance.now() + START_TIMEOUT_MS;
  while (child.exitCode === null && performance.now() < deadline) {
    const chainId = await rpc('eth_chainId').catch(() => undefined);
    if (chainId !== undefined) return true;
    await Bun.sleep(POLL_MS);
  }
  return false;
}

async function stop(child: Subprocess): Promise<void> {
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
  await child.exited;
  clearTimeout(timer);
}
