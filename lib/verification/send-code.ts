import { VaultError } from '../base/error.ts';
import type { Purpose } from '../base/purpose.ts';
import { randomCode, randomId } from '../base/random.ts';
import { SMS_CODE_EXPIRY_SECONDS } from '../constants.ts';
import type { EmailSender } from '../delivery/email.ts';
import { reachedNobody } from '../delivery/measure.ts';
import type { MailBrand } from '../delivery/provider.ts';
import type { SmsProvider } from '../delivery/sms.ts';
import { eventOf } from '../events/catalogue.ts';
import { emitEvent } from '../events/emit.ts';
import { type Identifier, maskIdentifier, type ProvableChannel } from '../identity/identifier.ts';
import { type BudgetUse, useForKeep, useForSend } from '../limits/budgets.ts';
import { boundsOf } from '../limits/catalogue.ts';
import { limitState } from '../limits/limits.ts';
import type { Platform } from '../platform.ts';
import { codeDigest, newPass, passDigest } from './code.ts';
import { passLink } from './pass.ts';
import * as codes from './send-store.ts';
import { fullLimits, writeSend } from './write-send.ts';

type Ctx = Pick<Platform, 'config' | 'keys' | 'clock' | 'random' | 'db' | 'metrics'> & {
  readonly email: EmailSender;
  readonly brandOf: (app: string) => MailBrand;
  readonly sms: SmsProvider;
  readonly isolatesRequests: boolean;
  /** Records the acceptance of a message (`./accepted.ts`). */
  readonly accepted: (seq: number) => void;
};

/** A sent code: its lifetime, the pause until the next send (both in seconds), and the challenge for its checks. */
export interface SentCode {
  readonly expiresIn: number;
  readonly retryAfter: number;
  readonly challenge: string;
}

/** A request for a code: the identifier, the client key that limits count under, and the app of its events. */
export interface SendRequest {
  readonly identifier: Identifier<ProvableChannel>;
  readonly purpose: Purpose;
  readonly ip: string;
  readonly app: string;
  /** The language of the message. */
  readonly language: string;
  /** A pass from an earlier message. */
  readonly pass?: string | undefined;
  /** Whether the holder of a claimed address has asked by its passkey: only the limit of such sends applies. */
  readonly isByHolder?: boolean | undefined;
  /** Whether only checks that bring the challenge are judged against the code. */
  readonly isBound?: boolean | undefined;
  /** If given, the message goes out after the answer, and only where this is true: the answer is the same. */
  readonly mayReach?: (() => Promise<boolean>) | undefined;
}

/**
 * Sends a one-time code. The send is counted and the digest stored durably before the message leaves; the reply never
 * depends on whether the identifier is known, nor on whether guessing has made its sends pass-only. Throws 503
 * `email_not_configured` or `sms_not_configured`, 429 `rate_limited`, 403 `pass_invalid`, 502 `email_send_failed` or
 * `sms_send_failed`, 400 `Invalid identifier` when the SMS provider says so.
 */
export async function sendCode(ctx: Ctx, request: SendRequest): Promise<SentCode> {
  const { config, clock } = ctx;
  const { identifier, app } = request;
  refuseChannel(ctx, request);
  refuseCountry(ctx, identifier);
  const now = clock.now();
  const lifetimeSeconds = lifetimeOf(ctx, identifier);
  const { row, code, pass } = newCode(ctx, request, now, lifetimeSeconds);
  const limits = {
    perIp: config.maxVerifySendsPerIp,
    perIdentifier: config.rateLimitCodesPerIdentifier,
    ...limitsOfNumber(ctx),
  };
  const budgets = row.isByHolder
    ? useForKeep(config, row)
    : useForSend(config, { ...row, client: row.ip, isStranger: codes.isToStranger(row) });
  const event = eventOf('code.sent', { app, at: now }, shownOf(identifier));
  const written = await writeSend(ctx, { row, limits, budgets, event });
  const full = fullLimits(config, written, row);
  const sent = codes.toSent(written);
  const content = messageOf(ctx, request, code, pass, sent);
  const outgoing = { row, seq: sent.seq, budgets, lifetimeSeconds, ...content };
  if (request.mayReach === undefined) await deliver(ctx, request, outgoing);
  else {
    const delivery = deliverUnseen(ctx, request, outgoing, request.mayReach);
    // Such a host ends unfinished work with its request.
    if (ctx.isolatesRequests) await delivery;
  }
  const retryAfter = Math.max(0, ...full.map((limit) => limit.retryAfterSeconds ?? 0));
  return { expiresIn: lifetimeSeconds, retryAfter, challenge: row.id };
}

/** How many SMS a number gets. Messages of a provider that keeps the code have no pass, so nothing is kept for one. */
function limitsOfNumber({ config, sms }: Ctx) {
  const perNumber = boundsOf(config, 'sends-per-number').max;
  const perNumberDay = boundsOf(config, 'sends-per-number-day').max;
  const kept = sms.kind === 'verify' ? 0 : Math.floor(perNumber * KEPT_FOR_PASSES);
  const perNumberFree = perNumber - kept;
  return { perNumber, perNumberFree, perNumberDay, perNumberDayFree: perNumberDay - 2 * kept };
}

