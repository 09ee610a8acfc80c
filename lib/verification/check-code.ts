import { equalText } from '../base/bytes.ts';
import type { AttestedPurpose, Purpose } from '../base/purpose.ts';
import type { Result, Statement } from '../db/database.ts';
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

/** The services that a check needs. */
export type CodeContext = Pick<Platform, 'config' | 'keys' | 'clock' | 'db' | 'metrics' | 'log'> & {
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

/** The right code, when it was given, and what `also` changed. */
interface RightCode {
  readonly verified: true;
  readonly at: number;
  readonly purpose: Purpose;
  readonly also: readonly Result[];
}

/** Statements of another subject, in the batch that consumes a right code: the first runs if `changes()` is not 0. */
type Also = (now: number) => readonly Statement[];

/** Checks a code as `judgeCode`; the right one gives an attestation. */
export async function checkCode(
  ctx: CodeContext,
  check: CodeToCheck & { readonly purpose?: AttestedPurpose | undefined },
): Promise<CodeVerdict> {
  const { config, keys } = ctx;
  const verdict = await judgeCode(ctx, check);
  if (!verdict.verified) return verdict;
  const { at: verifiedAt, purpose } = verdict;
  if (purpose === 'credential') throw new Error('a code for a credential was right for something else');
  const [registrar, ttlSeconds] = [config.registrarDid, config.attestationTtlSeconds];
  const { identifier } = check;
  const of = { identifier, verifiedAt, ttlSeconds, registrar, purpose };
  return { verified: true, attestation: signAttestation(keys.attestation, of) };
}

/**
 * Judges a code against the one code that the caller may try. Every check of a live code spends an attempt; the right
 * code is also consumed, in one batch with `also`. Throws 502 `sms_provider_error`.
 */
export async function judgeCode(ctx: CodeContext, check: CodeToCheck, also?: Also): Promise<RightCode | RefusedCheck> {
  const { identifier } = check;
  const now = ctx.clock.now();
  const found = await findCode(ctx, check, now);
  if ('refused' in found) return counted(ctx, identifier, found.refused);
  const outcome =
    found.code.digest === null
      ? await checkWithProvider(ctx, check, found, now, also)
      : await checkOwn(ctx, check, found, found.code.digest, { now, also });
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
const SUPERSEDED: RefusedCheck = { verified: false, message: 'Incorrect code' };
const NOTHING_SENT: RefusedCheck = { verified: false, message: 'No code was sent' };
const EXPIRED: RefusedCheck = { verified: false, message: 'Code expired' };
const EXHAUSTED: RefusedCheck = { verified: false, message: 'Too many attempts' };

/** `lost`: the conditional write found the code changed. */
type Outcome = RightCode | RefusedCheck | 'lost';

/**
 * Compares in constant time, then one write counts the attempt and consumes a right code, if the code is still live.
 */
async function checkOwn(
  ctx: CodeContext,
  check: CodeToCheck,
  { code, role, isOther, otherwise }: Target,
  digest: string,
  { now, also }: { readonly now: number; readonly also: Also | undefined },
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
  const verify = [spend, markVerifiedIfChanged(identifier.key, now), emitCodeVerified(check.app, identifier, now)];
  const [result, ...more] = await ctx.db.write(...verify, ...(also?.(now) ?? []));
  return result?.rows[0] ? rightCode(code, now, more) : 'lost';
}

/** Spends the attempt before the provider is asked, so that concurrent checks never exceed a code's attempts. */
async function checkWithProvider(
  ctx: CodeContext,
  check: CodeToCheck,
  { code, role, isOther, otherwise }: Target,
  now: number,
  also: Also | undefined,
): Promise<Outcome> {
  if (ctx.sms.kind !== 'verify') return NOTHING_SENT;
  const { identifier, app } = check;
  const refused = (verdict: RefusedCheck) => (role === 'stranger' ? otherwise : verdict);
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
  const [consumed, ...more] = await ctx.db.write(
    codes.consumeCode({ identifier: identifier.key, seq: code.seq, now: at }),
    markVerifiedIfChanged(identifier.key, at),
    emitCodeVerified(app, identifier, at),
    ...(also?.(at) ?? []),
  );
  return (consumed?.rowsAffected ?? 0) > 0 ? rightCode(code, at, more) : 'lost';
}

function spentBy({ config }: CodeContext, { identifier, ip }: CodeToCheck, { seq }: codes.StoredCode, now: number) {
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
  const data = { channel: identifier.channel, identifier: maskIdentifier(identifier), by: 'code' };
  return emitEvent(eventOf('code.verified', { app, at }, data), { ifChanged: true });
}

function shownBy({ app, identifier }: CodeToCheck): codes.GuessShown {
  return { app, channel: identifier.channel, shown: maskIdentifier(identifier) };
}

/** `spent` is the row of `spendAttempt`. */
function incorrect({ config }: CodeContext, spent: Readonly<Record<string, unknown>> | undefined): Outcome {
  if (!spent) return 'lost';
  const attemptsRemaining = Math.max(0, config.maxVerifyAttempts - Number(spent['attempts']));
  return { verified: false, message: 'Incorrect code', attemptsRemaining };
}

/** `more` are the results behind the statement that consumed the code: two of the verification, then `also`. */
function rightCode({ purpose }: codes.StoredCode, at: number, more: readonly Result[]): RightCode {
  return { verified: true, at, purpose, also: more.slice(2) };
}

function counted<T extends RightCode | RefusedCheck>(
  { metrics }: CodeContext,
  { channel }: Identifier<ProvableChannel>,
  verdict: T,
): T {
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
