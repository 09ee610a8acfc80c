// The account that approves, and its signature.
import { type Approver, signedAnswer } from '../../client/approval-answer.ts';
import type { ApprovalAnswer } from '../../client/approval-question.ts';
import { type ApprovalTerms, approvalOf, messages } from '../../client/approval-terms.ts';
import { authorizationOf, type TransferAnswer } from '../../client/transfer-authorization.ts';
import { type Account, factoryOf, indexOf, NoAccountError } from '../../client/wallet/account.ts';
import { rawSignature } from '../../client/wallet/der.ts';
import { factoryDataOf } from '../../client/wallet/operation.ts';
import { askPasskey } from '../../client/wallet/passkey.ts';
import type { Config } from '../../client/wallet/vault.ts';
import { isSignedBy } from '../../client/wallet/verify.ts';
import { readState } from '../wallet/api.ts';
import type { ApprovalRequest } from './request.ts';
import { authorizationBy } from './transfer.ts';

/** The answer to a request of either form. */
export type Answer = ApprovalAnswer | TransferAnswer;

/**
 * What the account's key signs as, by what the chain shows of it now. Throws `NoAccountError` if the passkey is not one
 * of its keys, and `UnreachableError`.
 */
export async function approverOf(account: Account, config: Config): Promise<Approver> {
  const { address, kind, credentialId } = account;
  const state = await readState(address);
  // Old records of accounts of kind 1 have no key; such an account has one for good.
  const [own] = state.kind === 1 ? state.keys : [];
  const { x = own?.x, y = own?.y } = account;
  const index = state.isDeployed ? indexOf(state, { x, y }) : 0;
  const factory = factoryOf(config, kind);
  const isOther = state.isDeployed && (!state.isOwn || state.kind !== kind);
  if (!x || !y || index === undefined || isOther || (!state.isDeployed && !factory)) throw new NoAccountError(address);
  const creation = state.isDeployed || !factory ? undefined : { factory, factoryData: factoryDataOf(x, y) };
  return { address, kind, chainId: config.chainId, index, creation, credentialId, key: { x, y } };
}

/** Has the passkey sign what is shown. Throws `PasskeyError`, and `NoAccountError` for the signature of another key. */
export async function sign(request: ApprovalRequest, approver: Approver, { rpId }: Config): Promise<Answer> {
  const { id, transfer } = request;
  const authorization = transfer && authorizationBy(approver.address, transfer);
  const typed = authorization ? authorizationOf(authorization, transfer.token) : approvalOf(termsOf(request), approver);
  const assertion = await askPasskey(rpId, messages.typedDataDigest(approver, typed), [approver.credentialId]);
  // An app may have named the account: only the passkey's own signature shows that it is its.
  if (!(await isSignedBy(approver.key, assertion, { rawSignature })))
    throw new NoAccountError(approver.address as `0x${string}`);
  const { authenticatorData, clientDataJSON } = assertion;
  const signature = rawSignature(assertion.signature);
  const answer = { id, ...signedAnswer(typed, approver, { authenticatorData, clientDataJSON, signature }) };
  return authorization ? { ...answer, authorization } : answer;
}

function termsOf({ asker, id, text = '', expires }: ApprovalRequest): ApprovalTerms {
  return { vault: location.origin, app: asker.origin, id, text, expires };
}
