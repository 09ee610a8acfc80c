// Approvals as the vault's page makes them, by accounts on a real chain, and as somebody makes them who should not.
import { Base64, Bytes, Hex } from 'ox';
import { approvalAnswer, approvalDigest } from '../../client/approval-answer.ts';
import { type ApprovalTerms, secondsOf } from '../../client/approval-terms.ts';
import type { ApprovalAnswer, ApprovalQuestion } from '../../client/approvals.ts';
import { rawSignature } from '../../client/wallet/der.ts';
import { type Ceremony, createPasskey, type Passkey } from '../../scripts/dev-stack/passkey.ts';
import type { SmartAccount } from '../../scripts/dev-stack/user-operation.ts';

/** The vault of these approvals. */
export const VAULT = 'https://vault.example.com';

const HOME = { origin: VAULT, rpId: 'vault.example.com' };

/** A passkey that is used on the vault's pages. */
export function approverPasskey(): Passkey {
  return createPasskey(HOME);
}

/** A question of its own id; it ends in five minutes. */
export function questionOf(more: Partial<ApprovalQuestion> = {}): ApprovalQuestion & { readonly id: string } {
  return {
    vault: VAULT,
    app: 'https://shop.example.com',
    chainId: 84532,
    text: 'Pay out 250.00 EUR to Bob Example.\nPayout 17',
    expires: new Date(Date.now() + 300_000).toISOString(),
    ...more,
    id: more.id ?? `payout-${crypto.randomUUID()}`,
  };
}

/** How an approval differs from a right one. */
interface ApproveOptions {
  /** The place of the key in the account. */
  readonly index?: number;
  readonly passkey?: Passkey;
  /** With the creation, as before the account exists. */
  readonly isUnborn?: boolean;
  readonly ceremony?: Ceremony;
  /** Members of the answer and of what is signed. */
  readonly as?: Partial<Pick<SmartAccount, 'address' | 'kind'>>;
  readonly chainId?: number;
}

/** Has the passkey of an account approve what is asked. */
export function approve(
  account: SmartAccount,
  question: ApprovalQuestion & { readonly id: string },
  { index = 0, passkey = account.passkey, isUnborn = false, ceremony = {}, as = {}, ...more }: ApproveOptions = {},
): ApprovalAnswer {
  const { address, kind = 1, factory, factoryData } = { ...account, ...as };
  const approver = {
    ...{ address, kind, index, credentialId: 'Y3JlZGVudGlhbC1vZi1ib2I', chainId: more.chainId ?? question.chainId },
    creation: isUnborn ? { factory, factoryData } : undefined,
    key: { x: Hex.fromBytes(passkey.key.x), y: Hex.fromBytes(passkey.key.y) },
  };
  const terms = termsOf(question);
  const made = passkey.assert(approvalDigest(terms, approver), ceremony);
  const bytes = (text: string) => Bytes.from(Base64.toBytes(text));
  return approvalAnswer(terms, approver, {
    authenticatorData: bytes(made.authenticatorData),
    clientDataJSON: bytes(made.clientDataJSON),
    signature: rawSignature(bytes(made.signature)),
  });
}

/** What is signed of a question. */
export function termsOf({ vault, app, id, text, expires }: ApprovalQuestion & { readonly id: string }): ApprovalTerms {
  return { vault, app, id, text, expires: secondsOf(expires) ?? 0 };
}

/** The key of an account's passkey, as an app keeps it. */
export function keyOf({ passkey: { key } }: Pick<SmartAccount, 'passkey'>) {
  return { pubKeyX: Hex.fromBytes(key.x), pubKeyY: Hex.fromBytes(key.y) };
}
