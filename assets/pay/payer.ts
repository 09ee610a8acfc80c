// Which account pays.
import { kindsOf } from '../../client/wallet/account.ts';
import { type Config, UnreachableError } from '../../client/wallet/vault.ts';
import { predictAddress, readToken } from '../wallet/api.ts';
import { type KeptAccount, readAccounts } from '../wallet/memory.ts';
import { short } from '../wallet/view.ts';
import { word } from '../words/words.ts';
import type { Payer, Payment } from './request.ts';
import type { AccountBalance } from './setup.ts';

/** The accounts with their balances: those with money enough first, else in their order. */
export async function weighAccounts(
  accounts: readonly KeptAccount[],
  { token, amount }: Pick<Payment, 'token' | 'amount'>,
): Promise<readonly AccountBalance[]> {
  const held = accounts.map(async (account) => ({
    account,
    token: await readToken(token, account.address).catch(() => undefined),
  }));
  const isEnough = (one: AccountBalance) => Number(one.token !== undefined && one.token.balance >= amount);
  return (await Promise.all(held)).sort((a, b) => isEnough(b) - isEnough(a));
}

/** The account used last, or of several one with money enough; undefined where this device has none. */
export async function firstAccount(payment: Payment): Promise<KeptAccount | undefined> {
  const [first, ...others] = await readAccounts();
  if (!first || others.length === 0) return first;
  return (await weighAccounts([first, ...others], payment))[0]?.account;
}

/** The account that a shop's hint names. `isClaimed`: only the hint says so. */
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

/** The screen of the accounts, which is a file of its own. Throws `UnreachableError`. */
export function loadSetup(): Promise<typeof import('./setup.ts')> {
  return import(SETUP).catch((cause) => {
    throw new UnreachableError(SETUP, { cause });
  });
}

/** A name that the bundler leaves alone. */
const SETUP = '/pay/setup.js' as string;
