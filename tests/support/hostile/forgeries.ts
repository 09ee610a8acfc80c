import { Hash, Hex } from 'ox';
import { BEFORE_EXECUTION, TRANSFER_EVENT, USER_OPERATION_EVENT } from '../../../client/operations.ts';
import { TOPICS } from '../../../lib/chain/followed-contracts.ts';
import type { ChainRpc } from '../../../scripts/dev-stack/chain.ts';
import type { Lie } from '../liar.ts';
import type { NodeCall } from '../node-faults.ts';

// False stories of a node that hold together: every call that touches one is answered so that it fits.

/** A payment of which a node tells a story. */
export interface Fiction {
  /** `paid`: it was made. `other`: something else has spent its nonce. `denied`: nothing ever did. */
  readonly story: 'paid' | 'other' | 'denied';
  readonly entryPoint: Hex.Hex;
  /** The accounts that may pay, lower-case. */
  readonly accounts: readonly Hex.Hex[];
  readonly nonce: bigint;
  readonly token: Hex.Hex;
  readonly payee: Hex.Hex;
  readonly amount: bigint;
  /** The hash that it names: of an operation that it saw, if it saw one. */
  readonly userOpHash: (account: Hex.Hex) => Hex.Hex;
}

/** The lie of a payment that was never made, or of one that was and is denied. */
export function forgePayment(fiction: Fiction): Lie {
  const { story, accounts, nonce } = fiction;
  const isOurs = (text: string) => accounts.find((account) => text.toLowerCase().includes(account.slice(2)));
  let place: Promise<Place> | undefined;
  return async (call, ask) => {
    place ??= placeOf(ask);
    const at = await place;
    const words = JSON.stringify(call.params);
    if (call.method === 'eth_call' && words.includes(GET_NONCE)) {
      const data = (call.params[0] as { readonly data: string }).data;
      if (!isOurs(data) || !data.includes(hexWord(nonce >> 64n))) return undefined;
      return { result: `0x${hexWord(story === 'denied' ? nonce : nonce + 1n)}` };
    }
    if (call.method === 'eth_getLogs') {
      const account = isOurs(words);
      if (!account || !words.includes(USER_OPERATION_EVENT)) return undefined;
      return { result: story === 'denied' ? [] : [eventLog(fiction, account, at, forgedHash(account, nonce))] };
    }
    if (call.method === 'eth_getTransactionReceipt' || call.method === 'eth_getTransactionByHash')
      return story === 'denied' ? deny(call, ask, isOurs) : invent(call, fiction, at);
    return undefined;
  };
}

interface Place {
  readonly number: Hex.Hex;
  readonly hash: Hex.Hex;
}

async function placeOf(ask: ChainRpc): Promise<Place> {
  const { number, hash } = (await ask('eth_getBlockByNumber', ['latest', false])) as Place;
  return { number, hash };
}

async function deny(call: NodeCall, ask: ChainRpc, isOurs: (text: string) => string | undefined) {
  const truth = await ask(call.method, call.params);
  return isOurs(JSON.stringify(truth)) ? { result: null } : { result: truth };
}

function invent({ method, params }: NodeCall, fiction: Fiction, at: Place) {
  const account = fiction.accounts.find((one) => forgedHash(one, fiction.nonce) === params[0]);
  if (!account) return undefined;
  const hash = forgedHash(account, fiction.nonce);
  const common = { transactionHash: hash, hash, blockNumber: at.number, blockHash: at.hash, status: '0x1' };
  if (method === 'eth_getTransactionByHash') return { result: { ...common, to: fiction.entryPoint, input: '0x' } };
  const logs = [
    { ...common, address: fiction.entryPoint, topics: [BEFORE_EXECUTION], data: '0x', logIndex: '0x0' },
    ...(fiction.story === 'paid' ? [transferLog(fiction, account, at, hash)] : []),
    eventLog(fiction, account, at, hash),
  ];
  return { result: { ...common, logs } };
}

function eventLog({ entryPoint, nonce, userOpHash }: Fiction, account: Hex.Hex, at: Place, transactionHash: Hex.Hex) {
  const topics = [USER_OPERATION_EVENT, userOpHash(account), padded(account), padded('0x')];
  const data = `0x${hexWord(nonce)}${hexWord(1n)}${hexWord(1n)}${hexWord(1n)}`;
  return {
    address: entryPoint,
    topics,
    data,
    blockNumber: at.number,
    blockHash: at.hash,
    transactionHash,
    logIndex: '0x2',
  };
}

