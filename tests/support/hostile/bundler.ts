import { Address, Hex } from 'ox';
import * as UserOperation from 'ox/erc4337/UserOperation';
import { type ChainRpc, connectChain } from '../../../scripts/dev-stack/chain.ts';
import { type Operation, operationHash, type SmartAccount } from '../../../scripts/dev-stack/operation.ts';
import { openDraw } from '../draw.ts';
import { hashOf } from '../node-faults.ts';
import { handleOpsData } from '../operations.ts';
import { plan, refusalFor, strangeReceipt } from './bundler-faults.ts';
import type { WorldTime } from './time.ts';

/**
 * A bundler that says one thing and does another, by a seed: it takes and drops, refuses and includes, now or long
 * afterwards, and shows receipts of others. What it includes goes through the real EntryPoint, from an address of its own.
 */
export interface LyingBundler {
  readonly url: string;
  /** How many of a thousand answers are false; 0 makes it an honest one. */
  rate: number;
  /** What it estimates. */
  gas: Readonly<Record<string, string>>;
  /** How often it did what. */
  readonly tally: Readonly<Record<string, number>>;
  /** Puts what is due into the node's pool; a block then holds it. */
  include(): Promise<void>;
  /** After a re-org: what is not on the chain any more is included again, or forgotten. */
  reconsider(): Promise<void>;
  /** The newest operation of this nonce and account that it got. */
  hashOf(nonce: bigint, account: string): Hex.Hex | undefined;
  /** The operations of this nonce and account that it got, and the words of each answer and its doing. */
  storyOf(nonce: bigint, account: string): readonly object[];
  /** When (`sequence`) it got the bytes that were included with this nonce; undefined if none are on the chain. */
  settledBytesAt(nonce: bigint, payee: string): Promise<number | undefined>;
  stop(): Promise<void>;
}

/** What a bundler needs to know. */
export interface BundlerOptions {
  readonly node: ChainRpc;
  readonly entryPoint: Address.Address;
  readonly seed: number;
  readonly time: Pick<WorldTime, 'now' | 'sequence'>;
  /** Of the paymaster's service, which estimates by this bundler. */
  readonly sponsor: () => string | undefined;
}

interface Held {
  readonly hash: Hex.Hex;
  /** The newest bytes of this hash: another signature may end later. */
  operation: Operation;
  gotAt: number;
  dueAt: number;
  txHash: Hex.Hex | undefined;
  tries: number;
  /** The name of the plan of each time that it was sent. */
  readonly plans: string[];
}

const CHAIN = 84532;
const GAS = { callGasLimit: '0x30d40', verificationGasLimit: '0x927c0', preVerificationGas: '0xea60' } as const;
/** An operation that the EntryPoint refuses so often is forgotten. */
const TRIES_MAX = 60;

