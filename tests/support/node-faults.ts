import type { ChainRpc } from '../../scripts/dev-stack/chain.ts';
import { type Draw, openDraw } from './draw.ts';

/** One call of a batch, or alone. */
export interface NodeCall {
  readonly id: unknown;
  readonly method: string;
  readonly params: readonly unknown[];
}

/** What a call is answered: a result or an error. */
export type Outcome = { readonly result: unknown } | { readonly error: object };

/** The truth about a call, or about another one. */
type Truth = (other?: NodeCall) => Promise<Outcome>;

/** A way in which one answer goes wrong; undefined is no answer at all. */
export interface NodeFault {
  readonly name: FaultName;
  readonly answer: (call: NodeCall, truth: Truth, ask: ChainRpc) => Promise<Outcome | undefined>;
}

/** How a node fails without meaning to. */
export type FaultName =
  | 'late'
  | 'lost'
  | 'lost-after'
  | 'error'
  | 'known'
  | 'behind'
  | 'nonce'
  | 'no-receipt'
  | 'other-receipt'
  | 'no-block'
  | 'no-code'
  | 'few-logs';

/** What may go wrong with every call, and with those of a method. */
const ALWAYS: readonly FaultName[] = ['late', 'lost', 'error'];
const BY_METHOD: Readonly<Record<string, readonly FaultName[]>> = {
  eth_blockNumber: ['behind'],
  eth_getBlockByNumber: ['behind', 'no-block'],
  eth_call: ['behind'],
  eth_getBalance: ['behind'],
  eth_getCode: ['behind', 'no-code'],
  eth_getTransactionCount: ['behind', 'nonce'],
  eth_getLogs: ['few-logs', 'behind'],
  eth_getTransactionReceipt: ['no-receipt', 'other-receipt'],
  eth_getTransactionByHash: ['no-receipt'],
  eth_sendRawTransaction: ['lost-after', 'known'],
};

/** What the fault of a call is drawn from. */
export interface FaultDraw {
  readonly seed: number;
  readonly words: string;
  readonly rate: number;
  /** Whether a fault of the call's method comes first that has not come yet. */
  readonly isOwed?: (name: FaultName) => boolean;
}

/**
 * The fault of a call, which follows from the seed and its words, and from what is owed; undefined lets it through.
 */
export function faultFor(
  call: NodeCall,
  { seed, words, rate, isOwed = () => false }: FaultDraw,
): NodeFault | undefined {
  if (rate === 0) return undefined;
  const draw = openDraw(hashOf(`${seed} ${words}`));
  const ofMethod = BY_METHOD[call.method] ?? [];
  const owed = ofMethod.find(isOwed);
  if (draw.below(1000) >= rate && owed === undefined) return undefined;
  const names = [...ALWAYS, ...ofMethod, ...ofMethod];
  const name = owed ?? names[draw.below(names.length)] ?? 'late';
  return { name, answer: (one, truth, ask) => FAULTS[name](one, truth, { ask, draw }) };
}

type Fault = (
  call: NodeCall,
  truth: Truth,
  given: { readonly ask: ChainRpc; readonly draw: Draw },
) => Promise<Outcome | undefined>;

const LATE_MS_MAX = 15;
/** Other back ends of one provider are so many blocks behind at most. */
const BEHIND_MAX = 4;
const WORDS = ['header not found', 'daily request count exceeded', 'missing trie node', 'already known', 'timeout'];

const FAULTS: Readonly<Record<FaultName, Fault>> = {
  async late(_, truth, { draw }) {
    await Bun.sleep(1 + draw.below(LATE_MS_MAX));
    return truth();
  },
  lost: async () => undefined,
  async 'lost-after'(_, truth) {
    await truth();
    return undefined;
  },
  error: async (_, __, { draw }) => ({
    error: { code: -32000 - draw.below(10), message: WORDS[draw.below(WORDS.length)] },
  }),
  /** The words of a node that has a transaction; sometimes it has. */
  async known(_, truth, { draw }) {
    if (draw.below(2) === 0) await truth();
    return { error: { code: -32000, message: 'already known' } };
  },
  async behind(call, truth, { ask, draw }) {
    const head = Number(await ask('eth_blockNumber'));
    const block = `0x${Math.max(0, head - 1 - draw.below(BEHIND_MAX)).toString(16)}`;
    if (call.method === 'eth_blockNumber') return { result: block };
    const isNewest = (param: unknown) => param === 'latest' || param === 'pending';
    const older = (param: unknown) => (isNewest(param) ? block : param);
    if (call.method !== 'eth_getLogs') return truth({ ...call, params: call.params.map(older) });
    const [filter] = call.params as [{ readonly toBlock?: unknown }];
    return truth({ ...call, params: [isNewest(filter.toBlock) ? { ...filter, toBlock: block } : filter] });
  },
  /** Of the newest blocks only: for one wrong answer, not for a story that holds together. */
  async nonce(call, truth, { draw }) {
    const outcome = await truth();
    const isNewest = ['latest', 'pending'].includes(String(call.params[1]));
    if (!isNewest || !('result' in outcome)) return outcome;
    const wrong = BigInt(String(outcome.result)) + BigInt([1, 2, 17, 500, 1_000_000][draw.below(5)] ?? 1);
    return { result: `0x${wrong.toString(16)}` };
  },
  'no-receipt': async () => ({ result: null }),
  'other-receipt': async (_, __, { ask }) => {
    const block = (await ask('eth_getBlockByNumber', ['latest', false])) as { transactions: readonly string[] };
    const [other] = block.transactions;
    return { result: other ? await ask('eth_getTransactionReceipt', [other]) : null };
  },
  'no-block': async () => ({ result: null }),
  /** Code of the newest state only, as of a back end that has not seen the creation. */
  'no-code': async (call, truth) => (call.params[1] === 'latest' ? { result: '0x' } : truth()),
  /** Some or all of them are missing, without a word. */
  async 'few-logs'(_, truth, { draw }) {
    const outcome = await truth();
    if (!('result' in outcome) || !Array.isArray(outcome.result)) return outcome;
    return { result: outcome.result.filter(() => draw.below(3) === 0) };
  },
};

/** FNV-1a. */
export function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}
