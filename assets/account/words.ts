// What went wrong, in words for people: what it is, and what to do.
import { word } from '../words/words.ts';

/** Title and text in the person's language. */
export function said([title, text]: readonly [string, string]): readonly [string, string] {
  return [word(title), word(text)];
}

/** What stands where the vault does not say how long to wait. */
export const SOON = 'Wait a little, then try again.';

/** The same where it does. */
export function whenOf(seconds: number): string {
  const minutes = Math.ceil(seconds / 60);
  if (minutes < 90) return word('Try again in {count} minutes.', { count: minutes });
  return word('Try again in about {count} hours.', { count: Math.ceil(minutes / 60) });
}

/** By the vault's word for the reason: title and text. */
export const REFUSALS: Readonly<Record<string, readonly [string, string]>> = {
  rate_limited: ['Too many tries', SOON],
  relay_limit_reached: ['Too many tries', SOON],
  email_send_failed: ['The mail could not be sent', 'Check the address, then try again.'],
  email_not_configured: [
    'This vault sends no mail',
    'Recovery by email is not offered here. Add a second passkey instead.',
  ],
  attestation_expired: ['That took too long', 'The code was good for five minutes. Ask for a new one.'],
  attestation_used: ['The code was used already', 'Ask for a new one.'],
  recoveries_not_offered: ['This vault offers no recovery', 'Add a second passkey on another device instead.'],
  recovery_refused: [
    'This address cannot recover that account',
    'Recovery was not set up, or with another email address. Try the address that you set it up with.',
  ],
  recovery_pending: [
    'A recovery is under way already',
    'Somebody asked for it before. If it was not you, any passkey of the account can stop it.',
  ],
  recovery_barred: ['Recovery is blocked', 'Its owner stopped it twice. It is possible again in at most 30 days.'],
  recovery_limit_reached: ['Too many recoveries today', 'Try again tomorrow.'],
  key_is_owner: ['This passkey opens the account already', 'Sign in with it.'],
  guardian_unfunded: ['This vault cannot recover at the moment', 'Nothing has changed. Write to its operator.'],
  veto_invalid: ['This passkey cannot stop it', 'Use a passkey that opens this account.'],
  join_taken: ['Somebody else used this link', 'Nothing was added. Show a new code on the first device.'],
  join_closed: ['This link has ended', 'It is good for ten minutes. Show a new code on the first device.'],
  bundler_not_configured: ['This vault cannot change accounts', 'It has no connection to the network that it needs.'],
  proof_invalid: ['The passkey’s signature was not accepted', 'Try again. If it stays so, use another browser.'],
};

/** Problems other than refusals by the vault. */
export const PROBLEMS = {
  down: ['The vault cannot be reached', 'Nothing has changed. Check your connection, then try again.'],
  fee_bound: [
    'The network fee is too high',
    'It is more than the operator allows. Nothing was signed, and nothing has changed. Try again later.',
  ],
  refused: ['The network refused this', 'Nothing has changed.'],
  reverted: ['This was not done', 'The network took the request, but the account refused it. Nothing has changed.'],
  ended: ['This was not done in time', 'The network did not take it, and it cannot happen any more. Try again.'],
  no_link: ['This link is not complete', 'Scan the code again, or copy the whole link.'],
  no_memory: [
    'This window cannot store data',
    'Leave private browsing or allow this site to store data. Then try again.',
  ],
  unexpected: ['Something went wrong', 'Load the page again. Your account is as the network has it.'],
} as const;

/** A word of `PROBLEMS`. */
export type Problem = keyof typeof PROBLEMS;

/** When the passkey was not used: refused, too slow, or none here. Browsers do not say which. */
export const NO_PASSKEY = 'No passkey was used, and nothing has changed.';

/** A recovery that an owner has stopped. */
export const STOPPED = [
  'Stopped',
  'No new passkey was added. If it was not you who asked, somebody reads your mail: change its password.',
] as const;
