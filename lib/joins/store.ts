import { HOUR_MS } from '../base/clock.ts';
import { SWEEP_ROWS_MAX } from '../constants.ts';
import { fewerThan, type Row, type Statement } from '../db/database.ts';
import { clearedAt } from '../limits/limits.ts';

/** A mailbox to open: its name, the account that gets the key, the client, and how many one client and all may open. */
export interface NewJoin {
  readonly id: string;
  readonly account: string;
  readonly ip: string;
  readonly now: number;
  readonly perIp: number;
  readonly inAll: number;
}

const RECENT = 'opened_at > :hour_ago';

const INSERT_JOIN = `INSERT INTO joins (id, account, ip, opened_at) SELECT :id, :account, :ip, :now
  WHERE ${fewerThan(':per_ip', `FROM joins WHERE ip = :ip AND ${RECENT} AND opened_at > ${clearedAt('joins-per-ip', ':ip')}`)}
    AND ${fewerThan(':in_all', `FROM joins WHERE ${RECENT} AND opened_at > ${clearedAt('joins-per-hour')}`)}
  ON CONFLICT (id) DO NOTHING`;

/** Opens a mailbox unless the client or all clients have opened enough, or the name is used. */
export function insertJoin({ id, account, ip, now, perIp, inAll }: NewJoin): Statement {
  const limits = { per_ip: perIp, in_all: inAll, hour_ago: now - HOUR_MS };
  return { sql: INSERT_JOIN, args: { id, account, ip, now, ...limits } };
}

/** The mailbox with this name, if it was opened after `since`. */
export function selectJoin(id: string, since: number): Statement {
  return {
    sql: `SELECT account, opened_at, x, y, label FROM joins WHERE id = :id AND opened_at > :since`,
    args: { id, since },
  };
}

/** When the oldest mailbox that counts for the client was opened, and the oldest of all. */
export function selectOldestJoins(ip: string, now: number): Statement {
  return {
    sql: `SELECT (SELECT min(opened_at) FROM joins WHERE ip = :ip AND ${RECENT}) AS of_ip,
      (SELECT min(opened_at) FROM joins WHERE ${RECENT}) AS of_all,
      (SELECT count(*) FROM joins WHERE ip = :ip AND ${RECENT}
        AND opened_at > ${clearedAt('joins-per-ip', ':ip')}) AS by_ip`,
    args: { ip, hour_ago: now - HOUR_MS },
  };
}

/** A public key and the bytes of its name, as hex. */
export interface JoinKey {
  readonly x: string;
  readonly y: string;
  readonly label: string;
}

/** Puts a key into an open mailbox that has none; the same key again changes nothing and counts as put. */
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
