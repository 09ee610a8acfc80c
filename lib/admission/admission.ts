import { toHex, utf8 } from '../base/bytes.ts';
import { VaultError } from '../base/error.ts';
import { hmacDigest, sha256Digest } from '../base/hmac.ts';
import type { Config } from '../config/config.ts';
import type { Identifier } from '../identity/identifier.ts';
import type { Platform } from '../platform.ts';
import type { RefusedDomains } from './refused-domains.ts';
import { type AdmissionTerms, selectMayRegister } from './store.ts';

// For the batches that write sessions and registrations.
export { type AdmissionTerms, admissionArgs, MAY_REGISTER, spendInvite } from './store.ts';

/** The inputs of admission besides the database: settings, keys and the refused domains. */
export type AdmissionContext = Pick<Platform, 'config' | 'keys'> & { readonly refusedDomains: RefusedDomains };

/** A person who wants to register. */
export interface Applicant {
  readonly identifier: Identifier;
  /** An invite's token. */
  readonly invite?: string | undefined;
}

/** The admission terms for an identifier that is new here; null where anybody may register it. */
export function admissionOf(
  { config, keys, refusedDomains }: AdmissionContext,
  { identifier, invite }: Applicant,
): AdmissionTerms | null {
  const none = { invite: null, holder: '' };
  if (isRefusedDomain(config, refusedDomains, identifier)) return { refusal: 'mail_domain_refused', ...none };
  if (config.registration === 'open') return null;
  if (config.registration === 'closed') return { refusal: 'registration_closed', ...none };
  if (invite === undefined) return { refusal: 'invite_required', ...none };
  const digest = inviteDigest(invite);
  const holder = toHex(hmacDigest(keys.codePepper)(utf8(`vault/invite-use/v1\0${digest}\0${identifier.key}`)));
  return { refusal: 'invite_invalid', invite: digest, holder: holder.slice(0, 32) };
}

/**
 * Refuses to send a code to an identifier that could not be registered. It reveals no more about registrations than the
 * check of sessions does. Throws 403 `registration_closed`, `invite_required`, `invite_invalid`, `mail_domain_refused`.
 */
export async function demandAdmission(ctx: AskingContext, applicant: AppApplicant): Promise<void> {
  const admission = admissionOf(ctx, applicant);
  if (admission && !(await isAdmitted(ctx, applicant))) throw new VaultError(admission.refusal);
}

type AskingContext = AdmissionContext & Pick<Platform, 'clock' | 'db'>;
type AppApplicant = Applicant & { readonly app: string };

/** Whether the applicant is registered, or may be. */
export async function isAdmitted(ctx: AskingContext, applicant: AppApplicant): Promise<boolean> {
  const admission = admissionOf(ctx, applicant);
  if (!admission) return true;
  const { identifier, app } = applicant;
  const [row] = await ctx.db.read(
    selectMayRegister(admission, { identifier: identifier.key, app, now: ctx.clock.now() }),
  );
  return row?.['may_register'] === 1;
}

/**
 * The stored digest of an invite's token: half of SHA-256 under a label. The token's 128 random bits cannot be guessed.
 */
export function inviteDigest(token: string): string {
  return toHex(sha256Digest(utf8(`vault/invite/v1\0${token}`))).slice(0, 32);
}

/** Whether the settings refuse the domain of an email address. */
export function isRefusedDomain(
  { allowedMailDomains: allowed }: Pick<Config, 'allowedMailDomains'>,
  refused: RefusedDomains,
  { channel, value }: Identifier,
): boolean {
  if (channel !== 'email') return false;
  const domain = value.slice(value.lastIndexOf('@') + 1);
  const isAllowed = allowed.length === 0 || allowed.some((one) => isWithin(domain, one));
  return !isAllowed || refused.has(domain);
}

/** `*.example.com` matches the subdomains, `example.com` the domain alone. */
function isWithin(domain: string, allowed: string): boolean {
  return allowed.startsWith('*.') ? domain.endsWith(allowed.slice(1)) : domain === allowed;
}
