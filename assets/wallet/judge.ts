// The fate of a signed operation, judged by what the vault's own node shows. A bundler's answer does not count.
import type { Hex } from '../../client/wallet/bytes.ts';

/** The vault's node's view of an account's nonce (`GET /pay/outcome`). Times are the chain's, in seconds. */
export interface Outcome {
  readonly chainId: number;
  readonly entryPoint: string;
  readonly head: Block;
  /** The newest final block; null if the node cannot tell. */
  readonly final: Block | null;
  /** Whether the nonce is spent at the head, and in the final block. */
  readonly spent: boolean;
  readonly spentFinal: boolean;
  /** Where the search for the operation goes on. */
  readonly next: number;
  /** The operation that spent the nonce; null while none was found. */
  readonly operation: SeenOperation | null;
}

interface Block {
  readonly number: number;
  readonly time: number;
}

/** An operation in a canonical block. `moved`: whether the money went to its payee; null if that cannot be told. */
export interface SeenOperation {
  readonly userOpHash: Hex;
  readonly txHash: Hex;
  readonly block: number;
  readonly success: boolean;
  readonly moved: boolean | null;
  readonly final: boolean;
}

/** One set of bytes that the passkey signed for a nonce. */
export interface Version {
  /** A `void` only spends the nonce. */
  readonly kind: 'pay' | 'void';
  readonly userOpHash: Hex;
  /** The last second of the chain's time in which it can be included; absent if it never ends. */
  readonly validUntil?: number;
}

/** The operations signed for one nonce. `token` is what they move. */
export interface Signed {
  readonly chainId: number;
  readonly entryPoint: string;
  readonly token: string;
  readonly versions: readonly Version[];
}

/** Why the payment was not made, and will not be: each is shown by a final block. `spent`: by another operation. */
export type Nothing = 'ended' | 'voided' | 'reverted' | 'spent';

/**
 * The visible state of an open payment. `none`: it can still be included; `late`: its time is over, in a block that is
 * not final; `undone`: its nonce is spent without a payment, in a block that is not final; `searching`: its nonce is
 * spent, by an operation not found yet; `unclear`: by one that cannot be read.
 */
export type Sign = 'none' | 'late' | 'undone' | 'searching' | 'unclear';

/** `paid`: a canonical block shows it. `nothing`: a final one shows that it was not paid. All else is `open`. */
export type Verdict =
  | { readonly is: 'paid'; readonly operation: SeenOperation }
  | { readonly is: 'nothing'; readonly why: Nothing }
  | { readonly is: 'open'; readonly sign: Sign; readonly operation?: SeenOperation };

/** Judges by evidence alone. */
export function judge(signed: Signed, outcome: Outcome): Verdict {
  // Elsewhere the nonce looks unspent.
  const isElsewhere = outcome.chainId !== signed.chainId || !isEqual(outcome.entryPoint, signed.entryPoint);
  if (isElsewhere) return { is: 'open', sign: 'none' };
  if (outcome.operation) return judgeOperation(signed, outcome.operation);
  // Spent after the final block: perhaps by this payment, signed on another device.
  if (outcome.spent || outcome.spentFinal) return { is: 'open', sign: 'searching' };
  const end = endOf(signed);
  if (outcome.final && outcome.final.time > end) return { is: 'nothing', why: 'ended' };
  return { is: 'open', sign: outcome.head.time > end ? 'late' : 'none' };
}

/** Whether a search came to the newest blocks in vain; it never counts these as read. */
export function isSearched({ spent, next, head }: Outcome): boolean {
  return spent && next >= head.number - FRESH_BLOCKS;
}

/** The vault reads the events of so many of the newest blocks again. */
const FRESH_BLOCKS = 64;

/** The last second in which anything signed can be included: infinite if one never ends, or nothing is known. */
export function endOf({ versions }: Pick<Signed, 'versions'>): number {
  if (versions.length === 0) return Infinity;
  return Math.max(...versions.map(({ validUntil = Infinity }) => validUntil));
}

function judgeOperation({ token, versions }: Signed, operation: SeenOperation): Verdict {
  const { success, moved, final } = operation;
  const own = versions.find(({ userOpHash }) => isEqual(userOpHash, operation.userOpHash));
  if (success && own?.kind !== 'void') {
    // The hash of ours covers the call: its success moved the ether. A token can say what it wants, its log counts.
    if (moved || (own && token === 'native')) return { is: 'paid', operation };
    // Ours succeeded: then the account gave something away, also where the token shows no transfer of this amount.
    if (own || moved === null) return { is: 'open', sign: 'unclear', operation };
  }
  if (!final) return { is: 'open', sign: 'undone', operation };
  if (!own) return { is: 'nothing', why: 'spent' };
  return { is: 'nothing', why: own.kind === 'void' ? 'voided' : 'reverted' };
}

function isEqual(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase();
}
