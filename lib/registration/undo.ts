import { VaultError } from '../base/error.ts';
import type { Platform } from '../platform.ts';
import { undoRegistration } from './change-store.ts';
import { selectHolder, selectRegistration, toRegistration } from './store.ts';

/** The registration that was undone, and the one that holds the identifier now; null if none does. */
export interface UndoneClaim {
  readonly id: number;
  readonly did: string;
  readonly holder: { readonly id: number; readonly did: string } | null;
}

/**
 * Fails a live registration for the operator: it loses identifier and credential, and what it had displaced has them
 * again. The chain keeps the DID. Throws 404 `not_found` if no registration with this id is live.
 */
export async function undoClaim({ db, clock }: Pick<Platform, 'db' | 'clock'>, id: number): Promise<UndoneClaim> {
  const [row] = await db.read(selectRegistration(id));
  if (!row) throw new VaultError('not_found');
  const { did, identifier } = toRegistration(row);
  const results = await db.write(...undoRegistration(id, clock.now()), selectHolder(identifier));
  if (results[1]?.rowsAffected !== 1) throw new VaultError('not_found');
  const [holder] = results.at(-1)?.rows ?? [];
  return { id, did, holder: holder ? { id: Number(holder['id']), did: String(holder['did']) } : null };
}
