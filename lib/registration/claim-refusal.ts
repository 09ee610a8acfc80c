import { DAY_MS } from '../base/clock.ts';
import { numberOf, type Row } from '../db/database.ts';
import { type FullRelays, toFullRelays } from './relay-budget-store.ts';

/** The reasons that refuse a claim, from `selectClaimRefusal`. */
export interface ClaimRefusal {
  /** The identifier may not be registered. */
  readonly notAdmitted: boolean;
  readonly attestationUsed: boolean;
  readonly credentialTaken: boolean;
  readonly identifierTaken: boolean;
  /** The IP has no room for the session, or for another claim beside one of the same handle. */
  readonly ipFull: boolean;
  /** When the IP has room again, in milliseconds; null when no time frees it. */
  readonly ipFreesAt: number | null;
  /** The row, for `fullSite`, if the client's /48 has no room for the session. */
  readonly fullSite: Row | undefined;
  /** The account has another relay under way. */
  readonly controllerBusy: boolean;
  readonly fullRelays: readonly FullRelays[];
}

/** Reads the row of `selectClaimRefusal`. */
export function toRefusal(row: Row): ClaimRefusal {
  const isFull = row['ip_full'] === 1 || row['relay_ip_full'] === 1;
  const isFullBeside = row['full_beside'] === 1;
  const slotSince = numberOf(row, 'copy_slot_since');
  return {
    notAdmitted: row['not_admitted'] === 1,
    attestationUsed: row['attestation_used'] === 1,
    credentialTaken: row['credential_taken'] === 1,
    identifierTaken: row['identifier_taken'] === 1,
    ipFull: isFull || isFullBeside,
    ipFreesAt: isFull ? numberOf(row, 'earliest_lapse') : slotSince && slotSince + DAY_MS,
    fullSite: row['site_full'] === 1 || row['relay_site_full'] === 1 ? row : undefined,
    controllerBusy: row['controller_busy'] === 1,
    fullRelays: toFullRelays(row),
  };
}
