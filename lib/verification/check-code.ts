import { equalText } from '../base/bytes.ts';
import type { Row, Statement } from '../db/database.ts';
import type { SmsProvider } from '../delivery/sms.ts';
import { eventOf } from '../events/catalogue.ts';
import { emitEvent } from '../events/emit.ts';
import { type Identifier, maskIdentifier } from '../identity/identifier.ts';
import { type Notices, recordLimit } from '../limits/limit-events.ts';
import { limitState } from '../limits/limits.ts';
import type { Platform } from '../platform.ts';
import { type Attestation, signAttestation } from './attestation.ts';
import { codeDigest } from './code.ts';
import * as codes from './store.ts';

type Ctx = Pick<Platform, 'config' | 'keys' | 'clock' | 'db' | 'metrics' | 'log'> & {
  readonly sms: SmsProvider;
  readonly notices: Notices;
};

/** The result of a check. */
export type CodeVerdict = { readonly verified: true; readonly attestation: Attestation } | RefusedCheck;

/** Why a check did not verify, the attempts left, and the seconds until another check can succeed. */
export interface RefusedCheck {
  readonly verified: false;
  readonly message: 'Incorrect code' | 'Code expired' | 'Too many attempts' | 'No code was sent';
  readonly attemptsRemaining?: number;
  readonly retryAfter?: number;
}

/** A code to check, and the app of its events. */
export interface CodeToCheck {
  readonly identifier: Identifier;
  readonly code: string;
  readonly app: string;
}

/**
 * Checks a code against the identifier's newest one. Every check of a live code spends an attempt; the right code is
 * also consumed. Throws 502 `sms_provider_error`.
 */
export async function checkCode(ctx: Ctx, check: CodeToCheck): Promise<CodeVerdict> {
  const { identifier } = check;
  const now = ctx.clock.now();
  const { live, verdict } = await readLiveCode(ctx, check, now);
  if (!live) return counted(ctx, identifier, verdict);
  const outcome =
    live.digest === null
      ? await checkWithProvider(ctx, check, live, now)
      : await checkOwn(ctx, check, live, live.digest, now);
  if (outcome !== 'lost') return counted(ctx, identifier, outcome);
  // Another check changed the code between the read and the write: read it again.
  const again = await readLiveCode(ctx, check, now);
  return counted(ctx, identifier, again.live ? SUPERSEDED : again.verdict);
}

/** When the identifier was last verified, in milliseconds; null if never. */
export async function verifiedAt(ctx: Pick<Platform, 'db'>, identifier: Identifier): Promise<number | null> {
  const [row] = await ctx.db.read(codes.selectVerifiedAt(identifier.key));
  const at = row?.['verified_at'] ?? null;
  return at === null ? null : Number(at);
}

const TOO_MANY: RefusedCheck = { verified: false, message: 'Too many attempts' };
const EXPIRED: CodeVerdict = { verified: false, message: 'Code expired' };
/** A newer code was sent meanwhile, so this one is wrong. */
const SUPERSEDED: CodeVerdict = { verified: false, message: 'Incorrect code' };
const NOTHING_SENT: CodeVerdict = { verified: false, message: 'No code was sent' };

type Live = codes.LiveCode;
/** `lost`: the conditional write found the code changed. */
type Outcome = CodeVerdict | 'lost';

/** The identifier's live code, or the verdict when it has none. */
async function readLiveCode(
  ctx: Ctx,
  { identifier, app }: CodeToCheck,
  now: number,
): Promise<{ live: Live; verdict?: undefined } | { live?: undefined; verdict: CodeVerdict }> {
  const { db, config } = ctx;
  const [row] = await db.read(codes.selectNewestCode(identifier.key));
  const newest = row && codes.toLiveCode(row);
  if (!newest || newest.consumedAt !== null) return { verdict: NOTHING_SENT };
  if (now >= newest.expiresAt) return { verdict: EXPIRED };
  if (now < newest.blockedUntil) {
    const full = { bucket: identifier.key, freesAt: newest.blockedUntil, now };
    recordLimit(ctx, app, limitState(config, 'guesses-per-identifier', full));
    return { verdict: { ...TOO_MANY, retryAfter: Math.ceil((newest.blockedUntil - now) / 1000) } };
  }
  if (newest.attempts >= config.maxVerifyAttempts) return { verdict: { ...TOO_MANY, attemptsRemaining: 0 } };
  return { live: newest };
}

