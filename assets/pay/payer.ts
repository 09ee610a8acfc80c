import { UnreachableError } from '../../client/wallet/vault.ts';
import { readToken } from '../wallet/api.ts';
import { type KeptAccount, readAccounts } from '../wallet/memory.ts';
import type { Payment } from './request.ts';
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

/** The screen of the accounts, which is a file of its own. Throws `UnreachableError`. */
export function loadSetup(): Promise<typeof import('./setup.ts')> {
  return import(SETUP).catch((cause) => {
    throw new UnreachableError(SETUP, { cause });
  });
}

/** A name that the bundler leaves alone. */
const SETUP = '/pay/setup.js' as string;
