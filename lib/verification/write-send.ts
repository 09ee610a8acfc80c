import { type LimitState, VaultError } from '../base/error.ts';
import type { Config } from '../config/config.ts';
import { numberOf, type Result, type Row, type Statement, type Store } from '../db/database.ts';
import { isRolledBack } from '../db/errors.ts';
import type { NewEvent } from '../events/catalogue.ts';
import { emitEventsOf } from '../events/emit.ts';
import type { BudgetUse } from '../limits/budgets.ts';
import { boundsOf, limitOf } from '../limits/catalogue.ts';
import { lastLimitReached, limitState, slotOf } from '../limits/limits.ts';
import type { Platform } from '../platform.ts';
import * as codes from './send-store.ts';

type Ctx = Pick<Platform, 'config' | 'clock' | 'db' | 'metrics'>;

/** A send to write: its row, limits, budgets and event. */
export interface NewSend {
  readonly row: codes.NewCode;
  readonly limits: codes.SendLimits;
  readonly budgets: BudgetUse;
  readonly event: NewEvent;
}

/**
 * Writes the send and resolves with its row as `selectSends` reads it. A client with a grant is refused at first, and
 * asks again by it: few have one. Throws 429 `rate_limited`, 403 `pass_invalid`.
 */
export async function writeSend(ctx: Ctx, send: NewSend, by = codes.firstBy(send.row)): Promise<Row> {
  const { row, limits, budgets } = send;
  const sent = await writeWithOthers(ctx.db, send, by);
  if (sent) return sent;
  const refusal = (await ctx.db.read(codes.selectSendRefusal(row, limits, by)))[0] as Row;
  if (by === 'nothing' && codes.isPassed(refusal)) return writeSend(ctx, send, 'grant');
  if (by === 'pass' && !codes.isPassed(refusal)) throw new VaultError('pass_invalid');
  const full = fullLimits(ctx.config, refusal, row);
  throw lastLimitReached(ctx, full.length > 0 ? full : await fullBudgets(ctx, budgets, row));
}

/** Sends of one kind that one statement will write, and their rows by id. */
interface Round {
  readonly sends: NewSend[];
  /** Clients and identifiers. A round has each once, so that every send finds its limits as they are. */
  readonly keys: Set<string>;
  readonly rows: Promise<ReadonlyMap<unknown, Row>>;
}

/** The round of each store and kind that others can still join. */
const open = new WeakMap<Store, Map<string, Round>>();

/**
 * Writes the send in one statement with those of its kind that go into the same commit (docs/decisions/0028). Resolves
 * with its row; undefined if it was refused.
 */
async function writeWithOthers(db: Store, send: NewSend, by: codes.SendBy): Promise<Row | undefined> {
  const { row, budgets } = send;
  const rounds = open.get(db) ?? new Map<string, Round>();
  open.set(db, rounds);
  // One slot of the day's budget counts them all, so that each can be given back.
  const kind = `${row.channel} ${by} ${slotOf(row.now)} ${budgets.room.sql}`;
  // Sends that count in the budget of a network go one after the other.
  const keys = [row.ip, row.identifier, ...(budgets.hasShare ? ['budgets'] : [])];
  const last = rounds.get(kind);
  const round = last && !keys.some((key) => last.keys.has(key)) ? last : openRound(db, rounds, { kind, by });
  round.sends.push(send);
  for (const key of keys) round.keys.add(key);
  try {
    return (await round.rows).get(row.id);
  } catch (error) {
    // Refused for one of them: each alone, so that only that one fails.
    if (round.sends.length === 1 || !isRolledBack(error)) throw error;
    return rowsOf(await db.write(...statementsOf([send], by))).get(row.id);
  }
}

function openRound(db: Store, rounds: Map<string, Round>, { kind, by }: { kind: string; by: codes.SendBy }): Round {
  const sends: NewSend[] = [];
  const close = () => {
    if (rounds.get(kind) === round) rounds.delete(kind);
  };
  const written = db.writeLater(() => {
    close();
    return statementsOf(sends, by);
  });
  // A write may also fail before its statements were asked for.
  const round = { sends, keys: new Set<string>(), rows: written.then(rowsOf).finally(close) };
  rounds.set(kind, round);
  return round;
}

function statementsOf(sends: readonly NewSend[], by: codes.SendBy): readonly Statement[] {
  const [first] = sends;
  if (!first) return [];
  const rows = sends.map(({ row }) => row);
  const events = sends.map(({ event, row }) => ({ event, of: [row.identifier, row.id] }));
  return [
    codes.insertCodes(rows, first.limits, first.budgets.room, by),
    codes.selectSends(rows, first.limits, by),
    emitEventsOf(events, codes.IS_SENT_OF),
    ...first.budgets.spend,
  ];
}

function rowsOf([, sent]: readonly Result[]): ReadonlyMap<unknown, Row> {
  return new Map(sent?.rows.map((row) => [row['id'], row]));
}

/**
 * The budgets that refused a send, read afterwards: a refusal is rare. A budget that has room again by now is free at
 * once.
 */
async function fullBudgets({ config, db }: Ctx, budgets: BudgetUse, { ip, now }: codes.NewCode) {
  const [state] = await db.read(budgets.state);
  const full = budgets.full(state);
  return full.length > 0 ? full : [limitState(config, 'sends-per-ip', { bucket: ip, freesAt: now, now })];
}

/** The limits of sends, each with the column of `selectSends` that holds the time of its oldest counted send. */
const SEND_LIMITS = [
  ['sends-per-ip', 'ip_at'],
  ['sends-per-identifier', 'identifier_at'],
  ['pass-sends-per-identifier', 'pass_at'],
  ['pass-sends-per-ip', 'pass_ip_at'],
  ['keep-sends-per-identifier', 'keep_at'],
  ['sends-per-number', 'number_at'],
  ['sends-per-number-day', 'number_day_at'],
] as const;

/** The full limits, each with the seconds until it has room. */
export function fullLimits(config: Config, resets: Row, { ip, identifier, now }: codes.NewCode): LimitState[] {
  const buckets = { client: ip, network: '', identifier, account: '', app: '', vault: '' };
  const full: LimitState[] = [];
  for (const [name, column] of SEND_LIMITS) {
    const at = column in resets ? numberOf(resets, column) : null;
    if (at === null) continue;
    const freesAt = at + boundsOf(config, name).windowSeconds * 1000;
    full.push(limitState(config, name, { bucket: buckets[limitOf(name).bucket], freesAt, now }));
  }
  return full;
}