/**
 * Compares in constant time, then one write counts the attempt and consumes a right code, if the code is still live.
 */
async function checkOwn(
  ctx: Ctx,
  { identifier, code, app }: CodeToCheck,
  live: Live,
  digest: string,
  now: number,
): Promise<Outcome> {
  const right = equalText(codeDigest(ctx.keys.codePepper, identifier.key, live.id, code), digest);
  const spend = codes.spendAttempt(checkOf(ctx, identifier, live, now), right);
  const mark = right
    ? codes.markVerifiedIfChanged(identifier.key, now)
    : codes.countWrongGuess(identifier.key, now, { ifChanged: true });
  const event = right ? emitCodeVerified(app, identifier, now) : emitCodeExhausted(ctx, app, identifier, live, now);
  const [spent] = await ctx.db.write(spend, mark, event);
  const row = spent?.rows[0];
  if (!row) return 'lost';
  return right ? verified(ctx, identifier, now) : incorrect(ctx, row);
}

/** Spends the attempt before the provider is asked, so that concurrent checks never exceed a code's attempts. */
async function checkWithProvider(
  ctx: Ctx,
  { identifier, code, app }: CodeToCheck,
  live: Live,
  now: number,
): Promise<Outcome> {
  if (ctx.sms.kind !== 'verify') return NOTHING_SENT;
  const [spent] = await ctx.db.write(codes.spendAttempt(checkOf(ctx, identifier, live, now), false));
  const row = spent?.rows[0];
  if (!row) return 'lost';
  const answer = await ctx.sms.check(identifier.value, code);
  if (answer === 'expired') return EXPIRED;
  if (answer === 'exhausted') return TOO_MANY;
  const at = ctx.clock.now();
  if (answer === 'pending') {
    await ctx.db.write(
      codes.countWrongGuess(identifier.key, at, { ifChanged: false }),
      emitCodeExhausted(ctx, app, identifier, live, at),
    );
    return incorrect(ctx, row);
  }
  const [consumed] = await ctx.db.write(
    codes.consumeCode(live.seq, at),
    codes.markVerifiedIfChanged(identifier.key, at),
    emitCodeVerified(app, identifier, at),
  );
  return consumed?.rowsAffected === 1 ? verified(ctx, identifier, at) : 'lost';
}

function checkOf({ config }: Ctx, identifier: Identifier, live: Live, now: number): codes.CodeCheck {
  return { identifier: identifier.key, seq: live.seq, now, attemptsMax: config.maxVerifyAttempts };
}

/** Follows the statement that marks the identifier, and takes effect only if that changed a row. */
function emitCodeVerified(app: string, identifier: Identifier, at: number): Statement {
  return emitEvent(eventOf('code.verified', { app, at }, shownOf(identifier)), { ifChanged: true });
}

/**
 * Follows the statement that counts the guess: emitted for the code's last attempt, or when the identifier gets
 * blocked.
 */
function emitCodeExhausted({ config }: Ctx, app: string, identifier: Identifier, { seq }: Live, at: number): Statement {
  const event = eventOf('code.exhausted', { app, at }, shownOf(identifier));
  return emitEvent(event, { ifChanged: true, when: codes.isExhausted(seq, config.maxVerifyAttempts) });
}

function shownOf(identifier: Identifier) {
  return { channel: identifier.channel, identifier: maskIdentifier(identifier) };
}

/** `spent` is the row of `spendAttempt`. */
function incorrect({ config }: Ctx, spent: Row): CodeVerdict {
  const attemptsRemaining = Math.max(0, config.maxVerifyAttempts - Number(spent['attempts']));
  return { verified: false, message: 'Incorrect code', attemptsRemaining };
}

function verified({ config, keys }: Ctx, identifier: Identifier, at: number): CodeVerdict {
  const attestation = signAttestation(keys.attestation, {
    identifier,
    verifiedAt: at,
    ttlSeconds: config.attestationTtlSeconds,
    registrar: config.registrarDid,
  });
  return { verified: true, attestation };
}

function counted({ metrics }: Ctx, { channel }: Identifier, verdict: CodeVerdict): CodeVerdict {
  const outcome = verdict.verified ? 'verified' : OUTCOMES[verdict.message];
  metrics.counter('vault_codes_checked_total').add({ channel, outcome });
  return verdict;
}

const OUTCOMES = {
  'Incorrect code': 'incorrect',
  'Code expired': 'expired',
  'Too many attempts': 'exhausted',
  'No code was sent': 'none',
} as const;
