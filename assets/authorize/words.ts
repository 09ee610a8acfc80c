// Problems, in words.
import { word } from '../words/words.ts';

/**
 * Problems by the error word of the vault, the client or this page: the id in the catalogues, of a title (`away.title`)
 * and a text (`away.text`).
 */
export const PROBLEMS: Readonly<Record<string, string>> = {
  rate_limited: 'tries',
  ip_limit_reached: 'full',
  relay_limit_reached: 'today',
  email_send_failed: 'mail',
  sms_send_failed: 'sms',
  sms_provider_error: 'check',
  attestation_expired: 'slow',
  attestation_used: 'spent',
  identifier_reserved: 'reserved',
  mail_domain_refused: 'reserved',
  registration_closed: 'closed',
  invite_required: 'invite',
  invite_invalid: 'invite',
  identifier_taken: 'taken',
  identifier_busy: 'busy',
  idempotency_key_in_use: 'busy',
  credential_already_registered: 'registered',
  did_taken: 'there',
  registration_failed: 'failed',
  registration_pending: 'network',
  relay_unfunded: 'operator',
  registry_missing: 'operator',
  rpc_error: 'network',
  not_confirmed_yet: 'network',
  database_unavailable: 'away',
  shutting_down: 'away',
  unreachable: 'offline',
  not_found: 'unknown',
  not_offered: 'offered',
  rp_id_refused: 'browser',
  passkeys_unavailable: 'browser',
  passkey_unsupported: 'device',
  'proof_invalid.account': 'removed',
  'proof_invalid.did': 'moved',
  'proof_invalid.used': 'again',
  'proof_invalid.nonce': 'slow',
  'proof_invalid.expired': 'clock',
  'proof_invalid.expires_too_late': 'clock',
  proof_invalid: 'signature',
  link: 'link',
  unexpected: 'unexpected',
};

/** Title and text of a problem. */
export function problemText(id: string, values: Readonly<Record<string, string>>): readonly [string, string] {
  const name = PROBLEMS[id] ?? 'unexpected';
  return [word(`${name}.title`), word(`${name}.text`, values)];
}
