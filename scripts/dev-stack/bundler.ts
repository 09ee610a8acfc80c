import { fileURLToPath } from 'node:url';
import { ALTO_FOLDER, buildAlto } from './alto.ts';
import { ENTRY_POINTS, type EntryPointVersion } from './entrypoints.ts';
import { startService } from './service.ts';
import { devAccount } from './wallet.ts';

/** A running ERC-4337 bundler. */
export interface Bundler {
  readonly url: string;
  readonly pid: number;
  stop(): Promise<void>;
}

/** For which node, and where it listens and writes its log. */
export interface BundlerOptions {
  readonly rpcUrl: string;
  /** A free one when absent. */
  readonly port?: number;
  /** No log when absent. */
  readonly logFile?: string;
  /** 0.7 and 0.8 when absent. */
  readonly entryPoints?: readonly EntryPointVersion[];
  /** The tip that it asks for, in gwei. If absent, the node's suggestion; on a local chain 1. */
  readonly tipGwei?: string;
  /** The least price that it takes, in gwei; only at `/v2/rpc`. */
  readonly floorGwei?: { readonly maxFee: string; readonly tip: string };
}

/**
 * Starts alto, a real bundler, in a process of its own on loopback; its licence (GPL-3.0) keeps it out of this one and
 * out of the product. Its EntryPoints must be there. It pays from two of the local accounts.
 */
export async function startBundler({
  rpcUrl,
  port,
  logFile,
  entryPoints = ['0.7', '0.8'],
  ...prices
}: BundlerOptions): Promise<Bundler> {
  const program = [process.execPath, '--preload', LOOPBACK, await buildAlto(), 'run'];
  const service = await startService({
    name: 'alto',
    command: (own) => [...program, ...flags(rpcUrl, own, { entryPoints, ...prices })],
    isUp: async (own) => (await fetch(`http://127.0.0.1:${own}/health`)).ok,
    port,
    cwd: ALTO_FOLDER,
    logFile,
  });
  return { url: `http://127.0.0.1:${service.port}`, pid: service.pid, stop: service.stop };
}

const LOOPBACK = fileURLToPath(new URL('loopback.ts', import.meta.url));

type Flags = Required<Pick<BundlerOptions, 'entryPoints'>> & Pick<BundlerOptions, 'tipGwei' | 'floorGwei'>;

function flags(rpcUrl: string, port: number, { entryPoints, tipGwei, floorGwei }: Flags): string[] {
  const options = {
    'rpc-url': rpcUrl,
    port,
    entrypoints: entryPoints.map((version) => ENTRY_POINTS[version]).join(','),
    'executor-private-keys': devAccount('executor').privateKey,
    'utility-private-key': devAccount('utility').privateKey,
    'utility-wallet-monitor': false,
    'min-executor-balance': 0,
    // Its tracer does not understand this node: storage rules (ERC-7562) are not judged, all else is.
    'safe-mode': false,
    'block-time': 100,
    'min-bundle-interval': 20,
    'max-bundle-interval': 100,
    'log-level': 'warn',
    // Otherwise a thread of its own makes the log pretty.
    json: true,
    ...(tipGwei === undefined ? {} : { 'static-max-priority-fee-per-gas': tipGwei }),
    ...(floorGwei && { 'floor-max-fee-per-gas': floorGwei.maxFee, 'floor-max-priority-fee-per-gas': floorGwei.tip }),
  };
  return Object.entries(options).flatMap(([name, value]) => [`--${name}`, `${value}`]);
}
