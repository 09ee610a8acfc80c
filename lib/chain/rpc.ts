import type { Clock } from '../base/clock.ts';
import { MINUTE_MS } from '../base/clock.ts';
import { rpcError, VaultError } from '../base/error.ts';
import { callUpstream, type Fetch, measureUpstream, type UpstreamAnswer, UpstreamError } from '../base/http-client.ts';
import type { Log } from '../base/log.ts';
import type { Metrics } from '../base/metrics.ts';
import type { Config } from '../config/config.ts';
import { UPSTREAM_ANSWER_BYTES_MAX, UPSTREAM_TIMEOUT_MS } from '../constants.ts';
import { RpcError, type RpcOutcome, readBatch, readResponse } from './json-rpc.ts';

/** The most calls in one batch. */
export const RPC_BATCH_MAX = 100;
/**
 * The most calls to one chain that wait or are under way, the most requests at a time to a node that refuses batches,
 * and when batches are tried again.
 */
export const RPC_PENDING_MAX = 5_000;
const RPC_SINGLES_MAX = 8;
export const RPC_BATCH_RETRY_MS = 10 * MINUTE_MS;

/** Access to the configured chains. */
export interface Rpc {
  /**
   * Calls a chain's node. Calls made in one turn of the event loop travel as one batch, so start related reads
   * together. Throws 502 `rpc_error`; `rpcErrorOf` separates a node's own error from an unreachable node. A failed
   * call may still have arrived.
   */
  call(chainId: number, method: string, params: readonly unknown[]): Promise<unknown>;
}

/** The configured chain for reading: `chainId` and the named settings, and the client. */
export interface ChainReader<Name extends keyof Config = 'chainId'> {
  readonly config: Pick<Config, Name | 'chainId'>;
  readonly rpc: Rpc;
}

/** The node's own error behind a failed call, such as a revert; undefined when the node could not be asked. */
export function rpcErrorOf(failure: unknown): RpcError | undefined {
  return failure instanceof VaultError && failure.cause instanceof RpcError ? failure.cause : undefined;
}

/**
 * One client for every chain in `urls` (JSON-RPC endpoints by chain id; they may hold keys and are never logged).
 * `upstream` is its name in the metrics.
 */
export function createRpc({ urls, upstream = 'rpc', ...rest }: Given): Rpc {
  const outside: Outside = { ...rest, upstream };
  const nodes = new Map(Object.entries(urls).map(([chainId, url]) => [Number(chainId), newNode(chainId, url)]));
  let lastId = 0;
  return {
    async call(chainId, method, params) {
      const node = nodes.get(chainId);
      if (!node) throw rpcError(new Error(`no RPC URL for chain ${chainId}`));
      if (node.pending === RPC_PENDING_MAX) throw rpcError(new Error('too many calls are pending'));
      const id = ++lastId;
      const text = JSON.stringify({ jsonrpc: '2.0', id, method, params });
      const outcome = await new Promise<RpcOutcome>((settle) => {
        node.pending++;
        if (node.queue.push({ id, text, settle }) === 1) outside.clock.after(0, () => flush(outside, node));
      });
      node.pending--;
      if ('error' in outcome) throw rpcError(outcome.error);
      return outcome.result;
    },
  };
}

interface Outside {
  readonly fetch: Fetch;
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly log: Log;
  readonly upstream: string;
}

type Given = Omit<Outside, 'upstream'> & Partial<Outside> & { readonly urls: Readonly<Record<number, string>> };

interface Call {
  readonly id: number;
  readonly text: string;
  readonly settle: (outcome: RpcOutcome) => void;
}

interface Node {
  readonly chainId: string;
  readonly url: string;
  readonly queue: Call[];
  /** Calls without an outcome. */
  pending: number;
  /** Until then calls go one at a time, because the node refused a batch. */
  batchAgainAt: number;
}

function newNode(chainId: string, url: string): Node {
  return { chainId, url, queue: [], pending: 0, batchAgainAt: 0 };
}

function flush(outside: Outside, node: Node): void {
  const calls = node.queue.splice(0);
  while (calls.length > 0) void send(outside, node, calls.splice(0, RPC_BATCH_MAX));
}

/** Settles every call, and never rejects. */
async function send(outside: Outside, node: Node, calls: readonly Call[]): Promise<void> {
  if (calls.length > 1 && outside.clock.monotonic() >= node.batchAgainAt && (await sendBatch(outside, node, calls)))
    return;
  await sendSingles(outside, node, calls);
}

/** False when nothing was settled and the calls should be sent one by one. */
async function sendBatch(outside: Outside, node: Node, calls: readonly Call[]): Promise<boolean> {
  const body = `[${calls.map(({ text }) => text).join(',')}]`;
  try {
    const outcomes = await post(outside, node, body, (answer) => readBatch(calls.length, answer));
    if (!outcomes) {
      node.batchAgainAt = outside.clock.monotonic() + RPC_BATCH_RETRY_MS;
      outside.log({ level: 'warn', event: 'rpc_batch_refused', chainId: node.chainId });
      return false;
    }
    for (const { id, settle } of calls) settle(outcomes.get(id) ?? { error: new UpstreamError('malformed') });
  } catch (error) {
    // One large answer must not fail the other calls.
    if (error instanceof UpstreamError && error.fault === 'oversize') return false;
    for (const { settle } of calls) settle({ error: error as Error });
  }
  return true;
}

async function sendSingles(outside: Outside, node: Node, calls: readonly Call[]): Promise<void> {
  const rest = [...calls];
  const work = async () => {
    for (let call = rest.shift(); call; call = rest.shift()) {
      const { id, text, settle } = call;
      const outcome = await post(outside, node, text, (answer) => readResponse(id, answer)).catch(asOutcome);
      settle(outcome);
      // A silent node would otherwise make the last call wait for the timeouts of all before it.
      if (isSilence(outcome)) for (const { settle: giveUp } of rest.splice(0)) giveUp(outcome);
    }
  };
  await Promise.all(Array.from({ length: RPC_SINGLES_MAX }, work));
}

function post<T>(outside: Outside, { url }: Node, body: string, read: (answer: UpstreamAnswer) => T): Promise<T> {
  // Some nodes refuse the media type with a charset.
  const headers = { 'content-type': 'application/json' };
  const limits = { timeoutMs: UPSTREAM_TIMEOUT_MS, maxBytes: UPSTREAM_ANSWER_BYTES_MAX };
  return measureUpstream(outside, outside.upstream, async () =>
    read(await callUpstream(outside, { url, method: 'POST', headers, body }, limits)),
  );
}

function asOutcome(error: Error): RpcOutcome {
  return { error };
}

function isSilence(outcome: RpcOutcome): boolean {
  return 'error' in outcome && outcome.error instanceof UpstreamError && outcome.error.fault === 'timeout';
}
