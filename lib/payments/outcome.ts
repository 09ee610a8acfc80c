import { judgeNative } from '../../client/native-transfer.ts';
import { hasTransfer, type ReceiptLog, TRANSFER_EVENT } from '../../client/operations.ts';
import { NodeError } from '../../client/payment-node.ts';
import { DatabaseUnavailable, rpcError, VaultError } from '../base/error.ts';
import { isObject } from '../base/json.ts';
import { ownFactories } from '../chain/account-factory.ts';
import { type Block, readTimedBlock, type TimedBlock } from '../chain/blocks.ts';
import { addressWord, toQuantity } from '../chain/contract-call.ts';
import {
  type AccountNonce,
  entryPointOf,
  FRESH_BLOCKS,
  isSpentAt,
  type MinedOperation,
  readMinedOperation,
  searchOperation,
} from '../chain/entry-point.ts';
import type { BlockRange } from '../chain/log-range.ts';
import { agreed, readCommonFinal, readCommonHead } from '../chain/witness.ts';
import { UPSTREAM_TIMEOUT_MS } from '../constants.ts';
import type { Platform } from '../platform.ts';
import { selectPaymentOf } from './store.ts';

/** The transfer of a payment: `token` is `native` or an address; 0x-hex in lower case. */
export interface Movement {
  readonly to: string;
  readonly token: string;
  readonly amount: bigint;
}

/** Which payment, and where to look for it. */
export interface OutcomeQuery extends AccountNonce {
  readonly movement: Movement | undefined;
  /** The block from which on its operation is looked for; some before the final one if undefined. */
  readonly since: number | undefined;
  /** The hash of an operation that a bundler may know. */
  readonly hint: string | undefined;
}

/** An operation that spent a nonce. `moved` is null where that cannot be known. */
export interface FoundOperation extends Pick<MinedOperation, 'userOpHash' | 'txHash' | 'block' | 'success'> {
  readonly moved: boolean | null;
  readonly final: boolean;
}

/**
 * The chain's state of a nonce, at its newest and its final block. Fields are null where there is nothing, or nothing
 * can be known.
 */
export interface PaymentOutcome {
  readonly head: TimedBlock;
  readonly final: TimedBlock | null;
  readonly spent: boolean;
  readonly spentFinal: boolean;
  /** Where the next look continues. */
  readonly next: number;
  readonly operation: FoundOperation | null;
}

/** The services that reading an outcome needs. */
export type OutcomeContext = Pick<Platform, 'config' | 'rpc' | 'witness' | 'clock' | 'log' | 'metrics' | 'db'> & {
  /** How many blocks the node is asked for at once. */
  readonly searchRange: BlockRange;
  /** Its answer is only a hint. */
  readonly bundler: HintingBundler | undefined;
};

/** The bundler, as far as it is asked for hints. */
interface HintingBundler {
  call(method: string, params: readonly unknown[], timeoutMs: number): Promise<object>;
}

type Ctx = OutcomeContext;

/** The newest and the final block; null while the chain has no final one. */
export interface ChainEnds {
  readonly head: TimedBlock;
  readonly final: TimedBlock | null;
}

/**
 * Reads the outcome of a payment on the vault's node, and on its second one. Throws 502 `rpc_error`, also where they
 * disagree.
 */
export async function readOutcome(ctx: Ctx, query: OutcomeQuery): Promise<PaymentOutcome> {
  entryPointOf(ctx.config);
  return readOutcomeAt(ctx, query, await readEnds(ctx));
}

/** The same, at these blocks. */
export async function readOutcomeAt(ctx: Ctx, query: OutcomeQuery, ends: ChainEnds): Promise<PaymentOutcome> {
  const { head, final } = ends;
  const [spent, readAtFinal] = await Promise.all([
    agreed(ctx, 'payment', (chain) => isSpentAt(chain, query, head)),
    final && isSpentAtFinal(ctx, query, final),
  ]);
  if (readAtFinal === true && !spent) throw rpcError('a node answered of several chains');
  // A spent nonce stays spent, so one that is unspent in the newest block is unspent in every block before.
  const spentAtFinal = spent ? readAtFinal : false;
  const from = startOf(query, spentAtFinal === false ? final : null, head);
  if (!spent) return { head, final, spent, spentFinal: false, next: from, operation: null };
  const { operation, next } = await findOperation(ctx, query, { from, to: head.number });
  const about = { head, spent, next };
  if (!final) return { ...about, final, spentFinal: false, operation: operation && { ...operation, final: false } };
  const isFinal = operation && operation.block <= final.number;
  if (operation && spentAtFinal !== undefined && spentAtFinal !== isFinal)
    throw rpcError('a node answered of several chains');
  const spentFinal = spentAtFinal ?? isFinal;
  if (spentFinal === null) return { ...about, final: null, spentFinal: false, operation: null };
  return { ...about, final, spentFinal, operation: operation && { ...operation, final: isFinal === true } };
}

/** The newest block, and the final one if there is one; with two nodes, those that both have. */
export async function readEnds(ctx: Ctx): Promise<ChainEnds> {
  const [newest, finalNumber] = await Promise.all([readCommonHead(ctx), readCommonFinal(ctx)]);
  const numbers = [newest, ...(finalNumber < 0 ? [] : [Math.min(finalNumber, newest)])];
  const [head, final = null] = await agreed(ctx, 'payment', (chain) =>
    Promise.all(numbers.map((number) => readTimedBlock(chain, number))),
  );
  if (!head) throw rpcError('no newest block');
  return { head, final };
}

/** The earliest block of an operation that was signed at a time: a chain makes only so many blocks a second. */
export function firstBlockOf(at: number, { head }: ChainEnds, now: number): number {
  const seconds = Math.ceil(Math.max(0, now - at) / 1000);
  return Math.max(0, head.number - BLOCKS_PER_SECOND_MAX * seconds - FRESH_BLOCKS);
}

