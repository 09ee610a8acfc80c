import { addressesOfAccount } from '../registration/accounts.ts';
import { selectAddress } from './address-store.ts';
import type { GuardianContext } from './context.ts';

/** The address that a commitment names: as it was noted when the commitment was made, else by a registration. */
export async function findAddress(ctx: GuardianContext, account: string, commitment: string): Promise<string | null> {
  const { config, db, guardian } = ctx;
  const [row] = await db.read(selectAddress({ chainId: config.chainId, account, commitment }));
  const noted = String(row?.['identifier'] ?? '');
  if (noted !== '') return noted;
  const registered = await addressesOfAccount(ctx, account);
  return registered.find((identifier) => guardian.commit(account, identifier) === commitment) ?? null;
}
