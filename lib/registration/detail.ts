import { isoTime } from '../base/clock.ts';
import { VaultError } from '../base/error.ts';
import { isErased } from '../identity/erasure.ts';
import type { Platform } from '../platform.ts';
import { findRelayOfRegistration } from '../relay/requests.ts';
import { findSession } from '../sessions/browse.ts';
import { readHistory } from '../verification/history.ts';
import { shownOf } from './shown.ts';
import { selectRegistration, selectRegistrationsBy, toRegistration } from './store.ts';

/** Other registrations of its identifier that are shown. */
const OTHERS_SHOWN_MAX = 20;

/**
 * One registration with what belongs to it: the chain's last word, the call of the relay, the session and the codes of
 * its identifier, and its other registrations. Identifiers are masked. Throws 404 `not_found`.
 */
export async function readRegistration(ctx: Pick<Platform, 'db' | 'clock' | 'config'>, id: number) {
  const { db, config } = ctx;
  const [row] = await db.read(selectRegistration(id));
  if (!row || isErased(String(row['identifier']))) throw new VaultError('not_found');
  const { identifier, nextCheckAt, checks } = toRegistration(row);
  const [relay, session, history, same] = await Promise.all([
    findRelayOfRegistration(db, id),
    findSession(ctx, identifier),
    readHistory(db, identifier),
    db.read(selectRegistrationsBy('identifier', identifier, OTHERS_SHOWN_MAX + 1)),
  ]);
  const others = same.map((other) => shownOf(other, false)).filter((other) => other.id !== id);
  return {
    registration: shownOf(row, false),
    watch: { checks, nextCheckAt: nextCheckAt === null ? null : isoTime(nextCheckAt) },
    relay: relay
      ? {
          status: relay.status,
          failure: relay.failure,
          signer: relay.signer,
          nonce: relay.nonce,
          queuedAt: isoTime(relay.createdAt),
        }
      : null,
    session,
    ...history,
    others: others.slice(0, OTHERS_SHOWN_MAX),
    chain: { chainId: config.chainId, name: config.chainName, explorer: config.explorerUrl },
  };
}
