import { fromHex } from '../base/bytes.ts';
import { VaultError } from '../base/error.ts';
import { describeError } from '../base/log.ts';
import { uint256Word } from '../chain/contract-call.ts';
import { isOwnerKey, isUnchanged } from '../chain/guarded-account.ts';
import { maskIdentifier } from '../identity/identifier.ts';
import { type Assertion, verifyAssertion } from '../identity/passkey.ts';
import { identifierHash, NO_HASH } from '../registration/challenge.ts';
import { proofInvalid } from '../registration/proof-fault.ts';
import { openTouch } from '../registration/touch.ts';
import { selectAttestationUse } from '../verification/attestation.ts';
import { type AddressContext, openAddress } from './address.ts';
import { type MailPreferences, selectContact, setContact } from './address-store.ts';
import { contactLines } from './challenge.ts';
import { accountLink, mailPreferences } from './mail-preferences.ts';

/** A second address of an account's owner, or none. */
export interface ContactRequest {
  /** Lower-case. */
  readonly account: string;
  /** The key of the account that signs. */
  readonly x: bigint;
  readonly y: bigint;
  readonly assertion: Assertion;
  readonly nonce: string;
  /** The attestation of the address; undefined to remove the address. */
  readonly attestation: unknown;
  /** How mails are to be written to it. */
  readonly preferences: MailPreferences;
}

/**
 * Names or removes the second address that is notified of an account's recoveries, by a proof of one of its keys.
 * Returns the address masked, null for none. Throws 403s of the attestation, `attestation_used`, 403 `proof_invalid`,
 * 502 `rpc_error`.
 */
export async function nameContact(ctx: AddressContext, request: ContactRequest): Promise<string | null> {
  const { config, db } = ctx;
  const { account, x, y, assertion, nonce, attestation } = request;
  const address = attestation === undefined || attestation === null ? undefined : openAddress(ctx, attestation);
  const hash = address ? identifierHash(address.identifier, address.authorization.signature) : NO_HASH;
  const { challenge, endsAt } = openTouch(ctx, { lines: contactLines(config, account, hash), nonce, assertion });
  const [keyX, keyY] = [fromHex(uint256Word(x)), fromHex(uint256Word(y))];
  const isSigned = keyX && keyY && (await verifyAssertion(assertion, challenge, { x: keyX, y: keyY }));
  if (!isSigned) throw proofInvalid('signature', config);
  // Another contract could answer anything, megabytes too.
  const isOwner = (await isUnchanged(ctx, account)) && (await isOwnerKey(ctx, account, { x, y }));
  if (!isOwner) throw proofInvalid('account', config);
  const key = address?.identifier.key ?? null;
  const named = address && { identifier: address.identifier.key, attestation: address.authorization };
  const [before] = await db.read(selectContact(config.chainId, account));
  const where = { chainId: config.chainId, account };
  const [set] = await db.write(...setContact(where, named ?? null, request.preferences, endsAt));
  if (set?.rowsAffected !== 1) {
    const isUsed = named && (await db.read(selectAttestationUse(named.attestation.signature))).length > 0;
    if (isUsed) throw new VaultError('attestation_used');
    // The same touch again, or an older one than the last.
    throw new VaultError('proof_invalid', { reason: 'used', hint: USED });
  }
  const former = String(before?.['identifier'] ?? '');
  if (former !== '' && former !== key)
    await tellFormer(ctx, account, former, mailPreferences(before, config.defaultLanguage));
  return address ? maskIdentifier(address.identifier) : null;
}

/** A thief of one key is not to silence the warnings unseen. */
async function tellFormer(
  { config, email, log }: AddressContext,
  account: string,
  identifier: string,
  preferences: MailPreferences,
): Promise<void> {
  const news = { kind: 'contact', status: '', account, readyAt: null, link: accountLink(config, preferences) } as const;
  const who = { to: identifier.slice(identifier.indexOf(':') + 1), ...preferences };
  if (email.isOff) return;
  await email.send({ ...who, recovery: news, lifetimeSeconds: 0 }).catch((error) => {
    log({ level: 'warn', event: 'recovery_notice_failed', account, ...describeError(error) });
  });
}

const USED = 'This nonce, or a later one, was used already: ask for another one, then the passkey again.';
