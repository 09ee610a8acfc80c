// User operations (ERC-4337, EntryPoint 0.7 to 0.9) in the logs of a transaction.

/** A log of a transaction's receipt; 0x-hex of any case. */
export interface ReceiptLog {
  readonly address: string;
  readonly topics: readonly string[];
  readonly data: string;
}

/** An operation that an EntryPoint carried out; 0x-hex in lower case. */
export interface SettledOperation {
  readonly entryPoint: string;
  readonly userOpHash: string;
  readonly sender: string;
  /** All 256 bits. */
  readonly nonce: bigint;
  /** Whether the account's call went through. */
  readonly success: boolean;
  /** The logs of the operation's own execution, in order; without those of the rest of the transaction. */
  readonly logs: readonly ReceiptLog[];
}

/** The first topic of the EntryPoints' `UserOperationEvent`: keccak256 of its signature. */
export const USER_OPERATION_EVENT = '0x49628fd1471006c1482da88028e9ce4dbb080b815c9b0344d39e5a8e6ec1419f';
/** The first topic of the EntryPoints' `BeforeExecution`, which stands between validation and execution of a bundle. */
export const BEFORE_EXECUTION = '0xbb47ee3e183a558b1a2ff0874b079f3fc5478b7454eacf2bfc5af2ff5878f972';
/** The first topic of ERC-20's `Transfer`. */
export const TRANSFER_EVENT = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
/** The first topic of EIP-3009's `AuthorizationUsed`, which stands directly before the `Transfer`. */
export const AUTHORIZATION_USED = '0x98de503528ee59b575ef0c0a2576a82497bfc029a5685b209e9ec333479b10a5';

/**
 * The operations in all logs of one transaction, in their order. Name every EntryPoint that you trust: an operation may
 * call another EntryPoint, and a log belongs to the innermost operation alone.
 */
export function operationsIn(logs: readonly ReceiptLog[], entryPoints: readonly string[]): SettledOperation[] {
  const trusted = new Set(entryPoints.map((address) => address.toLowerCase()));
  const spans: Span[] = [];
  const startOf = new Map<string, number>();
  for (const [at, log] of logs.entries()) {
    const entryPoint = log.address.toLowerCase();
    if (!trusted.has(entryPoint)) continue;
    const topic = log.topics[0]?.toLowerCase();
    if (topic !== BEFORE_EXECUTION && topic !== USER_OPERATION_EVENT) continue;
    const event = readEvent(log);
    if (event) spans.push({ event, start: startOf.get(entryPoint) ?? at, end: at });
    startOf.set(entryPoint, at + 1);
  }
  return withOwnLogs(logs, spans);
}

/** The operation of this hash, or of this sender and nonce; undefined if none of them is it. */
export function findOperation(
  operations: readonly SettledOperation[],
  wanted: { readonly userOpHash: string } | { readonly sender: string; readonly nonce: bigint },
): SettledOperation | undefined {
  return operations.find(({ userOpHash, sender, nonce }) =>
    'userOpHash' in wanted
      ? userOpHash === wanted.userOpHash.toLowerCase()
      : sender === wanted.sender.toLowerCase() && nonce === wanted.nonce,
  );
}

/** A movement of an ERC-20 token that an operation is to have made. */
export interface TokenTransfer {
  readonly token: string;
  readonly from: string;
  readonly to: string;
  readonly amount: bigint;
}

/**
 * Whether the logs hold exactly this `Transfer`, by that token. One directly behind an `AuthorizationUsed` pays the
 * order of that authorization, and no other.
 */
export function hasTransfer(logs: readonly ReceiptLog[], { token, from, to, amount }: TokenTransfer): boolean {
  return logs.some((log, at) => {
    const [topic, sender, payee, ...more] = topicsOf(log);
    if (!isOf(log, token) || topic !== TRANSFER_EVENT) return false;
    const before = logs[at - 1];
    if (before && isOf(before, token) && topicsOf(before)[0] === AUTHORIZATION_USED) return false;
    const { data } = log;
    // A fourth topic is ERC-721's: a thing, not an amount.
    return (
      more.length === 0 && isWord(data) && sender === wordOf(from) && payee === wordOf(to) && BigInt(data) === amount
    );
  });
}

function isOf({ address }: ReceiptLog, contract: string): boolean {
  return address.toLowerCase() === contract.toLowerCase();
}

function topicsOf({ topics }: ReceiptLog): string[] {
  return topics.map((topic) => topic.toLowerCase());
}

/** An event with the first and one past the last of its operation's logs. */
interface Span {
  readonly event: Omit<SettledOperation, 'logs'>;
  readonly start: number;
  readonly end: number;
}

/** Where two spans overlap, the one that starts later is the inner one. */
function withOwnLogs(logs: readonly ReceiptLog[], spans: readonly Span[]): SettledOperation[] {
  const owners = new Array<Span | undefined>(logs.length);
  for (const span of spans.toSorted((a, b) => a.start - b.start)) owners.fill(span, span.start, span.end);
  const own = new Map<Span, ReceiptLog[]>(spans.map((span) => [span, []]));
  for (const [at, log] of logs.entries()) {
    const owner = owners[at];
    if (owner) own.get(owner)?.push(log);
  }
  return spans.map((span) => ({ ...span.event, logs: own.get(span) ?? [] }));
}

/** Undefined for another event, or one that no EntryPoint of these versions emits. */
function readEvent({ address, topics, data }: ReceiptLog): Span['event'] | undefined {
  const [topic, userOpHash = '', sender = '', paymaster = '', ...more] = topics.map((one) => one.toLowerCase());
  if (topic !== USER_OPERATION_EVENT || more.length > 0) return undefined;
  const isWhole = [userOpHash, sender, paymaster].every(isWord) && /^0x[0-9a-fA-F]{256}$/.test(data);
  if (!isWhole || !/^0x0{24}/.test(sender)) return undefined;
  const word = (at: number) => BigInt(`0x${data.slice(2 + 64 * at, 66 + 64 * at)}`);
  return {
    entryPoint: address.toLowerCase(),
    userOpHash,
    sender: `0x${sender.slice(26)}`,
    nonce: word(0),
    success: word(1) === 1n,
  };
}

function isWord(hex: string): boolean {
  return /^0x[0-9a-fA-F]{64}$/.test(hex);
}

/** An address as it stands in a topic; in lower case. */
export function wordOf(address: string): string {
  return `0x${address.slice(2).toLowerCase().padStart(64, '0')}`;
}
