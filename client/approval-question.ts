import { isApprovalId, secondsOf } from './approval-terms.ts';
import { faultOfText } from './approval-text.ts';
import { toHex } from './bytes.ts';
import { demandMembers, isAddress, type Member } from './order-members.ts';
import { isOrigin } from './payment-nonce.ts';
import type { Hex } from './wallet/bytes.ts';
import type { PublicKey } from './wallet/recover.ts';

/** What was to be approved, from your own records. */
export interface ApprovalQuestion {
  /** The origin of the vault. */
  readonly vault: string;
  /** The origin of your page. */
  readonly app: string;
  readonly chainId: number;
  readonly text: string;
  /** ISO 8601, with its zone. */
  readonly expires: string;
  /** Your name of the request. Without one, that of the answer counts: remember which you have taken. */
  readonly id?: string | undefined;
  /** Who was to approve; needed with a known key. */
  readonly account?: string | undefined;
}

/** The answer of the page. All of it are claims. */
export interface ApprovalAnswer {
  readonly account: string;
  readonly did: string;
  readonly chainId: number;
  readonly kind: 1 | 2;
  readonly id: string;
  /** As ERC-1271 takes it; of an account that does not exist yet with its creation (ERC-6492). */
  readonly signature: string;
  readonly credentialId: string;
  readonly pubKeyX: string;
  readonly pubKeyY: string;
}

/** The key of the person's passkey, as it was when they signed up or in. */
export interface ApproverKey {
  readonly pubKeyX: string;
  readonly pubKeyY: string;
}

const REQUEST = {
  text: [(value) => faultOfText(value) === undefined, 'prose of 1 to 1,000 characters, all of them visible'],
  expires: [(value) => secondsOf(value) !== undefined, 'ISO 8601 with a zone, such as "2026-11-28T12:00:00Z"'],
  id: [(value) => value === undefined || isApprovalId(value), '1 to 128 characters of ASCII without blanks'],
} as const satisfies Readonly<Record<string, Member>>;

const MEMBERS = {
  vault: [isOrigin, 'the origin of the vault, such as "https://vault.example.com"'],
  app: [isOrigin, 'the origin of your page, such as "https://shop.example"'],
  chainId: [Number.isSafeInteger, "the chain's number, such as 84532"],
  ...REQUEST,
  account: [(value) => value === undefined || isAddress(value), '0x and 40 hex digits'],
} as const satisfies Record<keyof ApprovalQuestion, Member>;

/** Its end, in seconds since 1970. Throws a `TypeError` that names the first member that is missing or wrong. */
export function demandQuestion(question: ApprovalQuestion): number {
  demandMembers(question, MEMBERS, 'approval');
  return secondsOf(question.expires) as number;
}

/** A request for the page, of an id of its own where it has none. Throws a `TypeError` like that. */
export function requestOf(request: Pick<ApprovalQuestion, 'text' | 'expires' | 'id'>) {
  demandMembers(request, REQUEST, 'approval');
  const { text, expires, id = toHex(crypto.getRandomValues(new Uint8Array(16))) } = request;
  return { text, expires, id };
}

/** The claims that are judged. */
export type Claim = Pick<ApprovalAnswer, 'account' | 'kind' | 'id' | 'chainId' | 'signature'>;

/** Undefined for anything but an answer: a stranger wrote it, so any value may be of any type. */
export function readAnswer(answer: unknown): Claim | undefined {
  const { account, kind, id, chainId, signature } = (answer ?? {}) as Readonly<Record<string, unknown>>;
  const isRead =
    isAddress(account) &&
    (kind === 1 || kind === 2) &&
    isApprovalId(id) &&
    typeof chainId === 'number' &&
    typeof signature === 'string' &&
    /^0x(?:[0-9a-fA-F]{2})+$/.test(signature);
  return isRead ? { account, kind, id, chainId, signature } : undefined;
}

/** A key that is known; undefined for the place of a node. Throws a `TypeError` for half a key. */
export function readKey(known: unknown): PublicKey | undefined {
  const { pubKeyX: x, pubKeyY: y } = (known ?? {}) as Partial<ApproverKey>;
  if (x === undefined && y === undefined) return undefined;
  if (!isWord(x) || !isWord(y))
    throw new TypeError('the key is malformed; expected pubKeyX and pubKeyY, 32 bytes each');
  return { x, y };
}

function isWord(value: unknown): value is Hex {
  return typeof value === 'string' && /^0x[0-9a-fA-F]{64}$/.test(value);
}
