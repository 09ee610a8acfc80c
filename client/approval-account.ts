// Whether the key that signed an approval is the account's, by a node.
import { predictedAccount } from './account-address.ts';
import type { ReadSignature } from './approval-signature.ts';
import { type AccountFactory, accountOfCode, IMPLEMENTATION_SLOT, isOwnImplementation } from './known-accounts.ts';
import type { MessageAccount } from './messages.ts';
import type { AskNode } from './payment-node.ts';
import { encode } from './wallet/abi.ts';
import type { Hex } from './wallet/bytes.ts';
import type { PublicKey } from './wallet/recover.ts';
import { isSignedBy } from './wallet/verify.ts';

/** Why an account does not vouch: no contract of a known factory, one that was upgraded, or the key is not its own. */
export type NoAccount = 'other_account_code' | 'upgraded' | 'other_key';

/** `isValidSignature(bytes32,bytes)` of ERC-1271, which answers its own selector. */
const IS_VALID = '0x1626ba7e';

/**
 * Why the account does not vouch for the hash; undefined if it does. Any contract can answer that a signature is
 * valid, so its code must be known. One that does not exist yet has the key that creates it.
 */
export async function findFault(
  ask: AskNode,
  { account, hash, signed, factories }: AccountQuestion,
): Promise<NoAccount | undefined> {
  const { address, kind } = account;
  const data = `${IS_VALID}${encode([hash, { bytes: `0x${signed.inner}` }])}`;
  const [code, slot, verdict] = await Promise.all([
    ask('eth_getCode', [address, 'latest']),
    ask('eth_getStorageAt', [address, IMPLEMENTATION_SLOT, 'latest']),
    ask('eth_call', [{ to: address, data }, 'latest']).catch((error: unknown) => ({ error })),
  ]);
  if (code === '0x') return findCreationFault(signed, account, factories);
  const found = accountOfCode(String(code), factories);
  const isOurs = found?.factory.kind === kind && isPredicted(found.factory, found.key, address);
  if (!found || !isOurs) return 'other_account_code';
  if (kind === 2 && !isOwnImplementation(String(slot), factories)) return 'upgraded';
  if (typeof verdict === 'object' && verdict !== null && 'error' in verdict) throw verdict.error;
  return String(verdict).slice(0, 10) === IS_VALID ? undefined : 'other_key';
}

/** An account, and what it shall vouch for. */
export interface AccountQuestion {
  readonly account: MessageAccount;
  readonly hash: Hex;
  readonly signed: ReadSignature;
  readonly factories: readonly AccountFactory[];
}

async function findCreationFault(
  { creation, assertion, inner }: ReadSignature,
  { address, kind }: MessageAccount,
  factories: readonly AccountFactory[],
): Promise<NoAccount | undefined> {
  const by = factories.find((one) => one.kind === kind && one.factory.toLowerCase() === creation?.factory);
  if (!creation || !by || !isPredicted(by, creation.key, address)) return 'other_account_code';
  const key = { x: `0x${creation.key.slice(0, 64)}`, y: `0x${creation.key.slice(64, 128)}` } as const;
  // The key that creates an account of the second kind has the index 0.
  const isFirst = kind === 1 || inner.startsWith('00');
  return isFirst && (await hasSigned(key, assertion)) ? undefined : 'other_key';
}

function isPredicted(by: AccountFactory, key: string, address: string): boolean {
  return predictedAccount(by, key) === address.slice(2).toLowerCase();
}

/** Whether this key made the assertion. */
export function hasSigned(
  key: PublicKey,
  { clientDataJSON, authenticatorData, signature }: ReadSignature['assertion'],
) {
  const assertion = { credentialId: '', authenticatorData, clientDataJSON, signature, userHandle: undefined };
  return isSignedBy(key, assertion, { rawSignature: (raw) => raw });
}
