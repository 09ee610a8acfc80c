import { type LimitState, VaultError } from '../base/error.ts';
import { randomCode, randomId } from '../base/random.ts';
import type { Config } from '../config/config.ts';
import { SMS_CODE_EXPIRY_SECONDS } from '../constants.ts';
import { numberOf, type Row } from '../db/database.ts';
import type { EmailSender } from '../delivery/email.ts';
import type { SmsProvider } from '../delivery/sms.ts';
import { eventOf } from '../events/catalogue.ts';
import { emitEvent } from '../events/emit.ts';
import { type Identifier, maskIdentifier } from '../identity/identifier.ts';
import { boundsOf, limitOf } from '../limits/catalogue.ts';
import { limitReached, limitState } from '../limits/limits.ts';
import type { Platform } from '../platform.ts';
import { codeDigest } from './code.ts';
import * as codes from './store.ts';

type Ctx = Pick<Platform, 'config' | 'keys' | 'clock' | 'random' | 'db' | 'metrics'> & {
  readonly email: EmailSender;
  readonly sms: SmsProvider;
};

/** The lifetime of a sent code and the pause until the next send is allowed (0 while sends remain), in seconds. */
export interface SentCode {
  readonly expiresIn: number;
  readonly retryAfter: number;
}

/** A request for a code: the identifier, the client key that limits count under, and the app of its events. */
export interface SendRequest {
  readonly identifier: Identifier;
  readonly ip: string;
  readonly app: string;
}

/**
 * Sends a one-time code. The send is counted and the digest stored durably before the message leaves; the reply never
 * depends on whether the identifier is known. Throws 429 `rate_limited`, 502 `email_send_failed` or
 * `sms_send_failed`, 400 `Invalid identifier` when the SMS provider says so.
 */
export async function sendCode(ctx: Ctx, { identifier, ip, app }: SendRequest): Promise<SentCode> {
  const { config, keys, clock, random, db } = ctx;
  refuseCountry(ctx, identifier);
  const now = clock.now();
  const id = randomId(random);
  const lifetimeSeconds = lifetimeOf(ctx, identifier);
  const code = identifier.channel === 'sms' && ctx.sms.kind === 'verify' ? null : randomCode(random);
  const row: codes.NewCode = {
    id,
    identifier: identifier.key,
    channel: identifier.channel,
    ip,
    now,
    expiresAt: now + lifetimeSeconds * 1000,
    digest: code === null ? null : codeDigest(keys.codePepper, identifier.key, id, code),
  };
  const limits = {
    perIp: config.maxVerifySendsPerIp,
    perIdentifier: config.rateLimitCodesPerIdentifier,
    smsDaily: config.smsDailyMax,
  };
  const [inserted, , resets] = await db.write(
    codes.insertCode(row, limits),
    emitEvent(eventOf('code.sent', { app, at: now }, shownOf(identifier)), { ifChanged: true }),
    codes.selectSendResets(row, limits),
  );
  const full = resets?.rows[0] ? fullLimits(config, resets.rows[0], row) : [];
  if (inserted?.rowsAffected !== 1) throw refused(ctx, full);
  await deliver(ctx, identifier, { id, code, lifetimeSeconds, app });
  return { expiresIn: lifetimeSeconds, retryAfter: Math.max(0, ...full.map((limit) => limit.retryAfterSeconds ?? 0)) };
}

function refuseCountry({ config }: Ctx, { channel, value }: Identifier): void {
  const allowed = config.smsCountries;
  if (channel !== 'sms' || allowed.length === 0 || allowed.some((prefix) => value.startsWith(prefix))) return;
  const limit = limitState(config, 'sms-countries', { bucket: '', freesAt: null, now: 0 });
  throw new VaultError('rate_limited', { limit });
}

function lifetimeOf({ config, sms }: Ctx, { channel }: Identifier): number {
  const byProvider = channel === 'sms' && sms.kind === 'verify';
  return byProvider ? SMS_CODE_EXPIRY_SECONDS : config.emailCodeExpirySeconds;
}

/** The limits of a send, each with the column of `selectSendResets` that holds the time of its oldest counted send. */
const SEND_LIMITS = [
  ['sends-per-ip', 'ip_at'],
  ['sends-per-identifier', 'identifier_at'],
  ['sms-per-day', 'sms_at'],
] as const;

/** The full limits, each with the seconds until it has room. */
function fullLimits(config: Config, reset: Row, { ip, identifier, now }: codes.NewCode): LimitState[] {
  const buckets = { client: ip, identifier, vault: '' };
  return SEND_LIMITS.flatMap(([name, column]) => {
    const at = numberOf(reset, column);
    if (at === null) return [];
    const freesAt = at + boundsOf(config, name).windowSeconds * 1000;
    return [limitState(config, name, { bucket: buckets[limitOf(name).bucket], freesAt, now })];
  });
}

/** The 429 of the limit that frees last; without a limit if a slot became free meanwhile. */
function refused(ctx: Ctx, full: readonly LimitState[]): VaultError {
  const [first] = full.toSorted((a, b) => (b.retryAfterSeconds ?? 0) - (a.retryAfterSeconds ?? 0));
  if (first) return limitReached(ctx, first);
  ctx.metrics.counter('vault_limits_reached_total').add({ limit: 'sends' });
  return new VaultError('rate_limited');
}

/**
 * Sends the message and records its delivery. The record is not awaited: a crash before it only overstates the lost
 * codes.
 */
async function deliver(
  ctx: Ctx,
  identifier: Identifier,
  { id, code, lifetimeSeconds, app }: { id: string; code: string | null; lifetimeSeconds: number; app: string },
): Promise<void> {
  const { channel, value, key } = identifier;
  const recordDelivery = (delivery: 'accepted' | 'refused') => {
    const event = eventOf('code.undelivered', { app, at: ctx.clock.now() }, shownOf(identifier));
    const events = delivery === 'refused' ? [emitEvent(event, { ifChanged: true })] : [];
    ctx.db.write(codes.markDelivery(id, key, delivery), ...events).catch(() => undefined);
    ctx.metrics.counter('vault_codes_sent_total').add({ channel, outcome: delivery });
  };
  try {
    if (channel === 'email') await ctx.email.send({ to: value, code: code as string, lifetimeSeconds });
    else if (ctx.sms.kind === 'verify') await ctx.sms.send(value);
    else await ctx.sms.send({ to: value, code: code as string, lifetimeSeconds });
  } catch (error) {
    recordDelivery('refused');
    throw error;
  }
  recordDelivery('accepted');
}

/** The identifier as events show it. */
function shownOf(identifier: Identifier) {
  return { channel: identifier.channel, identifier: maskIdentifier(identifier) };
}
