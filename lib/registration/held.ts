// Whether a DID holds an address for good: by a final registration that its passkey signed for.
import type { Store } from '../db/database.ts';
import { type Held, selectHeld } from './sign-in-store.ts';

// For the batch of what depends on it.
export { isHeld } from './sign-in-store.ts';

/** When the DID registered the address that it holds, in milliseconds; undefined if it does not hold it. */
export async function heldSince({ db }: { readonly db: Store }, held: Held): Promise<number | undefined> {
  const [row] = await db.read(selectHeld(held));
  return row && Number(row['registered_at']);
}
