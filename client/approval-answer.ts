// The answer of a person who approved.
import type { ApprovalAnswer } from './approval-question.ts';
import { type ApprovalTerms, approvalOf, messages } from './approval-terms.ts';
import { bytesOf, toHex } from './bytes.ts';
import { checksum } from './checksum.ts';
import { keccak256 } from './keccak.ts';
import type { MessageAccount, TypedMessage } from './messages.ts';
import { packAssertion, type RawAssertion } from './packed-assertion.ts';
import type { PublicKey } from './wallet/recover.ts';

/** The account that approves, and its key that signs. */
export interface Approver extends Pick<MessageAccount, 'kind' | 'address'> {
  readonly chainId: number;
  /** The key's place in an account of the second kind. */
  readonly index: number;
  /** The call that creates the account, where it does not exist yet. */
  readonly creation: { readonly factory: string; readonly factoryData: string } | undefined;
  readonly credentialId: string;
  readonly key: PublicKey;
}

/** What the passkey signs. */
export function approvalDigest(terms: ApprovalTerms, approver: Approver): Uint8Array<ArrayBuffer> {
  return messages.typedDataDigest(approver, approvalOf(terms, approver));
}

/** The answer, by an assertion over that digest. */
export function approvalAnswer(terms: ApprovalTerms, approver: Approver, assertion: RawAssertion): ApprovalAnswer {
  return { id: terms.id, ...signedAnswer(approvalOf(terms, approver), approver, assertion) };
}

/** Account and signature of an answer, by an assertion over the digest of this typed data. */
export function signedAnswer(
  typed: TypedMessage,
  { kind, address, chainId, index, creation, credentialId, key }: Approver,
  assertion: RawAssertion,
): Omit<ApprovalAnswer, 'id'> {
  const bare = messages.accountSignature({ kind }, bytesOf(`0x${packAssertion(assertion)}`), { index, typed });
  const signature = creation ? messages.undeployedSignature(creation.factory, creation.factoryData, bare) : bare;
  const account = checksum(address.slice(2).toLowerCase(), keccak256);
  return {
    account,
    did: `did:pkh:eip155:${chainId}:${account}`,
    chainId,
    kind,
    signature: `0x${toHex(signature)}`,
    credentialId,
    pubKeyX: key.x,
    pubKeyY: key.y,
  };
}
