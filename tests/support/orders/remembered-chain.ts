import type { Hex } from 'ox';
import type { ChainRpc } from '../../../scripts/dev-stack/chain.ts';
import { waitForReceipt } from '../../../scripts/dev-stack/wallet.ts';

/** A real chain that remembers what it answered: it is asked once for each state in which orders leave it. */
export interface RememberedChain {
  /** The answer to a request, which may be a batch. Transactions are mined at once. */
  answer(body: string): Promise<Response>;
  /** The methods of a request. */
  nameOf(body: string): string;
  /** Changes the chain by a call of its own, such as what an account does. */
  change(name: string): Promise<void>;
  /** Back to where it was kept. */
  restore(): void;
  /** How many transactions it took since. */
  changes(): readonly string[];
  /** How often the real chain was asked. */
  asked(): number;
}

interface Call {
  readonly id: number;
  readonly method: string;
  readonly params: readonly unknown[];
}

type Outcome = { readonly result: unknown } | { readonly error: unknown };

/** Keeps the chain as it is now; `acts` are the changes that can be named. */
export async function rememberChain(
  rpc: ChainRpc,
  acts: Readonly<Record<string, () => Promise<unknown>>> = {},
): Promise<RememberedChain> {
  const known = new Map<string, Outcome>();
  const block = (await rpc('eth_getBlockByNumber', ['latest', false])) as { timestamp: string };
  let snapshot = await rpc('evm_snapshot');
  /** What this order has changed, and where the real chain is. */
  let [changes, place]: [string[], string[]] = [[], []];
  let asked = 0;

  /** Times follow from the number of changes, so that a state that is made again has the same blocks. */
  async function make(change: string, count: number): Promise<void> {
    await rpc('evm_setNextBlockTimestamp', [Number(block.timestamp) + count]);
    const act = acts[change];
    if (act) await act();
    else await mined((await rpc('eth_sendRawTransaction', [change])) as Hex.Hex);
  }

  /** Waits until a transaction is mined. One behind a gap of its sender's nonces is not, however long one waits. */
  async function mined(hash: Hex.Hex): Promise<void> {
    const sent = (await rpc('eth_getTransactionByHash', [hash])) as { from: string; nonce: string };
    const count = (await rpc('eth_getTransactionCount', [sent.from, 'latest'])) as string;
    if (BigInt(sent.nonce) <= BigInt(count)) await waitForReceipt(rpc, hash);
  }

  /** Brings the real chain to where the order is. */
  async function arrive(): Promise<void> {
    if (place.join() === changes.join()) return;
    if (!changes.join().startsWith(place.join())) {
      await rpc('anvil_dropAllTransactions');
      await rpc('evm_revert', [snapshot]);
      snapshot = await rpc('evm_snapshot');
      place = [];
    }
    for (const change of changes.slice(place.length)) {
      await make(change, place.length + 1);
      place = [...place, change];
    }
  }

  async function outcomeOf({ method, params }: Call): Promise<Outcome> {
    const key = JSON.stringify([changes, method, params]);
    const found = known.get(key);
    if (found) return found;
    asked++;
    await arrive();
    const ask = method === 'eth_sendRawTransaction' ? send(String(params[0])) : rpc(method, params);
    const outcome = await ask.then(
      (result) => ({ result }),
      (failure: Error) => ({ error: failure.cause }),
    );
    known.set(key, outcome);
    return outcome;
  }

  async function send(raw: string): Promise<unknown> {
    await rpc('evm_setNextBlockTimestamp', [Number(block.timestamp) + place.length + 1]);
    const hash = (await rpc('eth_sendRawTransaction', [raw])) as Hex.Hex;
    place = [...place, raw];
    await mined(hash).catch(() => undefined);
    return hash;
  }

  return {
    async answer(body) {
      const asked = JSON.parse(body) as Call | Call[];
      const answers = [];
      for (const call of [asked].flat()) {
        const outcome = await outcomeOf(call);
        if (call.method === 'eth_sendRawTransaction' && 'result' in outcome) changes.push(String(call.params[0]));
        answers.push({ jsonrpc: '2.0', id: call.id, ...outcome });
      }
      return Response.json(Array.isArray(asked) ? answers : answers[0]);
    },
    nameOf: (body) =>
      `asks ${[...new Set([JSON.parse(body) as Call | Call[]].flat().map(({ method }) => method))].join(', ')}`,
    async change(name) {
      changes.push(name);
    },
    restore() {
      changes = [];
    },
    changes: () => changes,
    asked: () => asked,
  };
}