function transferLog({ token, payee, amount }: Fiction, account: Hex.Hex, at: Place, transactionHash: Hex.Hex) {
  const topics = [TRANSFER_EVENT, padded(account), padded(payee)];
  const data = `0x${hexWord(amount)}`;
  return { address: token, topics, data, blockNumber: at.number, blockHash: at.hash, transactionHash, logIndex: '0x1' };
}

/** The lie that the chain is long ahead, so that everything seems final and everything signed seems over. */
export function forgeFuture(blocks = 300, secondsEach = 2): Lie {
  return async ({ method, params }, ask) => {
    if (method !== 'eth_blockNumber' && method !== 'eth_getBlockByNumber' && method !== 'eth_call') return undefined;
    const head = Number(await ask('eth_blockNumber'));
    if (method === 'eth_blockNumber') return { result: Hex.fromNumber(head + blocks) };
    if (method === 'eth_call') {
      const { blockHash } = (params[1] ?? {}) as { readonly blockHash?: string };
      if (!blockHash?.startsWith(FUTURE)) return undefined;
      return { result: await ask(method, [params[0], 'latest']) };
    }
    const number = params[0] === 'latest' ? head + blocks : Number(params[0]);
    if (!(number > head)) return undefined;
    const newest = (await ask('eth_getBlockByNumber', ['latest', false])) as { readonly timestamp: Hex.Hex };
    const timestamp = Hex.fromNumber(Number(newest.timestamp) + (number - head) * secondsEach);
    const hash = `${FUTURE}${hexWord(BigInt(number)).slice(FUTURE.length - 2)}`;
    return { result: { ...newest, number: Hex.fromNumber(number), hash, timestamp, transactions: [] } };
  };
}

/** The lie that a registrar has sent more transactions than it did, in whatever block. */
export function forgeNonce(address: string, more: number): Lie {
  return async ({ method, params }, ask) => {
    if (method !== 'eth_getTransactionCount' || String(params[0]).toLowerCase() !== address.toLowerCase())
      return undefined;
    return { result: Hex.fromNumber(Number(await ask(method, params)) + more) };
  };
}

/** The lie of a registration that no transaction made. */
export function forgeRegistration(
  registry: string,
  {
    txHash,
    didHash,
    controller,
  }: { readonly txHash: Hex.Hex; readonly didHash: Hex.Hex; readonly controller: Hex.Hex },
): Lie {
  let place: Promise<Place> | undefined;
  return async ({ method, params }, ask) => {
    place ??= placeOf(ask);
    const { number: blockNumber, hash: blockHash } = await place;
    if (method === 'eth_getTransactionReceipt' && params[0] === txHash) {
      const topics = [TOPICS.DIDRegistered, didHash, padded(controller)];
      const log = { address: registry, topics, data: '0x', blockNumber, blockHash, transactionHash: txHash };
      return { result: { transactionHash: txHash, blockNumber, blockHash, status: '0x1', logs: [log] } };
    }
    const { data = '' } = (params[0] ?? {}) as { readonly data?: string };
    if (method !== 'eth_call' || data !== `${RESOLVE}${didHash.slice(2)}`) return undefined;
    return { result: `${padded(controller)}${hexWord(0x60n)}${hexWord(1n)}${hexWord(0n)}` };
  };
}

/** The lie that a real transaction reverted, or was never there. */
export function denyTransaction(txHash: Hex.Hex, how: 'reverted' | 'unseen'): Lie {
  return async ({ method, params }, ask) => {
    if (params[0] !== txHash || !method.startsWith('eth_getTransaction')) return undefined;
    const truth = (await ask(method, params)) as object | null;
    return { result: how === 'unseen' || !truth ? null : { ...truth, status: '0x0', logs: [] } };
  };
}

const GET_NONCE = '0x35567e1a';
const RESOLVE = '0x5c23bdf5';
/** What hashes of blocks that are not there begin with. */
const FUTURE = '0xfeedfeed';

function forgedHash(account: Hex.Hex, nonce: bigint): Hex.Hex {
  return Hash.keccak256(Hex.concat(account, Hex.fromNumber(nonce, { size: 32 })));
}

function hexWord(value: bigint): string {
  return value.toString(16).padStart(64, '0');
}

function padded(address: Hex.Hex): Hex.Hex {
  return `0x${address.slice(2).toLowerCase().padStart(64, '0')}`;
}
