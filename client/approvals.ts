import { type AccountQuestion, findFault, hasSigned, type NoAccount } from './approval-account.ts';
import {
  type ApprovalAnswer,
  type ApprovalQuestion,
  type ApproverKey,
  demandQuestion,
  readAnswer,
  readKey,
  requestOf,
} from './approval-question.ts';
import { type ReadSignature, readSignature } from './approval-signature.ts';
import { approvalOf, messages } from './approval-terms.ts';
import { faultOfText, type TextFault } from './approval-text.ts';
import { toHex } from './bytes.ts';
import { checksum } from './checksum.ts';
import { keccak256 } from './keccak.ts';
import { type AccountFactory, KNOWN_ACCOUNTS } from './known-accounts.ts';
import type { RawAssertion } from './packed-assertion.ts';
import { type AskNode, askOver, NodeError, nodeUrl, parseObject, readChainId } from './payment-node.ts';
import { originOf } from './payment-nonce.ts';
import { toBase64url } from './wallet/bytes.ts';
import type { PublicKey } from './wallet/recover.ts';

export {
  type AccountFactory,
  type ApprovalAnswer,
  type ApprovalQuestion,
  type ApproverKey,
  type AskNode,
  faultOfText,
  NodeError,
  requestOf,
  type TextFault,
};

/** Whether somebody approved a text, and why not. `docs/approvals.md` explains the reasons. */
export type ApprovalVerdict =
  | {
      readonly status: 'approved';
      /** EIP-55. */
      readonly account: string;
      readonly did: string;
      readonly id: string;
      /** The approval's identity: act on each once. */
      readonly digest: string;
    }
  | { readonly status: 'refused'; readonly reason: ApprovalRefusal };

/** Why an approval does not count. */
export type ApprovalRefusal =
  | ('bad_answer' | 'expired' | 'other_chain' | 'other_account' | 'other_terms' | 'other_page' | 'not_verified')
  | NoAccount;

/** Contracts to trust beside the pinned ones, and the time to judge at, in seconds since 1970; now, if absent. */
export interface ApprovalOptions {
  readonly accounts?: readonly AccountFactory[];
  readonly at?: number;
}

/**
 * Whether the answer of `/approve` approves what you asked for: offline by the person's key, or by your own node, the
 * URL of its JSON-RPC or a function that asks it. Throws a `TypeError` for an invalid question, key or node, and a
 * `NodeError` if the node cannot be asked or is on another chain.
 */
export async function verifyApproval(
  answer: ApprovalAnswer,
  question: ApprovalQuestion,
  known: ApproverKey | string | URL | AskNode,
  { accounts = [], at = Date.now() / 1000 }: ApprovalOptions = {},
): Promise<ApprovalVerdict> {
  const expires = demandQuestion(question);
  const key = readKey(known);
  if (key && question.account === undefined)
    throw new TypeError('approval.account is missing; expected the account of the known key');
  const ask = key ? undefined : typeof known === 'function' ? known : askOver(nodeUrl(known));
  const claim = readAnswer(answer);
  if (!claim) return refused('bad_answer');
  const { account, kind, chainId, id } = claim;
  if (chainId !== question.chainId) return refused('other_chain');
  if (!isEqual(account, question.account ?? account)) return refused('other_account');
  if (id !== (question.id ?? id)) return refused('other_terms');
  if (at > expires) return refused('expired');
  const terms = { vault: originOf(question.vault), app: originOf(question.app), id, text: question.text, expires };
  const asAccount = { kind, address: account, chainId };
  const typed = approvalOf(terms, asAccount);
  const digest = messages.typedDataDigest(asAccount, typed);
  const signed = readSignature(claim.signature, kind, typed);
  const fault = signed ? faultOfAssertion(signed.assertion, digest, terms.vault) : 'other_terms';
  if (!signed || fault) return refused(fault ?? 'other_terms');
  const about = { account: asAccount, hash: `0x${toHex(messages.typedDataHash(typed))}` as const, signed };
  const no = ask
    ? await askAccount(ask, { ...about, factories: [...KNOWN_ACCOUNTS, ...accounts] })
    : await faultOfKey(key, signed);
  if (no) return refused(no);
  const address = checksum(account.slice(2).toLowerCase(), keccak256);
  const did = `did:pkh:eip155:${chainId}:${address}`;
  return { status: 'approved', account: address, did, id, digest: `0x${toHex(digest)}` };
}

function refused(reason: ApprovalRefusal): ApprovalVerdict {
  return { status: 'refused', reason };
}

/**
 * The prompt of a passkey shows no text: only the vault's own page shows it, and the browser says in the signature
 * which page asked.
 */
function faultOfAssertion(
  { clientDataJSON, authenticatorData }: RawAssertion,
  digest: Uint8Array,
  vault: string,
): ApprovalRefusal | undefined {
  const client = parseObject(new TextDecoder().decode(clientDataJSON));
  if (client['challenge'] !== toBase64url(digest) || client['type'] !== 'webauthn.get') return 'other_terms';
  if (client['origin'] !== vault || client['crossOrigin'] === true) return 'other_page';
  return ((authenticatorData[32] ?? 0) & VERIFIED) === VERIFIED ? undefined : 'not_verified';
}

/** Flags UP and UV of WebAuthn section 6.1. */
const VERIFIED = 5;

async function faultOfKey(
  key: PublicKey | undefined,
  { assertion }: ReadSignature,
): Promise<ApprovalRefusal | undefined> {
  return key && (await hasSigned(key, assertion)) ? undefined : 'other_key';
}

async function askAccount(ask: AskNode, question: AccountQuestion): Promise<ApprovalRefusal | undefined> {
  const chainId = await readChainId(ask);
  if (chainId === question.account.chainId) return findFault(ask, question);
  throw new NodeError(`the node is on chain ${chainId}, not ${question.account.chainId}`);
}

function isEqual(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}
