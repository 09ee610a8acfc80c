// Where the chain shows a payment: by the log that names its order, in the receipt's transaction or in another one.
import {
  AUTHORIZATION_USED,
  findOperation,
  operationsIn,
  type ReceiptLog,
  type SettledOperation,
  USER_OPERATION_EVENT,
  wordOf,
} from './operations.ts';
import { type AskNode, isHash, listOf, type MinedTransaction, quantity, readHead, readMined } from './payment-node.ts';
import type { AuthorizationClaim, OperationClaim } from './payment-order.ts';

/** A transfer by authorization (EIP-3009) that a token carried out; 0x-hex in lower case. */
export interface SettledAuthorization extends Pick<SettledOperation, 'sender' | 'success' | 'logs'> {
  readonly by: 'authorization';
  readonly nonce: string;
}

/** A payment in a block. */
export interface FoundPayment {
  readonly mined: MinedTransaction;
  readonly settled: SettledOperation | SettledAuthorization;
}

/** How an order's payment is recognized. */
export interface SoughtPayment {
  /** Of the logs of a transaction; `isOther` if the receipt names what pays another order, for good. */
  readonly read: (logs: readonly ReceiptLog[]) => {
    readonly settled?: FoundPayment['settled'] | undefined;
    readonly isOther?: boolean;
  };
  /** The logs that name it, for `eth_getLogs`, and which of those that it gives. */
  readonly address: string | readonly string[];
  readonly topics: readonly (string | null)[];
  readonly isNamed: (data: string) => boolean;
}

/** How many of the newest blocks are searched for a payment that is not in the transaction that the receipt names. */
const SEARCH_BLOCKS = 1_000;

/**
 * An operation, by its nonce, which names the order: after a higher fee it has another hash, after a re-org another
 * transaction.
 */
export function soughtOperation(
  { account: sender, userOpHash }: OperationClaim,
  nonce: bigint,
  trusted: readonly string[],
): SoughtPayment {
  return {
    read(logs) {
      const operations = operationsIn(logs, trusted);
      const claimed = findOperation(operations, { userOpHash });
      const named = sender === undefined ? undefined : findOperation(operations, { sender, nonce });
      const settled = named ?? (claimed?.nonce === nonce ? claimed : undefined);
      // The hash covers the nonce: no re-org makes it this order's.
      return { settled, isOther: claimed !== undefined };
    },
    address: trusted,
    topics: [USER_OPERATION_EVENT, ...(sender === undefined ? [userOpHash] : [null, wordOf(sender)])],
    isNamed: (data) => isHash(data.slice(0, 66)) && BigInt(data.slice(0, 66)) === nonce,
  };
}

/** A transfer by authorization, by the nonce that the token takes once from an account. */
export function soughtAuthorization(
  { account: sender }: AuthorizationClaim,
  nonce: string,
  token: string,
): SoughtPayment {
  const topics = [AUTHORIZATION_USED, wordOf(sender), nonce];
  const isNaming = (log: ReceiptLog) =>
    log.address.toLowerCase() === token && log.topics.join().toLowerCase() === topics.join();
  return {
    read(logs) {
      const at = logs.findIndex(isNaming);
      if (at < 0) return {};
      // The token's next log is of this transfer. Another one may be of another authorization.
      return { settled: { by: 'authorization', sender, nonce, success: true, logs: logs.slice(at + 1, at + 2) } };
    },
    address: token,
    topics,
    isNamed: () => true,
  };
}

/** The payment, or why it is not there: it is looked for in the transaction that the receipt names, then elsewhere. */
export async function findPayment(
  ask: AskNode,
  sought: SoughtPayment,
  txHash: string | undefined,
): Promise<FoundPayment | 'other_order' | 'no_operation' | 'no_transaction'> {
  const read = async (transaction: string) => {
    const mined = await readMined(ask, transaction);
    return { mined, ...sought.read(mined?.logs ?? []) };
  };
  const hinted = txHash === undefined ? undefined : await read(txHash);
  if (hinted?.mined && hinted.settled) return { mined: hinted.mined, settled: hinted.settled };
  const elsewhere = await search(ask, sought);
  const searched = elsewhere === undefined ? undefined : await read(elsewhere);
  if (searched?.mined && searched.settled) return { mined: searched.mined, settled: searched.settled };
  if (hinted?.isOther) return 'other_order';
  return hinted?.mined ? 'no_operation' : 'no_transaction';
}

/** The transaction that holds the payment; undefined if there is none, or the node does not search. */
async function search(ask: AskNode, { address, topics, isNamed }: SoughtPayment): Promise<string | undefined> {
  const fromBlock = quantity((await readHead(ask)) - SEARCH_BLOCKS);
  const logs = await ask('eth_getLogs', [{ address, topics, fromBlock, toBlock: 'latest' }])
    .then(listOf)
    .catch(() => []);
  const found = logs.find(({ data }) => typeof data === 'string' && isNamed(data));
  return isHash(found?.['transactionHash']) ? found['transactionHash'] : undefined;
}
