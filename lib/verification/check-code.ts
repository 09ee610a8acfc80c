import { equalText } from '../base/bytes.ts';
import type { Purpose } from '../base/purpose.ts';
import type { Statement } from '../db/database.ts';
import type { SmsProvider } from '../delivery/sms.ts';
import { eventOf } from '../events/catalogue.ts';
import { emitEvent } from '../events/emit.ts';
import { type Identifier, maskIdentifier, type ProvableChannel } from '../identity/identifier.ts';
import type { Platform } from '../platform.ts';
import { type Attestation, signAttestation } from './attestation.ts';
import * as codes from './check-store.ts';
import { codeDigest } from './code.ts';
import { findCode, type RefusedCheck, type StrangersChecks, type Target } from './find-code.ts';
import { countGuess } from './guessing.ts';
import { countSpentGuess, countWrongGuess, markVerifiedIfChanged, selectVerifiedAt } from './store.ts';

type Ctx = Pick<Platform, 'config' | 'keys' | 'clock' | 'db' | 'metrics' | 'log'> & {
  readonly sms: SmsProvider;
  readonly strangers: StrangersChecks;
};

/** The result of a check. */
export type CodeVerdict = { readonly verified: true; readonly attestation: Attestation } | RefusedCheck;

/** A code to check: the client that checks it, the challenge and purpose it may bring, and the app of its events. */
export interface CodeToCheck {
  readonly identifier: Identifier<ProvableChannel>;
  readonly code: string;
  readonly ip: string;
  readonly challenge?: string | undefined;
  readonly purpose?: Purpose | undefined;
  readonly app: string;
}

/**
 * Checks a code against the one code that the caller may try. Every check of a live code spends an attempt; the right
 * code is also consumed. Throws 502 `sms_provider_error`.
 */
export async function checkCode(ctx: Ctx, check: CodeToCheck): Promise<CodeVerdict> {
  const { identifier } = check;
  const now = ctx.clock.now();
  const found = await findCode(ctx, check, now);
  if ('refused' in found) return counted(ctx, identifier, found.refused);
  const outcome =
    found.code.digest === null
      ? await checkWithProvider(ctx, check, found, now)
      : await checkOwn(ctx, check, found, found.code.digest, now);
  if (outcome !== 'lost') return counted(ctx, identifier, outcome);
  // Another check or send changed the code between the read and the write: read it again.
  const again = await findCode(ctx, check, now);
  return counted(ctx, identifier, 'refused' in again ? again.refused : SUPERSEDED);
}

/** When the identifier was last verified, in milliseconds; null if never. */
export async function verifiedAt(ctx: Pick<Platform, 'db'>, identifier: Identifier): Promise<number | null> {
  const [row] = await ctx.db.read(selectVerifiedAt(identifier.key));
  const at = row?.['verified_at'] ?? null;
  return at === null ? null : Number(at);
}

/** A newer code was sent meanwhile, so this one is wrong. */
const SUPERSEDED: CodeVerdict = { verified: false, message: 'Incorrect code' };
const NOTHING_SENT: CodeVerdict = { verified: false, message: 'No code was sent' };
const EXPIRED: CodeVerdict = { verified: false, message: 'Code expired' };
const EXHAUSTED: RefusedCheck = { verified: false, message: 'Too many attempts' };

/** `lost`: the conditional write found the code changed. */
type Outcome = CodeVerdict | 'lost';

/**
 * Compares in constant time, then one write counts the attempt and consumes a right code, if the code is still live.
 */
async function checkOwn(
  ctx: Ctx,
  check: CodeToCheck,
  { code, role, isOther, otherwise }: Target,
  digest: string,
  now: number,
): Promise<Outcome> {
  const { identifier } = check;
  const guessed = codeDigest(ctx.keys.codePepper, identifier.key, code.id, check.code);
  const right = equalText(guessed, digest) && !code.isDead && !isOther;
  const spent = spentBy(ctx, check, code, now);
  const spend = codes.spendAttempt(spent, role, right);
  if (!right) {
    const written = countGuess(ctx, identifier, ctx.db.write(spend, ...wrongGuess(check, spent, code.byPass)), 1);
    if (role !== 'stranger') return written.then(([result]) => incorrect(ctx, result?.rows[0]));
    // The answer is known, and must not take longer where a code is live.
    written.catch(() => undefined);
    return otherwise;
  }
  const verify = [markVerifiedIfChanged(identifier.key, now), emitCodeVerified(check.app, identifier, now)];
  const [result] = await ctx.db.write(spend, ...verify);
  return result?.rows[0] ? verified(ctx, check, code, now) : 'lost';
}

