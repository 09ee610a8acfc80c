// Problems by the ids of their words: `down.title` names the problem, `down.text` the remedy.
import { word } from '../words/words.ts';

/** Title and text. */
export function said(name: string): readonly [string, string] {
  return [word(`${name}.title`), word(`${name}.text`)];
}

/** The vault's words for a refusal that have a title and a text here. */
export const REFUSALS: readonly string[] = [
  'rate_limited',
  'email_send_failed',
  'email_not_configured',
  'attestation_expired',
  'attestation_used',
  'recoveries_not_offered',
  'recovery_refused',
  'recovery_pending',
  'recovery_barred',
  'recovery_limit_reached',
  'key_is_owner',
  'guardian_unfunded',
  'veto_invalid',
  'join_taken',
  'join_closed',
  'bundler_not_configured',
  'proof_invalid',
  'no_challenge',
  'identifier_taken',
];

/** Title and text for a refusal by the vault, which may say how many seconds to wait. */
export function saidOfRefusal(code: string, retryAfter?: number): readonly [string, string] {
  const name = code === 'relay_limit_reached' ? 'rate_limited' : code;
  const [title, text] = said(REFUSALS.includes(name) ? name : 'refused');
  return [title, name === 'rate_limited' && retryAfter !== undefined ? whenOf(retryAfter) : text];
}

function whenOf(seconds: number): string {
  const minutes = Math.ceil(seconds / 60);
  if (minutes < 90) return word('rate_limited.minutes', { count: minutes });
  return word('rate_limited.hours', { count: Math.ceil(minutes / 60) });
}

/** Problems other than refusals by the vault. */
export type Problem =
  | 'browser'
  | 'down'
  | 'fee_bound'
  | 'refused'
  | 'reverted'
  | 'ended'
  | 'no_link'
  | 'no_memory'
  | 'no_passkey'
  | 'unexpected';