/** The part of a number's sends that only a pass lets through. */
const KEPT_FOR_PASSES = 2 / 5;

/** The row of a send, with the code and the pass that only its message holds; a provider's message has neither. */
function newCode(
  { keys, random, sms }: Ctx,
  { identifier, purpose, ip, pass: given, isBound = false, isByHolder = false }: SendRequest,
  now: number,
  lifetimeSeconds: number,
): { row: codes.NewCode; code: string | null; pass: string | null } {
  const id = randomId(random);
  const isKept = identifier.channel === 'sms' && sms.kind === 'verify';
  const code = isKept ? null : randomCode(random);
  const pass = isKept ? null : newPass(random, now);
  const row: codes.NewCode = {
    id,
    identifier: identifier.key,
    channel: identifier.channel,
    purpose,
    ip,
    now,
    expiresAt: now + lifetimeSeconds * 1000,
    digest: code === null ? null : codeDigest(keys.codePepper, identifier.key, id, code),
    isBound,
    pass: pass === null ? null : passDigest(pass),
    givenPass: given === undefined ? null : passDigest(given),
    isByHolder,
  };
  return { row, code, pass };
}

/**
 * The contents of the message: the code and a pass. After too many wrong guesses it is the pass alone. A message that a
 * pass or a holder's passkey let through has no further pass, so that passes cannot be chained.
 */
function messageOf(
  { config, brandOf }: Ctx,
  { app, language, identifier: { channel } }: SendRequest,
  code: string | null,
  pass: string | null,
  { isPassed, needsPass }: codes.Sent,
): Pick<OutgoingCode, 'code' | 'pass'> {
  if (code === null || pass === null) return { code: undefined, pass: undefined };
  if (isPassed) return { code, pass: undefined };
  // A text message has room for little more than the link.
  const lang = channel === 'email' ? { lang: language } : {};
  const shown = { ...(brandOf(app).isOwn ? { app } : {}), ...lang };
  return { code: needsPass ? undefined : code, pass: passLink(config, pass, shown) };
}

/** A provider that keeps the codes repeats one to a number: it sends those alone that it keeps apart from others. */
function refuseChannel({ email, sms }: Ctx, { identifier: { channel }, purpose }: SendRequest): void {
  if (channel === 'email' && email.isOff) throw new VaultError('email_not_configured');
  if (channel !== 'sms') return;
  if (sms.kind === 'none') throw new VaultError('sms_not_configured');
  if (sms.kind === 'verify' && !sms.offers(purpose))
    throw new VaultError('sms_not_configured', { hint: `This vault sends no codes for ${purpose} to numbers.` });
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

/** A message to send, and the row of its send. */
interface OutgoingCode {
  readonly row: codes.NewCode;
  readonly seq: number;
  readonly budgets: BudgetUse;
  readonly code: string | undefined;
  readonly pass: string | undefined;
  readonly lifetimeSeconds: number;
}

/** Sends the message, or keeps it back, and says nothing of either. */
async function deliverUnseen(
  ctx: Ctx,
  request: SendRequest,
  outgoing: OutgoingCode,
  mayReach: () => Promise<boolean>,
): Promise<void> {
  try {
    if (await mayReach()) await deliver(ctx, request, outgoing);
    else await ctx.db.write(codes.markWithheld(outgoing.seq));
  } catch {
    // The delivery has counted and reported the failure.
  }
}

/**
 * Sends the message and records its delivery. A send that surely reached nobody is given back before the error is
 * answered. Another record is not awaited.
 */
async function deliver(
  ctx: Ctx,
  { identifier, purpose, app, language, mayReach }: SendRequest,
  { row, seq, budgets, code, pass, lifetimeSeconds }: OutgoingCode,
): Promise<void> {
  const { channel, value } = identifier;
  const count = (outcome: 'accepted' | 'refused') =>
    ctx.metrics.counter('vault_codes_sent_total').add({ channel, outcome });
  try {
    const message = { to: value, app, language, lifetimeSeconds, code, pass, purpose };
    if (channel === 'email') await ctx.email.send(message);
    else if (ctx.sms.kind === 'verify') await ctx.sms.send(value, language, purpose);
    else if (ctx.sms.kind === 'own') await ctx.sms.send(message);
  } catch (error) {
    count('refused');
    const event = eventOf('code.undelivered', { app, at: ctx.clock.now() }, shownOf(identifier));
    // A refund would reveal that there was somebody to reach.
    const isUnsent = mayReach === undefined && reachedNobody(error);
    const changes = isUnsent ? [...budgets.refund(codes.isSent(row)), codes.giveBack(row)] : [codes.markRefused(seq)];
    const written = ctx.db.write(...changes, emitEvent(event, { ifChanged: true })).catch(() => undefined);
    if (isUnsent) await written;
    throw error;
  }
  count('accepted');
  ctx.accepted(seq);
}

/** The identifier as events show it. */
function shownOf(identifier: Identifier) {
  return { channel: identifier.channel, identifier: maskIdentifier(identifier) };
}
