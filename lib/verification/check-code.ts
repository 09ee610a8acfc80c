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

type Services = Pick<Platform, 'config' | 'keys' | 'clock' | 'db' | 'metrics' | 'log'> & {
  readonly sms: SmsProvider;
  readonly notices: Notices;
};

/** The outcome of a check. */
export type Verdict = { readonly verified: true; readonly attestation: Attestation } | Refused;

/** Why a check did not verify, the checks that are left, and the seconds until another is worth a try. */
export interface Refused {
  readonly verified: false;
  readonly message: 'Incorrect code' | 'Code expired' | 'Too many attempts' | 'No code was sent';
  readonly attemptsRemaining?: number;
  readonly retryAfter?: number;
}

/** A code to be checked, under the app its events belong to. */
export interface Check {
  readonly identifier: Identifier;
  readonly code: string;
  readonly app: string;
}

/** Checks a code against the identifier's newest one. Every check of a live code spends an attempt, the right one also consumes it. Throws 502 `sms_provider_error`. */
export async function checkCode(vault: Services, check: Check): Promise<Verdict> {
  const { identifier } = check;
  const now = vault.clock.now();
  const { live, verdict } = await readLiveCode(vault, check, now);
  if (!live) return counted(vault, identifier, verdict);
  const outcome =
    live.digest === null
      ? await checkWithProvider(vault, check, live, now)
      : await checkOwn(vault, check, live, live.digest, now);
  if (outcome !== 'lost') return counted(vault, identifier, outcome);
  // Another check changed the code between the read and the write: it is judged as it stands now.
  const again = await readLiveCode(vault, check, now);
  return counted(vault, identifier, again.live ? SUPERSEDED : again.verdict);
}

/** When the identifier was last verified, in milliseconds; null when it never was. */
export async function verifiedAt(vault: Pick<Platform, 'db'>, identifier: Identifier): Promise<number | null> {
  const [row] = await vault.db.read(codes.selectVerifiedAt(identifier.key));
  const at = row?.['verified_at'] ?? null;
  return at === null ? null : Number(at);
}

const TOO_MANY: Refused = { verified: false, message: 'Too many attempts' };
const EXPIRED: Verdict = { verified: false, message: 'Code expired' };
/** A newer code was sent meanwhile: the one in hand is not it. */
const SUPERSEDED: Verdict = { verified: false, message: 'Incorrect code' };
const NOTHING_SENT: Verdict = { verified: false, message: 'No code was sent' };

type Live = codes.LiveCode;
/** `lost`: the conditional write found the code changed. */
type Outcome = Verdict | 'lost';

/** The identifier's live code, or the verdict there is without one. */
async function readLiveCode(
  vault: Services,
  { identifier, app }: Check,
  now: number,
): Promise<{ live: Live; verdict?: undefined } | { live?: undefined; verdict: Verdict }> {
  const { db, config } = vault;
  const [row] = await db.read(codes.selectNewestCode(identifier.key));
  const newest = row && codes.toLiveCode(row);
  if (!newest || newest.consumedAt !== null) return { verdict: NOTHING_SENT };
  if (now >= newest.expiresAt) return { verdict: EXPIRED };
  if (now < newest.blockedUntil) {
    const full = { bucket: identifier.key, freesAt: newest.blockedUntil, now };
    recordLimit(vault, app, limitState(config, 'guesses-per-identifier', full));
    return { verdict: { ...TOO_MANY, retryAfter: Math.ceil((newest.blockedUntil - now) / 1000) } };
  }
  if (newest.attempts >= config.maxVerifyAttempts) return { verdict: { ...TOO_MANY, attemptsRemaining: 0 } };
  return { live: newest };
}

/** Compared here in constant time, then counted and, if right, consumed by one write that demands the code is still the live one. */
async function checkOwn(
  vault: Services,
  { identifier, code, app }: Check,
  live: Live,
  digest: string,
  now: number,
): Promise<Outcome> {
  const right = equalText(codeDigest(vault.keys.codePepper, identifier.key, live.id, code), digest);
  const spend = codes.spendAttempt(checkOf(vault, identifier, live, now), right);
  const mark = right
    ? codes.markVerifiedIfChanged(identifier.key, now)
    : codes.countWrongGuess(identifier.key, now, { ifChanged: true });
  const event = right ? emitCodeVerified(app, identifier, now) : emitCodeExhausted(vault, app, identifier, live, now);
  const [spent] = await vault.db.write(spend, mark, event);
  const row = spent?.rows[0];
  if (!row) return 'lost';
  return right ? verified(vault, identifier, now) : incorrect(vault, row);
}

/** The attempt is spent before the provider is asked, so concurrent checks never reach it more often than a code allows. */
async function checkWithProvider(
  vault: Services,
  { identifier, code, app }: Check,
  live: Live,
  now: number,
): Promise<Outcome> {
  if (vault.sms.kind !== 'verify') return NOTHING_SENT;
  const [spent] = await vault.db.write(codes.spendAttempt(checkOf(vault, identifier, live, now), false));
  const row = spent?.rows[0];
  if (!row) return 'lost';
  const answer = await vault.sms.check(identifier.value, code);
  if (answer === 'expired') return EXPIRED;
  if (answer === 'exhausted') return TOO_MANY;
  const at = vault.clock.now();
  if (answer === 'pending') {
    await vault.db.write(
      codes.countWrongGuess(identifier.key, at, { ifChanged: false }),
      emitCodeExhausted(vault, app, identifier, live, at),
    );
    return incorrect(vault, row);
  }
  const [consumed] = await vault.db.write(
    codes.consumeCode(live.seq, at),
    codes.markVerifiedIfChanged(identifier.key, at),
    emitCodeVerified(app, identifier, at),
  );
  return consumed?.rowsAffected === 1 ? verified(vault, identifier, at) : 'lost';
}

function checkOf({ config }: Services, identifier: Identifier, live: Live, now: number): codes.CodeCheck {
  return { identifier: identifier.key, seq: live.seq, now, attemptsMax: config.maxVerifyAttempts };
}

/** Behind the statement that marks the identifier, and only if that did. */
function emitCodeVerified(app: string, identifier: Identifier, at: number): Statement {
  return emitEvent(eventOf('code.verified', { app, at }, shownOf(identifier)), { ifChanged: true });
}

/** Behind the statement that counts the guess: told when it was the code's last, or set off the identifier's block. */
function emitCodeExhausted(
  { config }: Services,
  app: string,
  identifier: Identifier,
  { seq }: Live,
  at: number,
): Statement {
  const event = eventOf('code.exhausted', { app, at }, shownOf(identifier));
  return emitEvent(event, { ifChanged: true, when: codes.isExhausted(seq, config.maxVerifyAttempts) });
}

function shownOf(identifier: Identifier) {
  return { channel: identifier.channel, identifier: maskIdentifier(identifier) };
}

/** `spent` is the row of `spendAttempt`. */
function incorrect({ config }: Services, spent: Row): Verdict {
  const attemptsRemaining = Math.max(0, config.maxVerifyAttempts - Number(spent['attempts']));
  return { verified: false, message: 'Incorrect code', attemptsRemaining };
}

function verified({ config, keys }: Services, identifier: Identifier, at: number): Verdict {
  const attestation = signAttestation(keys.attestation, {
    identifier,
    verifiedAt: at,
    ttlSeconds: config.attestationTtlSeconds,
    registrar: config.registrarDid,
  });
  return { verified: true, attestation };
}

function counted({ metrics }: Services, { channel }: Identifier, verdict: Verdict): Verdict {
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