/** Starts one on loopback. */
export async function startLyingBundler(options: BundlerOptions): Promise<LyingBundler> {
  const { node, entryPoint, seed } = options;
  const { now, sequence } = options.time;
  const held = new Map<Hex.Hex, Held>();
  const times = new Map<string, number>();
  const tally: Record<string, number> = {};
  await node('anvil_autoImpersonateAccount', [true]);
  const heldOf = (nonce: bigint, account: string) =>
    [...held.values()].filter(
      ({ operation: { nonce: own, sender } }) => own === nonce && sender.toLowerCase() === account.toLowerCase(),
    );
  /** Draws by what is asked and how often it was, in whatever order others ask. */
  const drawFor = (words: string) => {
    const n = times.get(words) ?? 0;
    times.set(words, n + 1);
    return openDraw(hashOf(`${seed} ${words} ${n}`));
  };

  function take(raw: object): Hex.Hex {
    const operation = UserOperation.fromRpc(raw as never) as Operation;
    const hash = operationHash({ entryPoint } as SmartAccount, operation, CHAIN);
    const known = held.get(hash);
    const isNew = known?.operation.signature !== operation.signature;
    const times = isNew ? { gotAt: sequence() } : {};
    if (known) Object.assign(known, known.txHash ? {} : { operation, ...times });
    else
      held.set(hash, { hash, operation, gotAt: sequence(), dueAt: Infinity, txHash: undefined, tries: 0, plans: [] });
    return hash;
  }

  const methods: Readonly<
    Record<string, (params: readonly unknown[]) => Promise<object | undefined> | object | undefined>
  > = {
    eth_chainId: () => ({ result: Hex.fromNumber(CHAIN) }),
    eth_supportedEntryPoints: () => ({ result: [entryPoint] }),
    eth_estimateUserOperationGas([raw]) {
      const draw = drawFor(`estimate ${(raw as { nonce: string }).nonce}`);
      if (draw.below(1000) >= liar.rate) return { result: liar.gas };
      count('estimate', tally);
      if (draw.below(3) === 0) return { error: refusalFor(draw) };
      return draw.below(2) === 0 ? undefined : { result: { ...liar.gas, preVerificationGas: '0x5af3107a4000' } };
    },
    async pm_sponsorUserOperation(params) {
      const url = options.sponsor();
      const draw = drawFor(`sponsor ${(params[0] as { sender: string }).sender}`);
      if (!url || draw.below(1000) < liar.rate)
        return { error: { code: -32501, message: 'no policy for this sender' } };
      return connectChain(url)('pm_sponsorUserOperation', params).then(
        (result) => ({ result }),
        ({ cause, message }) => ({
          error: cause ?? { code: -32603, message },
        }),
      );
    },
    eth_sendUserOperation([raw]) {
      const hash = take(raw as object);
      const one = held.get(hash) as Held;
      const draw = drawFor(`send ${hash}`);
      const isFalse = draw.below(1000) < liar.rate;
      const what = isFalse ? plan(draw, (name) => name in tally) : ({ does: 0, says: 'yes', name: 'honest' } as const);
      count(what.name, tally);
      one.plans.push(what.name);
      if (what.does !== undefined) one.dueAt = Math.min(one.dueAt, now() + what.does);
      if (what.says === 'nothing') return undefined;
      if (what.says === 'no') return { error: refusalFor(draw) };
      return { result: what.says === 'other' ? Hex.random(32) : hash };
    },
    async eth_getUserOperationReceipt([asked]) {
      const one = held.get(asked as Hex.Hex);
      const receipt = one?.txHash ? await node('eth_getTransactionReceipt', [one.txHash]) : null;
      const truth = receipt && one ? receiptOf(one, receipt as object) : null;
      const draw = drawFor(`receipt ${asked}`);
      if (draw.below(1000) >= liar.rate) return { result: truth };
      count('receipt', tally);
      return strangeReceipt(draw, truth, asked as Hex.Hex);
    },
  };

  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 0,
    async fetch(request) {
      const { id, method, params } = (await request.json()) as { id: unknown; method: string; params: unknown[] };
      const answer = methods[method];
      const outcome = answer ? await answer(params) : { error: { code: -32601, message: `unknown method ${method}` } };
      return outcome ? Response.json({ jsonrpc: '2.0', id, ...outcome }) : new Response('bad gateway', { status: 502 });
    },
  });

  async function include(): Promise<void> {
    const due = [...held.values()].filter(({ dueAt, txHash }) => dueAt <= now() && txHash === undefined);
    for (const one of due) {
      const call = {
        from: Address.from(Hex.slice(one.hash, 0, 20)),
        to: entryPoint,
        data: handleOpsData(one.operation),
      };
      const gas = '0x2dc6c0';
      const isTaken = await node('eth_call', [{ ...call, gas }, 'latest']).then(
        () => true,
        () => false,
      );
      if (!isTaken) {
        if (++one.tries > TRIES_MAX) one.dueAt = Number.POSITIVE_INFINITY;
        continue;
      }
      await node('anvil_setBalance', [call.from, '0xde0b6b3a7640000']);
      one.txHash = (await node('eth_sendTransaction', [{ ...call, gas }])) as Hex.Hex;
    }
  }

  const liar: LyingBundler = {
    url: `http://127.0.0.1:${server.port}`,
    rate: 0,
    gas: GAS,
    tally,
    include,
    async reconsider() {
      for (const one of held.values()) {
        if (one.txHash === undefined || (await node('eth_getTransactionByHash', [one.txHash])) !== null) continue;
        one.txHash = undefined;
        const draw = drawFor(`reorg ${one.hash}`);
        if (draw.below(1000) < liar.rate) one.dueAt = draw.below(2) === 0 ? Number.POSITIVE_INFINITY : now() + 30_000;
      }
    },
    hashOf: (nonce, account) => heldOf(nonce, account).at(-1)?.hash,
    storyOf: (nonce, account) => heldOf(nonce, account).map(({ operation: _operation, ...story }) => story),
    async settledBytesAt(nonce, payee) {
      const ours = [...held.values()].filter(
        ({ operation, txHash }) => txHash && operation.nonce === nonce && operation.callData.includes(payee.slice(2)),
      );
      for (const one of ours) {
        const receipt = await node('eth_getTransactionReceipt', [one.txHash]);
        if (receipt && (receiptOf(one, receipt) as { success: boolean }).success) return one.gotAt;
      }
      return undefined;
    },
    stop: () => server.stop(true),
  };
  return liar;
}

function count(name: string, tally: Record<string, number>): void {
  tally[name] = (tally[name] ?? 0) + 1;
}

function receiptOf({ hash, operation }: Held, receipt: object): object {
  const { logs } = receipt as {
    readonly logs: readonly { readonly topics: readonly string[]; readonly data: string }[];
  };
  const event = logs.find(({ topics }) => topics[1] === hash);
  // Two of one nonce in a block: the second transaction reverts, without logs.
  const success = event !== undefined && BigInt(Hex.slice(event.data as Hex.Hex, 32, 64)) === 1n;
  return { userOpHash: hash, sender: operation.sender, nonce: Hex.fromNumber(operation.nonce), success, receipt, logs };
}
