import { isoTime } from '../base/clock.ts';
import { VaultError } from '../base/error.ts';
import { LIMITS_SHOWN_MAX } from '../constants.ts';
import { DEFAULT_APP, eventOf } from '../events/catalogue.ts';
import { emitEvent } from '../events/emit.ts';
import { maskIdentifier } from '../identity/identifier.ts';
import type { Platform } from '../platform.ts';
import { recallRecoveries } from './change-store.ts';
import { selectList, toRecovery } from './store.ts';

/** A recovery as the operator sees it. */
export type ListedRecovery = Awaited<ReturnType<typeof listRecoveries>>[number];

/** Recoveries for the operator, newest first; addresses masked. */
export async function listRecoveries(
  { db }: Pick<Platform, 'db'>,
  query: { readonly account?: string; readonly isOpen?: boolean },
) {
  const rows = await db.read(selectList(query, LIMITS_SHOWN_MAX));
  return rows.map(toRecovery).map((one) => ({
    id: one.id,
    app: one.app,
    account: one.account,
    identifier:
      one.identifier === null
        ? null
        : maskIdentifier({ channel: 'email', value: one.identifier.slice(one.identifier.indexOf(':') + 1) }),
    foreign: one.isForeign,
    status: one.status,
    final: one.isFinal,
    stopped: one.isStopped,
    number: one.contractId,
    reason: one.failure,
    txHash: one.txHash,
    createdAt: isoTime(one.createdAt),
    readyAt: timeText(one.readyAt),
    endedAt: timeText(one.endedAt),
  }));
}

/**
 * Has the guardian withdraw an account's open recoveries: the operator's answer to a proposal that is not meant. A
 * running vault carries it out. Throws 404 `not_found` if nothing is open.
 */
export async function cancelRecoveries(
  { config, clock, db }: Pick<Platform, 'config' | 'clock' | 'db'>,
  given: string,
): Promise<void> {
  const [account, now] = [given.toLowerCase(), clock.now()];
  const event = eventOf('recovery.stopped', { app: DEFAULT_APP, at: now }, { account });
  const [stopped] = await db.write(
    recallRecoveries(config.chainId, account, true, now),
    emitEvent(event, { ifChanged: true }),
  );
  if (stopped?.rowsAffected === 0) throw new VaultError('not_found');
}

function timeText(time: number | null): string | null {
  return time === null ? null : isoTime(time);
}