/** The most blocks of a chain in a second. */
const BLOCKS_PER_SECOND_MAX = 4;

/** Undefined where a node lacks that block's state: many keep that of the last 128 blocks only. */
function isSpentAtFinal(ctx: Ctx, nonce: AccountNonce, final: Block): Promise<boolean | undefined> {
  return unlessUnknown(agreed(ctx, 'payment', (chain) => isSpentAt(chain, nonce, final)));
}

/** The blocks before the final one that are searched where the start is unknown. */
const UNKNOWN_START_BLOCKS = 1_800;

/** A nonce that is unspent in a block was spent by none before it. */
function startOf({ since }: OutcomeQuery, unspentAt: TimedBlock | null, head: TimedBlock): number {
  const start = since ?? Math.max(0, head.number - UNKNOWN_START_BLOCKS);
  return unspentAt ? Math.max(start, unspentAt.number + 1) : start;
}

type Found = Omit<FoundOperation, 'final'>;

/**
 * A settlement that the vault saw and the bundler's hint are looked at first; else the events of the EntryPoint show
 * where to look.
 */
async function findOperation(
  ctx: Ctx,
  query: OutcomeQuery,
  { from, to }: { readonly from: number; readonly to: number },
): Promise<{ operation: Found | null; next: number }> {
  for (const where of [askStore, askBundler]) {
    const txHash = await where(ctx, query);
    const operation = txHash === undefined ? undefined : await readFound(ctx, txHash, query, to);
    if (operation) return { operation, next: from };
  }
  const { txHashes, next } = await searchOperation(ctx, query, { from, to }, ctx.searchRange);
  for (const txHash of txHashes) {
    const operation = await readFound(ctx, txHash, query, to);
    if (operation) return { operation, next };
  }
  return { operation: null, next };
}

/** The transaction of a payment that the vault has seen settle. */
async function askStore({ config, db }: Ctx, { account, nonce }: OutcomeQuery): Promise<string | undefined> {
  const key = { chainId: config.chainId, entryPoint: entryPointOf(config), account, nonce: toQuantity(nonce) };
  const rows = await db.read(selectPaymentOf(key, 'settled')).catch((error) => {
    // The chain shows it too.
    if (error instanceof DatabaseUnavailable) return [];
    throw error;
  });
  return rows[0] && String(rows[0]['tx_hash']);
}

/** The transaction that a bundler names for an operation; undefined without a usable answer. */
async function askBundler({ bundler }: Ctx, { hint }: OutcomeQuery): Promise<string | undefined> {
  const asked = hint && bundler?.call('eth_getUserOperationReceipt', [hint], UPSTREAM_TIMEOUT_MS);
  if (!asked) return undefined;
  const answer = memberOf(await asked.catch(() => undefined), 'result');
  const txHash = memberOf(memberOf(answer, 'receipt'), 'transactionHash');
  return typeof txHash === 'string' && /^0x[0-9a-fA-F]{64}$/.test(txHash) ? txHash : undefined;
}

function memberOf(value: unknown, name: string): unknown {
  return isObject(value) ? value[name] : undefined;
}

async function readFound(ctx: Ctx, txHash: string, query: OutcomeQuery, head: number): Promise<Found | undefined> {
  const found = await agreed(ctx, 'payment', (chain) => readMinedOperation(chain, txHash, query, head));
  if (!found) return undefined;
  const { userOpHash, block, success } = found;
  const moved = query.movement ? await hasMoved(ctx, found, query.movement) : null;
  return { userOpHash, txHash: found.txHash, block, success, moved };
}

/**
 * Whether an operation made a movement: true and false are certain. Null where it may have moved something else to the
 * payee, and where nothing tells.
 */
async function hasMoved(ctx: Ctx, found: MinedOperation, movement: Movement): Promise<boolean | null> {
  const { success, sender, logs } = found;
  const { to, token, amount } = movement;
  if (!success) return false;
  // A payment of an account to itself moves nothing.
  if (to === sender) return null;
  if (token === 'native') return hasMovedEther(ctx, found, movement);
  if (hasTransfer(logs, { token, from: sender, to, amount })) return true;
  // A token may take a fee of its own from the amount.
  return logs.some((log) => isTransferTo(log, token, to)) ? null : false;
}

function isTransferTo({ address, topics }: ReceiptLog, token: string, to: string): boolean {
  return address === token && topics[0] === TRANSFER_EVENT && topics[2] === `0x${addressWord(to)}`;
}

/**
 * No log shows ether: its transfer follows from the calls of an account of known code. Null where a node lacks the
 * data.
 */
async function hasMovedEther(ctx: Ctx, found: MinedOperation, { to, amount }: Movement): Promise<boolean | null> {
  const judge = async () => {
    const factories = await ownFactories(ctx);
    return agreed(ctx, 'payment', ({ config, rpc }) => {
      const ask = (method: string, params: readonly unknown[]) => rpc.call(config.chainId, method, params);
      return judgeNative(ask, found, { mined: found, to, amount, factories });
    });
  };
  const finding = await unlessUnknown(judge());
  if (finding === 'moved' || finding === 'no_transfer') return finding === 'moved';
  return null;
}

/** Undefined where a node lacks the data for an answer. Throws where two nodes disagree. */
async function unlessUnknown<T>(asked: Promise<T>): Promise<T | undefined> {
  return asked.catch((failure) => {
    const isUnknown = failure instanceof NodeError || failure instanceof VaultError;
    if (isUnknown && !(failure instanceof VaultError && failure.details.reason === 'nodes_disagree')) return undefined;
    throw failure;
  });
}
