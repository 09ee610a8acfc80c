/** A second node of the chain, of another provider: facts that cost money count where both nodes agree. */
import { type Clock, MINUTE_MS } from '../base/clock.ts';
import { rpcError, VaultError, worstFailure } from '../base/error.ts';
import type { Fetch } from '../base/http-client.ts';
import type { Log } from '../base/log.ts';
import type { Metrics } from '../base/metrics.ts';
import type { Config } from '../config/config.ts';
import { readBlock, readGenesis } from './blocks.ts';
import { readFinalBlock } from './finality.ts';
import { readBlockNumber } from './receipts.ts';
import { type ChainReader, createRpc, type Rpc, rpcErrorOf } from './rpc.ts';

/** The node at `RPC_WITNESS_URL` and its facts; several requests may share the facts. */
export interface Witness {
  readonly rpc: Rpc;
  readonly facts: WitnessFacts;
}

/** Known facts about a second node. */
export interface WitnessFacts {
  /** Whether both nodes have the same first block. */
  isSameChain: boolean;
  /** When a disagreement about a subject, or silence, was logged last. */
  readonly loggedAt: Map<Subject | 'silence', number>;
}

/** The subjects on which two nodes may disagree. */
export type Subject = 'account' | 'chain' | 'decimals' | 'factory' | 'nonce' | 'payment' | 'registration';

/** The configured chain with its second node, if any, and where disagreements are reported. */
export interface Witnessed<Name extends keyof Config = 'chainId'> extends ChainReader<Name> {
  /** Undefined without `RPC_WITNESS_URL`. */
  readonly witness: Witness | undefined;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

interface Outside {
  readonly config: Pick<Config, 'chainId' | 'rpcWitnessUrl'>;
  readonly fetch: Fetch;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** No facts yet. */
export function createWitnessFacts(): WitnessFacts {
  return { isSameChain: false, loggedAt: new Map() };
}

/** The second node of the configured chain; undefined if there is none. */
export function createWitness(outside: Outside, facts: WitnessFacts): Witness | undefined {
  const { chainId, rpcWitnessUrl: url } = outside.config;
  if (url === undefined) return undefined;
  return { facts, rpc: createRpc({ ...outside, upstream: 'rpc_witness', urls: { [chainId]: url } }) };
}

/**
 * The answer of `read` over the chain's node and, where there is one, over the second. `read` must use the chain that
 * it gets, and return parsed values: nodes write one fact in several ways. Throws 502 `rpc_error` where either cannot
 * be asked, and where `same` of the answers differs.
 */
export async function agreed<T, Name extends keyof Config>(
  ctx: Witnessed<Name>,
  about: Subject,
  read: (chain: ChainReader<Name>) => Promise<T>,
  same: (answer: T) => unknown = (answer) => answer,
): Promise<T> {
  const answers = await askEach(ctx, read);
  const [first, second] = answers;
  if (answers.length > 1 && textOf(same(first)) !== textOf(same(second as T))) throw disagreement(ctx, about);
  return first;
}

/** The newest block that both nodes have, by number. Throws 502 `rpc_error`. */
export async function readCommonHead(ctx: Witnessed): Promise<number> {
  return Math.min(...(await askEach(ctx, readBlockNumber)));
}

/**
 * The newest block that is final for both nodes, by number; below 0 while there is none. Throws 502 `rpc_error`, also
 * where they have two blocks of that number.
 */
export async function readCommonFinal(ctx: Witnessed<'finalityBlocks'>): Promise<number> {
  const final = Math.min(...(await askEach(ctx, readFinalBlock)));
  if (ctx.witness && final >= 0) await agreed(ctx, 'chain', (chain) => readBlock(chain, final));
  return final;
}

async function askEach<T, Name extends keyof Config>(
  ctx: Witnessed<Name>,
  read: (chain: ChainReader<Name>) => Promise<T>,
): Promise<readonly [T, ...T[]]> {
  const { config, rpc, witness } = ctx;
  if (!witness) return [await read({ config, rpc })];
  const check = witness.facts.isSameChain ? undefined : checkChain(ctx, witness);
  const reads = [read({ config, rpc }), read({ config, rpc: witness.rpc })] as const;
  const [first, second, checked] = await Promise.allSettled([...reads, check]);
  const failure = worstFailure([first, second, checked]);
  const isAsked = first.status === 'fulfilled' && second.status === 'fulfilled';
  if (isAsked && failure === undefined) return [first.value, second.value];
  // Nothing is final while the second node is silent.
  if (second.status === 'rejected' && isDue(ctx, 'silence')) ctx.log({ level: 'warn', event: 'witness_silent' });
  // A contract's error that only one node reports is not confirmed.
  const isOfBoth = first.status === 'rejected' && second.status === 'rejected';
  throw rpcErrorOf(failure) && !isOfBoth ? rpcError('only one of the two nodes answers') : failure;
}

async function checkChain(ctx: Witnessed, { rpc, facts }: Witness): Promise<void> {
  const { config } = ctx;
  const [ours, theirs] = await Promise.all([readGenesis(ctx), readGenesis({ config, rpc })]);
  if (ours.hash !== theirs.hash) throw disagreement(ctx, 'chain');
  facts.isSameChain = true;
}

const LOG_EACH_MS = MINUTE_MS;

function disagreement(ctx: Witnessed, about: Subject): VaultError {
  ctx.metrics.counter('vault_nodes_disagree_total').add({ about });
  if (isDue(ctx, about)) ctx.log({ level: 'error', event: 'nodes_disagree', about });
  const { cause } = rpcError(`the nodes at RPC_URL and RPC_WITNESS_URL disagree (${about})`);
  return new VaultError('rpc_error', { cause, reason: 'nodes_disagree', hint: HINT });
}

/** Whether something is to be logged, since it was not for a minute. */
function isDue({ witness, clock }: Witnessed, about: Subject | 'silence'): boolean {
  const now = clock.monotonic();
  const last = witness?.facts.loggedAt.get(about) ?? Number.NEGATIVE_INFINITY;
  if (now - last < LOG_EACH_MS) return false;
  witness?.facts.loggedAt.set(about, now);
  return true;
}

const HINT = 'The two nodes that this vault asks do not say the same: ask again later.';

function textOf(facts: unknown): string | undefined {
  return JSON.stringify(facts, (_, value) => (typeof value === 'bigint' ? `${value}n` : value));
}
