// An order whose nonce was spent before this device signed anything for it: perhaps another device has paid it.

import { LOOK_PAUSE_MS, LOOKS_ELSEWHERE } from './constants.ts';
import { addPayment, type StoredPayment } from './store.ts';
import { createSearch, paidBy, pause } from './watch.ts';

/**
 * Looks for the operation that spent the nonce. A payment of the same money to the same payee is this order's, and is
 * stored. Answers undefined if it was not found, or cannot be read.
 */
export async function findElsewhere(unsigned: StoredPayment): Promise<StoredPayment | 'spent' | undefined> {
  const search = createSearch(unsigned);
  for (let look = 0; look < LOOKS_ELSEWHERE; look++) {
    const verdict = await search(unsigned);
    if (verdict?.is === 'paid') return addPayment({ ...unsigned, ...paidBy(verdict.operation) });
    if (verdict?.is === 'nothing') return 'spent';
    await pause(LOOK_PAUSE_MS);
  }
  return undefined;
}
