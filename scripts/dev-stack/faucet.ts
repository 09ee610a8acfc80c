import { Address, type Hex } from 'ox';
import type { ChainRpc } from './chain.ts';
import { mintUsdc } from './usdc.ts';
import { devAccount, sendTransaction } from './wallet.ts';

/** The money that one press gives an account: 100 USDC and one ether of the local chain. */
export const GIFT = { usdc: 100_000_000n, wei: 10n ** 18n } as const;

/** How many gifts may wait. */
const WAITING_MAX = 50;

/** The outcome of a request for money. */
export type Gift = 'given' | 'bad_address' | 'busy';

/** Gives test money, one gift after the other: a transaction's nonce is read from the chain. Throws what it says. */
export function createFaucet(rpc: ChainRpc): (account: unknown) => Promise<Gift> {
  let last: Promise<void> = Promise.resolve();
  let waiting = 0;
  const give = async (to: Hex.Hex) => {
    await mintUsdc(rpc, to, GIFT.usdc);
    await sendTransaction(rpc, devAccount('owner').privateKey, { to, value: GIFT.wei });
  };
  return async (account) => {
    const to = typeof account === 'string' ? account.trim() : '';
    if (!Address.validate(to, { strict: false })) return 'bad_address';
    if (waiting >= WAITING_MAX) return 'busy';
    waiting++;
    const next = last.then(() => give(to)).finally(() => waiting--);
    last = next.catch(() => {});
    await next;
    return 'given';
  };
}
