import { DAY_MS, HOUR_MS } from '../base/clock.ts';
import { VaultError } from '../base/error.ts';
import { describeError } from '../base/log.ts';
import { findFinalAccount, findGuardedAccount, type GuardedAccount } from '../chain/guarded-account.ts';
import {
  failAddress,
  keepAddress,
  missAddress,
  putOffAddress,
  type RecoveryAddress,
  selectAddressesDue,
  toAddress,
} from './address-store.ts';
import type { GuardianContext } from './context.ts';
import { notePending } from './discover.ts';

/** How often an account is looked at that has the commitment. */
const LOOK_MS = 30 * DAY_MS;
/** The accounts that one turn looks at, a minute apart. */
const LOOKS_MAX = 50;

/**
 * Looks whether accounts still have the commitments that name addresses, and for recoveries that are pending there.
 * Each has a failure and a pause of its own.
 */
export async function lookAtAddresses(ctx: GuardianContext): Promise<void> {
  const { config, db, clock, log } = ctx;
  const due = (await db.read(selectAddressesDue(config.chainId, clock.now(), LOOKS_MAX))).map(toAddress);
  await Promise.all(
    due.map(async (address) => {
      try {
        await lookAt(ctx, address);
      } catch (error) {
        if (!(error instanceof VaultError)) throw error;
        const { account } = address;
        log({ level: 'debug', event: 'guarded_account_unread', account, ...describeError(error) });
        await db.write(failAddress(address, clock.now()));
      }
    }),
  );
}

/**
 * Nothing is forgotten by one answer: an account that does not show the commitment is asked in a final block, both
 * nodes where there are two, on three days.
 */
async function lookAt(ctx: GuardianContext, address: RecoveryAddress): Promise<void> {
  const { db, clock } = ctx;
  const { account } = address;
  const found = await findGuardedAccount(ctx, account);
  if (hasIt(found, address)) {
    await notePending(ctx, account, found);
    await db.write(keepAddress(address, clock.now() + LOOK_MS));
  } else if (hasIt(await findFinalAccount(ctx, account), address))
    await db.write(putOffAddress(address, clock.now() + HOUR_MS));
  else await db.write(...missAddress(address, clock.now()));
}

function hasIt(
  found: Awaited<ReturnType<typeof findGuardedAccount>>,
  { commitment }: RecoveryAddress,
): found is GuardedAccount {
  return typeof found !== 'string' && found.commitment === commitment;
}
