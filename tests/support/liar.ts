import { type ChainRpc, connectChain } from '../../scripts/dev-stack/chain.ts';
import { type FaultName, faultFor, type NodeCall, type NodeFault, type Outcome } from './node-faults.ts';

/** A lie: what a call is answered instead of the truth, or undefined. `ask` is the honest node. */
export type Lie = (call: NodeCall, ask: ChainRpc) => Outcome | undefined | Promise<Outcome | undefined>;

/**
 * A JSON-RPC node in front of an honest one. It fails by a seed (`rate`), as nodes do: late, lost, behind, forgetful.
 * And it tells the lies that a test gave it, always the same: a false story that holds together.
 */
export interface Liar {
  readonly url: string;
  /** How many of a thousand calls go wrong; 0 makes it an honest node, but for its lies. */
  rate: number;
  /** The first one that answers counts. */
  readonly lies: Lie[];
  /** How often each fault came, and how often a lie was told. */
  readonly tally: Readonly<Partial<Record<FaultName | 'lie', number>>>;
  stop(): Promise<void>;
}

/** Where it asks, and what it draws its faults from. Two calls that are alike draw alike in every run of a seed. */
export interface LiarOptions {
  /** The honest node, or its URL. */
  readonly target: string | ChainRpc;
  readonly seed: number;
  readonly rate?: number;
  /** Whether each fault that a method can have comes at its first call that can have it, and by chance only then. */
  readonly drawsEach?: boolean;
}

/** Starts one on loopback. */
export function startLiar({ target, seed, rate = 0, drawsEach = false }: LiarOptions): Liar {
  const ask = typeof target === 'string' ? connectChain(target) : target;
  const tally: Partial<Record<FaultName | 'lie', number>> = {};
  const seen = new Map<string, number>();
  const count = (name: FaultName | 'lie') => {
    tally[name] = (tally[name] ?? 0) + 1;
  };

  /** The n-th call of the same words draws from them and n alone, in whatever order other calls come. */
  function draw(call: NodeCall): NodeFault | undefined {
    const words = `${call.method} ${JSON.stringify(call.params)}`;
    const times = seen.get(words) ?? 0;
    seen.set(words, times + 1);
    const isOwed = (name: FaultName) => drawsEach && !(name in tally);
    return faultFor(call, { seed, words: `${words} ${times}`, rate: liar.rate, isOwed });
  }

  async function answer(call: NodeCall): Promise<object | undefined> {
    for (const lie of liar.lies) {
      const told = await Promise.resolve(lie(call, ask)).catch(errorOf);
      if (!told) continue;
      count('lie');
      return { jsonrpc: '2.0', id: call.id, ...told };
    }
    const fault = draw(call);
    if (fault) count(fault.name);
    const truth = (other = call) => ask(other.method, other.params).then((result) => ({ result }), errorOf);
    const outcome = fault ? await fault.answer(call, truth, ask) : await truth();
    return outcome && { jsonrpc: '2.0', id: call.id, ...outcome };
  }

  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 0,
    async fetch(request) {
      const body = (await request.json()) as NodeCall | readonly NodeCall[];
      const answers = await Promise.all([body].flat().map(answer));
      if (Array.isArray(body)) return Response.json(answers.filter((one) => one !== undefined));
      return answers[0] ? Response.json(answers[0]) : new Response('lost', { status: 503 });
    },
  });
  const liar: Liar = {
    url: `http://127.0.0.1:${server.port}`,
    rate,
    lies: [],
    tally,
    stop: () => server.stop(true),
  };
  return liar;
}

function errorOf(failure: Error): Outcome {
  return { error: (failure.cause as object | undefined) ?? { code: -32603, message: failure.message } };
}
