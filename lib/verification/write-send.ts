import { type LimitState, VaultError } from '../base/error.ts';
import type { Config } from '../config/config.ts';
import { numberOf, type Row, type Together } from '../db/database.ts';
import type { NewEvent } from '../events/catalogue.ts';
import { emitEventsOf } from '../events/emit.ts';
import type { BudgetUse } from '../limits/budgets.ts';
import { boundsOf, limitOf } from '../limits/catalogue.ts';
import { lastLimitReached, limitState } from '../limits/limits.ts';
import type { Platform } from '../platform.ts';
import * as codes from './send-store.ts';

type Ctx = Pick<Platform, 'config' | 'clock' | 'db' | 'metrics'>;

/** What is written of a send. */
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
  const sent = await ctx.db.writeTogether(sendsOf(send, by), send);
  if (sent) return sent;
  const refusal = (await ctx.db.read(codes.selectSendRefusal(row, limits, by)))[0] as Row;
  if (by === 'nothing' && codes.isPassed(refusal)) return writeSend(ctx, send, 'grant');
  if (by === 'pass' && !codes.isPassed(refusal)) throw new VaultError('pass_invalid');
  const full = fullLimits(ctx.config, refusal, row);
  throw lastLimitReached(ctx, full.length > 0 ? full : await fullBudgets(ctx, budgets, row));
}

// Sends that meet the same limits and budgets have the same texts.
const kinds = new Map<string, Together<NewSend, Row | undefined>>();

function sendsOf({ row, budgets }: NewSend, by: codes.SendBy): Together<NewSend, Row | undefined> {
  const name = `${row.channel} ${by} ${budgets.room.sql}`;
  const known = kinds.get(name) ?? createKind(by, budgets);
  kinds.set(name, known);
  return known;
}

/** Sends by clients of their own to identifiers of their own; of those that count for a network one after the other. */
function createKind(by: codes.SendBy, { spend }: BudgetUse): Together<NewSend, Row | undefined> {
  return {
    size: 3 + spend.length,
    statements(sends) {
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
    },
    keysOf: ({ row, budgets }) => [row.ip, row.identifier, ...(budgets.spend.length > 0 ? ['budgets'] : [])],
    split([, sent], sends) {
      const rows = new Map(sent?.rows.map((row) => [row['id'], row]));
      return sends.map(({ row }) => rows.get(row.id));
    },
    eventsOf: (row) => (row ? 1 : 0),
  };
}

/** The budgets that refused a send, read afterwards: a refusal is rare. What has room again by now is free at once. */
async function fullBudgets({ config, db }: Ctx, budgets: BudgetUse, { ip, now }: codes.NewCode) {
  const [state] = await db.read(budgets.state);
  const full = budgets.full(state);
  return full.length > 0 ? full : [limitState(config, 'sends-per-ip', { bucket: ip, freesAt: now, now })];
}

/** The limits of a send, each with the column of `selectSends` that holds the time of its oldest counted send. */
const SEND_LIMITS = [
  ['sends-per-ip', 'ip_at'],
  ['sends-per-identifier', 'identifier_at'],
  ['pass-sends-per-identifier', 'pass_at'],
  ['pass-sends-per-ip', 'pass_ip_at'],
  ['sends-per-number', 'number_at'],
  ['sends-per-number-day', 'number_day_at'],
] as const;

/** The full limits, each with the seconds until it has room. */
export function fullLimits(config: Config, resets: Row, { ip, identifier, now }: codes.NewCode): LimitState[] {
  const buckets = { client: ip, network: '', identifier, account: '', vault: '' };
  const full: LimitState[] = [];
  for (const [name, column] of SEND_LIMITS) {
    const at = numberOf(resets, column);
    if (at === null) continue;
    const freesAt = at + boundsOf(config, name).windowSeconds * 1000;
    full.push(limitState(config, name, { bucket: buckets[limitOf(name).bucket], freesAt, now }));
  }
  return full;
}
