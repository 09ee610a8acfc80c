// What a person approves, as their account's key signs it: one type of typed data, and no other.
import { join, number, utf8 } from './bytes.ts';
import { keccak256 } from './keccak.ts';
import { addressWord, createMessages, DOMAIN_TYPE, type MessageAccount, type TypedMessage } from './messages.ts';

/** The members that are signed beside account and chain. */
export interface ApprovalTerms {
  /** The origin of the vault, whose page shows the text. */
  readonly vault: string;
  /** The origin of the page that asks. */
  readonly app: string;
  /** The app's name of the request. */
  readonly id: string;
  readonly text: string;
  /** In seconds since 1970. */
  readonly expires: number;
}

/** The type of all approvals. */
export const APPROVAL_TYPE = 'VaultApproval(string vault,string app,string id,string text,uint256 expires)';
/** The longest time from the request to its end. */
export const APPROVAL_SECONDS_MAX = 86_400;

/** Digests and signatures of messages, without the enclave. */
export const messages = createMessages(keccak256);

/** The typed data of an approval by an account: in the domain "Vault Approval" of chain and account. */
export function approvalOf(
  { vault, app, id, text, expires }: ApprovalTerms,
  { chainId, address }: MessageAccount,
): TypedMessage {
  const hash = (of: string) => keccak256(utf8(of));
  const domain = [DOMAIN_TYPE, 'Vault Approval', '1'].map(hash);
  const members = [APPROVAL_TYPE, vault, app, id, text].map(hash);
  return {
    domainSeparator: keccak256(join([...domain, number(BigInt(chainId), 32), addressWord(address)])),
    contents: keccak256(join([...members, number(BigInt(expires), 32)])),
    type: APPROVAL_TYPE,
  };
}

/** The seconds of an ISO 8601 time with its zone; undefined for any other text. */
export function secondsOf(expires: unknown): number | undefined {
  const isTime =
    typeof expires === 'string' && /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)$/.test(expires);
  const seconds = isTime ? Math.floor(Date.parse(expires) / 1000) : Number.NaN;
  return seconds > 0 ? seconds : undefined;
}

/** An id that stands in logs and addresses as it is. */
export function isApprovalId(id: unknown): id is string {
  return typeof id === 'string' && /^[!-~]{1,128}$/.test(id);
}
