import { DAY_MS } from '../base/clock.ts';
import type { Statement } from '../db/database.ts';
import { type SessionShare, SITE_ROOM } from '../limits/session-share.ts';
import { EARLIEST_LAPSE, ipWindow } from '../sessions/sessions.ts';
import { IP_HAS_ROOM } from './claim-store.ts';
import { RELAY_FULL, RELAY_SINCE } from './relay-budget-store.ts';

/** The client whose relay is asked about, and the limits that count it. */
export interface NextRelay {
  readonly ip: string;
  /** The network whose share counts it, '' without one, and the sessions that its /48 may open. */
  readonly network: string;
  readonly share: SessionShare;
  readonly perIp: number;
  readonly windowSeconds: number;
  readonly dailyMax: number;
  readonly shareMax: number;
  readonly now: number;
}

/** Selects which limits would refuse the relay of somebody new, and when they have room again. */
export function selectCapacity(next: NextRelay): Statement {
  const { ip, network, share, perIp, windowSeconds, dailyMax, shareMax, now } = next;
  const relays = { relay_network: network, relay_daily_max: dailyMax, relay_share_max: shareMax };
  return {
    sql: SELECT_CAPACITY,
    args: {
      ...{ ip, now, identifier: '', per_ip: perIp, day_ago: now - DAY_MS, ...relays },
      ...ipWindow(windowSeconds, now),
      ...share.args,
    },
  };
}

const SELECT_CAPACITY = `SELECT NOT ${IP_HAS_ROOM} AS ip_full, ${EARLIEST_LAPSE} AS earliest_lapse, ${SITE_ROOM},
  ${Object.entries(RELAY_FULL).map(([name, sql]) => `${sql} AS ${name}`)}, ${RELAY_SINCE}`;
