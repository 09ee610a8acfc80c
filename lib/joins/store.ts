import { HOUR_MS } from '../base/clock.ts';
import { SWEEP_ROWS_MAX } from '../constants.ts';
import { fewerThan, type Row, type Statement } from '../db/database.ts';
import { clearedAt } from '../limits/limits.ts';

/**
 * A mailbox to open: its name, the account that gets the key, the client, its /48 where that has a share, and how many
 * client, /48 and all may open.
 */
export interface NewJoin {
  readonly id: string;
  readonly account: string;
  readonly ip: string;
  readonly network: string | null;
  readonly now: number;
  readonly perIp: number;
  readonly perNetwork: number;
  readonly inAll: number;
}

const RECENT = 'opened_at > :hour_ago';

const OF_IP = `FROM joins WHERE ip = :ip AND ${RECENT} AND opened_at > ${clearedAt('joins-per-ip', ':ip')}`;
const OF_NETWORK = `FROM joins WHERE network = :network AND ${RECENT}
  AND opened_at > ${clearedAt('joins-per-network', ':network')}`;
const OF_ALL = `FROM joins WHERE ${RECENT} AND opened_at > ${clearedAt('joins-per-hour')}`;

const INSERT_JOIN = `INSERT INTO joins (id, account, ip, network, opened_at) SELECT :id, :account, :ip, :network, :now
  WHERE ${fewerThan(':per_ip', OF_IP)} AND (:network IS NULL OR ${fewerThan(':per_network', OF_NETWORK)})
    AND ${fewerThan(':in_all', OF_ALL)}
  ON CONFLICT (id) DO NOTHING`;

/** Opens a mailbox unless the client, its /48 or all clients have opened enough, or the name is used. */
export function insertJoin({ id, account, ip, network, now, perIp, perNetwork, inAll }: NewJoin): Statement {
  const limits = { per_ip: perIp, per_network: perNetwork, in_all: inAll, hour_ago: now - HOUR_MS };
  return { sql: INSERT_JOIN, args: { id, account, ip, network, now, ...limits } };
}

/** The mailbox with this name, if it was opened after `since`. */
export function selectJoin(id: string, since: number): Statement {
  return {
    sql: `SELECT account, opened_at, x, y, label FROM joins WHERE id = :id AND opened_at > :since`,
    args: { id, since },
  };
}

/**
 * How many mailboxes count for the client and for its /48, and when the oldest of each and of all was opened; no row if
 * the statement before it in the batch opened one.
 */
export function selectJoinUse({ ip, network, now }: Pick<NewJoin, 'ip' | 'network' | 'now'>): Statement {
  return {
    sql: `SELECT (SELECT count(*) ${OF_IP}) AS by_ip, (SELECT min(opened_at) ${OF_IP}) AS of_ip,
      (SELECT count(*) ${OF_NETWORK}) AS by_network, (SELECT min(opened_at) ${OF_NETWORK}) AS of_network,
      (SELECT min(opened_at) ${OF_ALL}) AS of_all WHERE changes() = 0`,
    args: { ip, network, hour_ago: now - HOUR_MS },
  };
}

/** A public key and the bytes of its name, as hex. */
export interface JoinKey {
  readonly x: string;
  readonly y: string;
  readonly label: string;
}

/** Puts a key into an open mailbox without one; the same key again changes nothing and counts as put. */
export function putJoinKey(id: string, { x, y, label }: JoinKey, since: number): Statement {
  return {
    sql: `UPDATE joins SET x = :x, y = :y, label = :label
      WHERE id = :id AND opened_at > :since AND (x IS NULL OR (x = :x AND y = :y AND label = :label))`,
    args: { id, x, y, label, since },
  };
}

/** An open mailbox. */
export interface Join {
  readonly account: string;
  readonly openedAt: number;
  readonly key: JoinKey | null;
}

/** A row of `selectJoin`, read. */
export function toJoin(row: Row): Join {
  const key = { x: String(row['x']), y: String(row['y']), label: String(row['label']) };
  const openedAt = Number(row['opened_at']);
  return { account: String(row['account']), openedAt, key: row['x'] === null ? null : key };
}

/** Removes mailboxes that no limit counts any more. */
export function sweepJoins(now: number): Statement {
  return {
    sql: `DELETE FROM joins WHERE id IN (SELECT id FROM joins WHERE opened_at <= :hour_ago LIMIT ${SWEEP_ROWS_MAX})`,
    args: { hour_ago: now - HOUR_MS },
  };
}
