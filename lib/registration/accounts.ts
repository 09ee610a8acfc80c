import * as Address from 'ox/Address';
import type { Platform } from '../platform.ts';
import { selectAddressesOfDids, selectControllersOf } from './lookup-store.ts';

type Ctx = Pick<Platform, 'config' | 'db'>;

/** The accounts that control the confirmed registrations of an identifier's key, newest first; lower-case. */
export async function accountsOfIdentifier({ db }: Ctx, identifier: string): Promise<readonly string[]> {
  return (await db.read(selectControllersOf(identifier))).map((row) => String(row['controller']).toLowerCase());
}

/** The keys of the email addresses that are registered for an account's did:pkh. */
export async function addressesOfAccount({ config, db }: Ctx, account: string): Promise<readonly string[]> {
  const forms = [account.toLowerCase(), Address.checksum(account as Address.Address)];
  const dids = forms.map((form) => `did:pkh:eip155:${config.chainId}:${form}`);
  return (await db.read(selectAddressesOfDids(dids))).map((row) => String(row['identifier']));
}
