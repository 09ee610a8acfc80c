// The calls to a node that verify a payment (JSON-RPC of Ethereum, EIP-1474).
import { cappedText } from './capped-text.ts';
import type { ReceiptLog } from './operations.ts';

/** Asks a node: the result of a JSON-RPC call. Throws the node's error, or that it cannot be asked. */
export type AskNode = (method: string, params: readonly unknown[]) => Promise<unknown>;

/** A node that cannot be asked, makes no sense, or is on another chain. The message never holds its URL. */
export class NodeError extends Error {
  override readonly name = 'NodeError';
}

/** A transaction in a block, as the node shows it; hashes in lower case. */
export interface MinedTransaction {
  readonly txHash: string;
  readonly block: number;
  readonly blockHash: string;
  /** Empty for a transaction that reverted. */
  readonly logs: readonly ReceiptLog[];
}

const TIMEOUT_MS = 15_000;
const ANSWER_BYTES_MAX = 16 * 1024 * 1024;
/** The depth at which a block is final where the node knows no `finalized` one. */
const FINAL_DEPTH_BLOCKS = 12;

/** Asks the node at a URL. */
export function askOver(url: string | URL): AskNode {
  return async (method, params) => {
    const answer = await post(url, JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }));
    const { result, error } = parseObject(answer);
    if (typeof error === 'object' && error !== null) {
      const { code, message } = error as { readonly code?: unknown; readonly message?: unknown };
      throw new NodeError(`the node refused ${method}: ${Number(code)} ${String(message).slice(0, 120)}`);
    }
    if (result === undefined) throw new NodeError(`the node's answer to ${method} makes no sense`);
    return result;
  };
}

/** The URL of a node. Its `TypeError` repeats nothing of what was given, which may hold the provider's key. */
export function nodeUrl(node: unknown): URL {
  const url = URL.canParse(String(node)) ? new URL(String(node)) : undefined;
  if (url && /^https?:$/.test(url.protocol)) return url;
  const is = node === undefined ? 'missing' : 'no http or https URL';
  throw new TypeError(`node is ${is}; expected the URL of your node's JSON-RPC, such as "https://node.example"`);
}

/** The chain that the node is on. */
export async function readChainId(ask: AskNode): Promise<number> {
  return numberOf(await ask('eth_chainId', []));
}

/** Undefined while the transaction is in no block. */
export async function readMined(ask: AskNode, txHash: string): Promise<MinedTransaction | undefined> {
  const receipt = objectOf(await ask('eth_getTransactionReceipt', [txHash]));
  if (!receipt?.['blockHash']) return undefined;
  if (!isHash(receipt['transactionHash']) || receipt['transactionHash'].toLowerCase() !== txHash.toLowerCase())
    throw new NodeError('the node answered the receipt of another transaction');
  const { blockHash, blockNumber, status, logs } = receipt;
  if (!isHash(blockHash) || !Array.isArray(logs)) throw new NodeError('the node answered no receipt');
  return {
    txHash: txHash.toLowerCase(),
    block: numberOf(blockNumber),
    blockHash: blockHash.toLowerCase(),
    logs: status === '0x1' ? logs.map(logOf) : [],
  };
}

/** The number of the newest final block: that so many blocks below the newest one, else the node's `finalized` one. */
export async function readFinal(ask: AskNode, depth: number | undefined): Promise<number> {
  const tagged = depth === undefined ? await readTagged(ask) : undefined;
  if (tagged !== undefined) return tagged;
  const head = await readHead(ask);
  if (depth !== undefined) return head - depth;
  // A node at its limit refuses now and then; one without the tag refuses it each time, and says the rest.
  return (await readTagged(ask)) ?? head - FINAL_DEPTH_BLOCKS;
}

/** The node's `finalized` block; undefined where it refuses the tag, or says that there is none. */
async function readTagged(ask: AskNode): Promise<number | undefined> {
  const block = await ask('eth_getBlockByNumber', ['finalized', false]).catch(() => null);
  return block === null ? undefined : numberOf(objectOf(block)?.['number']);
}

/** The number of the newest block. */
export async function readHead(ask: AskNode): Promise<number> {
  return numberOf(await ask('eth_blockNumber', []));
}

/** When the transaction's block was made, in seconds since 1970; undefined where that is not a block of the chain. */
export async function readTime(ask: AskNode, { block, blockHash }: MinedTransaction): Promise<number | undefined> {
  const found = objectOf(await ask('eth_getBlockByNumber', [quantity(block), false]));
  if (!isHash(found?.['hash']) || found['hash'].toLowerCase() !== blockHash) return undefined;
  return numberOf(found['timestamp']);
}

/** The recipient and input of a transaction; undefined while the node does not show it in this block. */
export async function readInput(
  ask: AskNode,
  { txHash, blockHash }: MinedTransaction,
): Promise<{ readonly to: string; readonly input: string } | undefined> {
  const transaction = objectOf(await ask('eth_getTransactionByHash', [txHash]));
  const { hash, to, input, blockHash: where } = transaction ?? {};
  if (!isHash(hash) || hash.toLowerCase() !== txHash || !isHash(where) || where.toLowerCase() !== blockHash)
    return undefined;
  // One that creates a contract has no `to`.
  return { to: String(to).toLowerCase(), input: String(input).toLowerCase() };
}

/** A list that the node answers. */
export function listOf(answer: unknown): readonly Readonly<Record<string, unknown>>[] {
  if (!Array.isArray(answer)) throw new NodeError('the node answered no list');
  return answer.map((entry) => objectOf(entry) ?? {});
}

/** A number as a JSON-RPC quantity. */
export function quantity(value: number): string {
  return `0x${Math.max(0, value).toString(16)}`;
}

/** Whether it is 32 bytes in 0x-hex. */
export function isHash(value: unknown): value is string {
  return typeof value === 'string' && /^0x[0-9a-fA-F]{64}$/.test(value);
}

function logOf(log: unknown): ReceiptLog {
  const { address, topics, data } = objectOf(log) ?? {};
  if (typeof address !== 'string' || typeof data !== 'string' || !Array.isArray(topics))
    throw new NodeError('the node answered a log without address, topics or data');
  return { address, topics: topics.map(String), data };
}

function numberOf(value: unknown): number {
  if (typeof value !== 'string' || !/^0x[0-9a-fA-F]{1,13}$/.test(value))
    throw new NodeError('the node answered no number');
  return Number(value);
}

function objectOf(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : undefined;
}

/** The object that a text is; empty for any other text. */
export function parseObject(text: string): Readonly<Record<string, unknown>> {
  try {
    return objectOf(JSON.parse(text)) ?? {};
  } catch {
    return {};
  }
}

/** The body of the node's answer. No error names the URL, which may hold a key. */
async function post(url: string | URL, body: string): Promise<string> {
  const headers = { 'content-type': 'application/json' };
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  try {
    return await textOf(await fetch(url, { method: 'POST', headers, body, signal }));
  } catch (error) {
    if (error instanceof NodeError) throw error;
    throw new NodeError(signal.aborted ? 'the node did not answer in time' : 'the node cannot be reached');
  }
}

async function textOf({ ok, status, body }: Response): Promise<string> {
  const text = await cappedText(body, ANSWER_BYTES_MAX);
  if (text === undefined) throw new NodeError('the node answered too much');
  // Some nodes answer their errors with a status of their own.
  if (!ok && !text.includes('"error"')) throw new NodeError(`the node answered ${status}`);
  return text;
}
