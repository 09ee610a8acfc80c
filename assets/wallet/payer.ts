// The person whom a page names.
import { kindsOf } from '../../client/wallet/account.ts';
import type { Hex } from '../../client/wallet/bytes.ts';
import type { PublicKey } from '../../client/wallet/recover.ts';
import type { Config } from '../../client/wallet/vault.ts';
import { word } from '../words/words.ts';
import { predictAddress } from './api.ts';
import { type KeptAccount, readAccounts } from './memory.ts';
import { short } from './view.ts';

/**
 * The person whom a page names: a hint of which passkey to ask for, and never a proof. The key is there if the page
 * knows it.
 */
export interface Payer {
  readonly credentialId: string;
  readonly account: Hex;
  readonly key: PublicKey | undefined;
}

/** Leaves out an invalid hint: the page can do without. */
export function readPayer(value: unknown): Payer | undefined {
  const { credentialId, account, pubKeyX, pubKeyY } = (value ?? {}) as Readonly<Record<string, unknown>>;
  const isNamed = typeof credentialId === 'string' && /^[\w-]{16,1364}$/.test(credentialId);
  if (!isNamed || !isHex(account, 20)) return undefined;
  const key = isHex(pubKeyX, 32) && isHex(pubKeyY, 32) ? { x: pubKeyX, y: pubKeyY } : undefined;
  return { credentialId, account: account.toLowerCase() as Hex, key };
}

function isHex(value: unknown, bytes: number): value is Hex {
  return typeof value === 'string' && value.length === 2 + 2 * bytes && /^0x[0-9a-fA-F]+$/.test(value);
}

/** The account that such a hint names. `isClaimed`: only the hint says so. */
export interface Named {
  readonly account: KeptAccount;
  readonly isClaimed: boolean;
}

/**
 * The account that the hint names, if this device has it, or if it is the one that the named key creates. Any other is
 * found by the passkey: everybody can add a key that is not theirs to an account of theirs.
 */
export async function namedAccount(payer: Payer, config: Config): Promise<Named | undefined> {
  const { credentialId, account: address, key } = payer;
  const known = (await readAccounts()).find((one) => one.address === address);
  if (known) return { account: known, isClaimed: false };
  if (!key) return undefined;
  for (const kind of kindsOf(config)) {
    if ((await predictAddress(key, kind)) !== address) continue;
    const name = word('name.account', { address: short(address) });
    return { account: { credentialId, address, kind, ...key, name }, isClaimed: true };
  }
  return undefined;
}