/** Spends the attempt before the provider is asked, so that concurrent checks never exceed a code's attempts. */
async function checkWithProvider(
  ctx: Ctx,
  check: CodeToCheck,
  { code, role, isOther, otherwise }: Target,
  now: number,
): Promise<Outcome> {
  if (ctx.sms.kind !== 'verify') return NOTHING_SENT;
  const { identifier, app } = check;
  const refused = (verdict: CodeVerdict) => (role === 'stranger' ? otherwise : verdict);
  const results = await ctx.db.write(
    ...codes.spendProviderCheck({ identifier: identifier.key, seq: code.seq, now }, role !== 'stranger'),
  );
  const attemptsRemaining = Number(results.at(-1)?.rows[0]?.['checks_left'] ?? 0);
  if (!results.slice(0, -1).some(({ rowsAffected }) => rowsAffected === 1))
    return refused({ ...EXHAUSTED, attemptsRemaining });
  // Asked, the provider would approve a code of another purpose by its own service.
  const answer = isOther ? 'pending' : await ctx.sms.check(identifier.value, check.code, code.purpose);
  if (answer === 'expired') return refused(EXPIRED);
  if (answer === 'exhausted') return refused(EXHAUSTED);
  const at = ctx.clock.now();
  if (answer === 'pending') {
    const count = countSpentGuess(identifier.key, code.seq, at);
    const told = codes.emitWrongGuess(shownBy(check), spentBy(ctx, check, code, at));
    await countGuess(ctx, identifier, ctx.db.write(count, told), 0);
    return refused({ verified: false, message: 'Incorrect code', attemptsRemaining });
  }
  const [consumed] = await ctx.db.write(
    codes.consumeCode({ identifier: identifier.key, seq: code.seq, now: at }),
    markVerifiedIfChanged(identifier.key, at),
    emitCodeVerified(app, identifier, at),
  );
  return (consumed?.rowsAffected ?? 0) > 0 ? verified(ctx, check, code, at) : 'lost';
}

function spentBy({ config }: Ctx, { identifier, ip }: CodeToCheck, { seq }: codes.StoredCode, now: number) {
  return { identifier: identifier.key, seq, ip, now, attemptsMax: config.maxVerifyAttempts };
}

/** Follows the statement that spends the attempt of a wrong code. */
function wrongGuess(check: CodeToCheck, spent: codes.CodeCheck, byPass: number | null): readonly Statement[] {
  return [
    countWrongGuess(spent.identifier, spent.now),
    ...(byPass === null ? [] : [codes.countPassGuess(byPass)]),
    codes.emitWrongGuess(shownBy(check), spent),
  ];
}

/** Follows the statement that marks the identifier, and takes effect only if that changed a row. */
function emitCodeVerified(app: string, identifier: Identifier, at: number): Statement {
  const data = { channel: identifier.channel, identifier: maskIdentifier(identifier) };
  return emitEvent(eventOf('code.verified', { app, at }, data), { ifChanged: true });
}

function shownBy({ app, identifier }: CodeToCheck): codes.GuessShown {
  return { app, channel: identifier.channel, shown: maskIdentifier(identifier) };
}

/** `spent` is the row of `spendAttempt`. */
function incorrect({ config }: Ctx, spent: Readonly<Record<string, unknown>> | undefined): Outcome {
  if (!spent) return 'lost';
  const attemptsRemaining = Math.max(0, config.maxVerifyAttempts - Number(spent['attempts']));
  return { verified: false, message: 'Incorrect code', attemptsRemaining };
}

function verified(
  { config, keys }: Ctx,
  { identifier }: CodeToCheck,
  { purpose }: codes.StoredCode,
  at: number,
): CodeVerdict {
  const attestation = signAttestation(keys.attestation, {
    identifier,
    verifiedAt: at,
    ttlSeconds: config.attestationTtlSeconds,
    registrar: config.registrarDid,
    purpose,
  });
  return { verified: true, attestation };
}

function counted({ metrics }: Ctx, { channel }: Identifier<ProvableChannel>, verdict: CodeVerdict): CodeVerdict {
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
