import { DAY_MS } from '../base/clock.ts';
import type { LimitState } from '../base/error.ts';
import type { Condition, Row, Statement, Value } from '../db/database.ts';
import type { Platform } from '../platform.ts';
import { budgetColumns, hasRoom, readReset, roomArgs, spendBudgetIfChanged } from './budget-store.ts';
import { boundsOf } from './catalogue.ts';
import { limitState } from './limits.ts';
import { sharingSite } from './networks.ts';

const KIND = 'sessions-per-network';

/** SQL that is true while the client's /48 may open a session, or has no share. Needs `SessionShare.args`. */
export const SITE_HAS_ROOM = `(:network IS NULL OR ${hasRoom(KIND)})`;

/** SQL of the columns that `fullSite` reads, with the same arguments. */
export const SITE_ROOM = budgetColumns([KIND]);

/**
 * The sessions that a client's /48 may open. It counts nothing for an IPv4 address, and where no network has a share.
 */
export interface SessionShare {
  readonly network: string | null;
  readonly now: number;
  readonly args: Readonly<Record<string, Value>>;
  /** Counts a session, if the statement before it in the batch changed a row and the condition holds. */
  spend(when?: Condition): readonly Statement[];
}

/** The share of a client's /48. */
export function sessionShare(config: Platform['config'], client: string, now: number): SessionShare {
  const network = sharingSite(config, client);
  const use = { kinds: [KIND], maxOf: () => boundsOf(config, KIND).max, network, now } as const;
  return {
    network: network ?? null,
    now,
    args: { network: null, ...roomArgs(use) },
    spend: (when) => (network === undefined ? [] : [spendBudgetIfChanged(KIND, use, { when })]),
  };
}

/** The state of the /48's limit from a row with the columns of `SITE_ROOM`; undefined while it has room. */
export function fullSite(
  config: Platform['config'],
  row: Row,
  { network, now }: Pick<SessionShare, 'network' | 'now'>,
): LimitState | undefined {
  const { isFull, at } = readReset(row, KIND);
  if (network === null || !isFull) return undefined;
  return limitState(config, KIND, { bucket: network, freesAt: at === null ? null : at + DAY_MS, now });
}
